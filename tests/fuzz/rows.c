/* The table of a campaign with rows of any bytes, as `orrery campaign report` reads it
 * (tools/campaign/campaign_columns). What is read has a name in each column, and a finite number in each row of it or
 * none. */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/steps.h"
#include "tools/campaign/campaign_columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char folder[] = "/a/campaign";
static struct orr_steps table;
static bool asked; /* for the table */

static int table_of_input(void) {
  int fd = memfd_create("table", MFD_CLOEXEC);
  orr_must(fd >= 0 && write(fd, table.data, table.left) == (ssize_t)table.left && lseek(fd, 0, SEEK_SET) == 0);
  asked = true;
  return fd;
}

/* In place of the C library's: the table is the input. */
int open(const char *path, int flags, ...) {
  if (strncmp(path, folder, strlen(folder)) == 0)
    return table_of_input();
  va_list rest;
  va_start(rest, flags);
  int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_columns *t = calloc(1, sizeof *t);
  orr_must(t != NULL);
  table = (struct orr_steps){data, size};
  asked = false;
  const bool read = orr_columns_read(t, folder);
  orr_must(asked);
  if (read) {
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
