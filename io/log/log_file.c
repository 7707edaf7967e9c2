#include "io/log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ENTRY_BYTES = 64, FIRST_LIST = 16384 };

static void *memory(void *old, size_t bytes) {
  void *block = realloc(old, bytes);
  if (!block) {
    fprintf(stderr, "orrery: no memory for %zu bytes\n", bytes);
    abort();
  }
  return block;
}

void orr_log_index_grow(struct orr_mcap_index *index) {
  enum orr_mcap_list list;
  while (orr_mcap_index_full(index, &list)) {
    struct orr_mcap_bytes *b = &index->lists[list];
    b->room = b->room ? 2 * b->room : FIRST_LIST;
    b->bytes = memory(b->bytes, b->room);
    b->full = false;
  }
}

void orr_log_file_over(struct orr_log_file *f, int fd, uint64_t at, size_t chunk_bytes) {
  *f = (struct orr_log_file){.fd = fd, .whole = at};
  orr_crc32_init(&f->crc);
  f->index = memory(NULL, sizeof *f->index);
  f->before = memory(NULL, sizeof *f->before);
  memset(f->index, 0, sizeof *f->index);
  for (int i = 0; i < ORR_MCAP_LISTS; i++)
    f->index->lists[i] = (struct orr_mcap_bytes){.bytes = memory(NULL, FIRST_LIST), .room = FIRST_LIST};
  f->chunk.entry_room = chunk_bytes / ENTRY_BYTES + 64;
  f->chunk.records = (struct orr_mcap_bytes){.bytes = memory(NULL, chunk_bytes), .room = chunk_bytes};
  f->chunk.entries = memory(NULL, f->chunk.entry_room * sizeof *f->chunk.entries);
  f->out.room = 2 * chunk_bytes + ((size_t)1 << 17);
  f->out.bytes = memory(NULL, f->out.room);
  f->out.at = at;
}

bool orr_log_file_create(struct orr_log_file *f, const char *path, size_t chunk_bytes) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return false;
  orr_log_file_over(f, fd, 0, chunk_bytes);
  return true;
}

const char *orr_log_stop_text(enum orr_log_stop stop, int error) {
  static const char *const words[] = {[ORR_LOG_GOES_ON] = "the disk was behind",
                                      [ORR_LOG_LIMIT] = "the file is as large as 'limit' allows",
                                      [ORR_LOG_SPACE] = "less than 1 GB is free on the disk",
                                      [ORR_LOG_GONE] = "the file was removed",
                                      [ORR_LOG_SPOILT] = "another program cut the file short"};
  return stop == ORR_LOG_ERROR ? strerror(error) : words[stop];
}

static bool stop(struct orr_log_file *f, enum orr_log_stop why, int error) {
  if (f->stop == ORR_LOG_GOES_ON) {
    f->stop = why;
    f->error = error;
  }
  return false;
}

/* What is written into a file without a name is lost when it is closed, and behind a cut it cannot be read: whatever
 * stopped the log before, this is worse. */
static bool is_there(struct orr_log_file *f) {
  struct stat file;
  if (fstat(f->fd, &file) != 0)
    return stop(f, ORR_LOG_ERROR, errno);
  if (file.st_nlink == 0)
    f->stop = ORR_LOG_GONE;
  else if ((uint64_t)file.st_size < f->whole)
    f->stop = ORR_LOG_SPOILT;
  return f->stop != ORR_LOG_GONE && f->stop != ORR_LOG_SPOILT;
}

