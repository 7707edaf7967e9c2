/* A file that a command writes. It is written under another name beside its place and renamed when it is whole, so that
 * a full disk or a killed run leaves the old file as it was.
 *
 *   orr_out_file_open → write to `out` → orr_out_file_close
 *
 * What is no regular file (/dev/null, a pipe) is written directly, and so is a file in a folder where no new file can
 * be made, and one that is deleted already (/dev/stdout may lead to it). A symbolic link stays: the file that it points
 * to is replaced. The new file keeps the old one's mode.
 * [init] */
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

/* Whether orr_out_file_open would succeed now; leaves what stands there as it is. False with errno. */
bool orr_out_file_may(const char *path);

/* With `keep`, and when everything was written, the new file replaces the old one. Else it is deleted and the old one
 * stays. False with errno where not everything could be written. */
bool orr_out_file_close(struct orr_out_file *file, bool keep);

#endif
