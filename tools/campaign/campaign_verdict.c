#include "tools/campaign/campaign_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/campaign/binomial.h"
#include "tools/campaign/campaign_flight.h"
#include "tools/common/fingerprint.h"
#include "tools/common/json_numbers.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"
#include "tools/run/junit.h"

const char *const orr_flight_verdict_names[] = {"passed", "failed",        "incomplete", "crashed",
                                                "hung",   "out_of_memory", "wrong",      NULL};

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static enum orr_flight_verdict verdict_of(const json_t *row) {
  const char *word = text_of(row, "verdict");
  for (int i = 0; i < ORR_FLIGHT_VERDICTS; i++)
    if (strcmp(word, orr_flight_verdict_names[i]) == 0)
      return (enum orr_flight_verdict)i;
  return ORR_FLIGHT_WRONG;
}

/* Whether it is what a campaign's expectation is about. */
static bool is_meant(const char *meets, const json_t *one, const struct orr_run_expect *e) {
  return strcmp(text_of(one, "subject"), meets) == 0 || (e->name && strcmp(e->name, meets) == 0);
}

static bool meets(const struct orr_campaign *c, const json_t *row, const char *what) {
  const json_t *expect = json_object_get(row, "expect"), *one;
  size_t i;
  bool any = false;
  if (!what)
    return verdict_of(row) == ORR_FLIGHT_PASSED;
  json_array_foreach(expect, i, one) {
    if (i >= c->nominal->expect_count || !is_meant(what, one, &c->nominal->expects[i]))
      continue;
    any = true;
    if (strcmp(text_of(one, "verdict"), "met") != 0)
      return false;
  }
  return any;
}

static double scale_of(const struct orr_run_expect *e) {
  double a = isfinite(e->low) ? fabs(e->low) : 0, b = isfinite(e->high) ? fabs(e->high) : 0;
  return fmax(a, b) > 0 ? fmax(a, b) : 1;
}

double orr_verdict_margin(const struct orr_campaign *c, const json_t *row) {
  enum orr_flight_verdict verdict = verdict_of(row);
  const json_t *expect = json_object_get(row, "expect"), *one;
  double least = HUGE_VAL;
  bool named = false;
  size_t i;
  if (verdict >= ORR_FLIGHT_CRASHED)
    return -HUGE_VAL;
  for (int k = 0; k < c->expect_count; k++)
    named |= c->expects[k].meets != NULL;
  json_array_foreach(expect, i, one) {
    const json_t *margin = json_object_get(one, "margin");
    bool meant = !named && i < c->nominal->expect_count;
    for (int k = 0; k < c->expect_count && i < c->nominal->expect_count; k++)
      meant |= c->expects[k].meets && is_meant(c->expects[k].meets, one, &c->nominal->expects[i]);
    if (!meant)
      continue;
    double m = margin ? json_real_value(margin) / scale_of(&c->nominal->expects[i]) : HUGE_VAL;
    if (!margin && strcmp(text_of(one, "verdict"), "not_met") == 0)
      m = -1;
    least = fmin(least, m);
  }
  return isfinite(least) ? least : verdict == ORR_FLIGHT_PASSED ? 1 : -1;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* The list of the worst, by badness and then by number, so that there is one order. */
static void rank(struct orr_verdict *v, int64_t flight, double badness) {
  int64_t at = v->worst_count;
  while (at > 0 && v->badness[at - 1] > badness)
    at--;
  if (at >= v->worst_room)
    return;
  int64_t kept = v->worst_count < v->worst_room ? v->worst_count : v->worst_room - 1;
  memmove(v->worst + at + 1, v->worst + at, (size_t)(kept - at) * sizeof *v->worst);
  memmove(v->badness + at + 1, v->badness + at, (size_t)(kept - at) * sizeof *v->badness);
  v->worst[at] = flight;
  v->badness[at] = badness;
  v->worst_count = kept + 1;
}

static void count_row(struct orr_verdict *v, int64_t flight, const json_t *row) {
  const json_t *expect = json_object_get(row, "expect"), *one;
  size_t i;
  v->flown++;
  v->counts[verdict_of(row)]++;
  json_array_foreach(expect, i, one) {
    const json_t *margin = json_object_get(one, "margin");
    if (i >= v->campaign->nominal->expect_count)
      break;
    struct orr_verdict_line *line = &v->lines[i];
    line->met += strcmp(text_of(one, "verdict"), "met") == 0;
    line->judged += strcmp(text_of(one, "verdict"), "not_judged") != 0;
    if (margin && !(json_real_value(margin) >= line->worst)) {
      line->worst = json_real_value(margin);
      line->worst_flight = flight;
    }
  }
  for (int k = 0; k < v->campaign->expect_count; k++)
    v->shares[k].met += meets(v->campaign, row, v->campaign->expects[k].meets);
  rank(v, flight, orr_verdict_margin(v->campaign, row));
}

static void judge(struct orr_verdict *v) {
  bool failed = false;
  for (int k = 0; k < v->campaign->expect_count; k++) {
    struct orr_verdict_share *s = &v->shares[k];
    s->of = &v->campaign->expects[k];
    s->flown = v->flown;
    s->lower = orr_binomial_lower(s->met, s->flown, s->of->confidence);
    s->upper = orr_binomial_upper(s->met, s->flown, s->of->confidence);
    s->holds = s->of->confidence > 0 ? s->lower >= s->of->share
                                     : (double)s->met >= s->of->share * (double)s->flown && s->flown > 0;
    failed |= !s->holds;
  }
  if (!v->campaign->expect_count)
    failed = v->counts[ORR_FLIGHT_PASSED] + v->counts[ORR_FLIGHT_INCOMPLETE] < v->flown;
  bool incomplete = v->flown < v->campaign->flights || (!v->campaign->expect_count && v->counts[ORR_FLIGHT_INCOMPLETE]);
  /* a share with confidence is no verdict before all are flown */
  if (v->flown < v->campaign->flights && v->campaign->expect_count)
    failed = false;
  v->exit = failed ? ORR_EXIT_BAD : incomplete ? ORR_EXIT_INCOMPLETE : ORR_EXIT_OK;
  v->verdict = failed ? "failed" : incomplete ? "incomplete" : "passed";
}

static void *room(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory)
    abort();
  return memory;
}

