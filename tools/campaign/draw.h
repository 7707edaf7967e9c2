/* The numbers of a flight, drawn by counters: flight i has the same ones whoever asks, and in whatever order. [any]:
 * pure functions. */
#ifndef ORR_TOOLS_CAMPAIGN_DRAW_H
#define ORR_TOOLS_CAMPAIGN_DRAW_H

#include <stdint.h>

#include "io/config/campaign/campaign_file.h"

/* 64 random bits of a key and a counter: Philox 2x64 with ten rounds. O(1). */
uint64_t orr_draw_bits(uint64_t key, uint64_t counter, uint64_t stream);

/* In (0, 1), never one of the ends. */
double orr_draw_unit(uint64_t bits);

/* Where `index` goes in a permutation of 0 … count − 1 that the key chooses. O(1) on average. */
uint64_t orr_draw_place(uint64_t key, uint64_t stream, uint64_t index, uint64_t count);

/* The number below which a standard normal variable is with this probability in (0, 1); and that probability. O(1). */
double orr_draw_normal_quantile(double p);
double orr_draw_normal_below(double x);

/* Place of a flight in the unit cube that is sampled: [campaign->dimensions], each in (0, 1). */
void orr_draw_cube(const struct orr_campaign *campaign, int64_t flight, double *cube);

/* Values of all that varies at a place of the cube; `flight` is for the seeds. [campaign->vary_count], SI; of one_of
 * the number of the text. */
void orr_draw_values(const struct orr_campaign *campaign, int64_t flight, const double *cube, double *values);

/* Both: the values of a flight. */
void orr_draw_flight(const struct orr_campaign *campaign, int64_t flight, double *values);

#endif
