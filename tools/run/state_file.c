#include "tools/run/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/session/saved_state.h"
#include "tools/common/out_file.h"
#include "tools/common/version.h"

enum { SLACK = 64 << 20 }; /* read of a file that is larger than a state of this run: enough to say what it is */

bool orr_state_file_save(const char *path, const struct orr_session *s) {
  const struct orr_state_head head = orr_saved_state_head(s, orr_version_build());
  size_t count = orr_state_record_words(&head);
  uint64_t *record = calloc(count, sizeof *record);
  struct orr_out_file file;
  if (!record)
    abort();
  orr_saved_state_take(s, &head, record);
  bool good = orr_out_file_open(&file, path);
  if (good) {
    good = fwrite(record, sizeof *record, count, file.out) == count;
    good = orr_out_file_close(&file, good) && good;
  }
  if (!good)
    fprintf(stderr, "orrery run: cannot write the state to '%s': %s\n", path, strerror(errno));
  free(record);
  return good;
}

/* So many bytes and no more; NULL with errno, or with 0 where there were fewer. */
static void *read_bytes(int fd, size_t size) {
  char *bytes = malloc(size + 1);
  size_t have = 0;
  ssize_t got = 1;
  if (!bytes)
    abort();
  while (have < size && (got = read(fd, bytes + have, size - have)) > 0)
    have += (size_t)got;
  if (have == size)
    return bytes;
  if (got == 0)
    errno = 0;
  free(bytes);
  return NULL;
}

/* A state of this session has a size that is known, so no more than a little beyond is read of a larger file. */
static void *read_record(const char *path, size_t most, size_t *size, char *wrong, size_t room) {
  struct stat there;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not be waited for */
  void *bytes = NULL;
  wrong[0] = '\0';
  if (fd < 0 || fstat(fd, &there) != 0)
    snprintf(wrong, room, "%s", strerror(errno));
  else if (!S_ISREG(there.st_mode))
    snprintf(wrong, room, "it is not a regular file");
  else {
    *size = there.st_size > (off_t)most ? most : (size_t)there.st_size;
    bytes = read_bytes(fd, *size);
    if (!bytes)
      snprintf(wrong, room, "%s", errno ? strerror(errno) : "it was cut off while it was read");
  }
  if (fd >= 0)
    close(fd);
  return bytes;
}

static void judge(const void *bytes, size_t size, struct orr_session *s, char *wrong, size_t room) {
  struct orr_state_record record;
  enum orr_state_fault fault = orr_state_record_open(bytes, size, &record);
  const char *text = fault != ORR_STATE_GOOD ? orr_state_fault_text(fault) : orr_saved_state_unfit(s, &record);
  if (!text && strcmp(record.head.build, orr_version_build()) != 0) {
    snprintf(wrong, room,
             "another build saved it (%s), whose numbers this one (%s) need not have: save it anew with this one",
             record.head.build, orr_version_build());
    return;
  }
  text = text ? text : orr_saved_state_put(s, &record);
  if (text)
    snprintf(wrong, room, "%s", text);
}

bool orr_state_file_load(const char *path, struct orr_session *s) {
  const struct orr_state_head own = orr_saved_state_head(s, "");
  char wrong[2 * ORR_STATE_BUILD + 160];
  size_t size = 0, most = 8 * orr_state_record_words(&own) + SLACK;
  void *bytes = read_record(path, most, &size, wrong, sizeof wrong);
  if (bytes)
    judge(bytes, size, s, wrong, sizeof wrong);
  free(bytes);
  if (wrong[0])
    fprintf(stderr, "orrery run: cannot start from '%s': %s\n", path, wrong);
  return !wrong[0];
}
