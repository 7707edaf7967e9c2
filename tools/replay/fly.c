/* `orrery replay LOG`: the plant of a log once more, under the commands of the log. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/session/saved_state.h"
#include "io/session/status_text.h"
#include "rt/machine/denormals.h"
#include "tools/common/commands.h"
#include "tools/common/log_breaks.h"
#include "tools/common/log_run.h"
#include "tools/common/text.h"
#include "tools/common/version.h"
#include "tools/replay/replay.h"
#include "tools/run/controller.h"

/* What a topic of the log holds of the frame's block. */
struct piece {
  int offset, count;
  const struct orr_channel *channel;
};

struct topic {
  struct piece *pieces; /* [count] */
  size_t count;
  bool ours; /* a device or body of this run */
};

struct difference {
  bool found;
  int64_t frame;
  const char *stage;
  char channel[200];
  double logged, flown;
  bool numbers; /* `logged` and `flown` are of a channel */
};

struct replay {
  const struct orr_replay_arguments *arguments;
  struct orr_log_open log;
  struct orr_log_run of;
  const struct orr_run *run;
  struct orr_session *session;
  struct topic *topics; /* [ORR_WALK_IDS] */
  double *commands;     /* [command_count] that act until others come */
  int command_count;
  uint64_t *words;              /* scratch for a state */
  bool begun;                   /* the procedure has begun the frame that stands */
  struct orr_log_breaks breaks; /* of the frames to come */
  bool blind;                   /* frames are missing: no command is known until the next checkpoint */
  int64_t begin, skipped;
  int64_t most; /* no frame of the run is beyond it: its duration, or what the log says of its end */
  uint64_t numbers, checkpoints;
  bool hash_compared;
  struct difference difference;
  double took_s;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is compared -------------------------------------------------------------------------------------------- */

static bool is_truth(const struct orr_plant *p, int channel) {
  return p->truth_count && channel >= p->truths[0].channel && channel < p->truths[0].channel + p->truth_count;
}

static const char *stage_of(const struct replay *r, const struct orr_channel *c) {
  if (c->direction == ORR_CHANNEL_COMMAND)
    return "latch";
  return is_truth(r->session->plant, (int)(c - r->session->plant->table.channels)) ? "integrate" : "sensors";
}

static void differ(struct replay *r, const struct orr_channel *c, int element, double logged, double flown) {
  struct difference *d = &r->difference;
  *d = (struct difference){.found = true,
                           .frame = orr_plant_frame(r->session->plant),
                           .stage = stage_of(r, c),
                           .logged = logged,
                           .flown = flown,
                           .numbers = true};
  if (c->count == 1)
    snprintf(d->channel, sizeof d->channel, "%s", c->name);
  else if (c->elements)
    snprintf(d->channel, sizeof d->channel, "%s.%s", c->name, c->elements[element]);
  else
    snprintf(d->channel, sizeof d->channel, "%s[%d]", c->name, element);
}

static void differ_in_state(struct replay *r, const char *what) {
  r->difference = (struct difference){.found = true, .frame = orr_plant_frame(r->session->plant), .stage = what};
  snprintf(r->difference.channel, sizeof r->difference.channel, "the state");
}

/* False where a field of the topic is no channel of this run. */
static bool add_piece(struct replay *r, struct topic *t, const struct orr_mcap_channel *c, const struct orr_field *f) {
  char key[256], name[256];
  snprintf(key, sizeof key, "%.*s.channel", (int)(f->name.size < 200 ? f->name.size : 200), f->name.text);
  struct orr_mcap_text text = orr_walk_find(c->pairs, key);
  if (!text.text || f->type != ORR_FIELD_FLOAT64 || f->sequence)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)(text.size < sizeof name ? text.size : sizeof name - 1), text.text);
  int channel = orr_channel_find(&r->session->plant->table, name);
  if (channel < 0 || (uint32_t)r->session->plant->table.channels[channel].count != f->count ||
      t->count == (size_t)r->session->plant->table.count)
    return false;
  const struct orr_channel *found = &r->session->plant->table.channels[channel];
  orr_plant_ask(r->session->plant, channel);
  t->pieces = realloc(t->pieces, (t->count + 1) * sizeof *t->pieces);
  if (!t->pieces)
    abort();
  t->pieces[t->count++] = (struct piece){found->offset, found->count, found};
  return true;
}

