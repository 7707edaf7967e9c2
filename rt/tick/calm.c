#include "rt/tick/calm.h"

#if defined(__x86_64__)
#include <sys/mman.h>
#include <unistd.h>

enum { TRIES = 100 };

/* Kept where nothing happens, at least once in a hundred tries; lost in each page fault, at least twice. */
static bool tells(volatile char *page, size_t bytes) {
  bool quiet = false;
  for (int i = 0; i < TRIES && !quiet; i++) {
    orr_calm_begin();
    quiet = orr_calm_kept();
  }
  for (int i = 0; i < 2 && quiet; i++) {
    orr_calm_begin();
    page[(size_t)i * bytes] = 1;
    quiet = !orr_calm_kept();
  }
  return quiet;
}

/* Under valgrind and the like the register may not be written at all, and they count other things. */
bool orr_calm_works(void) {
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  /* not there until it is touched, whatever mlockall says of pages to come */
  char *page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return false;
  madvise(page, 2 * bytes, MADV_NOHUGEPAGE);
  bool works = tells(page, bytes);
  munmap(page, 2 * bytes);
  return works;
}
#else
bool orr_calm_works(void) { return false; }
#endif
