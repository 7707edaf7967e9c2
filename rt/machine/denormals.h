/* Denormal numbers read and written as zero, for the calling thread.
 *
 * Called wherever the plant is stepped (real time, lockstep, batch), so that a decaying mode neither slows the
 * executive a hundredfold nor differs in bits between the modes.
 */
#ifndef ORR_RT_MACHINE_DENORMALS_H
#define ORR_RT_MACHINE_DENORMALS_H

#include <stdbool.h>

/* [init] Sets flush-to-zero and denormals-are-zero. False where the processor has no such switch. Threads made
 * afterwards by this one inherit it. O(1). */
bool orr_rt_flush_denormals(void);

#endif