static bool map_topics(struct replay *r) {
  for (size_t id = 0; id < ORR_WALK_IDS; id++) {
    const struct orr_mcap_channel *c = &r->log.tables->channels[id];
    if (!c->topic.text || c->schema >= ORR_WALK_IDS || (c->topic.size > 8 && memcmp(c->topic.text, "/orrery/", 8) == 0))
      continue;
    struct orr_mcap_text schema = r->log.tables->schemas[c->schema].data;
    struct orr_field f;
    bool good = schema.text != NULL;
    while (good && orr_schema_next(&schema, &f, &good))
      good = add_piece(r, &r->topics[id], c, &f);
    if (!good) {
      fputs("orrery replay: the topic '", stderr);
      orr_text_print(stderr, c->topic.text, c->topic.size);
      fputs("' does not fit the run file in the log\n", stderr);
      return false;
    }
    r->topics[id].ours = true;
  }
  return true;
}

/* ---- flying ------------------------------------------------------------------------------------------------------ */

/* The block of the frame as the log has it: faults of sensors, then the commands as they acted. */
static void complete_frame(struct replay *r) {
  struct orr_plant *p = r->session->plant;
  if (!r->begun) {
    orr_log_breaks_apply(&r->breaks, r->session);
    orr_session_begin_frame(r->session);
  }
  r->begun = true;
  memcpy(p->values + p->table.output_values, r->commands, 8 * (size_t)r->command_count);
}

/* What is expected looks at a frame whose block is complete. */
static void look(struct replay *r) {
  if (!r->arguments->rules)
    return;
  orr_session_record(r->session);
  if (r->session->procedure)
    orr_procedure_look(r->session->procedure);
}

static bool advance_to(struct replay *r, int64_t frame) {
  struct orr_plant *p = r->session->plant;
  while (!r->difference.found && orr_plant_frame(p) < frame) {
    complete_frame(r);
    look(r);
    r->begun = false;
    if (orr_session_compute(r->session) != 0)
      differ_in_state(r, "integrate: the solver fails here, and did not then");
  }
  return !r->difference.found;
}

/* Words of the plant and of the loops: what links inside remember plays no part, for nobody answers them here. */
static bool same_state(struct replay *r, const struct orr_log_checkpoint *at) {
  const struct orr_state_head *head = &at->state.head;
  size_t plant = head->plant_words, links = head->link_words;
  size_t replayed = head->loop_words - (orr_session_state_words(r->session) - orr_session_replayed_words(r->session));
  orr_session_state_get(r->session, r->words);
  return memcmp(r->words, at->state.state, 8 * plant) == 0 &&
         memcmp(r->words + plant + links, at->state.state + 8 * (plant + links), 8 * replayed) == 0;
}

static bool put_state(struct replay *r, const struct orr_log_checkpoint *at) {
  const char *wrong = orr_log_checkpoint_wrong(&r->of, at);
  r->begun = false;
  if (!wrong)
    wrong = orr_saved_state_put(r->session, &at->state);
  if (wrong)
    fprintf(stderr, "orrery replay: the checkpoint of '%s' at frame %" PRId64 " cannot be flown: %s\n", r->log.path,
            at->frame, wrong);
  else /* what acts until the log says otherwise */
    memcpy(r->commands, r->session->plant->values + r->session->plant->table.output_values,
           8 * (size_t)r->command_count);
  return !wrong;
}

static bool take_checkpoint(struct replay *r, const struct orr_mcap_message *m) {
  struct orr_log_checkpoint at;
  if (!orr_log_checkpoint_read(m, &at) || at.frame > r->most)
    return false;
  if (at.frame < r->begin)
    return true;
  if (r->blind) {
    r->skipped += at.frame - orr_plant_frame(r->session->plant);
    r->blind = false;
    return put_state(r, &at);
  }
  if (!advance_to(r, at.frame))
    return true;
  if (r->arguments->rules) /* what rules ask for besides stands in the state, too */
    return true;
  r->checkpoints++;
  if (orr_log_checkpoint_wrong(&r->of, &at) || orr_saved_state_unfit(r->session, &at.state) || !same_state(r, &at))
    differ_in_state(r, "integrate");
  return true;
}

