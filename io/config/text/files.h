/* The files of one reading: each is read and parsed once, from disk or from memory. [init]; one thread at a time. */
#ifndef ORR_IO_CONFIG_TEXT_FILES_H
#define ORR_IO_CONFIG_TEXT_FILES_H

#include <stdio.h>

#include "io/config/text/names.h"
#include "io/config/text/reader.h"

struct orr_file {
  const char *path;            /* as messages show it */
  const char *identity;        /* the same for every way to name the file */
  const struct orr_yaml *root; /* NULL when it could not be read: that was reported */
};

struct orr_files {
  struct orr_reader *reader;
  const struct orr_text_file *memory; /* [memory_count]; when there are any, the disk is not touched */
  size_t memory_count;
  const char *from_disk;    /* a file that is read from the disk all the same; or NULL */
  struct orr_names known;   /* identity → index */
  struct orr_file **opened; /* [count] */
  size_t count, room;
};

/* [init] Reads a file named on the command line (`from` 0) or in another file (`from` the place that names it, relative
 * to `beside`, that file's path). Never NULL. */
const struct orr_file *orr_files_open(struct orr_files *files, const char *path, const char *beside, orr_source from);

/* [init] The path of a file that another one names: relative to `beside`, that one's path. The arena's, or `path`. */
const char *orr_files_beside(struct orr_files *files, const char *path, const char *beside);

/* [init] A file's bytes as they are, for tables that are no YAML; false after reporting. The memory is the arena's, or
 * the caller's for files in memory. The file counts among the sources, so that a log of the run holds it. */
bool orr_files_text(struct orr_files *files, const char *path, const char *beside, orr_source from, const char **text,
                    size_t *length);

/* [init] For files that no reader of this room reads, wherever they come from.
 *
 * Opens one for reading. A FIFO that nobody writes to is waited for without end, so one is taken only where the shell
 * has put it there (/dev/stdin, /dev/fd/63): those have their writer. NULL with errno; 0: it is a FIFO. */
FILE *orr_text_open(const char *path);

/* [init] The bytes of one, and a zero, to be freed. NULL with errno: 0 as above, EFBIG where it has more than `most`
 * bytes, of which no more than twice that many were ever held. */
char *orr_text_load(const char *path, size_t most, size_t *length);

/* [any] What such an errno means, in words. */
const char *orr_text_trouble(int error);

#endif
