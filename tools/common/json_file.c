#include "tools/common/json_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/files.h"
#include "tools/common/text.h"

struct tally {
  size_t values, holders;
};

/* At most as many as the parser makes of it, if it is JSON: a value stands behind each bracket that opens and each
 * comma, and one at the head. */
static struct tally count(const char *text, size_t length) {
  struct tally t = {1, 0};
  bool quoted = false;
  for (size_t i = 0; i < length; i++) {
    const char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (quoted)
      i += c == '\\';
    else if (c == '[' || c == '{')
      t.holders++;
    else
      t.values += c == ',';
  }
  t.values += t.holders;
  return t;
}

static bool is_too_much(const char *text, size_t length) {
  const struct tally t = count(text, length);
  return t.values > ORR_JSON_VALUES || t.holders > ORR_JSON_HOLDERS;
}

json_t *orr_json_load(const char *path, size_t flags, char trouble[ORR_JSON_TROUBLE]) {
  size_t length;
  json_error_t error;
  json_t *root = NULL;
  char *text = orr_text_load(path, (size_t)ORR_JSON_MIB << 20, &length);
  if (!text) {
    const char *why = orr_text_trouble(errno);
    if (errno == EFBIG)
      snprintf(trouble, ORR_JSON_TROUBLE, "it is longer than %d MiB: give a smaller one, of fewer slices or flights",
               ORR_JSON_MIB);
    else
      snprintf(trouble, ORR_JSON_TROUBLE, "%s", why);
    return NULL;
  }
  if (is_too_much(text, length))
    snprintf(trouble, ORR_JSON_TROUBLE,
             "it has more than %d values, or %d lists and objects: give a smaller one, of fewer slices or flights",
             ORR_JSON_VALUES, ORR_JSON_HOLDERS);
  else if ((root = json_loadb(text, length, flags, &error)) == NULL) {
    char clean[ORR_JSON_TROUBLE - 60]; /* words of the file are in it, and terminals obey such bytes */
    snprintf(trouble, ORR_JSON_TROUBLE, "line %d, column %d: %s", error.line, error.column,
             orr_text_clean(error.text, "", clean, sizeof clean));
  }
  free(text);
  return root;
}

static const size_t longest = (size_t)ORR_JSON_MIB << 20;

static void keep(struct orr_json_line *line, char c) {
  if (line->length == line->room && line->room < longest) {
    size_t room = line->room ? 2 * line->room : 4096;
    char *text = realloc(line->text, room);
    if (text) {
      line->text = text;
      line->room = room;
    }
  }
  if (line->length < line->room)
    line->text[line->length] = c;
  line->length++;
}

enum orr_json_end orr_json_next(struct orr_json_line *line, FILE *in) {
  int c = 0;
  line->length = 0;
  while (c != '\n' && (c = getc_unlocked(in)) != EOF)
    keep(line, (char)c);
  return c == '\n' ? ORR_JSON_WHOLE : line->length ? ORR_JSON_PART : ORR_JSON_NONE;
}

json_t *orr_json_row(const struct orr_json_line *line) {
  bool kept = line->length <= line->room && !is_too_much(line->text, line->length);
  return kept ? json_loadb(line->text, line->length, 0, NULL) : NULL;
}
