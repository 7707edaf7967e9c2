#include "tools/run/run_log.h"

#include <dirent.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libfyaml.h>
#include <zstd.h>

#include "rt/machine/environment.h"
#include "rt/machine/make_folder.h"
#include "tools/common/doctor_checks.h"
#include "tools/common/fingerprint.h"
#include "tools/common/version.h"

enum { KEPT = 10 };

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* The file's name without folder and ending. */
static void name_of(const char *path, char *name, size_t size) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  snprintf(name, size, "%.*s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base);
}

static void stamp_of(char *stamp, size_t size) {
  struct timespec now;
  struct tm utc;
  char seconds[24];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(seconds, sizeof seconds, "%Y%m%dT%H%M%S", &utc);
  snprintf(stamp, size, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

/* NAME-20260102T030405.678Z.mcap, and nothing else. */
static bool is_log_of(const char *file, const char *name) {
  static const char shape[] = "-dddddddd"
                              "Tdddddd.ddd"
                              "Z.mcap";
  size_t n = strlen(name);
  if (strncmp(file, name, n) != 0 || strlen(file + n) != sizeof shape - 1)
    return false;
  for (size_t i = 0; i < sizeof shape - 1; i++) {
    char c = file[n + i];
    if (shape[i] == 'd' ? c < '0' || c > '9' : c != shape[i])
      return false;
  }
  return true;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* The names end with the time, so the oldest come first. One more is about to be written. */
static void delete_oldest(const char *folder, const char *name) {
  struct dirent **entries;
  char path[PATH_MAX];
  int count = scandir(folder, &entries, NULL, by_name), ours = 0;
  for (int i = 0; i < count; i++)
    ours += is_log_of(entries[i]->d_name, name);
  for (int i = 0; i < count; i++) {
    if (is_log_of(entries[i]->d_name, name) && ours-- >= KEPT) {
      int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
      if (length > 0 && (size_t)length < sizeof path)
        unlink(path);
    }
    free(entries[i]);
  }
  if (count >= 0)
    free(entries);
}

void orr_run_log_choose(struct orr_run_log *log, const char *file, bool none, bool by_itself,
                        struct orr_session *session) {
  const char *folder = getenv("ORRERY_LOGS");
  log->folder = folder ? folder : "./orrery-logs";
  log->wanted = !none && (file || (by_itself && log->folder[0]));
  if (!log->wanted)
    return;
  if (file)
    snprintf(log->path, sizeof log->path, "%s", file);
  orr_recording_choose(&log->recording, session);
}

/* FOLDER/RUN-UTC.mcap; two runs in one millisecond would have one name, and then the later one has no log. */
static void choose_path(struct orr_run_log *log) {
  char name[256], stamp[64];
  name_of(log->run_path, name, sizeof name);
  stamp_of(stamp, sizeof stamp);
  orr_make_folder(log->folder, 0777);
  delete_oldest(log->folder, name);
  snprintf(log->path, sizeof log->path, "%s/%s-%s.mcap", log->folder, name, stamp);
}

/* ---- what -------------------------------------------------------------------------------------------------------- */

struct facts {
  struct orr_mcap_pair *pairs;
  size_t count, room;
  struct orr_arena *arena;
};

static void add(struct facts *f, const char *key, const char *value) {
  if (f->count == f->room)
    f->pairs = orr_arena_grow(f->arena, f->pairs, f->count, sizeof *f->pairs, &f->room);
  f->pairs[f->count++] = (struct orr_mcap_pair){orr_mcap_text(orr_arena_copy(f->arena, key, strlen(key))),
                                                orr_mcap_text(orr_arena_copy(f->arena, value, strlen(value)))};
}

static void add_number(struct facts *f, const char *key, uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, number);
  add(f, key, text);
}

static void add_run(struct facts *f, const struct orr_run_log *log) {
  const struct orr_session *s = log->recording.session;
  char stamp[64], key[32], print[ORR_FINGERPRINT_TEXT];
  stamp_of(stamp, sizeof stamp);
  add(f, "format", "1");
  add(f, "run", log->run_path);
  add(f, "mode", log->mode);
  add(f, "start_utc", stamp);
  add_number(f, "step_ns", (uint64_t)s->plant->step_ns);
  add_number(f, "seed", s->run->plant.seed);
  add_number(f, "first_frame", (uint64_t)orr_plant_frame(s->plant));
  for (size_t i = 0; i < log->setting_count; i++) {
    snprintf(key, sizeof key, "set.%zu", i);
    add(f, key, log->settings[i]);
  }
  if (log->origin && log->origin[0])
    add(f, "restored_from", log->origin);
  add(f, "version", orr_version());
  add(f, "commit", orr_version_commit());
  add(f, "compiler", orr_version_compiler());
  add(f, "flags", orr_version_flags());
  add(f, "fingerprint", orr_fingerprint(print));
  add(f, "libc", gnu_get_libc_version());
  add(f, "libfyaml", fy_library_version());
  add(f, "jansson", JANSSON_VERSION);
  add(f, "zstd", ZSTD_versionString());
}

/* What `orrery doctor` would say. */
static void add_machine(struct facts *f, const struct orr_session *s) {
  struct orr_environment environment;
  struct orr_check checks[ORR_CHECKS_MAX];
  char text[ORR_CHECK_TEXT_MAX + 16];
  int core = s->run->realtime.core;
  orr_environment_read(&environment, core == ORR_CORE_AUTO ? orr_setup_choose_core() : core, "");
  add(f, "kernel", environment.kernel);
  add(f, "kernel version", environment.version);
  add(f, "cpu", environment.cpu);
  size_t count = orr_doctor_judge(&environment, checks);
  for (size_t i = 0; i < count; i++) {
    snprintf(text, sizeof text, "%s: %s", orr_health_name(checks[i].health), checks[i].finding);
    add(f, checks[i].name, text);
  }
}

static const char *media_type(const char *name) {
  const char *dot = strrchr(name, '.');
  bool yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
  return yaml ? "application/yaml" : dot && strcmp(dot, ".json") == 0 ? "application/json" : "text/plain";
}

/* The files of the run as they were read, tables too; settings are facts. */
static size_t texts_of(struct orr_diagnostics *d, struct orr_arena *arena, const struct orr_logger_text **out) {
  const struct orr_sources *sources = orr_diagnostics_sources(d);
  size_t n = orr_sources_file_count(sources), count = 0;
  struct orr_logger_text *texts = orr_arena_alloc(arena, n + 1, sizeof *texts);
  for (size_t i = 0; i < n; i++) {
    struct orr_text_file file = orr_sources_file(sources, i);
    if (strncmp(file.name, "--set ", 6) != 0)
      texts[count++] = (struct orr_logger_text){file.name, media_type(file.name), {file.text, file.length}};
  }
  *out = texts;
  return count;
}

void orr_run_log_start(struct orr_run_log *log, struct orr_diagnostics *d, const char *const *stages, bool patient) {
  if (!log->wanted)
    return;
  if (!log->path[0])
    choose_path(log);
  struct orr_arena *arena = orr_arena_create();
  struct facts run = {.arena = arena}, machine = {.arena = arena};
  char library[64];
  snprintf(library, sizeof library, "orrery %s", orr_version());
  add_run(&run, log);
  add_machine(&machine, log->recording.session);
  struct orr_recording_request request = {.path = log->path,
                                          .library = library,
                                          .build = orr_version_build(),
                                          .keep_free = ORR_LOG_KEEP_FREE,
                                          .patient = patient,
                                          .caged = log->caged,
                                          .stages = stages,
                                          .facts = run.pairs,
                                          .fact_count = run.count,
                                          .machine = machine.pairs,
                                          .machine_count = machine.count};
  request.text_count = texts_of(d, arena, &request.texts);
  if (!orr_recording_start(&log->recording, &request, log->refused, sizeof log->refused))
    fprintf(stderr, "orrery run: warning: no log of this run: '%s': %s\n", log->path, log->refused);
  orr_arena_destroy(arena);
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

void orr_run_log_stop(struct orr_run_log *log) {
  const struct orr_session *s = log->recording.session;
  char hash[32], frame[32];
  if (!log->wanted || log->refused[0])
    return;
  snprintf(hash, sizeof hash, "%016" PRIx64, orr_session_hash(s));
  snprintf(frame, sizeof frame, "%" PRId64, orr_plant_frame(s->plant));
  const struct orr_mcap_pair end[] = {{orr_mcap_text("state_hash"), orr_mcap_text(hash)},
                                      {orr_mcap_text("frame"), orr_mcap_text(frame)}};
  log->result = orr_recording_stop(&log->recording, end, 2);
}

void orr_run_log_drop(struct orr_run_log *log) {
  orr_run_log_stop(log);
  if (log->result)
    unlink(log->path);
}

bool orr_run_log_watch(struct orr_run_log *log, char *text, size_t size) {
  if (!log->recording.logger || log->told_stop)
    return false;
  struct orr_logger_trouble t = orr_logger_trouble(log->recording.logger);
  bool stopped = t.stop != ORR_LOG_GOES_ON, behind = t.behind && !log->told_behind;
  if (stopped)
    snprintf(text, size, "orrery run: warning: the log '%s' stopped: %s; the run goes on\n", log->path,
             orr_log_stop_text(t.stop, t.error));
  else if (behind)
    snprintf(text, size,
             "orrery run: warning: the disk is behind, so frames will be missing in the log '%s'; the run goes on\n",
             log->path);
  log->told_stop = stopped;
  log->told_behind = t.behind;
  return stopped || behind;
}

void orr_run_log_print(const struct orr_run_log *log) {
  const struct orr_logger_result *r = log->result;
  if (!log->wanted)
    return;
  if (!r) {
    printf("log         none: '%s': %s\n", log->path, log->refused);
    return;
  }
  if (r->stop == ORR_LOG_GONE)
    printf("log         none: '%s': %s\n", log->path, orr_log_stop_text(r->stop, r->error));
  else
    printf("log         %s, %.3g MB\n", log->path, 1e-6 * (double)r->bytes);
  uint64_t lost = r->lost_ring + r->lost_file;
  if (lost)
    printf("            incomplete: %" PRIu64 " frames are not in it, of %" PRId64 " to %" PRId64 ": %s\n", lost,
           r->lost_first, r->lost_last, orr_log_stop_text(r->stop, r->error));
  else if (!r->complete && r->stop != ORR_LOG_GONE)
    printf("            incomplete: its index could not be written: %s; 'orrery log repair %s' does it\n",
           orr_log_stop_text(r->stop, r->error), log->path);
  if (r->lost_checkpoints)
    printf("            %" PRIu64 " checkpoints are not in it: the disk was behind\n", r->lost_checkpoints);
  if (r->frames)
    printf("            orrery replay %s\n", log->path);
}

void orr_run_log_json(const struct orr_run_log *log, json_t *root) {
  const struct orr_logger_result *r = log->result;
  if (!log->wanted)
    return;
  json_t *out = json_object();
  json_object_set_new(out, "path", json_string(log->path));
  json_object_set_new(out, "complete", json_boolean(r && r->complete));
  if (!r)
    json_object_set_new(out, "error", json_string(log->refused));
  if (r) {
    json_object_set_new(out, "bytes", json_integer((json_int_t)r->bytes));
    json_object_set_new(out, "frames", json_integer((json_int_t)r->frames));
    json_object_set_new(out, "lost_frames", json_integer((json_int_t)(r->lost_ring + r->lost_file)));
    json_object_set_new(out, "lost_checkpoints", json_integer((json_int_t)r->lost_checkpoints));
  }
  if (r && r->lost_ring + r->lost_file) {
    json_object_set_new(out, "lost_first", json_integer(r->lost_first));
    json_object_set_new(out, "lost_last", json_integer(r->lost_last));
    json_object_set_new(out, "error", json_string(orr_log_stop_text(r->stop, r->error)));
  }
  json_object_set_new(root, "log", out);
}

void orr_run_log_free(struct orr_run_log *log) {
  if (log->wanted)
    orr_recording_free(&log->recording);
}
