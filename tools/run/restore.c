#include "tools/run/restore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/session/status_text.h"
#include "rt/machine/denormals.h"
#include "tools/common/log_breaks.h"
#include "tools/common/version.h"
#include "tools/run/controller.h"

static const char who[] = "orrery run";

bool orr_restore_parse(struct orr_restore *r, const char *text) {
  const char *at = strrchr(text, '@');
  *r = (struct orr_restore){0};
  if (!at || at == text || !orr_log_time(at + 1, &r->at_ns))
    return false;
  r->path = strndup(text, (size_t)(at - text));
  if (!r->path)
    abort();
  return true;
}

static bool cannot(const struct orr_restore *r, const char *why) {
  fprintf(stderr, "%s: cannot go on from '%s' at %.9g s: %s\n", who, r->path, 1e-9 * (double)r->at_ns, why);
  return false;
}

bool orr_restore_open(struct orr_restore *r) {
  r->open = orr_log_open(&r->log, who, r->path);
  if (!r->open || !orr_log_run_read(&r->of, &r->log, r->at_ns) || !orr_log_ended(&r->log))
    return false;
  r->frame = (int64_t)(r->at_ns / (uint64_t)r->of.step_ns);
  if (r->of.checkpoint.frame <= r->frame)
    return true;
  char text[80];
  snprintf(text, sizeof text, "its first checkpoint is at %.9g s",
           1e-9 * (double)r->of.checkpoint.frame * (double)r->of.step_ns);
  return cannot(r, text);
}

struct orr_config_options orr_restore_options(const struct orr_restore *r, const char *const *settings, size_t count,
                                              const char **room) {
  memcpy(room, r->of.settings, r->of.setting_count * sizeof *room);
  if (count)
    memcpy(room + r->of.setting_count, settings, count * sizeof *room);
  return (struct orr_config_options){.files = r->of.files,
                                     .file_count = r->of.file_count,
                                     .settings = room,
                                     .setting_count = r->of.setting_count + count};
}

/* ---- from the checkpoint to the moment --------------------------------------------------------------------------- */

enum { TOPIC_ROOM = 256 };

struct passage {
  struct orr_restore *restore;
  struct orr_session *session;
  bool batch;       /* the controllers inside flew, and fly again */
  double *commands; /* [command_count] that act until others come */
  size_t command_bytes;
  bool *applied;                /* [link_count] some of them are the link's, of flight software outside */
  int64_t known;                /* the log tells of all frames before it, or of all up to the moment */
  struct orr_log_breaks breaks; /* of the frames to come */
};

static bool flew_outside(const struct passage *p, size_t link) {
  return !p->batch && orr_carrier_kind(p->session->run->links[link].transport)->outside;
}

/* Controllers inside that flew then remember what they saw; what they answer is in the log. */
static void tell_inside(struct passage *p) {
  struct orr_session *s = p->session;
  int64_t frame = orr_plant_frame(s->plant);
  orr_session_trouble_links(s);
  for (size_t i = 0; i < s->run->link_count; i++) {
    struct orr_port *inside = s->links[i].inside;
    if (flew_outside(p, i))
      continue;
    orr_port_publish(inside, frame, orr_plant_time_ns(s->plant), s->plant->values);
    orr_port_latch(inside, frame, s->plant->values);
  }
}

/* What flight software outside commanded can go on as a pulse. */
static void note_outside(struct passage *p) {
  for (size_t i = 0; i < p->session->run->link_count; i++)
    if (flew_outside(p, i)) {
      orr_port_note_commands(p->session->links[i].inside, p->applied[i], p->session->plant->values);
      p->applied[i] = false;
    }
}

static bool advance_to(struct passage *p, int64_t frame) {
  struct orr_plant *plant = p->session->plant;
  while (orr_plant_frame(plant) < frame) {
    orr_log_breaks_apply(&p->breaks, p->session);
    orr_session_begin_frame(p->session);
    tell_inside(p);
    memcpy(plant->values + plant->table.output_values, p->commands, p->command_bytes);
    note_outside(p);
    if (orr_session_compute(p->session) != 0)
      return cannot(p->restore, orr_status_text(p->session->status));
  }
  return true;
}

