/* The benches of `orrery bench`, a file each: tools/bench/<name>.c. [init] */
#ifndef ORR_TOOLS_BENCH_BENCH_H
#define ORR_TOOLS_BENCH_BENCH_H

#include <jansson.h>
#include <stdbool.h>

struct orr_bench {
  const char *name;    /* --NAME picks it */
  const char *summary; /* one line */
  /* Measures, prints a table to stdout unless `json` is given, which it fills instead. Arguments after --NAME that
   * belong to it. Returns an exit status. */
  int (*run)(int argc, char **argv, json_t *json);
};

/* Nanoseconds of CLOCK_MONOTONIC. */
double orr_bench_now_ns(void);

/* Minimum and median of `count` samples; sorts them. */
struct orr_bench_stat {
  double min, median;
};
struct orr_bench_stat orr_bench_stat(double *samples, int count);

#endif
