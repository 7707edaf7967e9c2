#include "tools/campaign/campaign_flight.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt/machine/denormals.h"
#include "tools/common/json_numbers.h"
#include "tools/common/text.h"
#include "tools/run/controller.h"
#include "tools/run/ending_report.h"
#include "tools/run/expect_report.h"
#include "tools/run/links_report.h"
#include "tools/run/patterns.h"

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static void add_setting(struct orr_flight_settings *s, const char *path, const char *value) {
  size_t bytes = strlen(path) + strlen(value) + 2;
  if (s->count == ORR_FLIGHT_SETTINGS)
    return;
  char *text = malloc(bytes);
  if (!text)
    abort();
  snprintf(text, bytes, "%s%s%s", path, *value ? "=" : "", value);
  s->text[s->count++] = text;
}

void orr_flight_settings_make(struct orr_flight_settings *s, const struct orr_campaign *c, const double *values) {
  char value[ORR_CAMPAIGN_VALUE];
  s->count = 0;
  for (int i = 0; i < c->base_count; i++)
    add_setting(s, c->bases[i], "");
  for (int i = 0; i < c->vary_count; i++)
    add_setting(s, c->varies[i].setting, orr_campaign_value(&c->varies[i], values[i], value));
}

void orr_flight_settings_free(struct orr_flight_settings *s) {
  for (size_t i = 0; i < s->count; i++)
    free(s->text[i]);
  s->count = 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

void orr_flight_number_name(const struct orr_channel *c, int number, char *text, size_t size) {
  if (c->count == 1)
    snprintf(text, size, "%s", c->name);
  else if (c->elements)
    snprintf(text, size, "%s.%s", c->name, c->elements[number]);
  else
    snprintf(text, size, "%s[%d]", c->name, number);
}

static bool number_fits(const char *patterns, const struct orr_channel *c, int number) {
  char name[160];
  orr_flight_number_name(c, number, name, sizeof name);
  return orr_patterns_fit(patterns, c->name) || orr_patterns_fit(patterns, name);
}

size_t orr_flight_measures(const struct orr_campaign *c, const struct orr_channel_table *table,
                           struct orr_flight_measure **list) {
  size_t count = 0, room = 0;
  *list = NULL;
  for (int m = 0; m < c->measure_count; m++)
    for (int i = 0; i < table->count; i++)
      for (int k = 0; k < table->channels[i].count; k++) {
        char name[160];
        if (!number_fits(c->measures[m].pattern, &table->channels[i], k))
          continue;
        if (count == room) {
          *list = realloc(*list, (room = 2 * room + 16) * sizeof **list);
          if (!*list)
            abort();
        }
        struct orr_flight_measure *one = &(*list)[count++];
        *one = (struct orr_flight_measure){&c->measures[m],
                                           i,
                                           k,
                                           table->channels[i].offset + k,
                                           "",
                                           c->measures[m].kind == ORR_KEPT_SETTLING ? "s" : table->channels[i].unit};
        orr_flight_number_name(&table->channels[i], k, name, sizeof name);
        snprintf(one->name, sizeof one->name, "%s %.140s", orr_kept_names[c->measures[m].kind], name);
      }
  return count;
}

const char *orr_flight_label(const struct orr_run *run, size_t i, char text[ORR_FLIGHT_LABEL]) {
  const struct orr_run_expect *e = &run->expects[i];
  if (e->name)
    snprintf(text, ORR_FLIGHT_LABEL, "%s", e->name);
  else
    snprintf(text, ORR_FLIGHT_LABEL, "%s %s", e->subject, e->bound);
  return text;
}

/* ---- what is gathered while it flies ----------------------------------------------------------------------------- */

struct gatherer {
  struct orr_recorder recorder; /* first */
  struct orr_flight_measure *measures;
  size_t measure_count;
  double *sums; /* [measure_count]: largest, sum of squares, last, time of the last frame outside; −1: none */
  uint64_t frames;
  int *curves; /* places in the block */
  char (*curve_names)[160];
  size_t curve_count;
  int64_t points, point, last_frame; /* of envelopes */
  double *samples;                   /* [curve_count][points] */
};

static void look(struct orr_recorder *recorder, const struct orr_session *s) {
  struct gatherer *g = (struct gatherer *)recorder;
  const double *values = s->plant->values;
  int64_t frame = orr_plant_frame(s->plant);
  g->frames++;
  for (size_t i = 0; i < g->measure_count; i++) {
    double x = values[g->measures[i].place];
    if (g->measures[i].of->kind == ORR_KEPT_MAX)
      g->sums[i] = fmax(g->sums[i], fabs(x));
    else if (g->measures[i].of->kind == ORR_KEPT_RMS)
      g->sums[i] += x * x;
    else if (g->measures[i].of->kind == ORR_KEPT_FINAL)
      g->sums[i] = x;
    else if (!(fabs(x) <= g->measures[i].of->tolerance_si))
      g->sums[i] = 1e-9 * (double)orr_plant_time_ns(s->plant);
  }
  while (g->curve_count && g->point < g->points && frame >= g->point * g->last_frame / (g->points - 1)) {
    for (size_t i = 0; i < g->curve_count; i++)
      g->samples[i * (size_t)g->points + (size_t)g->point] = values[g->curves[i]];
    g->point++;
  }
}

static void *must(void *memory) {
  if (!memory)
    abort();
  return memory;
}

static void gather_begin(struct gatherer *g, const struct orr_campaign *c, struct orr_session *s) {
  const struct orr_channel_table *table = &s->plant->table;
  size_t numbers = (size_t)table->value_count + 1;
  *g = (struct gatherer){.recorder.frame = look, .points = c->envelope_points};
  g->last_frame = s->run->duration_ns / s->run->plant.step_ns;
  g->measure_count = orr_flight_measures(c, table, &g->measures);
  g->sums = must(calloc(g->measure_count + 1, sizeof *g->sums));
  g->curves = must(calloc(numbers, sizeof *g->curves));
  g->curve_names = must(calloc(numbers, sizeof *g->curve_names));
  for (size_t i = 0; i < g->measure_count; i++) {
    if (g->measures[i].of->kind == ORR_KEPT_SETTLING)
      g->sums[i] = -1;
    orr_plant_ask(s->plant, g->measures[i].channel);
  }
  for (int i = 0; c->envelopes && i < table->count; i++)
    for (int k = 0; k < table->channels[i].count; k++)
      if (number_fits(c->envelopes, &table->channels[i], k)) {
        orr_flight_number_name(&table->channels[i], k, g->curve_names[g->curve_count], sizeof *g->curve_names);
        g->curves[g->curve_count++] = table->channels[i].offset + k;
        orr_plant_ask(s->plant, i);
      }
  g->samples = must(calloc(g->curve_count * (size_t)g->points + 1, sizeof *g->samples));
  orr_session_tell(s, &g->recorder);
}

static void gather_end(struct gatherer *g, struct orr_session *s, json_t *row) {
  json_t *measures = json_object(), *curves = json_object();
  double end_s = 1e-9 * (double)orr_plant_time_ns(s->plant);
  for (size_t i = 0; i < g->measure_count; i++) {
    enum orr_campaign_measure_kind kind = g->measures[i].of->kind;
    double x = kind == ORR_KEPT_RMS ? sqrt(g->sums[i] / (double)g->frames) : g->sums[i];
    json_t *number = kind == ORR_KEPT_SETTLING && x >= end_s ? json_null() /* it has not settled */
                     : kind == ORR_KEPT_SETTLING && x < 0    ? json_real(0)
                                                             : orr_json_number(x);
    json_object_set_new(measures, g->measures[i].name, number);
  }
  for (size_t i = 0; i < g->curve_count; i++)
    json_object_set_new(curves, g->curve_names[i],
                        orr_json_numbers(g->samples + i * (size_t)g->points, (size_t)g->point));
  if (g->measure_count)
    json_object_set_new(row, "measures", measures);
  else
    json_decref(measures);
  if (g->curve_count)
    json_object_set_new(row, "histories", curves);
  else
    json_decref(curves);
  orr_session_tell_no_more(s, &g->recorder);
}

static void gather_free(struct gatherer *g) {
  free(g->measures);
  free(g->sums);
  free(g->curves);
  free(g->curve_names);
  free(g->samples);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

json_t *orr_flight_head(const struct orr_campaign *c, int64_t flight, const double *values) {
  json_t *row = json_object(), *list = json_object();
  json_int_t seed = (json_int_t)c->nominal->plant.seed;
  char text[ORR_CAMPAIGN_VALUE];
  for (int i = 0; i < c->vary_count; i++) {
    const struct orr_campaign_vary *v = &c->varies[i];
    bool word = v->law == ORR_LAW_ONE_OF && !isfinite(v->text_values[(int)values[i]]);
    double number = v->law == ORR_LAW_ONE_OF ? v->text_values[(int)values[i]] : values[i];
    bool whole = v->law == ORR_LAW_EACH;
    json_object_set_new(list, v->path,
                        word    ? orr_json_text(orr_campaign_value(v, values[i], text))
                        : whole ? json_integer((json_int_t)number)
                                : json_real(number));
    if (strcmp(v->setting, "simulation.seed") == 0 && !word)
      seed = (json_int_t)number;
  }
  json_object_set_new(row, "flight", json_integer(flight));
  json_object_set_new(row, "seed", json_integer(seed));
  json_object_set_new(row, "values", list);
  return row;
}

json_t *orr_flight_lost(const struct orr_campaign *c, int64_t flight, const double *values, const char *verdict,
                        const char *why) {
  json_t *row = orr_flight_head(c, flight, values);
  json_object_set_new(row, "verdict", json_string(verdict));
  json_object_set_new(row, "why", orr_json_text(why));
  return row;
}

/* How far an expectation is from being broken, in its own unit; below 0 by how far it is. NaN where there is no such
 * number. */
static double margin(const struct orr_run_expect *e, double value) {
  bool bound = e->form == ORR_EXPECT_BELOW || e->form == ORR_EXPECT_OF_PEAK;
  if ((e->probe && e->probe->condition) || isnan(value) || e->form == ORR_EXPECT_IS)
    return nan("");
  if (e->form == ORR_EXPECT_BETWEEN)
    return fmin(value - e->low, e->high - value);
  return bound ? e->high - value : value - e->low;
}

static void add_expectations(const struct orr_session *s, json_t *row) {
  const struct orr_expect_report report = {.session = s};
  json_t *list = orr_expect_json(&report);
  char label[ORR_FLIGHT_LABEL];
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *one = json_array_get(list, i), *value = json_object_get(one, "value"), *kept = json_object();
    double m = margin(&s->run->expects[i], value ? json_real_value(value) : nan(""));
    json_object_set_new(kept, "name", orr_json_text(orr_flight_label(s->run, i, label)));
    json_object_set_new(kept, "subject", orr_json_text(s->run->expects[i].subject));
    json_object_set(kept, "verdict", json_object_get(one, "verdict"));
    if (value)
      json_object_set(kept, "value", value);
    if (isfinite(m))
      json_object_set_new(kept, "margin", json_real(m));
    json_array_set_new(list, i, kept);
  }
  json_object_set_new(row, "expect", list);
}

static void add_ending(const struct orr_run_report *report, json_t *row) {
  json_t *root = json_object(), *one;
  char hash[20];
  orr_ending_report_json(report, root);
  json_object_set(row, "verdict", json_object_get(root, "verdict"));
  one = json_array_get(json_object_get(root, "reasons"), 0);
  if (one)
    json_object_set(row, "why", json_object_get(one, "what"));
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)orr_session_hash(report->session));
  json_object_set_new(row, "state_hash", json_string(hash));
  json_decref(root);
}

