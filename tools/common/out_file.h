/* A file that a command leaves: written beside its place and renamed when it is whole, so that a full disk, or a run
 * that is killed, leaves what stood there before.
 *
 *   orr_out_file_open → write to `out` → orr_out_file_close
 *
 * What is no regular file (/dev/null, a pipe), and a file in a folder where no other may be made, is written in its
 * place. A symbolic link stays one: what it leads to is replaced. The new file keeps the old one's mode. [init] */
#ifndef ORR_TOOLS_COMMON_OUT_FILE_H
#define ORR_TOOLS_COMMON_OUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct orr_out_file {
  FILE *out; /* NULL: not open */
  char path[PATH_MAX], beside[PATH_MAX];
};

/* False with errno. */
bool orr_out_file_open(struct orr_out_file *file, const char *path);

/* With `keep` and when everything was written the file takes its place, else it is gone and the old one stands. False
 * with errno where not everything could be written. */
bool orr_out_file_close(struct orr_out_file *file, bool keep);

#endif
