#include "tools/timing/timing_result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/tick/clock.h"
#include "tools/common/json_file.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"

static const int64_t SAVE_EVERY_NS = INT64_C(60000000000);

/* ---- out --------------------------------------------------------------------------------------------------------- */

json_t *orr_timing_bins_json(const struct orr_histogram *h) {
  struct orr_timing_bins bins;
  if (!orr_timing_bins_of(h, &bins))
    return NULL;
  json_t *list = json_array();
  for (size_t i = 0; i < bins.used; i++) {
    json_array_append_new(list, json_integer(bins.at[i]));
    json_array_append_new(list, json_integer((json_int_t)bins.times[i]));
  }
  orr_timing_bins_free(&bins);
  return json_pack("{s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)h->total, "sum_ns", (json_int_t)h->sum_ns,
                   "min_ns", (json_int_t)h->min_ns, "max_ns", (json_int_t)h->max_ns, "bins", list);
}

json_t *orr_timing_result_new(void) { return json_pack("{s:i, s:[]}", "orrery_timing", 1, "parts"); }

static bool is_same(const json_t *a, const json_t *b) { return (!a && !b) || json_equal(a, b); }

/* A copy of a fact. Interrupts that may come to a core are routed anew by every driver: how many they are is no
 * isolation. */
static json_t *fact_of(const json_t *value) {
  json_t *copy = json_deep_copy(value);
  json_object_del(copy, "irqs");
  return copy;
}

static bool is_same_isolation(const json_t *a, const json_t *b) {
  json_t *one = fact_of(json_object_get(a, "isolation")), *other = fact_of(json_object_get(b, "isolation"));
  bool same = is_same(one, other);
  json_decref(one);
  json_decref(other);
  return same;
}

