#include "io/config/text/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *orr_files_beside(struct orr_files *f, const char *path, const char *beside) {
  const char *slash = beside && path[0] != '/' ? strrchr(beside, '/') : NULL;
  if (!slash)
    return path;
  return orr_arena_format(f->reader->arena, "%.*s/%s", (int)(slash - beside), beside, path);
}

static const char *identify(struct orr_files *f, const char *path) {
  char *real = f->memory_count ? NULL : realpath(path, NULL);
  const char *identity = orr_arena_copy(f->reader->arena, real ? real : path, strlen(real ? real : path));
  free(real);
  return identity;
}

/* The whole of a stream, and a zero; once it has more than `most` bytes nothing more is read. NULL with errno. */
static char *read_stream(FILE *in, size_t most, size_t *length) {
  size_t room = 1 << 16;
  char *text = malloc(room + 1);
  *length = 0;
  while (text && *length <= most) {
    *length += fread(text + *length, 1, room - *length, in);
    if (*length < room)
      break;
    char *larger = realloc(text, (room *= 2) + 1);
    if (!larger)
      free(text);
    text = larger;
  }
  if (text && ferror(in)) {
    int error = errno;
    free(text);
    text = NULL;
    errno = error;
  }
  if (text)
    text[*length] = '\0';
  return text;
}

FILE *orr_text_open(const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool fifo = fd >= 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && strncmp(path, "/dev/", 5) != 0;
  int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
  FILE *in = fifo || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ? NULL : fdopen(fd, "rb");
  int error = fifo ? 0 : errno;
  if (!in && fd >= 0)
    close(fd);
  errno = error;
  return in;
}

/* As orr_text_load, but with what stands there of a text that is too long. */
static char *load(const char *path, size_t most, size_t *length) {
  errno = 0;
  FILE *in = orr_text_open(path);
  if (!in)
    return NULL;
  char *text = read_stream(in, most, length);
  int error = errno;
  fclose(in);
  errno = error;
  return text;
}

char *orr_text_load(const char *path, size_t most, size_t *length) {
  char *text = load(path, most, length);
  if (!text || *length <= most)
    return text;
  free(text);
  errno = EFBIG;
  return NULL;
}

const char *orr_text_trouble(int error) {
  return error ? strerror(error) : "it is a FIFO, which may never end: give a file, or feed it as /dev/stdin";
}

static const char *read_disk(struct orr_files *f, const char *path, size_t *length) {
  char *text = load(path, ORR_YAML_LONGEST, length);
  const char *kept = text ? orr_arena_copy(f->reader->arena, text, *length) : NULL;
  int error = errno;
  free(text);
  errno = error;
  return kept;
}

static const char *read_memory(struct orr_files *f, const char *path, size_t *length) {
  for (size_t i = 0; i < f->memory_count; i++)
    if (strcmp(f->memory[i].name, path) == 0) {
      *length = f->memory[i].length;
      return f->memory[i].text;
    }
  errno = ENOENT;
  return NULL;
}

static const char *read_text(struct orr_files *f, const char *path, size_t *length) {
  bool disk = !f->memory_count || (f->from_disk && strcmp(path, f->from_disk) == 0);
  return disk ? read_disk(f, path, length) : read_memory(f, path, length);
}

static void report_unread(struct orr_files *f, const char *path, orr_source from) {
  orr_report(f->reader->diagnostics, ORR_ERROR, from, "cannot-read", "cannot read '%.200s': %s", path,
             orr_text_trouble(errno));
}

static const struct orr_yaml *parse(struct orr_files *f, const char *path, orr_source from) {
  size_t length;
  const char *text = read_text(f, path, &length);
  if (!text) {
    report_unread(f, path, from);
    return NULL;
  }
  struct orr_sources *sources = orr_diagnostics_sources(f->reader->diagnostics);
  if (from) {
    struct orr_location l = orr_sources_get(sources, from);
    l.kind = ORR_VIA_INCLUDE;
    from = orr_sources_add(sources, l);
  }
  uint32_t file = orr_sources_add_file(sources, path, text, length);
  return orr_yaml_parse(f->reader->diagnostics, file, from, text, length);
}

const struct orr_file *orr_files_open(struct orr_files *f, const char *path, const char *beside, orr_source from) {
  path = orr_files_beside(f, path, beside);
  const char *identity = identify(f, path);
  int32_t known = orr_names_find(&f->known, identity);
  if (known != ORR_NAME_NONE)
    return f->opened[known];
  if (f->count == f->room)
    f->opened = orr_arena_grow(f->reader->arena, f->opened, f->count, sizeof *f->opened, &f->room);
  orr_names_add(&f->known, f->reader->arena, identity, (int32_t)f->count);
  struct orr_file *file = f->opened[f->count++] = orr_arena_alloc(f->reader->arena, 1, sizeof *file);
  *file = (struct orr_file){.path = path, .identity = identity};
  file->root = parse(f, path, from);
  return file;
}

bool orr_files_text(struct orr_files *f, const char *path, const char *beside, orr_source from, const char **text,
                    size_t *length) {
  path = orr_files_beside(f, path, beside);
  *text = read_text(f, path, length);
  if (!*text) {
    report_unread(f, path, from);
    return false;
  }
  orr_sources_add_file(orr_diagnostics_sources(f->reader->diagnostics), path, *text, *length);
  return true;
}
