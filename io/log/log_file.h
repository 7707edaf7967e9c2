/* The file of a log while it is written: records gathered in memory, written piece by piece, and closed with their
 * index.
 *
 *   orr_log_file_create → records by io/log/mcap_write into `out`, orr_log_file_flush → messages into `chunk`,
 *   orr_log_file_chunk when it is time → orr_log_file_finish; orr_log_file_close in any case
 *
 * The file on disk can be read up to its last chunk at any time. After an error nothing more is written, and `stop`
 * says why. [init], or a thread of its own: calls the kernel, and the index grows on the heap.
 */
#ifndef ORR_IO_LOG_LOG_FILE_H
#define ORR_IO_LOG_LOG_FILE_H

#include "io/log/mcap_write.h"
#include "io/log/pack.h"

enum orr_log_stop {
  ORR_LOG_GOES_ON,
  ORR_LOG_LIMIT, /* the file has reached its limit */
  ORR_LOG_SPACE, /* too little is free on the disk */
  ORR_LOG_ERROR, /* the system refused: `error` */
  ORR_LOG_GONE,  /* the file was removed from outside */
  ORR_LOG_SPOILT /* another process cut the file short */
};

/* What is kept free on a disk. */
#define ORR_LOG_KEEP_FREE UINT64_C(1000000000)

/* [any] In words; `error` is an errno, of ORR_LOG_ERROR. */
const char *orr_log_stop_text(enum orr_log_stop stop, int error);

struct orr_log_file {
  int fd;
  enum orr_log_stop stop;
  int error;          /* errno, of ORR_LOG_ERROR */
  uint64_t limit;     /* bytes; 0: none */
  uint64_t keep_free; /* bytes of the disk */
  uint64_t whole;     /* bytes on the disk up to the last whole chunk */
  struct orr_mcap_bytes out;
  struct orr_mcap_chunk chunk;
  struct orr_mcap_index *index, *before; /* `before`: as it was when all was on the disk */
  struct orr_crc32 crc;
  struct orr_packer *packer; /* of the caller, gone with the file; NULL: chunks are as they are */
};

/* [init] A new file, which must not exist yet; chunks of at most `chunk_bytes` of records. False with errno. */
bool orr_log_file_create(struct orr_log_file *file, const char *path, size_t chunk_bytes);
/* [init] The same over the descriptor of an existing file, from `at` on. */
void orr_log_file_over(struct orr_log_file *file, int fd, uint64_t at, size_t chunk_bytes);

/* Makes room for `size` more bytes in `out`; writes out what is there if it must. */
bool orr_log_file_room(struct orr_log_file *file, size_t size);
/* Writes out `out`. */
bool orr_log_file_flush(struct orr_log_file *file);
/* Closes the chunk, where it has messages, and writes it. */
bool orr_log_file_chunk(struct orr_log_file *file);
/* The last chunk, the index and the end. After an error the file is first cut back to its last whole chunk. False where
 * the end could not be written: the file then has no index, as one that was cut. */
bool orr_log_file_finish(struct orr_log_file *file);
void orr_log_file_close(struct orr_log_file *file);

/* [any] A list of the index gets more memory. */
void orr_log_index_grow(struct orr_mcap_index *index);

#endif
