#include "rt/machine/denormals.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };

bool orr_rt_flush_denormals(void) {
  _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
  return true;
}
#elif defined(__aarch64__)
bool orr_rt_flush_denormals(void) {
  unsigned long control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1UL << 24)); /* FZ covers inputs and outputs */
  return true;
}
#else
bool orr_rt_flush_denormals(void) { return false; }
#endif
