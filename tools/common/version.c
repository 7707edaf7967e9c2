#include "tools/common/version.h"

#include "build_info.h" /* written by the Makefile */

const char *orr_version(void) { return ORR_BUILD_VERSION; }

const char *orr_version_commit(void) { return ORR_BUILD_COMMIT; }

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *orr_version_compiler(void) { return COMPILER; }

const char *orr_version_flags(void) { return ORR_BUILD_FLAGS; }

const char *orr_version_build(void) {
  return ORR_BUILD_VERSION " " ORR_BUILD_COMMIT ", " COMPILER ", flags " ORR_BUILD_FLAGS_SUM;
}
