#include "tools/timing/timing_verdict.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000, BEYOND = 10 };

static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
enum { FRACTIONS = sizeof fractions / sizeof *fractions, MEASURES = FRACTIONS + 2 }; /* and two of calm frames */

/* What a difference must be to count: of BASE's value, and in ns, the larger. What the machine does between a tick and
 * the first instruction wanders more than what a stage computes. */
struct counting {
  double part, ns;
};
static const struct counting of_stage[FRACTIONS] = {{0.01, 100}, {0.03, 250}, {0.1, 1e3}, {0.5, 1e4}, {1, 1e5}};
static const struct counting of_machine[FRACTIONS] = {{0.05, 1e3}, {0.1, 2e3}, {0.25, 1e4}, {1, 1e5}, {2, 1e6}};
static const struct counting of_calm = {0.01, 50};

bool orr_timing_more_is_better(const char *name) { return strcmp(name, "slack") == 0; }

static bool is_machine(const char *name) {
  static const char *const machine[] = {"start", "wake-up", "slack"};
  for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
    if (strcmp(name, machine[i]) == 0)
      return true;
  return strncmp(name, "link ", 5) == 0;
}

/* ---- one distribution of both sides, laid out for many weightings ------------------------------------------------ */

struct apart {
  double ns; /* first: what by_place orders by */
  size_t pair;
};

struct rows {
  bool paired;
  size_t base, all; /* slices of BASE, then those of NEW */
  size_t bins;
  double *low, *high;  /* [bins] in ns */
  double *count;       /* [all][bins] */
  double *sum;         /* [bins]: scratch */
  double *own;         /* [MEASURES][all]: what each slice has by itself */
  struct apart *apart; /* [MEASURES][base] of pairs, rising: by how much NEW is above BASE */
  const struct orr_timing_slice **slice;
  int *name; /* [all]: of the distribution in the slice's own set */
};