static bool take_commands(struct replay *r, const struct orr_mcap_message *m, int64_t frame) {
  size_t bytes = 8 * (size_t)r->command_count;
  if (m->size != ORR_CDR_HEAD_BYTES + 8 + bytes)
    return false;
  if (!advance_to(r, frame))
    return true;
  memcpy(r->commands, m->data + ORR_CDR_HEAD_BYTES + 8, bytes);
  return true;
}

static bool take_numbers(struct replay *r, const struct orr_mcap_message *m, int64_t frame) {
  const struct topic *t = &r->topics[m->channel];
  struct orr_plant *p = r->session->plant;
  const uint8_t *at = m->data + ORR_CDR_HEAD_BYTES;
  size_t left = m->size < ORR_CDR_HEAD_BYTES ? 0 : (m->size - ORR_CDR_HEAD_BYTES) / 8;
  if (!advance_to(r, frame))
    return true;
  complete_frame(r);
  for (size_t i = 0; i < t->count; i++) {
    size_t n = (size_t)t->pieces[i].count;
    const double *flown = p->values + t->pieces[i].offset;
    if (n > left)
      return false;
    for (size_t k = 0; k < n && memcmp(at, flown, 8 * n) != 0; k++)
      if (memcmp(at + 8 * k, flown + k, 8) != 0 && !r->difference.found) {
        double logged;
        memcpy(&logged, at + 8 * k, 8);
        differ(r, t->pieces[i].channel, (int)k, logged, flown[k]);
      }
    r->numbers += n;
    at += 8 * n;
    left -= n;
  }
  return true;
}

/* A fault that was begun or ended from outside. */
static bool advance_to_break(struct replay *r, const struct orr_mcap_message *m, int64_t frame) {
  struct orr_log_break one;
  if (!orr_log_break_read(m, r->run, &one))
    return true;
  return !advance_to(r, frame) || orr_log_breaks_add(&r->breaks, &one, frame);
}

/* False where the log is not what this program writes. */
static bool take(struct replay *r, const struct orr_mcap_message *m) {
  int64_t frame = (int64_t)(m->log_ns / (uint64_t)r->of.step_ns);
  if (frame > r->most)
    return false;
  if (orr_log_is_topic(&r->log, m->channel, "/orrery/checkpoint"))
    return take_checkpoint(r, m);
  if (orr_log_is_topic(&r->log, m->channel, "/orrery/lost")) {
    r->blind = r->blind || frame >= r->begin;
    return true;
  }
  if (orr_log_is_topic(&r->log, m->channel, "/orrery/event") && frame >= r->begin && !r->blind)
    return advance_to_break(r, m, frame);
  bool commands = orr_log_is_topic(&r->log, m->channel, "/orrery/commands");
  if (!commands && !r->topics[m->channel].ours)
    return true;
  if (frame < r->begin || r->blind)
    return true;
  return commands ? take_commands(r, m, frame) : take_numbers(r, m, frame);
}

static void compare_end(struct replay *r) {
  char hash[20];
  snprintf(hash, sizeof hash, "%016" PRIx64, orr_session_hash(r->session));
  struct orr_mcap_text logged = orr_walk_find(r->of.end, "state_hash");
  if (r->blind || r->difference.found || !logged.text ||
      orr_log_number(r->of.end, "frame", -1) != orr_plant_frame(r->session->plant))
    return;
  r->hash_compared = true;
  if (logged.size != 16 || memcmp(logged.text, hash, 16) != 0)
    differ_in_state(r, "integrate");
}

static int64_t last_frame(const struct replay *r) {
  if (r->run->duration_ns > 0)
    return r->begin + r->run->duration_ns / r->of.step_ns;
  return orr_log_number(r->of.end, "frame", INT64_MAX);
}

