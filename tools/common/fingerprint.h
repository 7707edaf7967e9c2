/* What the bits of a flight depend on beside its files: this build, and the elementary functions of the C library. It
 * has other variants of sin and exp for other processors, and with them other last bits. [init] */
#ifndef ORR_TOOLS_COMMON_FINGERPRINT_H
#define ORR_TOOLS_COMMON_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

/* The results of the elementary functions that Orrery uses on a table of arguments, as one number. Some 100 µs. */
uint64_t orr_fingerprint_functions(void);

/* The program by the identity that its linker gave it; without one by its version. */
uint64_t orr_fingerprint_program(void);

/* Both: "1f2e3d4c5b6a7988-0011223344556677", the program and the functions. */
enum { ORR_FINGERPRINT_TEXT = 40 };
const char *orr_fingerprint(char text[ORR_FINGERPRINT_TEXT]);

/* What differs between two such texts: "another build", "another variant of the elementary functions of the C library
 * (another processor, or GLIBC_TUNABLES)", or both; NULL: nothing. */
const char *orr_fingerprint_differs(const char *a, const char *b);

#endif
