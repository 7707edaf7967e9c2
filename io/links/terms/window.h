/* One bit for each of the newest ORR_ANSWER_WINDOW frames of a link. Rules and carriers keep in it which frames are
 * answered.
 *
 * All [rt], O(1), one thread. Frames are numbers of the simulation, `divisor` of them apart.
 */
#ifndef ORR_IO_LINKS_WINDOW_H
#define ORR_IO_LINKS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { ORR_ANSWER_WINDOW = 1024 };

struct orr_window {
  uint64_t bits[ORR_ANSWER_WINDOW / 64]; /* bit (frame / divisor) mod ORR_ANSWER_WINDOW */
};

/* Whether the window reaches from `newest` back to `frame`, which is not newer: older frames are forgotten. */
static inline bool orr_window_reaches(uint64_t divisor, uint64_t newest, uint64_t frame) {
  return (newest - frame) / divisor < ORR_ANSWER_WINDOW;
}
static inline bool orr_window_has(const struct orr_window *w, uint64_t divisor, uint64_t frame) {
  uint64_t at = frame / divisor % ORR_ANSWER_WINDOW;
  return w->bits[at / 64] >> at % 64 & 1;
}
static inline void orr_window_add(struct orr_window *w, uint64_t divisor, uint64_t frame) {
  uint64_t at = frame / divisor % ORR_ANSWER_WINDOW;
  w->bits[at / 64] |= UINT64_C(1) << at % 64;
}
static inline void orr_window_remove(struct orr_window *w, uint64_t divisor, uint64_t frame) {
  uint64_t at = frame / divisor % ORR_ANSWER_WINDOW;
  w->bits[at / 64] &= ~(UINT64_C(1) << at % 64);
}

#endif