static bool walk(struct replay *r) {
  struct orr_walk_item item;
  double begin_s = now_s();
  if (!put_state(r, &r->of.checkpoint)) /* what it takes is of this run's step, and of a frame whose time is a number */
    return false;
  bool good = true;
  r->begin = r->of.checkpoint.frame;
  r->most = last_frame(r);
  orr_walk_start(&r->log.walk, r->log.tables, &r->log.unpacker, &r->log.crc, r->log.view.bytes, r->log.view.size);
  r->log.walk.from_ns = (uint64_t)(r->begin * r->of.step_ns);
  r->log.walk.to_ns = r->arguments->to_ns;
  while (good && !r->difference.found && orr_walk_next(&r->log.walk, &item)) {
    good = item.kind != ORR_WALK_MESSAGE || take(r, &item.message);
    if (!good)
      fprintf(stderr, "orrery replay: a message at %.9g s is not what its topic says, or beyond the end of the run\n",
              1e-9 * (double)item.message.log_ns);
  }
  int64_t end = orr_log_number(r->of.end, "frame", -1);
  if (good && end > r->most) {
    fprintf(stderr, "orrery replay: '%s' says that it ends beyond the end of its run\n", r->log.path);
    good = false;
  }
  if (good && r->arguments->rules && !r->blind && r->arguments->to_ns == UINT64_MAX && advance_to(r, end)) {
    complete_frame(r);
    look(r);
  }
  if (good)
    compare_end(r);
  r->took_s = now_s() - begin_s;
  return good;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void tell_builds(const struct replay *r, json_t *root) {
  const struct {
    const char *key, *now;
  } facts[] = {{"version", orr_version()},
               {"commit", orr_version_commit()},
               {"compiler", orr_version_compiler()},
               {"flags", orr_version_flags()}};
  json_t *list = json_object();
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    struct orr_mcap_text then = orr_walk_find(r->of.facts, facts[i].key);
    char raw[500], text[sizeof raw];
    snprintf(raw, sizeof raw, "%.*s", (int)(then.size < 400 ? then.size : 400), then.text ? then.text : "");
    if (strcmp(orr_text_clean(raw, "", text, sizeof text), facts[i].now) == 0)
      continue;
    json_object_set_new(list, facts[i].key, orr_json_text(text));
    if (!root)
      printf("build       %s was '%s', is '%s'\n", facts[i].key, text, facts[i].now);
  }
  if (root)
    json_object_set(root, "build_was", list);
  json_decref(list);
}

static void print(const struct replay *r) {
  const struct orr_plant *p = r->session->plant;
  const struct difference *d = &r->difference;
  double flown_s = 1e-9 * (double)((orr_plant_frame(p) - r->begin - r->skipped) * p->step_ns);
  printf("replayed    %s, frames %" PRId64 " to %" PRId64 ", %.4g times real time\n", r->log.path, r->begin,
         orr_plant_frame(p), r->took_s > 0 ? flown_s / r->took_s : 0);
  if (r->skipped)
    printf("            %" PRId64 " frames up to a checkpoint passed over, for the log lost some\n", r->skipped);
  printf("compared    %" PRIu64 " numbers, the state at %" PRIu64 " checkpoints, %s\n", r->numbers, r->checkpoints,
         r->hash_compared ? "the state_hash at the end" : "no state_hash");
  if (!d->found) {
    puts("identical   bit for bit");
    return;
  }
  printf("differs     at frame %" PRId64 " (t = %.9g s), stage %s: %s", d->frame,
         1e-9 * (double)(d->frame * p->step_ns), d->stage, d->channel);
  if (d->numbers)
    printf(": %.17g in the log, %.17g now (%" PRIu64 " ulps)", d->logged, d->flown,
           orr_replay_ulps(d->logged, d->flown));
  putchar('\n');
  tell_builds(r, NULL);
}