static bool tell_lost(const struct passage *p, int64_t first, int64_t last) {
  char text[120];
  snprintf(text, sizeof text, "the log lost frames %" PRId64 " to %" PRId64 ", and the commands in them", first, last);
  return cannot(p->restore, text);
}

/* A fault that was begun or ended from outside. False after a message. */
static bool take_break(struct passage *p, const struct orr_mcap_message *m, int64_t frame) {
  struct orr_log_break one;
  if (!orr_log_break_read(m, p->session->run, &one))
    return true;
  return advance_to(p, frame) && (orr_log_breaks_add(&p->breaks, &one, frame) ||
                                  cannot(p->restore, "a frame has more commands than one can have"));
}

/* The number of the link whose topic it is, or the count of links. */
static size_t link_of(const struct passage *p, uint16_t channel) {
  const struct orr_run *run = p->session->run;
  char topic[TOPIC_ROOM];
  for (size_t i = 0; i < run->link_count; i++) {
    snprintf(topic, sizeof topic, "/orrery/link/%s", run->links[i].name);
    if (orr_log_is_topic(&p->restore->log, channel, topic))
      return i;
  }
  return run->link_count;
}

/* What a link did in a frame: frame, the frame whose answer acted last, and a text with its zero. False after a
 * message. */
static bool take_link(struct passage *p, const struct orr_mcap_message *m, size_t link, int64_t frame) {
  static const char applied[] = "applied";
  const size_t at = ORR_CDR_HEAD_BYTES + 16;
  uint32_t length = 0;
  if (m->size >= at + sizeof length)
    memcpy(&length, m->data + at, sizeof length);
  if (length == 0 || length > m->size - at - sizeof length)
    return cannot(p->restore, "a message is not what its topic says");
  if (!advance_to(p, frame))
    return false;
  if (memmem(m->data + at + sizeof length, length, applied, sizeof applied - 1))
    p->applied[link] = true;
  return true;
}

/* False after a message. */
static bool take(struct passage *p, const struct orr_mcap_message *m) {
  const struct orr_log_open *log = &p->restore->log;
  int64_t frame = (int64_t)(m->log_ns / (uint64_t)p->restore->of.step_ns), span[2];
  if (orr_log_is_topic(log, m->channel, "/orrery/lost")) {
    if (m->size < ORR_CDR_HEAD_BYTES + sizeof span)
      return cannot(p->restore, "a message is not what its topic says");
    memcpy(span, m->data + ORR_CDR_HEAD_BYTES, sizeof span);
    return span[0] >= p->restore->frame || span[1] < p->restore->of.checkpoint.frame || tell_lost(p, span[0], span[1]);
  }
  if (frame >= p->known)
    p->known = frame < p->restore->frame ? frame + 1 : p->restore->frame;
  if (frame >= p->restore->frame || frame < p->restore->of.checkpoint.frame)
    return true;
  if (orr_log_is_topic(log, m->channel, "/orrery/event"))
    return take_break(p, m, frame);
  size_t link = link_of(p, m->channel);
  if (link < p->session->run->link_count)
    return take_link(p, m, link, frame);
  if (!orr_log_is_topic(log, m->channel, "/orrery/commands"))
    return true;
  if (m->size != ORR_CDR_HEAD_BYTES + 8 + p->command_bytes)
    return cannot(p->restore, "a message is not what its topic says");
  if (!advance_to(p, frame))
    return false;
  if (p->command_bytes)
    memcpy(p->commands, m->data + ORR_CDR_HEAD_BYTES + 8, p->command_bytes);
  return true;
}

