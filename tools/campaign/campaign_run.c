#include "tools/campaign/campaign_run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt/machine/make_folder.h"
#include "tools/campaign/campaign_flight.h"
#include "tools/campaign/campaign_pool.h"
#include "tools/campaign/campaign_verdict.h"
#include "tools/campaign/draw.h"
#include "tools/common/commands.h"

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* The one thing that a handler may touch. */
static volatile sig_atomic_t signals_seen;

static void count_signal(int which) {
  (void)which;
  if (signals_seen < 2)
    signals_seen++;
}

void orr_campaign_catch_signals(void) {
  struct sigaction action = {.sa_handler = count_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int orr_campaign_signals(void) { return signals_seen; }

/* ---- progress ---------------------------------------------------------------------------------------------------- */

struct line {
  bool terminal, drawn;
  double start_s, next_s;
  int64_t flown, failed, asked;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(struct line *l, int flying) {
  double now = now_s(), took = now - l->start_s, rate = took > 0 ? (double)l->flown / took : 0;
  if (!l->terminal || now < l->next_s)
    return;
  l->next_s = now + 0.2;
  double left = rate > 0 ? (double)(l->asked - l->flown) / rate : 0;
  fprintf(stderr, "\r%lld of %lld flown, %lld not passed, %.3g flights/s", (long long)l->flown, (long long)l->asked,
          (long long)l->failed, rate);
  if (signals_seen)
    fprintf(stderr, "; ends after %d in the air, Ctrl-C again ends now\033[K", flying);
  else
    fprintf(stderr, left < 90 ? ", %.0f s left\033[K" : ", %.0f min left\033[K", left < 90 ? left : left / 60);
  l->drawn = true;
}

/* ---- flying ------------------------------------------------------------------------------------------------------ */

int orr_campaign_jobs(void) {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n > ORR_POOL_MOST ? ORR_POOL_MOST : n;
}

bool orr_campaign_fly_all(struct orr_folder *f, int64_t first, int64_t end, int jobs) {
  const struct orr_campaign *c = f->campaign;
  char tag[ORR_FOLDER_TAG];
  struct line line = {.terminal = isatty(STDERR_FILENO), .start_s = now_s(), .next_s = now_s() + 1};
  double values[ORR_CAMPAIGN_VARIED];
  for (int64_t i = first; i < end; i++)
    line.asked += !orr_folder_has(f, i);
  if (!line.asked)
    return true;
  struct orr_pool *pool = orr_pool_create(c, line.asked < jobs ? (int)line.asked : jobs, orr_folder_tag(f, tag));
  if (!pool)
    return false;
  int64_t next = first;
  while (signals_seen < 2 && !f->broken) {
    for (; signals_seen == 0 && next < end && orr_pool_has_free(pool); next++)
      if (!orr_folder_has(f, next)) {
        orr_draw_flight(c, next, values);
        orr_pool_give(pool, next, values);
      }
    if (!orr_pool_flying(pool))
      break;
    struct orr_pool_row row;
    if (orr_pool_take(pool, 200, &row)) {
      line.flown++;
      line.failed += !strstr(row.text, "\"verdict\":\"passed\"");
      orr_folder_add(f, row.flight, row.text, row.took_s, row.worker);
      free(row.text);
    }
    show(&line, orr_pool_flying(pool));
  }
  if (line.drawn)
    fputs("\r\033[K", stderr);
  orr_pool_destroy(pool);
  return true;
}

/* ---- one flight again -------------------------------------------------------------------------------------------- */

int orr_campaign_fly_one(const struct orr_campaign *c, const double *values, int word_count, char **words) {
  struct orr_flight_settings settings;
  orr_flight_settings_make(&settings, c, values);
  char **argv = calloc(2 * settings.count + (size_t)word_count + 6, sizeof *argv);
  char run[] = "run", set[] = "--set", mode[] = "--mode", batch[] = "batch", *path = strdup(c->run_path);
  int argc = 0, status = ORR_EXIT_BAD;
  bool has_mode = false;
  if (argv && path) {
    argv[argc++] = run;
    argv[argc++] = path;
    for (size_t i = 0; i < settings.count; i++) {
      argv[argc++] = set;
      argv[argc++] = settings.text[i];
    }
    for (int i = 0; i < word_count; i++) {
      argv[argc++] = words[i];
      has_mode |= strcmp(words[i], "--mode") == 0;
    }
    if (!has_mode) {
      argv[argc++] = mode;
      argv[argc++] = batch;
    }
    status = orr_cmd_run.run(argc, argv);
  }
  free(path);
  free(argv);
  orr_flight_settings_free(&settings);
  return status;
}

/* In a process of its own, which says nothing. False where it left no file. */
static bool fly_apart(const struct orr_campaign *c, int64_t flight, char **words, int word_count, const char *path) {
  double values[ORR_CAMPAIGN_VARIED];
  int status;
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    orr_draw_flight(c, flight, values);
    orr_campaign_fly_one(c, values, word_count, words);
    fflush(NULL);
    _exit(0);
  }
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  bool good = pid > 0 && access(path, F_OK) == 0;
  if (!good)
    fprintf(stderr, "orrery campaign: '%s' could not be written\n", path);
  return good;
}

struct kept {
  struct orr_folder *folder;
  const struct orr_campaign_chosen *chosen;
  bool log;
};

static bool keep_flight(const struct kept *k, int64_t flight) {
  char path[PATH_MAX + 80], csv[] = "--csv", log[] = "--log", channels[] = "--channels", rate[] = "--csv-rate";
  char *words[6];
  int n = 0;
  snprintf(path, sizeof path, "%.3800s/%s/%06lld.%s", k->folder->path, k->log ? "logs" : "histories", (long long)flight,
           k->log ? "mcap" : "csv");
  if (access(path, F_OK) == 0)
    return true;
  words[n++] = k->log ? log : csv;
  words[n++] = path;
  if (k->chosen->patterns && !k->log) {
    words[n++] = channels;
    words[n++] = (char *)(uintptr_t)k->chosen->patterns; /* who reads words of a command line does not write there */
  }
  if (k->chosen->rate && !k->log) {
    words[n++] = rate;
    words[n++] = (char *)(uintptr_t)k->chosen->rate;
  }
  return fly_apart(k->folder->campaign, flight, words, n, path);
}

static bool keep_chosen(const struct kept *k) {
  struct orr_folder *f = k->folder;
  char path[PATH_MAX];
  bool good = true;
  if (!k->chosen->wanted)
    return true;
  snprintf(path, sizeof path, "%.3800s/%s", f->path, k->log ? "logs" : "histories");
  if (orr_make_folder(path, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "orrery campaign: cannot make the folder '%s': %s\n", path, strerror(errno));
    return false;
  }
  struct orr_verdict v;
  orr_verdict_make(&v, f, k->chosen->failed ? f->campaign->flights : k->chosen->worst);
  for (int64_t i = 0; i < v.worst_count && signals_seen == 0; i++) {
    json_t *row = orr_folder_row(f, v.worst[i]);
    const char *verdict = json_string_value(json_object_get(row, "verdict"));
    bool lost = v.badness[i] < -1e300, passed = verdict && strcmp(verdict, "passed") == 0;
    if (!lost && (i < k->chosen->worst || (k->chosen->failed && !passed)))
      good = keep_flight(k, v.worst[i]) && good;
    json_decref(row);
  }
  orr_verdict_free(&v);
  return good;
}

bool orr_campaign_keep(struct orr_folder *f) {
  const struct kept histories = {f, &f->campaign->channels, false}, logs = {f, &f->campaign->logs, true};
  bool good = keep_chosen(&histories);
  return keep_chosen(&logs) && good;
}
