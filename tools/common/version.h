/* The version and build of the program, for `orrery --version` and for the records of a run. */
#ifndef ORR_TOOLS_COMMON_VERSION_H
#define ORR_TOOLS_COMMON_VERSION_H

/* [any] The version, "0.1.0". The strings live as long as the program. */
const char *orr_version(void);

/* [any] The commit (git describe) or "unversioned" outside a repository. */
const char *orr_version_commit(void);

/* [any] Compiler and its version. */
const char *orr_version_compiler(void);

/* [any] The flags that core was compiled with, the target architecture among them. */
const char *orr_version_flags(void);

/* [any] All of them in one line, with a checksum of the flags. Programs with the same line were built from the same
 * commit in the same way. Two builds of changed trees ("-dirty") may have the same line. */
const char *orr_version_build(void);

#endif
