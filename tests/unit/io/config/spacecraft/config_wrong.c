/* Every mistake has its message at its place: the files of tests/wrong, each with what is expected of it.
 *
 * A file ends with lines `# expect [FILE:]LINE:COLUMN: error: TEXT [CODE]`, one for each message in its order, notes
 * among them; nothing else may be reported. Files in wrong/ are models, in wrong/case/ cases of the model there, in
 * wrong/run/ run files (of the model there, where they name it; lines `# set PATH=VALUE` are the command line's), and
 * those in wrong/schema/ are read by the table of keys below, which has the types that other files do not use. The last
 * test looks for the message of each report in the sources, and asks that some file shows it. */
#include <dirent.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/campaign/campaign_file.h"
#include "io/config/run/run_file.h"
#include "io/config/spacecraft/case.h"
#include "io/config/text/files.h"
#include "io/config/text/reader.h"

enum { MOST_FILES = 400, MOST_SETTINGS = 20, LONGEST = 1200 };

struct text {
  char *bytes;
  size_t length, room;
};

static void append(struct text *t, const char *line) {
  size_t n = strlen(line);
  if (t->length + n + 2 > t->room) {
    t->room = 2 * t->room + n + 2;
    t->bytes = realloc(t->bytes, t->room);
    assert_non_null(t->bytes);
  }
  memcpy(t->bytes + t->length, line, n);
  memcpy(t->bytes + t->length + n, "\n", 2);
  t->length += n + 1;
}

/* --- what was reported, one line each ---------------------------------------------------------------------------- */

static const char home[] = "tests/wrong/";

static void say(struct orr_diagnostics *d, const char *path, orr_source at, const char *label, const char *text,
                const char *code, struct text *out) {
  struct orr_location l = orr_sources_get(orr_diagnostics_sources(d), at);
  char line[LONGEST], where[200] = "";
  if (l.file) {
    struct orr_line p = orr_sources_line(orr_diagnostics_sources(d), l.file, l.offset);
    const char *name = orr_sources_file_name(orr_diagnostics_sources(d), l.file);
    const char *shown = strncmp(name, home, strlen(home)) == 0 ? name + strlen(home) : name;
    snprintf(where, sizeof where, "%s%s%zu:%zu: ", strcmp(name, path) == 0 ? "" : shown,
             strcmp(name, path) == 0 ? "" : ":", p.number, p.column);
  }
  snprintf(line, sizeof line, "%s%s: %s%s%s%s", where, label, text, *code ? " [" : "", code, *code ? "]" : "");
  append(out, line);
}

static void say_all(struct orr_diagnostics *d, const char *path, struct text *out) {
  static const char *const ways[] = {"from here", "used here", "merged here", "included from here"};
  for (size_t i = 0; i < orr_diagnostics_count(d); i++) {
    struct orr_message m = orr_diagnostics_get(d, i);
    say(d, path, m.at, m.severity == ORR_ERROR ? "error" : "warning", m.text, m.code, out);
    struct orr_sources *s = orr_diagnostics_sources(d);
    for (orr_source via = orr_sources_get(s, m.at).via; via; via = orr_sources_get(s, via).via)
      say(d, path, via, "note", ways[orr_sources_get(s, via).kind], "", out);
    if (m.related_text)
      say(d, path, m.related, "note", m.related_text, "", out);
  }
}

/* --- what is expected -------------------------------------------------------------------------------------------- */

static char *load(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in)
    fail_msg("cannot read %s", path);
  char *bytes = calloc(1, 1 << 20);
  assert_non_null(bytes);
  size_t length = fread(bytes, 1, (1 << 20) - 1, in);
  for (size_t i = 0; i < length; i++)
    if (bytes[i] == '\0')
      bytes[i] = '?';
  fclose(in);
  return bytes;
}

/* What follows a mark at the beginning of lines, one line each. */
static void lines_of(const char *path, const char *mark, struct text *out) {
  char *bytes = load(path);
  append(out, "");
  out->length = 0;
  out->bytes[0] = '\0';
  for (char *line = bytes; line && *line;) {
    char *end = strchr(line, '\n');
    if (end)
      *end = '\0';
    if (strncmp(line, mark, strlen(mark)) == 0)
      append(out, line + strlen(mark));
    line = end ? end + 1 : NULL;
  }
  free(bytes);
}

/* --- the four kinds of file -------------------------------------------------------------------------------------- */

struct sample {
  int64_t whole, time;
  double part, above, between;
};

