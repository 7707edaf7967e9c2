/* The table of a campaign's folder as columns of numbers. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_COLUMNS_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { ORR_COLUMNS_MOST = 400 };

struct orr_column {
  char *name;
  bool is_input; /* a value that varied; else an outcome */
  double *x;     /* [rows] */
};

struct orr_columns {
  struct orr_column columns[ORR_COLUMNS_MOST];
  size_t column_count, rows, room;
  double *flights;
  char (*verdicts)[16];
  bool left_out; /* columns for which there was no room */
};

/* Of table.jsonl, into a zeroed one. False where there is none. */
bool orr_columns_read(struct orr_columns *columns, const char *folder);
void orr_columns_free(struct orr_columns *columns);

/* Each line of a file of the folder as JSON. False where there is no such file. */
bool orr_columns_each_line(const char *folder, const char *name, void *to, void (*take)(void *to, json_t *row));

/* Writes them as HDF5: /flight and /verdict, and a dataset for each column below /values and /outcomes, with its name,
 * in which a | stands for a slash. False after a message: libhdf5 is loaded when this is asked for. */
bool orr_columns_hdf5(const char *folder, const char *path);

#endif
