#include "tools/run/junit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/config/text/utf8.h"
#include "tools/common/out_file.h"

enum { HOST = 65 };

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_for_xml(const char *c, size_t bytes) {
  return bytes > 0 && !orr_utf8_is_control(c) && strncmp(c, "\xef\xbf\xbe", 3) != 0 &&
         strncmp(c, "\xef\xbf\xbf", 3) != 0;
}

void orr_junit_text(FILE *out, const char *text) {
  for (size_t left = strlen(text), taken; left > 0; left -= taken, text += taken) {
    size_t bytes = orr_utf8_length(text, left);
    const char *entity = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
    taken = bytes ? bytes : 1;
    if (entity || !is_for_xml(text, bytes))
      fputs(entity ? entity : "?", out);
    else
      fwrite(text, 1, bytes, out);
  }
}

/* ---- a suite ----------------------------------------------------------------------------------------------------- */

void orr_junit_begin(FILE *out, const struct orr_junit_suite *suite) {
  char host[HOST] = "localhost", stamp[32];
  time_t now = time(NULL);
  struct tm utc;
  gethostname(host, sizeof host - 1);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now, &utc));
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite id=\"0\" package=\"orrery\" name=\"",
        out);
  orr_junit_text(out, suite->name);
  fprintf(out, "\" timestamp=\"%s\" hostname=\"", stamp);
  orr_junit_text(out, *host ? host : "localhost");
  fprintf(out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n    <properties>\n",
          suite->tests, suite->failures, suite->errors, suite->skipped, suite->took_s);
}

void orr_junit_property(FILE *out, const char *name, const char *value) {
  fprintf(out, "      <property name=\"%s\" value=\"", name);
  orr_junit_text(out, value);
  fputs("\"/>\n", out);
}

void orr_junit_cases(FILE *out) { fputs("    </properties>\n", out); }

void orr_junit_end(FILE *out) { fputs("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n", out); }

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void put_case(FILE *out, const char *suite, const char *name, double took_s) {
  fputs("    <testcase name=\"", out);
  orr_junit_text(out, name);
  fputs("\" classname=\"", out);
  orr_junit_text(out, suite);
  fprintf(out, "\" time=\"%.3f\"", took_s);
}

/* <failure> or <error> with its message; ends the case. */
static void put_wrong(FILE *out, const char *element, const char *type, const char *message) {
  fprintf(out, ">\n      <%s type=\"%s\" message=\"", element, type);
  orr_junit_text(out, message);
  fprintf(out, "\"/>\n    </testcase>\n");
}

/* The reasons why the flight has not passed, those of expectations left out: they have cases of their own. */
struct wrong {
  char text[1024];
  bool any, failed; /* it failed; else it is incomplete */
};

static struct wrong flight_wrong(const json_t *root) {
  const json_t *reasons = json_object_get(root, "reasons"), *one;
  struct wrong w = {.any = false};
  size_t i, used = 0;
  json_array_foreach(reasons, i, one) {
    const char *reason = json_string_value(json_object_get(one, "reason"));
    const char *what = json_string_value(json_object_get(one, "what"));
    if (!reason || strcmp(reason, "not_met") == 0)
      continue;
    w.any = true;
    w.failed |= strcmp(reason, "diverged") == 0 || strcmp(reason, "not_written") == 0;
    if (used < sizeof w.text)
      used += (size_t)snprintf(w.text + used, sizeof w.text - used, "%s%s", used ? "; " : "", what ? what : reason);
  }
  return w;
}

static const char *name_of(const json_t *one, char *text, size_t size) {
  const char *name = json_string_value(json_object_get(one, "name"));
  const char *requirement = json_string_value(json_object_get(one, "requirement"));
  const char *subject = json_string_value(json_object_get(one, "subject"));
  const char *bound = json_string_value(json_object_get(one, "bound"));
  if (name)
    snprintf(text, size, "%s%s%.60s", name, requirement ? " " : "", requirement ? requirement : "");
  else
    snprintf(text, size, "%.200s %.160s%s%.60s", subject, bound, requirement ? " " : "",
             requirement ? requirement : "");
  return text;
}

static void put_expectation(FILE *out, const char *suite, const json_t *one) {
  char name[512], message[512];
  const char *verdict = json_string_value(json_object_get(one, "verdict"));
  put_case(out, suite, name_of(one, name, sizeof name), 0);
  if (strcmp(verdict, "met") == 0) {
    fputs("/>\n", out);
    return;
  }
  if (strcmp(verdict, "not_judged") == 0) {
    fputs(">\n      <skipped/>\n    </testcase>\n", out);
    return;
  }
  snprintf(message, sizeof message, "%.380s is not met: %.100s", json_string_value(json_object_get(one, "asked")),
           json_string_value(json_object_get(one, "told")));
  put_wrong(out, "failure", "expectation", message);
}

static int count(const json_t *list, const char *verdict) {
  const json_t *one;
  size_t i;
  int n = 0;
  json_array_foreach(list, i, one) n += strcmp(json_string_value(json_object_get(one, "verdict")), verdict) == 0;
  return n;
}

static void put_suite(FILE *out, const struct orr_run_report *r, const json_t *root) {
  const json_t *list = json_object_get(root, "expect"), *one;
  const struct wrong wrong = flight_wrong(root);
  size_t i;
  orr_junit_begin(out, &(struct orr_junit_suite){.name = r->path,
                                                 .tests = 1 + (int)json_array_size(list),
                                                 .failures = count(list, "not_met") + wrong.failed,
                                                 .errors = wrong.any && !wrong.failed,
                                                 .skipped = count(list, "not_judged"),
                                                 .took_s = r->took_s});
  orr_junit_property(out, "mode", r->mode);
  orr_junit_property(out, "state_hash", json_string_value(json_object_get(root, "state_hash")));
  orr_junit_cases(out);
  put_case(out, r->path, "flight", r->took_s);
  if (wrong.any)
    put_wrong(out, wrong.failed ? "failure" : "error", wrong.failed ? "flight" : "incomplete", wrong.text);
  else
    fputs("/>\n", out);
  json_array_foreach(list, i, one) put_expectation(out, r->path, one);
  orr_junit_end(out);
}

bool orr_junit_write(const char *path, const struct orr_run_report *report) {
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  if (good) {
    json_t *root = orr_run_report_json(report);
    put_suite(file.out, report, root);
    json_decref(root);
    good = orr_out_file_close(&file, true);
  }
  if (!good)
    fprintf(stderr, "orrery run: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}
