/* Random numbers that are a function of where they are used: no generator carries a state, so adding a sensor or
 * sampling one more often does not change the noise of another.
 *
 * Philox 4x32-10 (Salmon and others, 2011) keyed by the seed of the run and the device's name, counted by frame and
 * draw. Pure functions. [any]
 */
#ifndef ORR_CORE_PLANT_NOISE_H
#define ORR_CORE_PLANT_NOISE_H

#include <stdint.h>

/* The key of a device's streams. O(length). */
uint64_t orr_noise_key(uint64_t seed, const char *name);

/* Four independent 32-bit words. Uniform and normal numbers are made of them. Public so that a test compares the words
 * with the published vectors of Philox. O(1). */
void orr_noise_words(uint64_t key, uint64_t frame, uint64_t draw, uint32_t out[4]);

/* Uniform in (0, 1), never an end of it. O(1). */
double orr_noise_uniform(uint64_t key, uint64_t frame, uint64_t draw);

/* Standard normal (Box and Muller). Draws are numbered by the device: one number for each use in a frame. O(1). */
double orr_noise_normal(uint64_t key, uint64_t frame, uint64_t draw);

#endif
