/* The table of a campaign with rows of any bytes, as `orrery campaign report` reads it
 * (tools/campaign/campaign_columns). What is read has a name in each column, and a finite number in each row of it or
 * none. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/steps.h"
#include "tools/campaign/campaign_columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char folder[] = "/a/campaign";
static struct orr_steps table;

/* In place of the C library's: the table is the input. */
FILE *fopen(const char *path, const char *mode) {
  if (strncmp(path, folder, strlen(folder)) == 0)
    return fmemopen((void *)(uintptr_t)table.data, table.left, "r");
  const int writes = O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
  int fd = open(path, mode[0] == 'r' ? O_RDONLY : writes, 0666);
  return fd < 0 ? NULL : fdopen(fd, mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_columns *t = calloc(1, sizeof *t);
  orr_must(t != NULL);
  table = (struct orr_steps){data, size};
  if (orr_columns_read(t, folder)) {
    orr_must(t->column_count <= ORR_COLUMNS_MOST && t->rows <= t->room);
    for (size_t i = 0; i < t->column_count; i++)
      for (size_t k = 0; k < t->rows; k++)
        orr_must(t->columns[i].name && !isinf(t->columns[i].x[k]));
    for (size_t k = 0; k < t->rows; k++)
      orr_must(memchr(t->verdicts[k], '\0', sizeof t->verdicts[k]) && isfinite(t->flights[k]));
  }
  orr_columns_free(t);
  free(t);
  return 0;
}