void orr_verdict_make(struct orr_verdict *v, const struct orr_folder *f, int64_t worst) {
  const struct orr_campaign *c = f->campaign;
  *v = (struct orr_verdict){.campaign = c, .worst_room = worst < c->flights ? worst : c->flights};
  v->lines = room(c->nominal->expect_count, sizeof *v->lines);
  v->shares = room((size_t)c->expect_count, sizeof *v->shares);
  v->worst = room((size_t)v->worst_room + 1, sizeof *v->worst);
  v->badness = room((size_t)v->worst_room + 1, sizeof *v->badness);
  for (size_t i = 0; i < c->nominal->expect_count; i++) {
    v->lines[i].worst = nan("");
    v->lines[i].worst_flight = -1;
    orr_flight_label(c->nominal, i, v->lines[i].label);
  }
  for (int64_t i = 0; i < c->flights; i++) {
    json_t *row = orr_folder_has(f, i) ? orr_folder_row(f, i) : NULL;
    if (row)
      count_row(v, i, row);
    json_decref(row);
  }
  judge(v);
}

void orr_verdict_free(struct orr_verdict *v) {
  free(v->lines);
  free(v->shares);
  free(v->worst);
  free(v->badness);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

void orr_verdict_share_words(const struct orr_verdict_share *s, char *asked, char *found, size_t size) {
  const struct orr_campaign_expect *e = s->of;
  size_t used = (size_t)snprintf(asked, size, "%g of the flights %s%.100s", e->share, e->meets ? "meet " : "pass",
                                 e->meets ? e->meets : "");
  if (e->confidence > 0 && used < size)
    snprintf(asked + used, size - used, ", confidence %g", e->confidence);
  used = (size_t)snprintf(found, size, "%lld of %lld", (long long)s->met, (long long)s->flown);
  if (!(e->confidence > 0) || used >= size)
    return;
  used += (size_t)snprintf(found + used, size - used, ": at least %.5f", s->lower);
  if (s->upper < e->share && used < size)
    snprintf(found + used, size - used, ", and at most %.5f", s->upper);
  else if (!s->holds && s->met == s->flown && used < size)
    snprintf(found + used, size - used, "; it takes %lld flights that all do",
             (long long)orr_binomial_needed(e->share, e->confidence));
}

void orr_verdict_print(const struct orr_verdict *v, const struct orr_folder *f) {
  const struct orr_campaign *c = v->campaign;
  char print[ORR_FINGERPRINT_TEXT], asked[400], found[400];
  printf("campaign    %s: %lld flights of %s, %s, seed %llu\n", c->path, (long long)c->flights, c->run_path,
         orr_sampling_names[c->sampling], (unsigned long long)c->seed);
  printf("flown       %lld:", (long long)v->flown);
  for (int i = 0; i < ORR_FLIGHT_VERDICTS; i++)
    if (v->counts[i] || i == ORR_FLIGHT_PASSED)
      printf("%s %lld %s", i ? "," : "", (long long)v->counts[i], orr_flight_verdict_names[i]);
  putchar('\n');
  for (size_t i = 0; i < c->nominal->expect_count; i++) {
    const struct orr_verdict_line *line = &v->lines[i];
    const struct orr_run_expect *e = &c->nominal->expects[i];
    printf("%-11s %s: in %lld of %lld", "expected", line->label, (long long)line->met, (long long)line->judged);
    if (line->worst_flight >= 0)
      printf("; least margin %.4g%s%s, flight %lld",
             line->worst / (e->form == ORR_EXPECT_OF_PEAK ? 1 : e->shown_unit_si), *e->shown_unit ? " " : "",
             e->shown_unit, (long long)line->worst_flight);
    putchar('\n');
  }
  for (int k = 0; k < c->expect_count; k++) {
    orr_verdict_share_words(&v->shares[k], asked, found, sizeof asked);
    printf("%-11s %s: %s\n", v->shares[k].holds ? "holds" : "NOT SHOWN", asked, found);
  }
  printf("fingerprint %s\n", orr_fingerprint(print));
  printf("table       %s/table.csv, table.jsonl\n", f->path);
  if (v->worst_count && v->badness[0] < 1)
    printf("the worst   orrery campaign fly %s --flight %lld\n", c->path, (long long)v->worst[0]);
  if (v->flown < c->flights)
    printf("goes on     orrery campaign run %s -o %s --resume\n", c->path, f->path);
  printf("verdict     %s\n", v->verdict);
}

json_t *orr_verdict_json(const struct orr_verdict *v) {
  json_t *root = json_object(), *counts = json_object(), *lines = json_array(), *shares = json_array(),
         *worst = json_array();
  char print[ORR_FINGERPRINT_TEXT];
  for (int i = 0; i < ORR_FLIGHT_VERDICTS; i++)
    json_object_set_new(counts, orr_flight_verdict_names[i], json_integer(v->counts[i]));
  for (size_t i = 0; i < v->campaign->nominal->expect_count; i++) {
    const struct orr_verdict_line *line = &v->lines[i];
    json_t *one = json_pack("{s:o, s:I, s:I}", "name", orr_json_text(line->label), "met", (json_int_t)line->met,
                            "judged", (json_int_t)line->judged);
    if (line->worst_flight >= 0) {
      json_object_set_new(one, "least_margin", json_real(line->worst));
      json_object_set_new(one, "least_flight", json_integer(line->worst_flight));
    }
    json_array_append_new(lines, one);
  }
  for (int k = 0; k < v->campaign->expect_count; k++) {
    const struct orr_verdict_share *s = &v->shares[k];
    json_t *one = json_pack("{s:f, s:f, s:I, s:I, s:b}", "share", s->of->share, "confidence", s->of->confidence, "met",
                            (json_int_t)s->met, "flown", (json_int_t)s->flown, "holds", s->holds);
    json_object_set_new(one, "meets", s->of->meets ? orr_json_text(s->of->meets) : json_null());
    if (s->of->confidence > 0) {
      json_object_set_new(one, "lower", json_real(s->lower));
      json_object_set_new(one, "upper", json_real(s->upper));
    }
    json_array_append_new(shares, one);
  }
  for (int64_t i = 0; i < v->worst_count; i++)
    json_array_append_new(
        worst, json_pack("{s:I, s:o}", "flight", (json_int_t)v->worst[i], "margin", orr_json_number(v->badness[i])));
  json_object_set_new(root, "campaign", orr_json_text(v->campaign->path));
  json_object_set_new(root, "run", orr_json_text(v->campaign->run_path));
  json_object_set_new(root, "flights", json_integer(v->campaign->flights));
  json_object_set_new(root, "flown", json_integer(v->flown));
  json_object_set_new(root, "counts", counts);
  json_object_set_new(root, "expect", lines);
  json_object_set_new(root, "shares", shares);
  json_object_set_new(root, "worst", worst);
  json_object_set_new(root, "fingerprint", json_string(orr_fingerprint(print)));
  json_object_set_new(root, "verdict", json_string(v->verdict));
  return root;
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

static void put_case(FILE *out, const char *suite, const char *name, const char *wrong) {
  fputs("    <testcase name=\"", out);
  orr_junit_text(out, name);
  fputs("\" classname=\"", out);
  orr_junit_text(out, suite);
  fputs("\" time=\"0\"", out);
  if (wrong) {
    fputs(">\n      <failure type=\"campaign\" message=\"", out);
    orr_junit_text(out, wrong);
    fputs("\"/>\n    </testcase>\n", out);
  } else {
    fputs("/>\n", out);
  }
}

bool orr_verdict_junit(const struct orr_verdict *v, const char *path) {
  struct orr_out_file file;
  char asked[400], found[400];
  const struct orr_campaign *c = v->campaign;
  bool whole = v->flown == c->flights, all = c->expect_count == 0;
  int failures = !whole;
  if (!orr_out_file_open(&file, path))
    return false;
  for (int k = 0; k < c->expect_count; k++)
    failures += !v->shares[k].holds;
  failures += all && v->exit == ORR_EXIT_BAD;
  orr_junit_begin(file.out,
                  &(struct orr_junit_suite){.name = c->path, .tests = c->expect_count + 1 + all, .failures = failures});
  orr_junit_cases(file.out);
  snprintf(found, sizeof found, "%lld of %lld flights were flown", (long long)v->flown, (long long)c->flights);
  put_case(file.out, c->path, "all flights are flown", whole ? NULL : found);
  snprintf(found, sizeof found, "%lld of %lld passed", (long long)v->counts[ORR_FLIGHT_PASSED], (long long)v->flown);
  if (all)
    put_case(file.out, c->path, "every flight passes", v->exit == ORR_EXIT_BAD ? found : NULL);
  for (int k = 0; k < c->expect_count; k++) {
    orr_verdict_share_words(&v->shares[k], asked, found, sizeof asked);
    put_case(file.out, c->path, asked, v->shares[k].holds ? NULL : found);
  }
  orr_junit_end(file.out);
  return orr_out_file_close(&file, true);
}
