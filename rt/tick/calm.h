/* Whether the kernel came in between: an interrupt, an exception or another thread on this core since calm was begun.
 *
 * No system call tells a program of the interrupts that it was held up by, and reading a counter of them would cost
 * more than most of them take. On x86_64 the processor itself leaves a trace: a return from the kernel to a program
 * by iret, as interrupts and exceptions end, clears a data segment register that holds a null selector. ES means
 * nothing to a 64-bit program; a null selector with other low bits (1) stands there until then. System calls end by
 * sysret and leave it. What a hypervisor does unseen by its guest leaves no trace. Two instructions, no memory.
 *
 * orr_calm_works [init] → orr_calm_begin → what is watched → orr_calm_kept, on one thread.
 */
#ifndef ORR_RT_TICK_CALM_H
#define ORR_RT_TICK_CALM_H

#include <stdbool.h>
#include <stdint.h>

/* [init] Tries it with a page fault of its own. False on other processors, on those that end interrupts otherwise
 * (FRED), and under programs that run others instruction by instruction. A few system calls. */
bool orr_calm_works(void);

#if defined(__x86_64__)
/* [rt] Only where orr_calm_works. */
static inline void orr_calm_begin(void) { __asm__ volatile("mov %0, %%es" : : "r"(1) : "memory"); }
/* [rt] Whether nothing came in between since begin. */
static inline bool orr_calm_kept(void) {
  uint32_t selector;
  __asm__ volatile("mov %%es, %0" : "=r"(selector) : : "memory");
  return selector != 0;
}
#else
static inline void orr_calm_begin(void) {}
static inline bool orr_calm_kept(void) { return false; }
#endif

#endif