static int by_place(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const struct orr_timing_bins *bins_of(const struct rows *r, size_t s) { return &r->slice[s]->of[r->name[s]]; }

/* Where the bins of all slices begin, each once. */
static void place_bins(struct rows *r) {
  size_t used = 0;
  for (size_t s = 0; s < r->all; s++)
    for (size_t i = 0; i < bins_of(r, s)->used; i++)
      r->low[used++] = orr_timing_bin_low_ns(bins_of(r, s), i);
  qsort(r->low, used, sizeof *r->low, by_place);
  r->bins = 0;
  for (size_t i = 0; i < used; i++)
    if (i == 0 || r->low[i] > r->low[r->bins - 1])
      r->low[r->bins++] = r->low[i];
}

static size_t bin_at(const struct rows *r, double low_ns) {
  const double *at = bsearch(&low_ns, r->low, r->bins, sizeof *r->low, by_place);
  assert(at);
  return (size_t)(at - r->low);
}

static void close_rows(struct rows *r) {
  free(r->low);
  free(r->high);
  free(r->count);
  free(r->sum);
  free(r->own);
  free(r->apart);
}

static bool open_rows(struct rows *r) {
  size_t most = 1;
  for (size_t s = 0; s < r->all; s++)
    most += bins_of(r, s)->used;
  r->low = calloc(most, sizeof *r->low);
  if (!r->low)
    return false;
  place_bins(r);
  r->high = calloc(r->bins + 1, sizeof *r->high);
  r->sum = calloc(2 * (r->bins + 1), sizeof *r->sum);
  r->count = calloc(r->all * r->bins + 1, sizeof *r->count);
  r->own = calloc(MEASURES * r->all + 1, sizeof *r->own);
  r->apart = calloc(MEASURES * r->base + 1, sizeof *r->apart);
  if (!r->high || !r->sum || !r->count || !r->own || !r->apart) {
    close_rows(r);
    return false;
  }
  for (size_t s = 0; s < r->all; s++)
    for (size_t i = 0; i < bins_of(r, s)->used; i++) {
      size_t bin = bin_at(r, orr_timing_bin_low_ns(bins_of(r, s), i));
      r->high[bin] = fmax(r->high[bin], orr_timing_bin_high_ns(bins_of(r, s), i));
      r->count[s * r->bins + bin] = (double)bins_of(r, s)->times[i];
    }
  return true;
}

/* The percentiles of what stands in `sum`, in rising order of their fractions; mirrored: of those from the other end.
 * */
static void percentiles_of(const struct rows *r, const double *sum, const double *fraction, size_t count,
                           double *value) {
  double total = 0, below = 0;
  size_t k = 0;
  for (size_t i = 0; i < r->bins; i++)
    total += sum[i];
  for (size_t i = 0; i < r->bins && k < count; i++) {
    while (k < count && sum[i] > 0 && below + sum[i] >= fraction[k] * total) {
      double part = fmax(0, fraction[k] * total - below) / sum[i];
      value[k++] = r->low[i] + (r->high[i] - r->low[i]) * part;
    }
    below += sum[i];
  }
  while (k < count)
    value[k++] = r->bins ? r->high[r->bins - 1] : 0;
}

/* ---- the rows of a distribution ---------------------------------------------------------------------------------- */

struct plan {
  struct orr_timing_row *row; /* of the result */
  size_t count, percentiles;  /* percentiles stand first, in rising order of `fraction` */
  double fraction[FRACTIONS]; /* as they are read: of slack from the other end */
  bool own[MEASURES];         /* every slice has it by itself */
  double sign;                /* −1: more is better */
};

/* What each slice has by itself: percentiles where ten of its samples lie beyond, and what its calm frames take. */
static void find_own(const struct rows *r, struct plan *p) {
  double value[MEASURES];
  for (size_t k = 0; k < p->count; k++)
    p->own[k] = true;
  for (size_t s = 0; s < r->all; s++) {
    const struct orr_timing_slice *slice = r->slice[s];
    double samples = (double)bins_of(r, s)->count;
    percentiles_of(r, r->count + s * r->bins, p->fraction, p->percentiles, value);
    if (p->count > p->percentiles) {
      value[p->percentiles] = (double)slice->calm_sum_ns[r->name[s]] / (double)slice->calm_frames;
      value[p->percentiles + 1] = (double)slice->calm_min_ns[r->name[s]];
    }
    for (size_t k = 0; k < p->count; k++)
      r->own[k * r->all + s] = value[k];
    for (size_t k = 0; k < p->percentiles; k++)
      p->own[k] = p->own[k] && samples * fmin(p->fraction[k], 1 - p->fraction[k]) >= BEYOND - 1e-6;
  }
  for (size_t k = 0; k < p->count && r->paired; k++) {
    const double *own = r->own + k * r->all;
    struct apart *apart = r->apart + k * r->base;
    for (size_t s = 0; s < r->base; s++)
      apart[s] = (struct apart){own[r->base + s] - own[s], s};
    qsort(apart, r->base, sizeof *apart, by_place);
  }
}

/* The median of what the pairs differ by. */
static double middle_of(const struct rows *r, size_t measure, const double *weight) {
  const struct apart *apart = r->apart + measure * r->base;
  double all = 0, below = 0;
  size_t i = 0, next;
  for (size_t s = 0; s < r->base; s++)
    all += weight[s];
  while (i + 1 < r->base && 2 * (below + weight[apart[i].pair]) < all)
    below += weight[apart[i++].pair];
  if (2 * (below + weight[apart[i].pair]) > all)
    return apart[i].ns;
  for (next = i + 1; next + 1 < r->base && weight[apart[next].pair] == 0;) /* half of them lie to either side */
    next++;
  return 0.5 * (apart[i].ns + apart[next].ns);
}

static double average_of(const struct rows *r, size_t measure, const double *weight, size_t first, size_t last) {
  double weights = 0, sum = 0;
  for (size_t s = first; s < last; s++) {
    weights += weight[s];
    sum += weight[s] * r->own[measure * r->all + s];
  }
  return weights > 0 ? sum / weights : 0;
}

/* Of the slices from `first` to before `last`: percentiles of all their samples together. */
static void values_of(const struct rows *r, const struct plan *p, const double *weight, size_t first, size_t last,
                      double *value) {
  memset(r->sum, 0, r->bins * sizeof *r->sum);
  for (size_t s = first; s < last; s++) {
    const double w = weight[s], *count = r->count + s * r->bins;
    if (w == 0)
      continue;
    for (size_t i = 0; i < r->bins; i++)
      r->sum[i] += w * count[i];
  }
  percentiles_of(r, r->sum, p->fraction, p->percentiles, value);
  for (size_t k = p->percentiles; k < p->count; k++)
    value[k] = average_of(r, k, weight, first, last);
}

/* The same for permutations, but percentiles that every slice has are averages of those. In a pool of two narrow sides
 * that are far apart a percentile is on one or the other, however they are dealt out: all ways would look alike. */
static void averages_of(const struct rows *r, const struct plan *p, const double *weight, double *value) {
  values_of(r, p, weight, 0, r->all, value);
  for (size_t k = 0; k < p->percentiles; k++)
    if (p->own[k])
      value[k] = average_of(r, k, weight, 0, r->all);
}

/* By how much NEW is worse, by weights for all slices. Where slices were flown in turn, what each has by itself is
 * compared pair by pair, and the pair in the middle tells: a neighbour that has the caches for some seconds makes both
 * slices of a pair slower, and a slice that he hits alone is not in the middle. The far tails are of all samples. */
static void differ(const struct rows *r, const struct plan *p, const double *weight, double *out) {
  double a[MEASURES] = {0}, b[MEASURES] = {0};
  bool together = false;
  for (size_t k = 0; k < p->count; k++)
    together |= !r->paired || !p->own[k];
  if (together) {
    values_of(r, p, weight, 0, r->base, a);
    values_of(r, p, weight, r->base, r->all, b);
  }
  for (size_t k = 0; k < p->count; k++)
    out[k] = p->sign * (r->paired && p->own[k] ? middle_of(r, k, weight) : b[k] - a[k]);
}

/* The same for permutations, which may use any measure: as a ratio where there is one, for tails leap by decades, and
 * the leaps of one row are not to hide another. */
static double score_of(const struct plan *p, double base_ns, double new_ns) {
  return p->sign > 0 && base_ns > 0 && new_ns > 0 ? log(new_ns / base_ns) : p->sign * (new_ns - base_ns);
}

/* By weights of 0 and 1 that say which slices are dealt to NEW; `other` is scratch. */
static void score(const struct rows *r, const struct plan *p, const double *to_new, double *other, double *out) {
  double a[MEASURES], b[MEASURES];
  for (size_t s = 0; s < r->all; s++)
    other[s] = 1 - to_new[s];
  averages_of(r, p, other, a);
  averages_of(r, p, to_new, b);
  for (size_t k = 0; k < p->count; k++)
    out[k] = score_of(p, a[k], b[k]);
}

static bool is_calm(const struct rows *r) {
  for (size_t s = 0; s < r->all; s++)
    if (!r->slice[s]->calm[r->name[s]] || r->slice[s]->calm_frames < BEYOND)
      return false;
  return true;
}

/* Samples of the side that has fewer. */
static double fewer(const struct rows *r) {
  double count[2] = {0, 0};
  for (size_t s = 0; s < r->all; s++)
    count[s >= r->base] += (double)bins_of(r, s)->count;
  return fmin(count[0], count[1]);
}

static void add_row(struct plan *p, struct orr_timing_comparison *result, const char *name,
                    enum orr_timing_row_kind kind, double fraction, double decide) {
  assert(result->row_count < ORR_TIMING_ROWS_MAX);
  struct orr_timing_row *row = &result->row[result->row_count++];
  *row = (struct orr_timing_row){
      .kind = kind, .fraction = fraction, .decides = kind != ORR_TIMING_PERCENTILE || fraction <= decide + 1e-12};
  snprintf(row->name, sizeof row->name, "%s", name);
  p->count++;
}

/* A percentile is a row where ten samples lie beyond it on either side. */
static struct plan plan_rows(const struct rows *r, const char *name, double decide,
                             struct orr_timing_comparison *result) {
  struct plan p = {.row = &result->row[result->row_count], .sign = orr_timing_more_is_better(name) ? -1 : 1};
  double samples = fewer(r);
  for (size_t k = 0; k < FRACTIONS; k++)
    if (k == 0 || samples * (1 - fractions[k]) >= BEYOND)
      add_row(&p, result, name, ORR_TIMING_PERCENTILE, fractions[k], decide);
  p.percentiles = p.count;
  for (size_t k = 0; k < p.count; k++)
    p.fraction[k] = p.sign > 0 ? p.row[k].fraction : 1 - p.row[p.count - 1 - k].fraction;
  if (is_calm(r)) {
    add_row(&p, result, name, ORR_TIMING_CALM_MEAN, 0, decide);
    add_row(&p, result, name, ORR_TIMING_CALM_LEAST, 0, decide);
  }
  return p;
}

/* The k-th percentile as `fraction` of the plan orders them is this row. */
static struct orr_timing_row *row_of(const struct plan *p, size_t k) {
  return &p->row[p->sign < 0 && k < p->percentiles ? p->percentiles - 1 - k : k];
}

static double counting_ns(const struct orr_timing_row *row) {
  struct counting c = of_calm;
  for (size_t k = 0; k < FRACTIONS && row->kind == ORR_TIMING_PERCENTILE; k++)
    if (row->fraction == fractions[k])
      c = is_machine(row->name) ? of_machine[k] : of_stage[k];
  return fmax(orr_timing_more_is_better(row->name) ? 0 : c.part * fabs(row->base_ns), c.ns);
}

/* ---- how two sets are weighed again and again -------------------------------------------------------------------- */

/* The weights of all slices in each resample and permutation: the same for every distribution. */
struct weights {
  size_t base, new, all;
  size_t draws, deals; /* of resamples, and of permutations */
  double *one;         /* [all] of ones */
  double *resampled;   /* [draws][all] */
  double *dealt;       /* [deals][all]: 1 where the slice is dealt to NEW */
};

/* So few pairs that they can be dealt out in every way but the one that was flown: 0 where they cannot. */
static size_t ways_of(size_t pairs, size_t draws) {
  size_t ways = pairs < 8 * sizeof ways ? (size_t)1 << pairs : 0;
  return ways > 0 && ways - 1 <= draws ? ways - 1 : 0;
}

static void resample(struct weights *w, bool paired, uint64_t *seed) {
  for (size_t k = 0; k < w->draws; k++) {
    double *weight = w->resampled + k * w->all;
    for (size_t s = 0; s < w->base; s++) {
      size_t pick = orr_timing_below(seed, w->base);
      weight[pick]++;
      if (paired)
        weight[w->base + pick]++;
    }
    for (size_t s = 0; s < w->new && !paired; s++)
      weight[w->base + orr_timing_below(seed, w->new)]++;
  }
}

/* Chance alone would deal the way that was flown again and again where there are few, and hide what all pairs say. */
static void deal(struct weights *w, bool paired, uint64_t *seed) {
  const bool every_way = paired && w->deals == ways_of(w->base, w->draws);
  for (size_t k = 0; k < w->deals; k++) {
    double *to_new = w->dealt + k * w->all;
    for (size_t s = 0; s < w->all; s++)
      to_new[s] = s >= w->base;
    for (size_t s = 0; s < w->base && paired; s++)
      if (every_way ? (k + 1) >> s & 1 : orr_timing_random(seed) >> 63) {
        to_new[s] = 1;
        to_new[w->base + s] = 0;
      }
    for (size_t s = w->all; !paired && s-- > 1;) {
      size_t other = orr_timing_below(seed, s + 1);
      double kept = to_new[s];
      to_new[s] = to_new[other];
      to_new[other] = kept;
    }
  }
}

static void close_weights(struct weights *w) {
  free(w->one);
  free(w->resampled);
  free(w->dealt);
}

static bool open_weights(struct weights *w, const struct orr_timing_options *o) {
  uint64_t seed = o->seed;
  w->all = w->base + w->new;
  w->deals = o->paired ? ways_of(w->base, w->draws) : 0;
  if (w->deals == 0)
    w->deals = w->draws;
  w->one = calloc(w->all + 1, sizeof *w->one);
  w->resampled = calloc(w->draws * w->all + 1, sizeof *w->resampled);
  w->dealt = calloc(w->deals * w->all + 1, sizeof *w->dealt);
  if (!w->one || !w->resampled || !w->dealt)
    return false;
  for (size_t s = 0; s < w->all; s++)
    w->one[s] = 1;
  resample(w, o->paired, &seed);
  deal(w, o->paired, &seed);
  return true;
}

/* ---- the interval ------------------------------------------------------------------------------------------------ */

/* 97.5 % of Student's t with `freedom` degrees, over that of the normal: an expansion of Cornish and Fisher
 * (Abramowitz and Stegun 26.7.5), good to half a percent from 6 degrees on. */
static double wider_by(double freedom) {
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
  double t = z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
  return t / z;
}

static void interval(struct orr_timing_row *row, double *difference, size_t draws, size_t slices) {
  qsort(difference, draws, sizeof *difference, by_place);
  double wider = wider_by(fmax(1, (double)slices - 1));
  row->low_ns = row->difference_ns + wider * fmin(0, difference[draws * 25 / 1000] - row->difference_ns);
  row->high_ns = row->difference_ns + wider * fmax(0, difference[draws * 975 / 1000 - 1] - row->difference_ns);
}

static void find_intervals(const struct rows *r, const struct plan *p, const struct weights *w, double *scratch) {
  double difference[MEASURES];
  for (size_t k = 0; k < w->draws; k++) {
    const double *weight = w->resampled + k * w->all;
    differ(r, p, weight, difference);
    for (size_t i = 0; i < p->count; i++)
      scratch[i * w->draws + k] = difference[i];
  }
  for (size_t i = 0; i < p->count; i++)
    interval(row_of(p, i), scratch + i * w->draws, w->draws, w->base < w->new ? w->base : w->new);
}

/* ---- chance --------------------------------------------------------------------------------------------------- */

/* The scores of every row as they were flown, and when the slices are dealt out anew: permuted[row][deals]. */
static bool permute(const struct rows *r, const struct plan *p, const struct weights *w, double *permuted,
                    const struct orr_timing_comparison *result, double *observed) {
  double scores[MEASURES], *flown = calloc(2 * r->all + 1, sizeof *flown), *other;
  if (!flown)
    return false;
  other = flown + r->all;
  for (size_t s = r->base; s < r->all; s++)
    flown[s] = 1;
  score(r, p, flown, other, scores);
  for (size_t i = 0; i < p->count; i++)
    observed[row_of(p, i) - result->row] = scores[i];
  for (size_t k = 0; k < w->deals; k++) {
    score(r, p, w->dealt + k * w->all, other, scores);
    for (size_t i = 0; i < p->count; i++)
      permuted[(size_t)(row_of(p, i) - result->row) * w->deals + k] = scores[i];
  }
  free(flown);
  return true;
}

/* In units of the scatter that a row has when slices are dealt out. The way they lie is one of the ways. */
static void scale_rows(struct orr_timing_comparison *result, double *permuted, size_t deals, double *observed) {
  for (size_t i = 0; i < result->row_count; i++) {
    double *d = permuted + i * deals, squares = observed[i] * observed[i];
    for (size_t k = 0; k < deals; k++)
      squares += d[k] * d[k];
    double scatter = sqrt(squares / ((double)deals + 1));
    for (size_t k = 0; k < deals; k++)
      d[k] = scatter > 0 ? d[k] / scatter : 0;
    observed[i] = scatter > 0 ? observed[i] / scatter : 0;
  }
}

struct ranked {
  double score; /* first: what by_place orders by */
  size_t row;
};

/* In one direction (sign): a row has to reach the largest score of those rows that do not reach higher themselves. A
 * row that is another for sure lays no claim to what chance may do (Westfall and Young's step down); the first of all
 * has to beat all. */
static void step_down(struct orr_timing_comparison *result, const double *permuted, size_t deals,
                      const struct ranked *ranked, size_t count, double sign, double *most) {
  double chance = 0;
  memset(most, 0, deals * sizeof *most);
  for (size_t i = 0; i < count; i++) {
    const double *d = permuted + ranked[i].row * deals;
    size_t as_large = 1;
    for (size_t k = 0; k < deals; k++) {
      most[k] = fmax(most[k], sign * d[k]);
      as_large += most[k] >= ranked[i].score - 1e-9;
    }
    if (ranked[i].score >= 0)
      result->row[ranked[i].row].chance = fmin(1, 2 * (double)as_large / ((double)deals + 1));
  }
  for (size_t i = count; i-- > 0 && ranked[i].score >= 0;) {
    chance = fmax(chance, result->row[ranked[i].row].chance);
    result->row[ranked[i].row].chance = chance;
  }
}

/* Of the rows that decide, and of the others: half of the alarms each, so that wild tails do not hide the rest. */
static void find_chances(struct orr_timing_comparison *result, const double *permuted, size_t deals,
                         const double *observed, double *scratch, bool decides) {
  struct ranked ranked[ORR_TIMING_ROWS_MAX] = {{0}};
  for (int way = 0; way < 2; way++) {
    double sign = way == 0 ? 1 : -1;
    size_t count = 0;
    for (size_t i = 0; i < result->row_count; i++)
      if (result->row[i].decides == decides)
        ranked[count++] = (struct ranked){sign * observed[i], i};
    qsort(ranked, count, sizeof *ranked, by_place);
    step_down(result, permuted, deals, ranked, count, sign, scratch);
  }
  for (size_t i = 0; i < result->row_count; i++)
    if (observed[i] * result->row[i].difference_ns < 0) /* the chance is of the other direction */
      result->row[i].chance = 1;
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static enum orr_timing_verdict judge_row(const struct orr_timing_row *row, double alarm, bool enough) {
  bool apart = row->low_ns > 0 || row->high_ns < 0; /* else another part of the distribution differs */
  if (enough && apart && row->chance <= alarm && fabs(row->difference_ns) >= row->counts_ns)
    return row->difference_ns > 0 ? ORR_TIMING_SLOWER : ORR_TIMING_FASTER;
  bool narrow = row->high_ns <= 2 * row->counts_ns && row->low_ns >= -2 * row->counts_ns;
  return enough && narrow ? ORR_TIMING_SAME : ORR_TIMING_NOISY;
}

static bool may_be_slower(const struct orr_timing_row *row) { return row->high_ns > 2 * row->counts_ns; }

/* Whoever may be slower is not faster, whatever other rows say. */
static void judge(struct orr_timing_comparison *result, double alarm, bool enough) {
  bool slower = false, faster = false, noisy = !enough, doubtful = noisy;
  for (size_t i = 0; i < result->row_count; i++) {
    struct orr_timing_row *row = &result->row[i];
    row->counts_ns = counting_ns(row);
    row->verdict = judge_row(row, alarm, enough);
    slower |= row->verdict == ORR_TIMING_SLOWER;
    faster |= row->verdict == ORR_TIMING_FASTER;
    noisy |= row->verdict == ORR_TIMING_NOISY && row->decides;
    doubtful |= row->verdict == ORR_TIMING_NOISY && row->decides && may_be_slower(row);
  }
  result->verdict = result->row_count == 0 ? ORR_TIMING_NOT_COMPARABLE
                    : slower               ? ORR_TIMING_SLOWER
                    : doubtful             ? ORR_TIMING_NOISY
                    : faster               ? ORR_TIMING_FASTER
                    : noisy                ? ORR_TIMING_NOISY
                                           : ORR_TIMING_SAME;
}

/* P(new > base) − P(new < base) over all samples. */
static double effect_of(const struct rows *r) {
  double *base = r->sum, *new = r->sum + r->bins, below = 0, sum = 0, total[2] = {0, 0};
  memset(r->sum, 0, 2 * r->bins * sizeof *r->sum);
  for (size_t s = 0; s < r->all; s++)
    for (size_t i = 0; i < r->bins; i++)
      (s < r->base ? base : new)[i] += r->count[s * r->bins + i];
  for (size_t i = 0; i < r->bins; i++) {
    total[0] += base[i];
    total[1] += new[i];
  }
  for (size_t i = 0; i < r->bins; i++) {
    sum += new[i] * (below - (total[0] - below - base[i]));
    below += base[i];
  }
  return total[0] > 0 && total[1] > 0 ? sum / total[0] / total[1] : 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

struct comparing {
  const struct orr_timing_set *base, *new;
  const struct orr_timing_options *options;
  struct orr_timing_comparison *result;
  struct weights weights;
  struct rows rows;
  double *permuted; /* [ORR_TIMING_ROWS_MAX][deals] */
  double *scratch;  /* [MEASURES][draws] */
  double observed[ORR_TIMING_ROWS_MAX];
};

static bool compare_name(struct comparing *c, int in_base, int in_new) {
  struct rows *r = &c->rows;
  struct orr_timing_comparison *result = c->result;
  const char *name = c->base->name[in_base];
  double ends[2][MEASURES] = {{0}}, difference[MEASURES] = {0};
  for (size_t s = 0; s < r->all; s++)
    r->name[s] = s < r->base ? in_base : in_new;
  if (fewer(r) < 1)
    return true;
  if (!open_rows(r))
    return false;
  struct plan p = plan_rows(r, name, c->options->decide > 0 ? c->options->decide : 0.99, result);
  find_own(r, &p);
  values_of(r, &p, c->weights.one, 0, r->base, ends[0]);
  values_of(r, &p, c->weights.one, r->base, r->all, ends[1]);
  differ(r, &p, c->weights.one, difference);
  for (size_t k = 0; k < p.count; k++) {
    struct orr_timing_row *row = row_of(&p, k);
    row->base_ns = ends[0][k];
    row->new_ns = ends[1][k];
    row->difference_ns = difference[k];
  }
  find_intervals(r, &p, &c->weights, c->scratch);
  bool good = permute(r, &p, &c->weights, c->permuted, result, c->observed);
  snprintf(result->name[result->name_count], ORR_TIMING_NAME, "%s", name);
  result->effect[result->name_count++] = effect_of(r);
  close_rows(r);
  return good;
}

static bool open_comparing(struct comparing *c) {
  c->weights = (struct weights){
      .base = c->base->slice_count, .new = c->new->slice_count, .draws = c->options->draws ? c->options->draws : DRAWS};
  if (!open_weights(&c->weights, c->options))
    return false;
  c->rows = (struct rows){.paired = c->options->paired, .base = c->weights.base, .all = c->weights.all};
  c->rows.slice = calloc(c->rows.all + 1, sizeof *c->rows.slice);
  c->rows.name = calloc(c->rows.all + 1, sizeof *c->rows.name);
  c->permuted = calloc(ORR_TIMING_ROWS_MAX * c->weights.deals, sizeof *c->permuted);
  c->scratch = calloc(MEASURES * c->weights.draws, sizeof *c->scratch);
  if (!c->rows.slice || !c->rows.name || !c->permuted || !c->scratch)
    return false;
  for (size_t s = 0; s < c->rows.all; s++)
    c->rows.slice[s] = s < c->rows.base ? &c->base->slice[s] : &c->new->slice[s - c->rows.base];
  return true;
}

bool orr_timing_compare(const struct orr_timing_set *base, const struct orr_timing_set *new,
                        const struct orr_timing_options *options, struct orr_timing_comparison *result) {
  struct comparing c = {.base = base, .new = new, .options = options, .result = result};
  memset(result, 0, sizeof *result);
  assert(!options->paired || base->slice_count == new->slice_count);
  bool good = open_comparing(&c);
  for (size_t i = 0; i < base->name_count && good; i++) {
    int other = orr_timing_find(new, base->name[i]);
    good = other < 0 || compare_name(&c, (int)i, other);
  }
  if (good) {
    scale_rows(result, c.permuted, c.weights.deals, c.observed);
    find_chances(result, c.permuted, c.weights.deals, c.observed, c.scratch, true);
    find_chances(result, c.permuted, c.weights.deals, c.observed, c.scratch, false);
    size_t fewest = base->slice_count < new->slice_count ? base->slice_count : new->slice_count;
    judge(result, options->alarm > 0 ? options->alarm : 0.01, fewest >= ORR_TIMING_SLICES_FEWEST);
  }
  close_weights(&c.weights);
  free(c.rows.slice);
  free(c.rows.name);
  free(c.permuted);
  free(c.scratch);
  return good;
}

const char *orr_timing_verdict_name(enum orr_timing_verdict verdict) {
  static const char *const names[] = {[ORR_TIMING_SAME] = "same",
                                      [ORR_TIMING_FASTER] = "faster",
                                      [ORR_TIMING_SLOWER] = "slower",
                                      [ORR_TIMING_NOISY] = "too noisy",
                                      [ORR_TIMING_NOT_COMPARABLE] = "not comparable"};
  return names[verdict];
}

const char *orr_timing_row_text(const struct orr_timing_row *row, char text[16]) {
  if (row->kind == ORR_TIMING_PERCENTILE)
    return orr_timing_fraction_text(row->fraction, text);
  snprintf(text, 16, "%s", row->kind == ORR_TIMING_CALM_MEAN ? "mean, calm" : "least, calm");
  return text;
}
