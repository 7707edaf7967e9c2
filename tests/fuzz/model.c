/* Reads a model file made of any bytes. Lines `#%%` cut the input into up to four files: model.yaml, then a.yaml,
 * b.yaml and c.yaml, which may be included. Whatever the bytes say, there is either a description that can be summed
 * up, or an error, and every message can be printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/block.h"
#include "core/model/massprops.h"
#include "core/model/validate.h"
#include "io/config/spacecraft/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FILES = 4 };

static const char mark[] = "\n#%%\n";

/* Each file in memory of its own, so that the sanitizer sees a read beyond its end. */
static size_t cut(const uint8_t *data, size_t size, struct orr_text_file files[MOST_FILES]) {
  static const char *const names[MOST_FILES] = {"model.yaml", "a.yaml", "b.yaml", "c.yaml"};
  const char *rest = (const char *)data, *end = rest + size;
  size_t count = 0;
  while (count < MOST_FILES && rest) {
    const char *next =
        count + 1 < MOST_FILES && rest < end ? memmem(rest, (size_t)(end - rest), mark, strlen(mark)) : NULL;
    size_t length = (size_t)((next ? next : end) - rest);
    char *text = malloc(length ? length : 1);
    if (!text)
      abort();
    memcpy(text, rest, length);
    files[count] = (struct orr_text_file){names[count], text, length};
    count++;
    rest = next ? next + strlen(mark) : NULL;
  }
  return count;
}

/* What is read without an error is whole: core judges it again and finds no error either. */
static void judge_again(const struct orr_description *d) {
  void *scratch = calloc(1, orr_validate_scratch_size(d) + ORR_ALIGNMENT),
       *pile = calloc(1, orr_mass_properties_scratch_size(d));
  struct orr_problem problem;
  if (!scratch || !pile)
    abort();
  char *aligned = (char *)scratch + (ORR_ALIGNMENT - (uintptr_t)scratch % ORR_ALIGNMENT) % ORR_ALIGNMENT;
  if (orr_validate(d, NULL, aligned, &problem, 1) > 0 && problem.severity == ORR_PROBLEM_ERROR)
    abort();
  struct orr_mass_properties whole = orr_mass_properties_at_rest(d, pile);
  if (!(whole.mass >= 0))
    abort();
  free(pile);
  free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_text_file files[MOST_FILES];
  struct orr_config_options options = {.files = files, .file_count = cut(data, size, files)};
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_config *config = orr_config_load("model.yaml", &options, d);
  if ((config != NULL) != (orr_diagnostics_errors(d) == 0))
    abort();
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    abort();
  orr_diagnostics_print(d, 0, out, true);
  fclose(out);
  if (orr_diagnostics_count(d) > 0 && length == 0)
    abort();
  free(text);
  if (config)
    judge_again(orr_config_description(config));
  orr_diagnostics_destroy(d);
  for (size_t i = 0; i < options.file_count; i++)
    free((char *)(uintptr_t)files[i].text);
  return 0;
}