/* ---- flight software outside ------------------------------------------------------------------------------------- */

const char *orr_flight_segment(const struct orr_flight_place *place, size_t link, char name[ORR_FLIGHT_SEGMENT]) {
  snprintf(name, ORR_FLIGHT_SEGMENT, "/orrery.%.40s.%d.%zu", place->tag, place->worker, link);
  return name;
}

/* A port of this machine that nobody has at the moment; 0 where there is none. */
static int free_port(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool good =
      s >= 0 && bind(s, (struct sockaddr *)&at, size) == 0 && getsockname(s, (struct sockaddr *)&at, &size) == 0;
  if (s >= 0)
    close(s);
  return good ? ntohs(at.sin_port) : 0;
}

struct urls {
  char text[ORR_FLIGHT_LINKS][ORR_FLIGHT_SEGMENT + 8];
  const char *name[ORR_FLIGHT_LINKS];
  size_t count;
};

/* Each link that leads outside gets a place that no other flight has. */
static void place_links(const struct orr_campaign *c, const struct orr_flight_place *place,
                        struct orr_flight_settings *s, struct urls *urls) {
  urls->count = 0;
  for (size_t i = 0; i < c->nominal->link_count && urls->count < ORR_FLIGHT_LINKS; i++) {
    const struct orr_run_link *link = &c->nominal->links[i];
    char segment[ORR_FLIGHT_SEGMENT], path[120], address[40];
    if (link->transport == ORR_TRANSPORT_LINKED || link->capture)
      continue;
    bool shm = link->transport == ORR_TRANSPORT_SHM;
    snprintf(address, sizeof address, "127.0.0.1:%d", shm ? 0 : free_port());
    snprintf(path, sizeof path, "links.%.80s.%s", link->name, shm ? "name" : "listen");
    orr_flight_segment(place, i, segment);
    add_setting(s, path, shm ? segment : address);
    urls->name[urls->count] = link->name;
    snprintf(urls->text[urls->count++], sizeof *urls->text, "%s%s", shm ? "shm:" : "udp:", shm ? segment : address);
  }
}