static void read_sample(const char *path, struct orr_diagnostics *d) {
  static const struct orr_range above = {3, HUGE_VAL, true}, from = {3, HUGE_VAL, false}, between = {0, 1, false},
                                open = {0, 1, true};
  static const struct orr_key keys[] = {
      {.name = "whole",
       .doc = "whole",
       .absent = "as it was",
       .type = ORR_KEY_WHOLE,
       .offset = offsetof(struct sample, whole)},
      {.name = "time",
       .doc = "time",
       .absent = "as it was",
       .type = ORR_KEY_TIME,
       .range = &orr_range_positive,
       .offset = offsetof(struct sample, time)},
      {.name = "part",
       .doc = "part",
       .absent = "as it was",
       .type = ORR_KEY_NUMBER,
       .range = &between,
       .offset = offsetof(struct sample, part)},
      {.name = "share",
       .doc = "share",
       .absent = "as it was",
       .type = ORR_KEY_NUMBER,
       .range = &open,
       .offset = offsetof(struct sample, part)},
      {.name = "above",
       .doc = "above",
       .absent = "as it was",
       .type = ORR_KEY_NUMBER,
       .range = &above,
       .offset = offsetof(struct sample, above)},
      {.name = "from",
       .doc = "from",
       .absent = "as it was",
       .type = ORR_KEY_NUMBER,
       .range = &from,
       .offset = offsetof(struct sample, above)},
  };
  static const struct orr_mapping mapping = {.name = "sample", ORR_KEYS(keys)};
  struct orr_reader reader = {d, orr_diagnostics_arena(d)};
  struct orr_files files = {.reader = &reader};
  struct sample sample;
  uint64_t present;
  const struct orr_thing thing = {.what = "a sample", .place = {orr_files_open(&files, path, NULL, 0)->root, 0}};
  assert_false(orr_read_mapping(&reader, &thing, &mapping, &sample, &present));
}

static void read_run(const char *path, struct orr_diagnostics *d) {
  struct text settings = {0};
  const char *list[MOST_SETTINGS];
  struct orr_config_options options = {.settings = list};
  lines_of(path, "# set ", &settings);
  for (char *line = strtok(settings.bytes, "\n"); line; line = strtok(NULL, "\n")) {
    assert_true(options.setting_count < MOST_SETTINGS);
    list[options.setting_count++] = line;
  }
  const struct orr_run *run = orr_run_load(path, &options, d);
  assert_true((run == NULL) == (orr_diagnostics_errors(d) > 0));
  free(settings.bytes);
}

static void read_file(const char *path, struct orr_diagnostics *d) {
  static const char model[] = "tests/wrong/case/model.yaml";
  if (strstr(path, "/schema/")) {
    read_sample(path, d);
  } else if (strstr(path, "/run/")) {
    read_run(path, d);
  } else if (strstr(path, "/campaign/")) {
    const struct orr_campaign *campaign = orr_campaign_load(path, NULL, d);
    assert_true((campaign == NULL) == (orr_diagnostics_errors(d) > 0));
  } else if (strstr(path, "/case/")) {
    struct orr_config *config = orr_config_load(model, NULL, d);
    assert_non_null(config);
    const struct orr_case *read =
        orr_case_load(path, config, strstr(path, "/inverse") ? ORR_CASE_INVERSE : ORR_CASE_FORWARD, NULL);
    assert_true((read == NULL) == (orr_diagnostics_errors(d) > 0));
  } else {
    const struct orr_config *config = orr_config_load(path, NULL, d);
    assert_true((config == NULL) == (orr_diagnostics_errors(d) > 0));
  }
}

static int count_files;
static char *paths[MOST_FILES];

static int is_input(const struct dirent *e) { return strstr(e->d_name, ".yaml") || strstr(e->d_name, ".json"); }

static void list_folder(const char *folder) {
  struct dirent **entries = NULL;
  int n = scandir(folder, &entries, is_input, alphasort);
  if (n < 0)
    fail_msg("no folder %s", folder);
  for (int i = 0; i < n; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s%s", folder, entries[i]->d_name);
    free(entries[i]);
    if (strcmp(path, "tests/wrong/case/model.yaml") == 0 || strcmp(path, "tests/wrong/run/ship.yaml") == 0)
      continue;
    assert_true(count_files < MOST_FILES);
    paths[count_files++] = strdup(path);
  }
  free(entries);
}

