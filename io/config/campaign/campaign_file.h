/* Reads a campaign file (conventions, "Campaigns"): a run file flown many times, what varies between the flights, what
 * is kept of them, and what must hold over all.
 *
 *   orr_campaign_load → use it while the diagnostics live. [init]; one thread at a time.
 *
 * What a file says of the numbers that vary is judged by the reader of run files, for it alone knows units and ranges:
 * orr_campaign_load lays the middle and the ends of each over the run file and reads that.
 */
#ifndef ORR_IO_CONFIG_CAMPAIGN_CAMPAIGN_FILE_H
#define ORR_IO_CONFIG_CAMPAIGN_CAMPAIGN_FILE_H

#include "io/config/run/run_file.h"
#include "io/config/text/files.h"

enum {
  ORR_CAMPAIGN_VARIED = 60,         /* paths that may vary: settings of a run that are left for others */
  ORR_CAMPAIGN_SOBOL = 40,          /* dimensions of the sequence of Sobol */
  ORR_CAMPAIGN_FLIGHTS = 100000000, /* most flights */
};

enum orr_campaign_sampling {
  ORR_SAMPLING_MONTE_CARLO,
  ORR_SAMPLING_LATIN_HYPERCUBE,
  ORR_SAMPLING_SOBOL,
  ORR_SAMPLING_GRID,
  ORR_SAMPLING_LIST
};
extern const char *const orr_sampling_names[];

enum orr_campaign_law {
  ORR_LAW_EACH,    /* a seed of its own: a whole number below 2^53 */
  ORR_LAW_NORMAL,  /* mean, standard deviation */
  ORR_LAW_UNIFORM, /* low, high */
  ORR_LAW_LOG_UNIFORM,
  ORR_LAW_TRIANGULAR, /* low, most likely, high */
  ORR_LAW_ONE_OF,     /* one of the texts */
  ORR_LAW_JOINT,      /* one of a group of correlated normals */
};

/* One path that varies. Numbers are SI. */
struct orr_campaign_vary {
  const char *path;    /* as the file has it: sensors.gyro.bias[0] */
  const char *setting; /* as a setting has it: sensors.gyro.bias.0 */
  enum orr_campaign_law law;
  double number[3];
  double low, high; /* `within`; ∓∞ where there is none */
  bool is_time;     /* whole nanoseconds */
  int dimension;    /* of the space that is sampled; −1: none */
  int text_count;
  const char *const *texts;  /* one_of: as the file writes them */
  const double *text_values; /* [text_count] SI; NaN: no number */
  const double *factor;      /* joint: row of the Cholesky factor of the covariance, [dimension − joint_first + 1] */
  int joint_first;           /* joint: dimension of the first of its group */
  const char *unit;          /* as the file writes it with the first number; "" */
  orr_source source;
};

enum orr_campaign_measure_kind { ORR_KEPT_MAX, ORR_KEPT_RMS, ORR_KEPT_FINAL, ORR_KEPT_SETTLING };
extern const char *const orr_kept_names[];

/* A number of a flight: of each number of each channel that fits. */
struct orr_campaign_measure {
  enum orr_campaign_measure_kind kind;
  const char *pattern;
  const char *tolerance; /* settling: as the file writes it */
  double tolerance_si;
  orr_source source;
};

/* `keep.channels`, `keep.logs`: of which flights. */
struct orr_campaign_chosen {
  const char *patterns; /* with commas between; NULL: all that devices and pointing tell and take */
  const char *rate;     /* of the rows; NULL: each frame */
  int64_t worst;        /* the flights with the least margins */
  bool failed;          /* those that have not passed */
  bool wanted;
};

struct orr_campaign_expect {
  double share;
  const char *meets; /* an expectation of the run, by name or subject; NULL: all, the flight passes */
  double confidence; /* 0: the share of those that were flown */
  orr_source source;
};

struct orr_campaign_variable {
  const char *name;
  int vary; /* which one it has the value of */
};

struct orr_campaign {
  const char *path;     /* of the campaign file */
  const char *run_path; /* of the run file */
  int64_t flights;
  uint64_t seed;
  enum orr_campaign_sampling sampling;
  int vary_count, dimensions;
  const struct orr_campaign_vary *varies; /* [vary_count] */
  int measure_count;
  const struct orr_campaign_measure *measures;
  const char *envelopes; /* patterns of channels; NULL: none */
  int64_t envelope_points;
  struct orr_campaign_chosen channels, logs;
  int expect_count;
  const struct orr_campaign_expect *expects;
  int64_t wall_ns;      /* most time of a flight; 0: any */
  int64_t memory_mb;    /* most memory of a flight; 0: any */
  const char *software; /* a command for the shell; NULL: batch flights */
  int variable_count;
  const struct orr_campaign_variable *variables;
  int base_count;
  const char *const *bases; /* settings before those of a flight: lists that the run file leaves out, item by item */
  const struct orr_run *nominal; /* the run file as it is */
};

extern const struct orr_mapping orr_campaign_file_mapping;

/* [init] NULL when anything is wrong: every mistake is then among the diagnostics. Cost as orr_run_load, some three
 * times for each path that varies. Of the options (or NULL) the files in memory count. */
const struct orr_campaign *orr_campaign_load(const char *path, const struct orr_config_options *options,
                                             struct orr_diagnostics *diagnostics);

/* [any] How a value stands in a run file. `text` is cut where it does not fit; returns it. */
enum { ORR_CAMPAIGN_VALUE = 160 };
const char *orr_campaign_value(const struct orr_campaign_vary *vary, double value, char text[ORR_CAMPAIGN_VALUE]);

#endif