/* Messages of a frame that is lost stand behind it, in that of the next: so far the walk goes. */
static bool walk(struct passage *p) {
  struct orr_restore *r = p->restore;
  struct orr_walk_item item;
  orr_walk_start(&r->log.walk, r->log.tables, &r->log.unpacker, &r->log.crc, r->log.view.bytes, r->log.view.size);
  r->log.walk.from_ns = (uint64_t)(r->of.checkpoint.frame * r->of.step_ns);
  p->known = r->of.checkpoint.frame;
  while (orr_walk_next(&r->log.walk, &item))
    if (item.kind == ORR_WALK_MESSAGE && !take(p, &item.message))
      return false;
  int64_t end = orr_log_number(r->of.end, "frame", p->known), known = p->known < end ? p->known : end;
  if (known < r->frame) {
    char text[80];
    snprintf(text, sizeof text, "it tells nothing beyond %.9g s", 1e-9 * (double)known * (double)r->of.step_ns);
    return cannot(r, text);
  }
  return advance_to(p, r->frame);
}

static bool fly(struct passage *p) {
  struct orr_restore *r = p->restore;
  const struct orr_plant *plant = p->session->plant;
  p->command_bytes = 8 * (size_t)(plant->table.value_count - plant->table.output_values);
  p->commands = calloc(p->command_bytes + 1, 1);
  p->applied = calloc(p->session->run->link_count + 1, sizeof *p->applied);
  if (!p->commands || !p->applied)
    abort();
  enum orr_status status = orr_session_start(p->session);
  if (status != ORR_OK)
    return cannot(r, orr_status_text(status));
  const char *wrong = orr_log_checkpoint_wrong(&r->of, &r->of.checkpoint);
  if (!wrong)
    wrong = orr_saved_state_put(p->session, &r->of.checkpoint.state);
  if (wrong)
    return cannot(r, wrong);
  memcpy(p->commands, plant->values + plant->table.output_values, p->command_bytes);
  if (!walk(p))
    return false;
  const struct orr_state_head head = orr_saved_state_head(p->session, orr_version_build());
  size_t words = orr_state_record_words(&head);
  r->record = calloc(words, sizeof *r->record);
  if (!r->record)
    abort();
  orr_saved_state_take(p->session, &head, r->record);
  r->loop_words = orr_saved_state_loop_words(p->session);
  return orr_state_record_open(r->record, 8 * words, &r->state) == ORR_STATE_GOOD;
}

static bool says(struct orr_mcap_text pairs, const char *key, const char *word) {
  struct orr_mcap_text value = orr_walk_find(pairs, key);
  return value.text && value.size == strlen(word) && memcmp(value.text, word, value.size) == 0;
}

bool orr_restore_compute(struct orr_restore *r) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  const char *settings[ORR_LOG_RUN_SETTINGS];
  const struct orr_config_options options = orr_restore_options(r, NULL, 0, settings);
  const struct orr_run *run = orr_run_load(r->of.path, &options, d);
  bool good = run && orr_controller_fits(run, r->of.path, stderr);
  if (!run)
    orr_diagnostics_print(d, 0, stderr, false);
  if (good && strcmp(r->of.checkpoint.state.head.build, orr_version_build()) != 0)
    fprintf(stderr, "%s: warning: another build (%s) wrote '%s': the bits from here on need not be its own\n", who,
            r->of.checkpoint.state.head.build, r->path);
  if (good) {
    struct passage p = {.restore = r,
                        .session = orr_session_create(run, orr_controller_answer),
                        .batch = says(r->of.facts, "mode", "batch")};
    orr_rt_flush_denormals();
    good = fly(&p);
    free(p.commands);
    free(p.applied);
    orr_session_destroy(p.session);
  }
  orr_diagnostics_destroy(d);
  return good;
}

bool orr_restore_put(const struct orr_restore *r, struct orr_session *s) {
  const char *wrong = orr_saved_state_put_motion(s, &r->state, r->loop_words);
  return !wrong || cannot(r, wrong);
}

void orr_restore_close(struct orr_restore *r) {
  if (r->open) {
    orr_log_run_free(&r->of);
    orr_log_close(&r->log);
  }
  free(r->record);
  free(r->path);
  *r = (struct orr_restore){0};
}