static void list_files(void) {
  if (count_files)
    return;
  list_folder("tests/wrong/");
  list_folder("tests/wrong/case/");
  list_folder("tests/wrong/run/");
  list_folder("tests/wrong/campaign/");
  list_folder("tests/wrong/schema/");
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

static struct text said; /* every message of every file, for the last test */

static void every_mistake_is_reported_at_its_place(void **state) {
  (void)state;
  int failed = 0;
  list_files();
  assert_true(count_files > 100);
  for (int i = 0; i < count_files; i++) {
    struct orr_diagnostics *d = orr_diagnostics_create();
    struct text expected = {0}, actual = {0};
    append(&actual, "");
    actual.length = 0;
    actual.bytes[0] = '\0';
    lines_of(paths[i], "# expect ", &expected);
    read_file(paths[i], d);
    say_all(d, paths[i], &actual);
    for (size_t k = 0; k < orr_diagnostics_count(d); k++)
      append(&said, orr_diagnostics_get(d, k).text);
    if (expected.length == 0 || strcmp(expected.bytes, actual.bytes) != 0) {
      printf("%s\nexpected:\n%ssaid:\n%s\n", paths[i], expected.bytes, actual.bytes);
      failed++;
    }
    free(expected.bytes);
    free(actual.bytes);
    orr_diagnostics_destroy(d);
  }
  assert_int_equal(failed, 0);
}

/* The text between quotes from p on, adjacent literals joined; p moves behind it. False where there is none. */
static bool take_literal(const char **p, char *out, size_t size) {
  size_t n = 0;
  bool any = false;
  for (;;) {
    *p += strspn(*p, " \n");
    if (**p != '"')
      return any && (out[n] = '\0', true);
    any = true;
    for ((*p)++; **p && **p != '"'; (*p)++) {
      if (**p == '\\')
        (*p)++;
      if (n + 1 < size)
        out[n++] = **p;
    }
    *p += **p == '"';
  }
}

/* Whether a message could come from a format: conversions stand for any text. */
static bool matches(const char *format, const char *text, size_t length) {
  const char *end = text + length;
  while (*format) {
    if (*format == '%' && format[1] != '%') {
      format += 1 + strcspn(format + 1, "sdugfexz");
      while (*format == 'z' || *format == 'l')
        format++;
      format++;
      if (!*format)
        return true;
      for (const char *p = text; p <= end; p++)
        if (matches(format, p, (size_t)(end - p)))
          return true;
      return false;
    }
    if (*format == '%')
      format++;
    if (text == end || *text != *format)
      return false;
    text++;
    format++;
  }
  return text == end;
}

static bool was_said(const char *format) {
  for (const char *line = said.bytes; *line; line = strchr(line, '\n') + 1)
    if (matches(format, line, strcspn(line, "\n")))
      return true;
  return false;
}

static bool is_code(const char *text) {
  size_t n = strlen(text);
  return n > 2 && strspn(text, "abcdefghijklmnopqrstuvwxyz-") == n;
}

/* Looks at one call: …, "code", "format" …; the first literal is a code, and the next one its format. */
static int check_call(const char *path, const char *call, int *found) {
  char code[LONGEST], format[LONGEST];
  const char *p = call + strcspn(call, "\";");
  if (*p != '"' || !take_literal(&p, code, sizeof code) || !is_code(code) || *p++ != ',' ||
      !take_literal(&p, format, sizeof format))
    return 0;
  ++*found;
  /* files of their size are not kept: tests/unit/io/config/text/yaml.c and tests/e2e/budgets.sh make them */
  bool shown =
      was_said(format) || strcmp(code, "too-long") == 0 || strncmp(format, "more than 8,000,000 values", 26) == 0;
  if (!shown)
    print_message("%s: no file of tests/wrong shows [%s] \"%s\"\n", path, code, format);
  return !shown;
}

static int check_source(const char *path, int *found) {
  static const char *const calls[] = {"orr_read_error(", "orr_read_warning(", "orr_report(", "tell(", "fail("};
  char *bytes = load(path);
  int missing = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *p = bytes; (p = strstr(p, calls[i])); p++)
      missing += check_call(path, p, found);
  free(bytes);
  return missing;
}

static void every_message_of_the_sources_is_shown_by_some_file(void **state) {
  (void)state;
  int missing = 0, found = 0;
  assert_non_null(said.bytes);
  glob_t sources;
  assert_int_equal(glob("io/config/*/*.c", 0, NULL, &sources), 0);
  for (size_t i = 0; i < sources.gl_pathc; i++)
    missing += check_source(sources.gl_pathv[i], &found);
  globfree(&sources);
  print_message("%d messages in the sources\n", found);
  assert_true(found > 90);
  assert_int_equal(missing, 0);
}

static int release(void **state) {
  (void)state;
  for (int i = 0; i < count_files; i++)
    free(paths[i]);
  free(said.bytes);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mistake_is_reported_at_its_place),
      cmocka_unit_test(every_message_of_the_sources_is_shown_by_some_file),
  };
  return cmocka_run_group_tests(tests, NULL, release);
}
