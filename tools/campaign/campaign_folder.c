#include "tools/campaign/campaign_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/math/hash.h"
#include "io/config/text/files.h"
#include "io/config/text/unit.h"
#include "rt/machine/make_folder.h"
#include "tools/campaign/campaign_flight.h"
#include "tools/common/fingerprint.h"
#include "tools/common/json_file.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"

static bool fail(const char *what, const char *path) {
  fprintf(stderr, "orrery campaign: %s '%s': %s\n", what, path, strerror(errno));
  return false;
}

static const char *below(const struct orr_folder *f, const char *name, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%.3800s/%.200s", f->path, name);
  return path;
}

const char *orr_folder_tag(const struct orr_folder *f, char text[ORR_FOLDER_TAG]) {
  char real[PATH_MAX];
  const char *path = realpath(f->path, real) ? real : f->path;
  uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, path, strlen(path));
  snprintf(text, ORR_FOLDER_TAG, "c%012llx", (unsigned long long)(hash >> 16));
  return text;
}

/* ---- what it is of ----------------------------------------------------------------------------------------------- */

static json_t *sum_json(uint64_t sum) {
  char text[20];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
  return json_string(text);
}

/* The files by their last names, for a folder may be shared by machines that mount it elsewhere. */
static json_t *manifest(const struct orr_campaign *c, struct orr_diagnostics *d) {
  json_t *root = json_object(), *files = json_object();
  char print[ORR_FINGERPRINT_TEXT];
  const struct orr_sources *sources = orr_diagnostics_sources(d);
  for (size_t i = 0; i < orr_sources_file_count(sources); i++) {
    struct orr_text_file file = orr_sources_file(sources, i);
    const char *slash = strrchr(file.name, '/');
    json_object_set_new(files, slash ? slash + 1 : file.name,
                        sum_json(orr_hash_bytes(ORR_HASH_BEGIN, file.text, file.length)));
  }
  for (int i = 0; i < c->vary_count; i++) /* tables are no sources of messages: by what they say */
    for (int k = 0; k < c->varies[i].text_count; k++) {
      const char *text = c->varies[i].texts[k];
      uint64_t sum = orr_hash_bytes(ORR_HASH_BEGIN, text, strlen(text));
      json_t *old = json_object_get(files, c->varies[i].path);
      if (old)
        sum ^= strtoull(json_string_value(old), NULL, 16) * UINT64_C(0x9e3779b97f4a7c15);
      json_object_set_new(files, c->varies[i].path, sum_json(sum));
    }
  json_object_set_new(root, "orrery", json_integer(1));
  json_object_set_new(root, "fingerprint", json_string(orr_fingerprint(print)));
  json_object_set_new(root, "flights", json_integer(c->flights));
  json_object_set_new(root, "files", files);
  return root;
}

bool orr_folder_judge_fingerprint(const char *folder_has, const char *who) {
  char print[ORR_FINGERPRINT_TEXT], clean[ORR_FINGERPRINT_TEXT]; /* the folder's may come from anywhere */
  const char *what = orr_fingerprint_differs(folder_has, orr_fingerprint(print));
  if (what)
    fprintf(
        stderr,
        "orrery campaign: %s has %s than the flights of this campaign (%s, and they have %s): its flights would have "
        "other bits, and none was flown\n",
        who, what, print, orr_text_clean(folder_has, "", clean, sizeof clean));
  return !what;
}

static bool is_same(const struct orr_folder *f, json_t *ours, json_t *theirs) {
  char host[65] = "this machine";
  const char *name, *print = json_string_value(json_object_get(theirs, "fingerprint"));
  json_t *sum, *old = json_object_get(theirs, "files");
  gethostname(host, sizeof host - 1);
  json_object_foreach(json_object_get(ours, "files"), name, sum) {
    if (json_equal(sum, json_object_get(old, name)))
      continue;
    fprintf(stderr, "orrery campaign: '%s' is of another campaign: '%s' has changed since; give another folder\n",
            f->path, name);
    return false;
  }
  if (!json_equal(json_object_get(ours, "flights"), json_object_get(theirs, "flights")) || !print) {
    fprintf(stderr, "orrery campaign: '%s' is of another campaign\n", f->path);
    return false;
  }
  return orr_folder_judge_fingerprint(print, host);
}

static bool write_json(const char *path, const json_t *root) {
  struct orr_out_file file;
  if (!orr_out_file_open(&file, path))
    return fail("cannot write", path);
  json_dumpf(root, file.out, JSON_INDENT(1));
  fputc('\n', file.out);
  return orr_out_file_close(&file, true) || fail("cannot write", path);
}

