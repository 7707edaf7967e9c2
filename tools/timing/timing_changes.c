#include "tools/timing/timing_changes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/timing/timing_slices.h"

enum { ORDERS = 999 };

static const double alarm = 0.01, least_part = 0.01;

struct search {
  const double *value;
  double *rank, *scratch;
  uint64_t seed;
  size_t cut[ORR_TIMING_CHANGES_MAX + 2]; /* ascending */
  size_t cuts, most;
};

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(struct search *s, size_t from, size_t to) {
  size_t count = to - from;
  memcpy(s->scratch, s->value + from, count * sizeof *s->scratch);
  qsort(s->scratch, count, sizeof *s->scratch, ascending);
  return 0.5 * (s->scratch[(count - 1) / 2] + s->scratch[count / 2]);
}

/* Ranks less their mean, equal values sharing theirs. */
static void take_ranks(struct search *s, size_t from, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double below = 0, same = 0;
    for (size_t k = 0; k < count; k++) {
      below += s->value[from + k] < s->value[from + i];
      same += s->value[from + k] == s->value[from + i];
    }
    s->rank[i] = below + 0.5 * (same - 1) - 0.5 * ((double)count - 1);
  }
}

/* The largest sum of ranks up to a place, in units of its scatter there, and that place. */
static double best_place(const double *rank, size_t count, size_t *place) {
  double sum = 0, best = -1;
  for (size_t i = 0; i + ORR_TIMING_CHANGE_SIDE < count; i++) {
    sum += rank[i];
    double before = (double)i + 1, seen = fabs(sum) / sqrt(before * ((double)count - before));
    if (i + 1 >= ORR_TIMING_CHANGE_SIDE && seen > best) {
      best = seen;
      *place = i + 1;
    }
  }
  return best;
}

static bool is_by_chance(struct search *s, size_t count, double seen) {
  size_t as_large = 1, place;
  for (int k = 0; k < ORDERS; k++) {
    for (size_t i = count - 1; i > 0; i--) {
      size_t other = orr_timing_below(&s->seed, i + 1);
      double kept = s->rank[i];
      s->rank[i] = s->rank[other];
      s->rank[other] = kept;
    }
    as_large += best_place(s->rank, count, &place) >= seen - 1e-9;
  }
  return (double)as_large > alarm * (ORDERS + 1);
}

static void insert(struct search *s, size_t cut) {
  size_t i = s->cuts++;
  for (; i > 0 && s->cut[i - 1] > cut; i--)
    s->cut[i] = s->cut[i - 1];
  s->cut[i] = cut;
}

/* Halves what lies between two cuts for as long as there is a change inside. */
static bool split(struct search *s, size_t from, size_t to) {
  size_t count = to - from, place = 0;
  if (count < 2 * ORR_TIMING_CHANGE_SIDE || s->cuts == s->most)
    return false;
  take_ranks(s, from, count);
  double seen = best_place(s->rank, count, &place);
  double before = median(s, from, from + place), after = median(s, from + place, to);
  if (fabs(after - before) < least_part * fabs(before) || is_by_chance(s, count, seen))
    return false;
  insert(s, from + place);
  return true;
}

static size_t find(struct search *s, size_t count, struct orr_timing_change *changes) {
  for (size_t i = 0; i <= s->cuts;) {
    size_t from = i > 0 ? s->cut[i - 1] : 0, to = i < s->cuts ? s->cut[i] : count;
    i += !split(s, from, to);
  }
  for (size_t i = 0; i < s->cuts; i++)
    changes[i] = (struct orr_timing_change){
        .at = s->cut[i],
        .before = median(s, i > 0 ? s->cut[i - 1] : 0, s->cut[i]),
        .after = median(s, s->cut[i], i + 1 < s->cuts ? s->cut[i + 1] : count),
    };
  return s->cuts;
}

size_t orr_timing_changes(const double *value, size_t count, struct orr_timing_change *changes, size_t most) {
  struct search s = {.value = value,
                     .rank = calloc(count + 1, sizeof(double)),
                     .scratch = calloc(count + 1, sizeof(double)),
                     .seed = 1,
                     .most = most < ORR_TIMING_CHANGES_MAX ? most : ORR_TIMING_CHANGES_MAX};
  size_t found = s.rank && s.scratch ? find(&s, count, changes) : 0;
  free(s.rank);
  free(s.scratch);
  return found;
}
