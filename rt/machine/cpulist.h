/* The kernel's way of writing sets of cores: "0-3,7". Any thread, at init. */
#ifndef ORR_RT_MACHINE_CPULIST_H
#define ORR_RT_MACHINE_CPULIST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* [init] Reads a list; an empty one (blanks, a newline) is the empty set. False, and the set empty, for anything
 * else. */
bool orr_cpulist_parse(const char *text, cpu_set_t *set);

/* [init] Writes a set, as the kernel would. False when `size` is too small. */
bool orr_cpulist_format(const cpu_set_t *set, char *text, size_t size);

#endif