static bool judge_manifest(struct orr_folder *f, enum orr_folder_use use, struct orr_diagnostics *d) {
  char path[PATH_MAX];
  char trouble[ORR_JSON_TROUBLE];
  json_t *ours = manifest(f->campaign, d), *theirs = orr_json_load(below(f, "campaign.json", path), 0, trouble);
  bool there = access(path, F_OK) == 0, good = false;
  if (there && use == ORR_FOLDER_NEW)
    fprintf(stderr, "orrery campaign: '%s' holds a campaign: --resume goes on with it, -o names another folder\n",
            f->path);
  else if (there && !theirs)
    fprintf(stderr, "orrery campaign: '%s' is damaged: %s\n", path, trouble);
  else if (!there && use == ORR_FOLDER_READ)
    fprintf(stderr, "orrery campaign: '%s' holds no campaign\n", f->path);
  else
    good = there ? is_same(f, ours, theirs) : write_json(path, ours);
  json_decref(ours);
  json_decref(theirs);
  return good;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The rows of a journal: of a flight the first one counts. Returns where the last whole line ends. */
static int64_t scan(struct orr_folder *f, size_t source) {
  FILE *in = f->sources[source];
  struct orr_json_line line = {0};
  int64_t at = 0;
  rewind(in);
  while (orr_json_next(&line, in) == ORR_JSON_WHOLE) {
    json_t *row = orr_json_row(&line), *number = json_object_get(row, "flight");
    int64_t flight = json_is_integer(number) ? json_integer_value(number) : -1;
    if (flight >= 0 && flight < f->campaign->flights && f->at[flight] < 0) {
      f->at[flight] = at;
      f->from[flight] = (uint16_t)source;
      f->rows++;
    }
    json_decref(row);
    at += (int64_t)line.length;
  }
  free(line.text);
  return at;
}

static bool add_source(struct orr_folder *f, const char *path) {
  FILE *in = f->source_count < ORR_FOLDER_JOURNALS ? orr_text_open(path) : NULL;
  if (!in)
    return false;
  f->sources[f->source_count++] = in;
  return true;
}

/* Attempts that came to their end. */
static void gather_attempts(struct orr_folder *f) {
  char attempts[PATH_MAX], path[PATH_MAX + 600];
  struct dirent **list;
  int n = scandir(below(f, "attempts", attempts), &list, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s/complete", attempts, list[i]->d_name);
    if (list[i]->d_name[0] != '.' && access(path, F_OK) == 0) {
      snprintf(path, sizeof path, "%s/%s/journal.jsonl", attempts, list[i]->d_name);
      if (add_source(f, path))
        scan(f, f->source_count - 1);
    }
    free(list[i]);
  }
  if (n >= 0)
    free(list);
}

/* Does not wait for somebody to read a FIFO. */
static FILE *open_to_append(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
  FILE *out = fd >= 0 ? fdopen(fd, "a") : NULL;
  if (!out && fd >= 0)
    close(fd);
  return out;
}

/* What was cut by the end of the command goes away; then rows are appended. */
static bool open_journal(struct orr_folder *f, const char *folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.3900s/journal.jsonl", folder);
  f->journal = open_to_append(path);
  f->own = (uint16_t)f->source_count;
  if (!f->journal || !add_source(f, path) || truncate(path, scan(f, f->source_count - 1)) != 0)
    return fail("cannot write", path);
  snprintf(path, sizeof path, "%.3900s/timing.jsonl", folder);
  f->timing = open_to_append(path);
  return f->timing || fail("cannot write", path);
}

static bool take_lock(struct orr_folder *f) {
  char path[PATH_MAX];
  f->lock = open(below(f, "lock", path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (f->lock < 0)
    return fail("cannot write", path);
  /* of this process alone: workers that outlive it by a moment do not have it, as they would have flock's */
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(f->lock, F_SETLK, &whole) == 0)
    return true;
  fprintf(stderr, "orrery campaign: another command flies the campaign in '%s'\n", f->path);
  return false;
}

bool orr_folder_open(struct orr_folder *f, const char *path, enum orr_folder_use use, const struct orr_campaign *c,
                     struct orr_diagnostics *d) {
  *f = (struct orr_folder){.campaign = c, .lock = -1};
  snprintf(f->path, sizeof f->path, "%s", path);
  f->at = malloc((size_t)c->flights * sizeof *f->at);
  f->from = calloc((size_t)c->flights, sizeof *f->from);
  if (!f->at || !f->from)
    return fail("no memory for the rows of", path);
  memset(f->at, 0xff, (size_t)c->flights * sizeof *f->at);
  if (use != ORR_FOLDER_READ && orr_make_folder(path, 0777) != 0 && errno != EEXIST)
    return fail("cannot make the folder", path);
  if ((use != ORR_FOLDER_READ && !take_lock(f)) || !judge_manifest(f, use, d))
    return false;
  if (use != ORR_FOLDER_READ) {
    if (!open_journal(f, path))
      return false;
  } else {
    char own[PATH_MAX];
    if (add_source(f, below(f, "journal.jsonl", own)))
      scan(f, 0);
  }
  gather_attempts(f);
  return true;
}

bool orr_folder_attempt(struct orr_folder *f, const char *name) {
  char path[PATH_MAX];
  if (orr_make_folder(below(f, "attempts", path), 0777) != 0 && errno != EEXIST)
    return fail("cannot make the folder", path);
  snprintf(path, sizeof path, "%.3700s/attempts/%.100s", f->path, name);
  if (orr_make_folder(path, 0777) != 0)
    return fail("cannot make the folder", path);
  snprintf(f->path, sizeof f->path, "%s", path);
  return open_journal(f, path);
}

bool orr_folder_complete(struct orr_folder *f) {
  char path[PATH_MAX];
  if (f->broken || fflush(f->journal) != 0 || fsync(fileno(f->journal)) != 0)
    return fail("cannot write the rows in", f->path);
  FILE *out = fopen(below(f, "complete", path), "we");
  return (out && fclose(out) == 0) || fail("cannot write", path);
}

bool orr_folder_has(const struct orr_folder *f, int64_t flight) { return f->at[flight] >= 0; }

void orr_folder_add(struct orr_folder *f, int64_t flight, const char *row, double took_s, int worker) {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  fseek(f->journal, 0, SEEK_END);
  f->at[flight] = ftell(f->journal);
  f->from[flight] = f->own;
  f->rows++;
  fprintf(f->journal, "%s\n", row);
  if (fflush(f->journal) != 0 && !f->broken) {
    f->broken = true;
    fail("cannot write the rows in", f->path);
  }
  fprintf(f->timing, "{\"flight\":%lld,\"wall_s\":%.6f,\"host\":\"%s\",\"worker\":%d}\n", (long long)flight, took_s,
          host, worker);
  fflush(f->timing);
}

json_t *orr_folder_row(const struct orr_folder *f, int64_t flight) {
  FILE *in = f->sources[f->from[flight]];
  struct orr_json_line line = {0};
  json_t *row = NULL;
  if (fseek(in, f->at[flight], SEEK_SET) == 0 && orr_json_next(&line, in) != ORR_JSON_NONE)
    row = orr_json_row(&line);
  free(line.text);
  return row;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Quoted where CSV needs it. */
static void put_text(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\n")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void put_cell(FILE *out, const json_t *value) {
  fputc(',', out);
  if (json_is_integer(value))
    fprintf(out, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    fprintf(out, "%.17g", json_real_value(value));
  else if (json_is_string(value))
    put_text(out, json_string_value(value));
}

void orr_campaign_si_unit(const char *written, char *text, size_t size) {
  struct orr_unit unit;
  const char *at,
      *words = *written && orr_unit_parse(written, &unit, &at) == ORR_QUANTITY_OK ? orr_unit_describe(&unit) : NULL;
  const char *from = words ? strrchr(words, '(') : NULL;
  snprintf(text, size, "%s%.30s", from ? " " : "", from ? from : "");
}

static void put_head(const struct orr_folder *f, FILE *out, const struct orr_flight_measure *measures, size_t count) {
  const struct orr_run *run = f->campaign->nominal;
  char label[ORR_FLIGHT_LABEL], cell[ORR_FLIGHT_LABEL + 200];
  fputs("flight,seed,verdict,why,state_hash", out);
  for (int i = 0; i < f->campaign->vary_count; i++) {
    fputc(',', out);
    char unit[40];
    orr_campaign_si_unit(f->campaign->varies[i].unit, unit, sizeof unit);
    snprintf(cell, sizeof cell, "%.350s%s", f->campaign->varies[i].path, unit);
    put_text(out, cell);
  }
  for (size_t i = 0; i < run->expect_count; i++) {
    orr_flight_label(run, i, label);
    snprintf(cell, sizeof cell, ",verdict of %s", label);
    fputc(',', out);
    put_text(out, cell + 1);
    snprintf(cell, sizeof cell, "margin of %s%s%.30s%s", label, *run->expects[i].unit ? " (" : "", run->expects[i].unit,
             *run->expects[i].unit ? ")" : "");
    fputc(',', out);
    put_text(out, cell);
  }
  for (size_t i = 0; i < count; i++) {
    snprintf(cell, sizeof cell, "%s%s%s%s", measures[i].name, *measures[i].unit ? " (" : "", measures[i].unit,
             *measures[i].unit ? ")" : "");
    fputc(',', out);
    put_text(out, cell);
  }
  fputc('\n', out);
}

static void put_row(const struct orr_folder *f, FILE *out, const json_t *row, const struct orr_flight_measure *measures,
                    size_t count) {
  const json_t *expect = json_object_get(row, "expect");
  fprintf(out, "%lld", (long long)json_integer_value(json_object_get(row, "flight")));
  put_cell(out, json_object_get(row, "seed"));
  put_cell(out, json_object_get(row, "verdict"));
  put_cell(out, json_object_get(row, "why"));
  put_cell(out, json_object_get(row, "state_hash"));
  for (int i = 0; i < f->campaign->vary_count; i++)
    put_cell(out, json_object_get(json_object_get(row, "values"), f->campaign->varies[i].path));
  for (size_t i = 0; i < f->campaign->nominal->expect_count; i++) {
    put_cell(out, json_object_get(json_array_get(expect, i), "verdict"));
    put_cell(out, json_object_get(json_array_get(expect, i), "margin"));
  }
  for (size_t i = 0; i < count; i++)
    put_cell(out, json_object_get(json_object_get(row, "measures"), measures[i].name));
  fputc('\n', out);
}

struct tables {
  struct orr_out_file lines, cells, histories;
  struct orr_flight_measure *measures;
  size_t measure_count;
};

static void put_flight(const struct orr_folder *f, struct tables *t, int64_t flight, const char *print) {
  json_t *row = orr_folder_row(f, flight), *histories = json_object_get(row, "histories");
  if (!row)
    return;
  if (histories) {
    json_t *kept = json_object();
    json_object_set_new(kept, "flight", json_integer(flight));
    json_object_set(kept, "histories", histories);
    json_dumpf(kept, t->histories.out, JSON_COMPACT | JSON_REAL_PRECISION(7));
    fputc('\n', t->histories.out);
    json_decref(kept);
    json_object_del(row, "histories");
  }
  json_object_set_new(row, "fingerprint", json_string(print));
  json_dumpf(row, t->lines.out, JSON_COMPACT | JSON_REAL_PRECISION(ORR_FLIGHT_DIGITS));
  fputc('\n', t->lines.out);
  put_row(f, t->cells.out, row, t->measures, t->measure_count);
  json_decref(row);
}

bool orr_folder_tables(struct orr_folder *f) {
  struct tables t = {.measure_count = 0};
  char path[PATH_MAX], print[ORR_FINGERPRINT_TEXT];
  bool good = orr_out_file_open(&t.lines, below(f, "table.jsonl", path)) &&
              orr_out_file_open(&t.cells, below(f, "table.csv", path)) &&
              (!f->campaign->envelopes || orr_out_file_open(&t.histories, below(f, "histories.jsonl", path)));
  if (!good)
    return fail("cannot write", path);
  orr_fingerprint(print);
  t.measure_count = orr_flight_measures(f->campaign, &f->campaign->nominal->table, &t.measures);
  put_head(f, t.cells.out, t.measures, t.measure_count);
  for (int64_t i = 0; i < f->campaign->flights; i++)
    if (orr_folder_has(f, i))
      put_flight(f, &t, i, print);
  free(t.measures);
  good = orr_out_file_close(&t.lines, true);
  good = orr_out_file_close(&t.cells, true) && good;
  if (f->campaign->envelopes)
    good = orr_out_file_close(&t.histories, true) && good;
  return good || fail("cannot write the tables in", f->path);
}

void orr_folder_unlock(struct orr_folder *f) {
  if (f->lock >= 0)
    close(f->lock);
  f->lock = -1;
}

void orr_folder_close(struct orr_folder *f) {
  if (f->journal)
    fclose(f->journal);
  if (f->timing)
    fclose(f->timing);
  for (size_t i = 0; i < f->source_count; i++)
    fclose(f->sources[i]);
  orr_folder_unlock(f);
  free(f->at);
  free(f->from);
  *f = (struct orr_folder){.lock = -1};
}
