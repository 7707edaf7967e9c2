/* Two sets of slices, row by row: has NEW become slower than BASE, or faster, is it the same, or can nobody say?
 *
 * A row is a percentile of a distribution, or of a stage the mean and the least of its frames that nothing came into.
 *   difference  NEW − BASE, turned so that more is worse: of all samples of a side together; of slices that were flown
 *               in turn the median of what the pairs differ by, where every slice has the row by itself
 *   interval    resampled: slices are drawn with replacement, from each side by itself, or in pairs (a bootstrap over
 *               slices; Efron and Tibshirani, "An Introduction to the Bootstrap", 1993), 95 %, widened by Student's t
 *               over the normal for the number of slices
 *   chance      permuted: if both were the same, it would not matter which slice belongs to whom. The largest of all
 *               rows' differences, each in units of its own scatter, over random ways to deal the slices out, is what a
 *               row must reach (Westfall and Young, "Resampling-Based Multiple Testing", 1993); where so few are paired
 *               that all ways can be walked, each once. The row that differs most has to beat all rows, the next one
 *               all but that (their step down). Of percentiles that every slice has by itself, averages over slices are
 *               looked at. So the chance that any row of a whole comparison raises a false alarm
 *               is `alarm`, whatever the distributions
 *   verdict     slower, faster   not by chance, no less than what counts, and the interval is to one side of 0
 *               same             the interval holds nothing as large as twice what counts
 *               too noisy        neither: more slices may tell
 *               not comparable   no row: no distribution has samples in both
 * Deterministic: the same slices give the same numbers. [init]
 */
#ifndef ORR_TOOLS_TIMING_TIMING_VERDICT_H
#define ORR_TOOLS_TIMING_TIMING_VERDICT_H

#include "tools/timing/timing_slices.h"

enum orr_timing_verdict {
  ORR_TIMING_SAME,
  ORR_TIMING_FASTER,
  ORR_TIMING_SLOWER,
  ORR_TIMING_NOISY,
  ORR_TIMING_NOT_COMPARABLE
};

/* Below this many on a side, too few ways to deal them out are left for any certainty. */
enum { ORR_TIMING_SLICES_FEWEST = 8 };

enum orr_timing_row_kind { ORR_TIMING_PERCENTILE, ORR_TIMING_CALM_MEAN, ORR_TIMING_CALM_LEAST };

struct orr_timing_row {
  char name[ORR_TIMING_NAME]; /* of the distribution */
  enum orr_timing_row_kind kind;
  double fraction;                       /* of ORR_TIMING_PERCENTILE */
  bool decides;                          /* that it is too noisy makes the whole comparison so */
  double base_ns, new_ns, difference_ns; /* more is worse */
  double low_ns, high_ns;                /* the interval of the difference */
  double counts_ns;                      /* the least difference that counts */
  double chance;                         /* of such a row, or a larger one, in a comparison of what is the same */
  enum orr_timing_verdict verdict;
};

enum { ORR_TIMING_ROWS_MAX = ORR_TIMING_NAMES_MAX * 8 };

struct orr_timing_comparison {
  size_t row_count;
  struct orr_timing_row row[ORR_TIMING_ROWS_MAX];
  size_t name_count;
  char name[ORR_TIMING_NAMES_MAX][ORR_TIMING_NAME]; /* in both */
  /* Of a sample of each: how much more often NEW's is the larger one than BASE's, −1 … 1 (Cliff's delta) */
  double effect[ORR_TIMING_NAMES_MAX];
  enum orr_timing_verdict verdict;
};

struct orr_timing_options {
  bool paired;   /* slice i of BASE flew beside slice i of NEW */
  double alarm;  /* the chance of a false alarm; 0: one in a hundred */
  double decide; /* rows decide up to this percentile; 0: 0.99 */
  size_t draws;  /* of resamples, and of permutations; 0: two thousand */
  uint64_t seed;
};

/* Without a distribution that has samples in both, they are not comparable. False: no memory.
 * O(names · (resamples + permutations) · slices · bins). */
bool orr_timing_compare(const struct orr_timing_set *base, const struct orr_timing_set *new,
                        const struct orr_timing_options *options, struct orr_timing_comparison *result);

/* Whether more of the distribution's values is better: slack. */
bool orr_timing_more_is_better(const char *name);

/* "slower", "too noisy", … and of a row "p99", "mean, calm", "least, calm". */
const char *orr_timing_verdict_name(enum orr_timing_verdict verdict);
const char *orr_timing_row_text(const struct orr_timing_row *row, char text[16]);

#endif
