#include "tools/eval/vector.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/files.h"

enum { LONGEST_MIB = 16 }; /* some 700,000 numbers of 17 digits */

static bool wrong(struct orr_vector *v, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(v->error, sizeof v->error, format, arguments);
  va_end(arguments);
  return false;
}

static const char *skip(const char *at) { return at + strspn(at, " \t\r\n"); }

static void append(struct orr_vector *v, double number) {
  if ((v->count & (v->count - 1)) == 0) { /* full at 0, 1, 2, 4, … */
    v->numbers = realloc(v->numbers, sizeof(double) * (v->count ? 2 * v->count : 1));
    if (!v->numbers)
      abort();
  }
  v->numbers[v->count++] = number;
}

/* One number at *at, which moves behind it. */
static bool take(struct orr_vector *v, const char **at) {
  char *end;
  double number = strtod(*at, &end);
  size_t length = strcspn(*at, ", \t\r\n]");
  if (end != *at + length || length == 0 || !isfinite(number))
    return wrong(v, "number %zu is '%.*s', which is not a finite number", v->count + 1, length > 40 ? 40 : (int)length,
                 *at);
  append(v, number);
  *at = end;
  return true;
}

static bool parse(struct orr_vector *v, const char *text) {
  const char *at = skip(text);
  bool bracket = *at == '[';
  at = skip(bracket ? at + 1 : at);
  if (!*at || *at == ']')
    return wrong(v, "there is no number");
  while (*at && *at != ']') {
    if (!take(v, &at))
      return false;
    at = skip(at);
    if (*at == ',')
      at = skip(at + 1);
    else
      continue;
    if (!*at || *at == ']')
      return wrong(v, "after the last comma there is no number");
  }
  if (bracket != (*at == ']'))
    return wrong(v, "a bracket has no partner");
  at = skip(bracket ? at + 1 : at);
  return *at ? wrong(v, "'%.40s' stands behind the numbers", at) : true;
}

bool orr_vector_read(struct orr_vector *vector, const char *word) {
  *vector = (struct orr_vector){.from_file = word[0] == '@'};
  if (!vector->from_file)
    return parse(vector, word);
  size_t bytes;
  char *text = orr_text_load(word + 1, (size_t)LONGEST_MIB << 20, &bytes);
  if (!text && errno == EFBIG)
    return wrong(vector, "'%.80s' is longer than %d MiB: give a file with a number for each speed", word + 1,
                 LONGEST_MIB);
  if (!text)
    return wrong(vector, "cannot read '%.80s': %s", word + 1, orr_text_trouble(errno));
  const size_t length = strlen(text);
  bool good = length == bytes
                  ? parse(vector, text)
                  : wrong(vector, "byte %zu of '%.80s' is a zero byte, which no text has", length + 1, word + 1);
  free(text);
  return good;
}