static void print_json(const struct replay *r) {
  const struct difference *d = &r->difference;
  json_t *root = json_object();
  json_object_set_new(root, "identical", json_boolean(!d->found));
  json_object_set_new(root, "first_frame", json_integer(r->begin));
  json_object_set_new(root, "last_frame", json_integer(orr_plant_frame(r->session->plant)));
  json_object_set_new(root, "skipped_frames", json_integer(r->skipped));
  json_object_set_new(root, "numbers", json_integer((json_int_t)r->numbers));
  json_object_set_new(root, "checkpoints", json_integer((json_int_t)r->checkpoints));
  json_object_set_new(root, "state_hash_compared", json_boolean(r->hash_compared));
  json_object_set_new(root, "wall_s", json_real(r->took_s));
  if (d->found) {
    json_object_set_new(root, "frame", json_integer(d->frame));
    json_object_set_new(root, "stage", json_string(d->stage));
    json_object_set_new(root, "channel", orr_json_text(d->channel));
    if (d->numbers) {
      json_object_set_new(root, "logged", json_real(d->logged));
      json_object_set_new(root, "flown", json_real(d->flown));
    }
  }
  tell_builds(r, root);
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(root);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int fly_run(struct replay *r) {
  r->session = orr_session_create(r->run, orr_controller_answer);
  const struct orr_channel_table *table = &r->session->plant->table;
  r->command_count = table->value_count - table->output_values;
  r->commands = calloc((size_t)r->command_count + 1, sizeof *r->commands);
  r->words = calloc(orr_session_state_words(r->session) + 1, sizeof *r->words);
  r->topics = calloc(ORR_WALK_IDS, sizeof *r->topics);
  if (!r->commands || !r->words || !r->topics)
    abort();
  orr_rt_flush_denormals();
  bool good = map_topics(r);
  enum orr_status status = good ? orr_session_start(r->session) : ORR_OK;
  if (status != ORR_OK)
    fprintf(stderr, "orrery replay: the run in '%s' cannot start: %s\n", r->log.path, orr_status_text(status));
  good = good && status == ORR_OK && walk(r);
  good = orr_log_ended(&r->log) && good;
  const struct orr_replay_rules *rules = r->arguments->rules;
  if (good && rules)
    rules->judged(rules->user, r->session, !r->difference.found, !r->blind && r->skipped == 0 && r->hash_compared);
  else if (good)
    (r->arguments->json ? print_json : print)(r);
  for (size_t id = 0; id < ORR_WALK_IDS; id++)
    free(r->topics[id].pieces);
  free(r->topics);
  free(r->words);
  free(r->commands);
  orr_session_destroy(r->session);
  return good && !r->difference.found ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

/* Rules that do not fit one log fit no other of the same devices: what is wrong is said once. */
static void tell_wrong(const struct replay *r, struct orr_diagnostics *d) {
  const struct orr_replay_rules *rules = r->arguments->rules;
  char *text = NULL;
  size_t size;
  FILE *out = rules ? open_memstream(&text, &size) : NULL;
  orr_diagnostics_print(d, 0, out ? out : stderr, false);
  if (!out || fclose(out) != 0)
    return;
  if (!*rules->told || strcmp(*rules->told, text) != 0)
    fputs(text, stderr);
  free(*rules->told);
  *rules->told = text;
}

static int read_and_fly(struct replay *r) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  int status = ORR_EXIT_BAD;
  if (orr_log_run_read(&r->of, &r->log, r->arguments->from_ns)) {
    struct orr_text_file *files = calloc(r->of.file_count + 1, sizeof *files);
    char overlay[PATH_MAX + 2];
    if (!files)
      abort();
    memcpy(files, r->of.files, r->of.file_count * sizeof *files);
    struct orr_config_options options = {.files = files,
                                         .file_count = r->of.file_count,
                                         .settings = r->of.settings,
                                         .setting_count = r->of.setting_count};
    if (r->arguments->rules) {
      files[options.file_count++] = *r->arguments->rules->file;
      snprintf(overlay, sizeof overlay, "@@%s", r->arguments->rules->file->name);
      r->of.settings[options.setting_count++] = overlay;
    }
    r->run = orr_run_load(r->of.path, &options, d);
    if (!r->run)
      tell_wrong(r, d);
    else
      status = fly_run(r);
    free(files);
  }
  orr_diagnostics_destroy(d);
  orr_log_run_free(&r->of);
  return status;
}

int orr_replay_fly(const struct orr_replay_arguments *arguments) {
  struct replay r = {.arguments = arguments};
  if (!orr_log_open(&r.log, "orrery replay", arguments->path))
    return ORR_EXIT_BAD;
  int status = read_and_fly(&r);
  orr_log_close(&r.log);
  return status;
}
