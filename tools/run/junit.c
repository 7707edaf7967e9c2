#include "tools/run/junit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/out_file.h"

enum { HOST = 65 };

void orr_junit_text(FILE *out, const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    const char *entity = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
    if (entity)
      fputs(entity, out);
    else
      fputc(*c < 0x20 || *c == 0x7f ? '?' : *c, out);
  }
}

static void put_case(FILE *out, const char *suite, const char *name, double took_s) {
  fputs("    <testcase name=\"", out);
  orr_junit_text(out, name);
  fputs("\" classname=\"", out);
  orr_junit_text(out, suite);
  fprintf(out, "\" time=\"%.6f\"", took_s);
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
  const json_t *value = json_object_get(one, "value"), *at = json_object_get(one, "at_s");
  put_case(out, suite, name_of(one, name, sizeof name), 0);
  if (strcmp(verdict, "met") == 0) {
    fputs("/>\n", out);
    return;
  }
  if (strcmp(verdict, "not_judged") == 0) {
    fputs(">\n      <skipped/>\n    </testcase>\n", out);
    return;
  }
  size_t used = (size_t)snprintf(message, sizeof message, "%.200s: %.150s is not met",
                                 json_string_value(json_object_get(one, "subject")),
                                 json_string_value(json_object_get(one, "bound")));
  if (value)
    used += (size_t)snprintf(message + used, sizeof message - used, ": %.9g %s", json_real_value(value),
                             json_string_value(json_object_get(one, "unit")));
  if (at && used < sizeof message)
    snprintf(message + used, sizeof message - used, " at %.9g s", json_real_value(at));
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
  char host[HOST] = "localhost", stamp[32];
  const struct wrong wrong = flight_wrong(root);
  time_t now = time(NULL);
  struct tm utc;
  size_t i;
  gethostname(host, sizeof host - 1);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now, &utc));
  int tests = 1 + (int)json_array_size(list), failures = count(list, "not_met") + wrong.failed,
      errors = wrong.any && !wrong.failed;
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite id=\"0\" package=\"orrery\" name=\"",
        out);
  orr_junit_text(out, r->path);
  fprintf(out, "\" timestamp=\"%s\" hostname=\"", stamp);
  orr_junit_text(out, host);
  fprintf(out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.6f\">\n    <properties>\n", tests,
          failures, errors, count(list, "not_judged"), r->took_s);
  fprintf(out, "      <property name=\"mode\" value=\"%s\"/>\n      <property name=\"state_hash\" value=\"%s\"/>\n",
          r->mode, json_string_value(json_object_get(root, "state_hash")));
  fputs("    </properties>\n", out);
  put_case(out, r->path, "flight", r->took_s);
  if (wrong.any)
    put_wrong(out, wrong.failed ? "failure" : "error", wrong.failed ? "flight" : "incomplete", wrong.text);
  else
    fputs("/>\n", out);
  json_array_foreach(list, i, one) put_expectation(out, r->path, one);
  fputs("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n", out);
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