static void set_variables(const struct orr_campaign *c, const struct urls *urls, int64_t flight, const double *values) {
  char name[120], text[ORR_CAMPAIGN_VALUE];
  for (size_t i = 0; i < urls->count; i++) {
    snprintf(name, sizeof name, "ORRERY_LINK_%.80s", urls->name[i]);
    setenv(name, urls->text[i], 1);
    if (i == 0)
      setenv("ORRERY_LINK", urls->text[i], 1);
  }
  snprintf(text, sizeof text, "%lld", (long long)flight);
  setenv("ORRERY_FLIGHT", text, 1);
  for (int i = 0; i < c->variable_count; i++)
    setenv(c->variables[i].name,
           orr_campaign_value(&c->varies[c->variables[i].vary], values[c->variables[i].vary], text), 1);
}

/* In the process group of its worker, and gone with it. */
static pid_t start_software(const struct orr_campaign *c, const struct urls *urls, int64_t flight,
                            const double *values) {
  pid_t worker = getpid(), pid = fork();
  if (pid != 0)
    return pid;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGINT, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != worker)
    _exit(127);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  set_variables(c, urls, flight, values);
  execl("/bin/sh", "sh", "-c", c->software, (char *)NULL);
  _exit(127);
}

/* It leaves when its link is gone; one that does not is made to. */
static void end_software(pid_t pid) {
  const struct timespec moment = {.tv_nsec = 2000000};
  for (int i = 0; i < 1000; i++) {
    pid_t gone = waitpid(pid, NULL, WNOHANG);
    if (gone == pid || (gone < 0 && errno == ECHILD))
      return;
    nanosleep(&moment, NULL);
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

/* ---- flying ------------------------------------------------------------------------------------------------------ */

struct flight {
  const struct orr_campaign *c;
  const struct urls *urls;
  int64_t number;
  const double *values;
  pid_t software; /* 0: none */
};

static bool open_links(struct flight *f, struct orr_session *s) {
  if (!f->c->software)
    return orr_links_batch(s->run, f->c->run_path);
  if (!orr_links_open(s, true, ORR_LINKS_SANDBOX_IF_ANY))
    return false;
  f->software = start_software(f->c, f->urls, f->number, f->values);
  return f->software > 0 && orr_links_wait(s, NULL);
}

static void fly_session(struct flight *f, struct orr_session *s, json_t *row) {
  int64_t frames = s->run->duration_ns / s->run->plant.step_ns;
  struct gatherer g;
  gather_begin(&g, f->c, s);
  enum orr_status status = orr_session_start(s);
  bool open = status == ORR_OK && open_links(f, s);
  while (open && s->end == ORR_PORT_GOES_ON && orr_plant_frame(s->plant) < frames)
    if (orr_session_frame(s) != 0)
      break;
  if (open && s->status == ORR_OK)
    orr_session_record_last(s);
  orr_session_settle(s);
  if (status == ORR_OK && !open) {
    json_object_set_new(row, "verdict", json_string("wrong"));
    json_object_set_new(row, "why", json_string("its links could not be opened"));
  } else {
    const struct orr_run_report report = {.path = f->c->run_path,
                                          .mode = f->c->software ? "lockstep" : "batch",
                                          .session = s,
                                          .frames_asked = frames,
                                          .with_links = f->c->software != NULL};
    add_ending(&report, row);
    add_expectations(s, row);
    gather_end(&g, s, row);
  }
  gather_free(&g);
}

static const char *first_error(struct orr_diagnostics *d) {
  for (size_t i = 0; i < orr_diagnostics_count(d); i++)
    if (orr_diagnostics_get(d, i).severity == ORR_ERROR)
      return orr_diagnostics_get(d, i).text;
  return "the run file is wrong";
}

json_t *orr_flight_fly(const struct orr_campaign *c, const struct orr_flight_place *place, int64_t number,
                       const double *values) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_flight_settings settings = {.count = 0};
  struct urls urls = {.count = 0};
  orr_flight_settings_make(&settings, c, values);
  if (c->software)
    place_links(c, place, &settings, &urls);
  const struct orr_config_options options = {.settings = (const char *const *)settings.text,
                                             .setting_count = settings.count};
  const struct orr_run *run = orr_run_load(c->run_path, &options, d);
  struct flight f = {c, &urls, number, values, 0};
  json_t *row;
  fenv_t as_it_was; /* the next flight is read as in a fresh process */
  fegetenv(&as_it_was);
  orr_rt_flush_denormals();
  if (!run) {
    row = orr_flight_lost(c, number, values, "wrong", first_error(d));
  } else if (!c->software && !orr_controller_fits(run, c->run_path, stderr)) {
    row = orr_flight_lost(c, number, values, "wrong", "the controller inside does not fit this run");
  } else {
    struct orr_session *s = orr_session_create(run, orr_controller_answer);
    row = orr_flight_head(c, number, values);
    fly_session(&f, s, row);
    orr_session_destroy(s);
    if (f.software > 0)
      end_software(f.software);
  }
  fesetenv(&as_it_was);
  orr_flight_settings_free(&settings);
  orr_diagnostics_destroy(d);
  return row;
}