static bool has_room(struct orr_log_file *f, size_t more) {
  struct statvfs disk;
  if (f->limit && f->out.at + more > f->limit)
    return stop(f, ORR_LOG_LIMIT, 0);
  if (f->keep_free && fstatvfs(f->fd, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < f->keep_free + more)
    return stop(f, ORR_LOG_SPACE, 0);
  return true;
}

static bool write_all(struct orr_log_file *f) {
  size_t done = 0;
  while (done < f->out.used) {
    ssize_t n = pwrite(f->fd, f->out.bytes + done, f->out.used - done, (off_t)(f->out.at + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return stop(f, ORR_LOG_ERROR, n < 0 ? errno : ENOSPC);
    done += (size_t)n;
  }
  f->out.at += f->out.used;
  f->out.used = 0;
  return true;
}

bool orr_log_file_flush(struct orr_log_file *f) {
  if (f->stop != ORR_LOG_GOES_ON)
    return false;
  if (f->out.used == 0)
    return true;
  if (!is_there(f) || !has_room(f, f->out.used) || !write_all(f))
    return false;
  f->whole = f->out.at;
  return true;
}

bool orr_log_file_room(struct orr_log_file *f, size_t size) {
  if (f->out.room - f->out.used >= size)
    return true;
  if (!orr_log_file_flush(f))
    return false;
  if (f->out.room < size) {
    f->out.room = size;
    f->out.bytes = memory(f->out.bytes, size);
  }
  return true;
}

/* The index names only what is on the disk. */
static void take_back(struct orr_log_file *f) {
  f->index->statistics = f->before->statistics;
  memcpy(f->index->messages, f->before->messages, sizeof f->index->messages);
  f->index->lists[ORR_MCAP_LIST_CHUNKS].used = f->before->lists[ORR_MCAP_LIST_CHUNKS].used;
  f->out.used = 0;
  f->out.at = f->whole;
}

bool orr_log_file_chunk(struct orr_log_file *f) {
  if (f->stop != ORR_LOG_GOES_ON)
    return false;
  if (f->chunk.entry_count == 0)
    return orr_log_file_flush(f);
  struct orr_mcap_text packed = {(const char *)f->chunk.records.bytes, f->chunk.records.used};
  if (f->packer)
    packed = orr_pack(f->packer, f->chunk.records.bytes, f->chunk.records.used);
  size_t size = orr_mcap_chunk_size(&f->chunk, packed.size);
  if (!orr_log_file_room(f, size) || !has_room(f, f->out.used + size))
    return false;
  memcpy(f->before, f->index, sizeof *f->index);
  while (!orr_mcap_chunk_close(&f->chunk, &f->out, f->index, &f->crc, f->packer ? "zstd" : "", &packed))
    orr_log_index_grow(f->index);
  if (orr_log_file_flush(f))
    return true;
  take_back(f);
  return false;
}

/* The end may go beyond the limit, and into what is kept free: it is small, and the file is of little use without it.
 * */
bool orr_log_file_finish(struct orr_log_file *f) {
  orr_log_file_chunk(f);
  bool stopped = f->stop != ORR_LOG_GOES_ON;
  if (!is_there(f))
    return false;
  if (stopped && ftruncate(f->fd, (off_t)f->whole) != 0)
    return false;
  if (f->whole == 0)
    return false; /* not even the head could be written */
  size_t size = orr_mcap_finish_size(f->index);
  if (f->out.room < size) {
    f->out.bytes = memory(f->out.bytes, size);
    f->out.room = size;
  }
  orr_mcap_finish(&f->out, f->index, &f->crc);
  if (write_all(f))
    return true;
  if (ftruncate(f->fd, (off_t)f->whole) != 0)
    f->error = f->error ? f->error : errno;
  return false;
}

void orr_log_file_close(struct orr_log_file *f) {
  if (!f->index)
    return;
  for (int i = 0; i < ORR_MCAP_LISTS; i++)
    free(f->index->lists[i].bytes);
  free(f->index);
  free(f->before);
  free(f->chunk.records.bytes);
  free(f->chunk.entries);
  free(f->out.bytes);
  orr_packer_destroy(f->packer);
  if (f->fd >= 0)
    close(f->fd);
  *f = (struct orr_log_file){.fd = -1};
}