/* Whether further slices belong to the same part. */
static bool is_same_part(const json_t *a, const json_t *b) {
  static const char *const keys[] = {"build", "case", "host"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!is_same(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
      return false;
  const json_t *x = json_object_get(a, "environment"), *y = json_object_get(b, "environment");
  return is_same(json_object_get(x, "kernel"), json_object_get(y, "kernel")) && is_same_isolation(x, y);
}

bool orr_timing_result_add(json_t *to, const json_t *from, bool join) {
  json_t *parts = json_object_get(to, "parts"), *part;
  const json_t *more = json_object_get(from, "parts");
  size_t i;
  json_array_foreach(more, i, part) {
    json_t *last = json_array_get(parts, json_array_size(parts) - 1);
    int status = join && last && is_same_part(last, part)
                     ? json_array_extend(json_object_get(last, "slices"), json_object_get(part, "slices"))
                     : json_array_append_new(parts, json_deep_copy(part));
    if (status != 0)
      return false;
  }
  return true;
}

static size_t count_slices(const json_t *parts) {
  size_t i, count = 0;
  const json_t *part;
  json_array_foreach(parts, i, part) count += json_array_size(json_object_get(part, "slices"));
  return count;
}

bool orr_timing_result_save(const char *path, const json_t *root) {
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  if (good) {
    good = json_dumpf(root, file.out, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    fputc('\n', file.out);
    good = orr_out_file_close(&file, good) && good;
  }
  if (!good)
    fprintf(stderr, "orrery timing: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}

/* A pipe cannot be written twice, nor can what our standard output goes to be replaced twice. */
static bool is_replaceable(const char *path) {
  struct stat there, ours;
  if (stat(path, &there) != 0)
    return true;
  bool is_ours = fstat(STDOUT_FILENO, &ours) == 0 && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
  return S_ISREG(there.st_mode) && !is_ours;
}

bool orr_timing_saver_open(struct orr_timing_saver *s, const char *path) {
  *s = (struct orr_timing_saver){.at_end = !is_replaceable(path)};
  if (orr_out_file_may(path))
    return true;
  fprintf(stderr, "orrery timing: cannot write '%s': %s\n", path, strerror(errno));
  return false;
}

void orr_timing_saver_save(struct orr_timing_saver *s, const char *path, const json_t *root) {
  int64_t now_ns = orr_clock_now_ns();
  if (s->at_end || (s->saved_ns > 0 && now_ns - s->saved_ns < SAVE_EVERY_NS))
    return;
  s->slices = orr_timing_result_save(path, root) ? count_slices(json_object_get(root, "parts")) : 0;
  s->saved_ns = now_ns;
}

bool orr_timing_saver_close(const struct orr_timing_saver *s, const char *path, const json_t *root) {
  size_t slices = count_slices(json_object_get(root, "parts"));
  return (slices > 0 && slices == s->slices) || orr_timing_result_save(path, root);
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool wrong(struct orr_timing_result *r, const char *format, ...) {
  char raw[ORR_TIMING_ERROR];
  va_list list;
  va_start(list, format);
  vsnprintf(raw, sizeof raw, format, list);
  va_end(list);
  orr_text_clean(raw, "", r->error, sizeof r->error); /* words of the file are in it, and terminals obey such bytes */
  return false;
}

static bool take_integer(const json_t *object, const char *key, int64_t *value) {
  const json_t *v = json_object_get(object, key);
  *value = json_integer_value(v);
  return json_is_integer(v);
}

static bool take_bins(struct orr_timing_result *r, const json_t *list, struct orr_timing_bins *bins) {
  size_t size = json_array_size(list);
  uint64_t sum = 0;
  if (!json_is_array(list) || size % 2 != 0 || size > 2 * (ORR_HISTOGRAM_BUCKETS + 2))
    return wrong(r, "'bins' takes places and times in turn");
  bins->at = calloc(size / 2 + 1, sizeof *bins->at);
  bins->times = calloc(size / 2 + 1, sizeof *bins->times);
  if (!bins->at || !bins->times)
    return wrong(r, "out of memory");
  for (size_t i = 0; i < size / 2; i++) {
    const json_t *place = json_array_get(list, 2 * i), *times = json_array_get(list, 2 * i + 1);
    int64_t at = json_integer_value(place), n = json_integer_value(times);
    int64_t before = i > 0 ? bins->at[i - 1] : -2;
    if (!json_is_integer(place) || !json_is_integer(times) || at <= before || at > ORR_HISTOGRAM_BUCKETS || n < 1 ||
        n > INT64_C(1) << 48)
      return wrong(r, "'bins' has places that do not rise, or times that are none");
    bins->at[i] = (int32_t)at;
    bins->times[i] = (uint64_t)n;
    bins->used++;
    sum += (uint64_t)n;
  }
  return sum == bins->count || wrong(r, "'bins' has %llu samples, and 'count' says %llu", (unsigned long long)sum,
                                     (unsigned long long)bins->count);
}

static bool take_distribution(struct orr_timing_result *r, const json_t *from, struct orr_timing_bins *bins) {
  int64_t count = 0;
  if (!take_integer(from, "count", &count) || !take_integer(from, "sum_ns", &bins->sum_ns) ||
      !take_integer(from, "min_ns", &bins->min_ns) || !take_integer(from, "max_ns", &bins->max_ns) || count < 0 ||
      count > INT64_C(1) << 48 || bins->min_ns > bins->max_ns || bins->min_ns < -(INT64_C(1) << 60) ||
      bins->max_ns > INT64_C(1) << 60)
    return wrong(r, "a distribution needs 'count', 'sum_ns', 'min_ns' and 'max_ns'");
  bins->count = (uint64_t)count;
  return take_bins(r, json_object_get(from, "bins"), bins);
}

/* The index of a name, made if there is room; −1. */
static int name_index(struct orr_timing_result *r, const char *name) {
  int i = orr_timing_find(&r->set, name);
  if (i >= 0)
    return i;
  size_t length = strlen(name);
  bool good = length > 0 && length < ORR_TIMING_NAME && r->set.name_count < ORR_TIMING_NAMES_MAX;
  for (size_t k = 0; k < length && good; k++)
    good = name[k] >= ' ' && name[k] < 127;
  if (!good) {
    wrong(r, "'%.60s' is no name of a distribution, or the %d-th", name, ORR_TIMING_NAMES_MAX + 1);
    return -1;
  }
  memcpy(r->set.name[r->set.name_count], name, length + 1);
  return (int)r->set.name_count++;
}

static bool take_calm(struct orr_timing_result *r, const json_t *from, struct orr_timing_slice *slice) {
  json_t *one, *stages = json_object_get(from, "stages");
  const char *name;
  int64_t frames = 0;
  if (!from)
    return true;
  if (!take_integer(from, "frames", &frames) || frames < 0 || frames > INT64_C(1) << 48 || !json_is_object(stages))
    return wrong(r, "'calm' takes 'frames' and 'stages'");
  slice->calm_frames = (uint64_t)frames;
  json_object_foreach(stages, name, one) {
    int i = name_index(r, name);
    if (i < 0)
      return false;
    slice->calm[i] =
        take_integer(one, "sum_ns", &slice->calm_sum_ns[i]) && take_integer(one, "min_ns", &slice->calm_min_ns[i]);
    if (!slice->calm[i])
      return wrong(r, "stage '%.40s' of 'calm' needs 'sum_ns' and 'min_ns'", name);
  }
  return true;
}

static bool take_slice(struct orr_timing_result *r, const json_t *from, struct orr_timing_slice *slice) {
  json_t *one, *list = json_object_get(from, "distributions");
  const char *name;
  if (!json_is_object(list))
    return wrong(r, "a slice without 'distributions'");
  json_object_foreach(list, name, one) {
    int i = name_index(r, name);
    if (i < 0 || !take_distribution(r, one, &slice->of[i]))
      return false;
  }
  return take_calm(r, json_object_get(from, "calm"), slice);
}

static bool take_parts(struct orr_timing_result *r) {
  json_t *parts = json_object_get(r->root, "parts"), *part, *slice;
  size_t i, k, count = count_slices(parts);
  bool listed = true;
  if (json_integer_value(json_object_get(r->root, "orrery_timing")) != 1 || !json_is_array(parts))
    return wrong(r, "not a result of 'orrery timing run' (no \"orrery_timing\": 1)");
  json_array_foreach(parts, i, part) listed = listed && json_is_array(json_object_get(part, "slices"));
  if (!listed)
    return wrong(r, "a part without 'slices'");
  if (count == 0)
    return wrong(r, "no slice is in it: nothing was flown to its end; fly it again (orrery timing run)");
  if (count > ORR_TIMING_SLICES_MOST)
    return wrong(r, "%zu slices, and %d can be read", count, ORR_TIMING_SLICES_MOST);
  r->set.slice = calloc(count + 1, sizeof *r->set.slice);
  if (!r->set.slice)
    return wrong(r, "out of memory");
  json_array_foreach(parts, i, part) {
    json_array_foreach(json_object_get(part, "slices"), k, slice) {
      if (!take_slice(r, slice, &r->set.slice[r->set.slice_count++]))
        return false;
    }
  }
  return true;
}

bool orr_timing_result_of(json_t *root, struct orr_timing_result *r) {
  char error[ORR_TIMING_ERROR];
  *r = (struct orr_timing_result){.root = root};
  if (take_parts(r))
    return true;
  memcpy(error, r->error, sizeof error);
  orr_timing_result_close(r);
  memcpy(r->error, error, sizeof error);
  return false;
}

bool orr_timing_result_load(const char *path, struct orr_timing_result *r) {
  char trouble[ORR_JSON_TROUBLE];
  *r = (struct orr_timing_result){.root = NULL};
  json_t *root = orr_json_load(path, JSON_REJECT_DUPLICATES, trouble);
  if (!root)
    return wrong(r, "%s", trouble);
  return orr_timing_result_of(root, r);
}

void orr_timing_result_close(struct orr_timing_result *r) {
  orr_timing_set_free(&r->set);
  json_decref(r->root);
  r->root = NULL;
}

/* ---- what may be compared ---------------------------------------------------------------------------------------- */

/* What must be known and the same: of each part, the value at a path. */
static const struct aspect {
  const char *name, *what, *path[3];
} aspects[] = {
    {"kernel", "the kernel", {"environment", "kernel"}},
    {"processor", "the processor", {"environment", "power", "cpu"}},
    {"processor", "the number of cores", {"environment", "cores_online"}},
    {"isolation", "the isolation of the core", {"environment", "isolation"}},
    {"case", "the case", {"case", "identity"}},
    {"load", "the load", {"case", "load"}},
};
const char *const orr_timing_aspects[] = {"kernel", "processor", "isolation", "case", "load", NULL};

static bool names(const char *across, const char *name) {
  size_t length = strlen(name);
  for (const char *word = across; word && *word; word += *word == ',') {
    size_t n = strcspn(word, ",");
    if (n == length && strncmp(word, name, n) == 0)
      return true;
    word += n;
  }
  return false;
}

/* A copy of what a part says of it; NULL: nothing. What a machine did not tell stands there as an empty text. */
static json_t *value_of(const json_t *part, const struct aspect *a) {
  const json_t *v = part;
  for (size_t i = 0; i < 3 && a->path[i]; i++)
    v = json_object_get(v, a->path[i]);
  const char *text = json_string_value(v);
  return json_is_null(v) || (text && !*text) ? NULL : fact_of(v);
}

/* As much of both as there is room for, from a little before they part. */
static void put_difference(const struct aspect *a, const json_t *one, const json_t *other,
                           char reason[ORR_TIMING_REASON]) {
  enum { ALIKE_MOST = 60, ALIKE_SHOWN = 20 };
  const size_t how = JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS;
  char raw[ORR_TIMING_REASON], *first = json_dumps(one, how), *second = json_dumps(other, how);
  size_t alike = 0;
  while (first && second && first[alike] && first[alike] == second[alike])
    alike++;
  size_t from = alike > ALIKE_MOST ? alike - ALIKE_SHOWN : 0;
  const char *before = from > 0 ? "..." : "";
  snprintf(raw, sizeof raw, "%s differs: %s%.120s, and %s%.120s", a->what, before, first ? first + from : "?", before,
           second ? second + from : "?");
  orr_text_clean(raw, "", reason, ORR_TIMING_REASON);
  free(first);
  free(second);
}

/* Whether a part has this value, which is known; else why not. */
static bool is_as(const json_t *part, const struct aspect *a, const json_t *value, char reason[ORR_TIMING_REASON]) {
  json_t *its = value_of(part, a);
  bool same = value && its && json_equal(value, its);
  if (!value || !its)
    snprintf(reason, ORR_TIMING_REASON, "%s is not known", a->what);
  else if (!same)
    put_difference(a, value, its, reason);
  json_decref(its);
  return same;
}

size_t orr_timing_incomparable(const struct orr_timing_result *base, const struct orr_timing_result *new,
                               const char *across, char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON]) {
  const struct orr_timing_result *const both[] = {base, new};
  size_t count = 0, i;
  for (size_t k = 0; k < sizeof aspects / sizeof *aspects; k++) {
    bool told = names(across, aspects[k].name);
    const json_t *part;
    json_t *value = value_of(json_array_get(json_object_get(base->root, "parts"), 0), &aspects[k]);
    for (size_t side = 0; side < 2; side++)
      json_array_foreach(json_object_get(both[side]->root, "parts"), i, part) {
        if (told || is_as(part, &aspects[k], value, reasons[count]))
          continue;
        told = true;
        count++;
      }
    json_decref(value);
  }
  return count;
}
