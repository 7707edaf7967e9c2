/* Runs a fuzz target over its corpus without a fuzzer, so that every kept input is tried wherever gcc is; prints TAP.
 *
 *   NAME-replay [CORPUS]     the corpus is tests/fuzz/corpus/NAME unless given
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *d) { return d->d_name[0] != '.'; }

static int run_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0)
    return 0;
  long size = ftell(f);
  rewind(f);
  /* exactly as large as the input, so that the sanitizer sees a read beyond its end */
  uint8_t *data = size >= 0 ? malloc(size ? (size_t)size : 1) : NULL;
  int ok = data && fread(data, 1, (size_t)size, f) == (size_t)size;
  if (ok)
    LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  fclose(f);
  return ok;
}

static void default_corpus(char out[PATH_SIZE], const char *program) {
  const char *slash = strrchr(program, '/');
  const char *name = slash ? slash + 1 : program;
  snprintf(out, PATH_SIZE, "tests/fuzz/corpus/%.*s", (int)(strlen(name) - strlen("-replay")), name);
}

int main(int argc, char **argv) {
  char corpus[PATH_SIZE], path[2 * PATH_SIZE];
  struct dirent **entries;
  if (argc > 1)
    snprintf(corpus, sizeof corpus, "%s", argv[1]);
  else
    default_corpus(corpus, argv[0]);
  int n = scandir(corpus, &entries, is_visible, alphasort);
  int ran = 0;
  printf("1..1\n");
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s", corpus, entries[i]->d_name);
    printf("# %s\n", path);
    fflush(stdout); /* the last line names the input of a crash */
    ran += run_file(path);
    free(entries[i]);
  }
  if (n >= 0)
    free(entries);
  int good = n > 0 && ran == n;
  printf("%s 1 - %d of %d inputs of %s\n", good ? "ok" : "not ok", ran, n, corpus);
  return !good;
}
