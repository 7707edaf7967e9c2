/* Sanitizers look at memory and at undefined behaviour, which a part of many like cases meets as surely as all of
 * them; every case is judged in the release build. */
#ifndef ORR_TESTS_SUPPORT_SANITIZED_H
#define ORR_TESTS_SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ORR_SANITIZED = 1 };
#else
enum { ORR_SANITIZED = 0 };
#endif

/* All of so many random cases, frames or steps; under a sanitizer a quarter. */
#define ORR_SHARE(all) (ORR_SANITIZED ? (all) / 4 : (all))

#endif
