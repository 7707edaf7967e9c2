#include "tools/common/version.h"

#include "build_info.h" /* written by the Makefile */

const char *orr_version(void) { return ORR_BUILD_VERSION; }

const char *orr_version_commit(void) { return ORR_BUILD_COMMIT; }

const char *orr_version_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

const char *orr_version_flags(void) { return ORR_BUILD_FLAGS; }
