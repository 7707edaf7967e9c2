#include "io/log/logger.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "io/links/packets/sandbox.h"
#include "rt/tick/ring.h"
#include "rt/tick/verdict.h"

enum {
  CHUNK_BYTES = 4 << 20,
  RING_BYTES = 32 << 20,
  SMALL_RING = 4 << 20,
  RING_SLOTS_MIN = 64,
  RING_SLOTS_MAX = 1 << 16,
  CHECKPOINTS = 4,
  EVENTS = 256,
  LOOK_NS = 2000000,
  NICE = -10,
  LINK_WORDS = 1 + sizeof(struct orr_link_counts) / 8,
};
#define CHUNK_NS INT64_C(1000000000)

_Static_assert(sizeof(struct orr_link_counts) % 8 == 0, "counts are copied word by word");

/* Numbers of the frame's block that lie side by side. */
struct run {
  int offset, count;
};

/* Where the pieces of a slot begin, in words. */
enum { SLOT_FRAME, SLOT_TIMED, SLOT_TIMING, SLOT_LINKS = SLOT_TIMING + ORR_RECORD_WORDS };

/* An event on its way. */
struct event {
  int64_t frame;
  char kind[24], name[96], text[200];
};

struct orr_logger {
  /* of the thread of the frames, or const */
  struct orr_logger_desc desc;
  struct orr_ring frames, checkpoints, events;
  struct run *runs; /* [run_count] */
  int run_count;
  size_t slot_words, value_words, state_words;
  void *frame_memory, *checkpoint_memory, *event_memory;
  size_t frame_bytes, checkpoint_bytes, event_bytes;
  int64_t next_checkpoint;
  /* of the thread that writes */
  _Alignas(64) struct orr_log_file file;
  struct orr_arena *arena;
  const struct orr_log_topics *topics;
  uint64_t *record; /* of the checkpoint at hand */
  double *block;    /* [table->value_count] as it stood in the frame at hand */
  uint8_t **last;   /* [entity_count] its last message */
  uint64_t *last_commands;
  uint64_t *last_links; /* [link_count][LINK_WORDS] */
  int64_t expected;     /* the frame that comes next */
  uint64_t in_chunk;    /* frames */
  bool begun;           /* some frame came */
  bool anew;            /* whatever has a value is written once more: something is missing before */
  int64_t chunk_first;  /* the first frame of the chunk */
  struct orr_logger_result result;
  pthread_t thread;
  sem_t ready; /* the thread is in its sandbox, or not, as cage_error says */
  int cage_error;
  _Atomic int stopping;
  _Atomic int stopped, error; /* file.stop and file.error for others to see */
};

static void *memory(size_t bytes) {
  void *block = aligned_alloc(64, (bytes / 64 + 1) * 64);
  if (!block) {
    fprintf(stderr, "orrery: no memory for %zu bytes\n", bytes);
    abort();
  }
  return memset(block, 0, (bytes / 64 + 1) * 64);
}

/* ---- the side of the frames -------------------------------------------------------------------------------------- */

static void pause_a_little(void) {
  const struct timespec pause = {.tv_nsec = 200000};
  nanosleep(&pause, NULL);
}

static uint64_t *claim(struct orr_logger *r, struct orr_ring *ring) {
  uint64_t *slot = orr_ring_claim(ring);
  while (!slot && r->desc.patient) {
    pause_a_little();
    slot = orr_ring_claim(ring);
  }
  return slot;
}

void orr_logger_frame(struct orr_logger *r, int64_t frame, const struct orr_frame_record *timing) {
  uint64_t *slot = claim(r, &r->frames);
  if (!slot)
    return; /* the thread sees it by the numbers of the frames */
  slot[SLOT_FRAME] = (uint64_t)frame;
  slot[SLOT_TIMED] = timing != NULL;
  if (timing)
    memcpy(slot + SLOT_TIMING, timing, sizeof *timing);
  uint64_t *to = slot + SLOT_LINKS;
  for (int i = 0; i < r->desc.link_count; i++, to += LINK_WORDS) {
    const struct orr_rules *rules = r->desc.links[i].rules;
    to[0] = (uint64_t)rules->applied;
    memcpy(to + 1, &rules->counts, sizeof rules->counts);
  }
  for (int i = 0; i < r->run_count; i++) {
    memcpy(to, r->desc.values + r->runs[i].offset, 8 * (size_t)r->runs[i].count);
    to += r->runs[i].count;
  }
  orr_ring_commit(&r->frames);
}

bool orr_logger_is_checkpoint(const struct orr_logger *r, int64_t frame) { return frame >= r->next_checkpoint; }

void orr_logger_checkpoint(struct orr_logger *r, int64_t frame) {
  uint64_t *slot = claim(r, &r->checkpoints);
  r->next_checkpoint = r->desc.checkpoint_frames ? frame + r->desc.checkpoint_frames : INT64_MAX;
  if (!slot)
    return;
  slot[0] = (uint64_t)frame;
  r->desc.state(r->desc.user, slot + 1);
  orr_ring_commit(&r->checkpoints);
}

static void put_text(char *to, size_t size, const char *from) {
  size_t n = strnlen(from, size - 1);
  memcpy(to, from, n);
  memset(to + n, 0, size - n);
}

void orr_logger_event(struct orr_logger *r, int64_t frame, const char *kind, const char *name, const char *text) {
  struct event *e = (struct event *)claim(r, &r->events);
  if (!e)
    return;
  e->frame = frame;
  put_text(e->kind, sizeof e->kind, kind);
  put_text(e->name, sizeof e->name, name);
  put_text(e->text, sizeof e->text, text);
  orr_ring_commit(&r->events);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static uint64_t time_of(const struct orr_logger *r, int64_t frame) { return (uint64_t)(frame * r->desc.step_ns); }

/* Frames that will never be in the file. */
static void lose(struct orr_logger *r, int64_t first, int64_t count, uint64_t *cause) {
  if (count <= 0)
    return;
  if (r->result.lost_ring + r->result.lost_file == 0 || first < r->result.lost_first)
    r->result.lost_first = first;
  if (r->result.lost_ring + r->result.lost_file == 0 || first + count - 1 > r->result.lost_last)
    r->result.lost_last = first + count - 1;
  *cause += (uint64_t)count;
}

static void close_chunk(struct orr_logger *r) {
  if (r->file.stop == ORR_LOG_GOES_ON && orr_log_file_chunk(&r->file))
    r->result.frames += r->in_chunk;
  else
    lose(r, r->chunk_first, (int64_t)r->in_chunk, &r->result.lost_file);
  r->in_chunk = 0;
  atomic_store(&r->error, r->file.error);
  atomic_store(&r->stopped, (int)r->file.stop);
}

/* Room for a message of a topic; NULL when the log has stopped. */
static uint8_t *message(struct orr_logger *r, const struct orr_log_topic *topic, int64_t frame, size_t size) {
  const struct orr_mcap_message m = {.channel = topic->channel.id,
                                     .sequence = (uint32_t)frame,
                                     .log_ns = time_of(r, frame),
                                     .publish_ns = time_of(r, frame),
                                     .size = size};
  if (r->file.stop != ORR_LOG_GOES_ON)
    return NULL;
  return orr_mcap_chunk_message(&r->file.chunk, &m);
}

static void put_lost(struct orr_logger *r, int64_t first, int64_t last, const char *why) {
  struct orr_cdr_out out = {0};
  for (int pass = 0; pass < 2; pass++) {
    uint8_t *to = pass ? message(r, &r->topics->system[ORR_LOG_LOST], last, out.used) : NULL;
    if (pass && !to)
      return;
    orr_cdr_begin(&out, to);
    orr_cdr_put64(&out, &first, 1, false);
    orr_cdr_put64(&out, &last, 1, false);
    orr_cdr_put_string(&out, why);
  }
}

static void put_timing(struct orr_logger *r, const struct orr_frame_record *t) {
  int64_t frame = r->desc.first_frame + (int64_t)t->frame;
  const int64_t before[] = {frame, t->tick_ns, t->entry_ns, t->asked_ns, t->woke_ns, t->start_ns, t->end_ns};
  const int64_t after[] = {t->lost_ns, t->gap_ns, t->previous_end_ns};
  const uint32_t counts[] = {t->minor_faults, t->major_faults, t->involuntary, t->voluntary,
                             t->slept,        t->cause,        t->stage,       t->overran};
  struct orr_cdr_out out;
  uint8_t *to = message(r, &r->topics->system[ORR_LOG_TIMING], frame,
                        ORR_CDR_HEAD_BYTES + sizeof before + sizeof t->stage_ns + sizeof after + sizeof counts);
  if (!to)
    return;
  orr_cdr_begin(&out, to);
  orr_cdr_put64(&out, before, sizeof before / 8, false);
  orr_cdr_put64(&out, t->stage_ns, ORR_STAGES_MAX, false);
  orr_cdr_put64(&out, after, sizeof after / 8, false);
  orr_cdr_put32(&out, counts, sizeof counts / 4);
}

static void put_overrun(struct orr_logger *r, const struct orr_frame_record *t) {
  int64_t frame = r->desc.first_frame + (int64_t)t->frame;
  bool ours = t->cause == ORR_CAUSE_STAGE || t->cause == ORR_CAUSE_PAGE_FAULT;
  const char *stage = ours && r->desc.stages && t->stage < ORR_STAGES_MAX ? r->desc.stages[t->stage] : NULL;
  struct orr_cdr_out out = {0};
  for (int pass = 0; pass < 2; pass++) {
    uint8_t *to = pass ? message(r, &r->topics->system[ORR_LOG_OVERRUN], frame, out.used) : NULL;
    if (pass && !to)
      return;
    orr_cdr_begin(&out, to);
    orr_cdr_put64(&out, &frame, 1, false);
    orr_cdr_put64(&out, &t->start_ns, 1, false);
    orr_cdr_put64(&out, &t->end_ns, 1, false);
    orr_cdr_put_string(&out, orr_cause_name((enum orr_cause)t->cause));
    orr_cdr_put_string(&out, stage ? stage : "");
  }
}

static void put_timed(struct orr_logger *r, const struct orr_frame_record *t) {
  put_timing(r, t);
  if (t->cause != ORR_CAUSE_NONE)
    put_overrun(r, t);
}

/* What happened to a link since the frame before, or false for nothing. */
static bool event_of(const struct orr_link_counts *now, const struct orr_link_counts *then, char *text, size_t size) {
  uint64_t refused = 0;
  for (int i = 0; i < ORR_REFUSALS; i++)
    refused += now->refused[i] - then->refused[i];
  const struct {
    const char *name;
    bool happened;
  } events[] = {{"peer", now->peers != then->peers},
                {"applied", now->applied != then->applied},
                {"late", now->late != then->late},
                {"missed", now->missed != then->missed},
                {"timeout", now->timeouts != then->timeouts},
                {"refused", refused > 0}};
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (events[i].happened)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", events[i].name);
  return used > 0;
}

static void put_link(struct orr_logger *r, int index, int64_t frame, const uint64_t *words) {
  struct orr_link_counts now, then;
  char event[64];
  uint64_t *last = r->last_links + (size_t)index * LINK_WORDS;
  memcpy(&now, words + 1, sizeof now);
  memcpy(&then, last + 1, sizeof then);
  memcpy(last, words, 8 * LINK_WORDS);
  if (!event_of(&now, &then, event, sizeof event))
    return;
  const uint64_t counts[] = {now.published, now.answered, now.applied, now.late, now.missed, now.timeouts};
  struct orr_cdr_out out = {0};
  for (int pass = 0; pass < 2; pass++) {
    uint8_t *to = pass ? message(r, &r->topics->links[index], frame, out.used) : NULL;
    if (pass && !to)
      return;
    orr_cdr_begin(&out, to);
    orr_cdr_put64(&out, &frame, 1, false);
    orr_cdr_put64(&out, words, 1, false);
    orr_cdr_put_string(&out, event);
    orr_cdr_put64(&out, counts, sizeof counts / 8, false);
    orr_cdr_put64(&out, now.refused, ORR_REFUSALS, false);
    orr_cdr_put64(&out, &now.peers, 1, false);
  }
}

_Static_assert(ORR_REFUSALS == 13, "the schema of a link's topic says so");
_Static_assert(ORR_STAGES_MAX == 16, "the schema of the timing says so");

static void put_commands(struct orr_logger *r, int64_t frame) {
  size_t n = (size_t)r->topics->command_count;
  const double *commands = r->block + r->desc.table->output_values;
  if (!r->anew && memcmp(r->last_commands, commands, 8 * n) == 0)
    return;
  struct orr_cdr_out out;
  uint8_t *to = message(r, &r->topics->system[ORR_LOG_COMMANDS], frame, ORR_CDR_HEAD_BYTES + 8 + 8 * n);
  if (!to)
    return;
  orr_cdr_begin(&out, to);
  orr_cdr_put64(&out, &frame, 1, false);
  orr_cdr_put64(&out, commands, n, false);
  memcpy(r->last_commands, commands, 8 * n);
}

static void put_entity(struct orr_logger *r, int index, int64_t frame, uint8_t *scratch) {
  const struct orr_log_topic *t = &r->topics->entities[index];
  bool wanted = r->desc.every ? frame % r->desc.every == 0 : orr_log_topic_is_due(r->topics, t, frame);
  if (!wanted && !r->anew && r->desc.every)
    return;
  orr_log_topic_write(r->topics, t, r->block, scratch);
  if (!wanted && !r->anew && memcmp(scratch, r->last[index], t->bytes) == 0)
    return;
  uint8_t *to = message(r, t, frame, t->bytes);
  if (to)
    memcpy(to, scratch, t->bytes);
  memcpy(r->last[index], scratch, t->bytes);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Bytes that a frame can take at most, all its messages together. */
static size_t frame_bytes(const struct orr_logger *r) {
  enum { HEAD = 64, SYSTEM = 2048, LINK = 512 };
  size_t bytes = SYSTEM + 8 * (size_t)r->topics->command_count + LINK * (size_t)r->topics->link_count;
  for (int i = 0; i < r->topics->entity_count; i++)
    bytes += HEAD + r->topics->entities[i].bytes;
  return bytes;
}

static size_t frame_messages(const struct orr_logger *r) {
  return 8 + (size_t)r->topics->entity_count + (size_t)r->topics->link_count;
}

/* A chunk is at most a second long, and a frame is in one chunk whole. */
static void make_room(struct orr_logger *r, int64_t frame, size_t bytes, size_t messages) {
  const struct orr_mcap_chunk *c = &r->file.chunk;
  if (c->entry_count == 0)
    return;
  if (c->records.room - c->records.used >= bytes && c->entry_room - c->entry_count >= messages &&
      (int64_t)(time_of(r, frame) - c->start_ns) < CHUNK_NS)
    return;
  close_chunk(r);
}

static void take_checkpoint(struct orr_logger *r, const uint64_t *slot) {
  int64_t frame = (int64_t)slot[0];
  struct orr_state_head head = r->desc.state_head;
  size_t words = orr_state_record_words(&head), bytes = ORR_CDR_HEAD_BYTES + 16 + 8 * words;
  struct orr_cdr_out out;
  head.frame = frame;
  memcpy(r->record + ORR_STATE_HEAD_WORDS, slot + 1, 8 * r->state_words);
  orr_state_record_seal(r->record, &head);
  make_room(r, frame, bytes + 64, 1);
  uint8_t *to = message(r, &r->topics->system[ORR_LOG_CHECKPOINT], frame, bytes);
  if (!to)
    return;
  orr_cdr_begin(&out, to);
  orr_cdr_put64(&out, &frame, 1, false);
  orr_cdr_put64(&out, r->record, words, true);
  assert(out.used == bytes);
}

static void take_checkpoints(struct orr_logger *r, int64_t until) {
  const uint64_t *slot;
  while ((slot = orr_ring_peek(&r->checkpoints)) && (int64_t)slot[0] <= until) {
    take_checkpoint(r, slot);
    orr_ring_release(&r->checkpoints);
  }
}

static void take_event(struct orr_logger *r, const struct event *e) {
  struct orr_cdr_out out = {0};
  make_room(r, e->frame, sizeof *e + 128, 1);
  for (int pass = 0; pass < 2; pass++) {
    uint8_t *to = pass ? message(r, &r->topics->system[ORR_LOG_EVENT], e->frame, out.used) : NULL;
    if (pass && !to)
      return;
    orr_cdr_begin(&out, to);
    orr_cdr_put64(&out, &e->frame, 1, false);
    orr_cdr_put_string(&out, e->kind);
    orr_cdr_put_string(&out, e->name);
    orr_cdr_put_string(&out, e->text);
  }
}

/* Those of frames up to `until`. */
static void take_events(struct orr_logger *r, int64_t until) {
  const struct event *e;
  while ((e = orr_ring_peek(&r->events)) && e->frame <= until) {
    take_event(r, e);
    orr_ring_release(&r->events);
  }
}

static void unpack(struct orr_logger *r, const uint64_t *from) {
  for (int i = 0; i < r->run_count; i++) {
    memcpy(r->block + r->runs[i].offset, from, 8 * (size_t)r->runs[i].count);
    from += r->runs[i].count;
  }
}

static void take_frame(struct orr_logger *r, const uint64_t *slot, uint8_t *scratch) {
  int64_t frame = (int64_t)slot[SLOT_FRAME];
  make_room(r, frame, frame_bytes(r), frame_messages(r));
  r->anew = !r->begun || frame != r->expected;
  if (frame != r->expected) {
    lose(r, r->expected, frame - r->expected, &r->result.lost_ring);
    put_lost(r, r->expected, frame - 1, "the ring was full");
  }
  if (r->in_chunk++ == 0)
    r->chunk_first = frame;
  if (slot[SLOT_TIMED]) {
    struct orr_frame_record timing;
    memcpy(&timing, slot + SLOT_TIMING, sizeof timing);
    put_timed(r, &timing);
  }
  for (int i = 0; i < r->desc.link_count; i++)
    put_link(r, i, frame, slot + SLOT_LINKS + (size_t)i * LINK_WORDS);
  unpack(r, slot + SLOT_LINKS + (size_t)r->desc.link_count * LINK_WORDS);
  put_commands(r, frame);
  for (int i = 0; i < r->topics->entity_count; i++)
    put_entity(r, i, frame, scratch);
  r->expected = frame + 1;
  r->begun = true;
}

/* False when there was nothing to do. */
static bool take_all(struct orr_logger *r, uint8_t *scratch) {
  const uint64_t *slot;
  bool some = false;
  while ((slot = orr_ring_peek(&r->frames))) {
    take_checkpoints(r, (int64_t)slot[SLOT_FRAME]);
    take_events(r, (int64_t)slot[SLOT_FRAME]);
    take_frame(r, slot, scratch);
    orr_ring_release(&r->frames);
    some = true;
  }
  take_checkpoints(r, r->expected);
  return some;
}

static void *write_log(void *user) {
  struct orr_logger *r = user;
  const struct timespec look = {.tv_nsec = LOOK_NS};
  uint8_t *scratch = memory(frame_bytes(r));
  if (!r->desc.patient) /* before what has no deadline, where that is allowed: a ring holds a second at most */
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
  r->cage_error =
      r->desc.caged ? orr_sandbox_enter(ORR_SANDBOX_LOG) : 0; /* its file is open, and it has its priority */
  bool good = r->cage_error == 0;
  sem_post(&r->ready);
  while (good) {
    int stopping = atomic_load(&r->stopping);
    if (take_all(r, scratch))
      continue;
    if (stopping)
      break;
    nanosleep(&look, NULL);
  }
  free(scratch);
  return NULL;
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* What is chosen, and all commands. */
static void lay_out(struct orr_logger *r) {
  const struct orr_channel_table *table = r->desc.table;
  r->runs = memory(sizeof *r->runs * ((size_t)table->count + 1));
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < table->count; i++) {
      const struct orr_channel *c = &table->channels[i];
      bool command = c->direction == ORR_CHANNEL_COMMAND;
      if (command != (pass == 1) || !(command || r->desc.chosen[i]))
        continue;
      struct run *last = r->run_count ? &r->runs[r->run_count - 1] : NULL;
      if (last && last->offset + last->count == c->offset)
        last->count += c->count;
      else
        r->runs[r->run_count++] = (struct run){c->offset, c->count};
      r->value_words += (size_t)c->count;
    }
  r->slot_words = SLOT_LINKS + (size_t)r->desc.link_count * LINK_WORDS + r->value_words;
}

/* A second of frames, within bounds; of small ones four, which costs little. */
static size_t slots_of(const struct orr_logger *r) {
  size_t slots = RING_SLOTS_MIN, bytes = r->slot_words * 8;
  while (slots < RING_SLOTS_MAX &&
         (((int64_t)slots * r->desc.step_ns < CHUNK_NS && 2 * slots * bytes <= RING_BYTES) ||
          ((int64_t)slots * r->desc.step_ns < 4 * CHUNK_NS && 2 * slots * bytes <= SMALL_RING)))
    slots *= 2;
  return slots;
}

static void make_rings(struct orr_logger *r) {
  size_t slots = slots_of(r);
  r->frame_bytes = orr_ring_size(slots, 8 * r->slot_words);
  r->frame_memory = memory(r->frame_bytes);
  size_t record_words = orr_state_record_words(&r->desc.state_head);
  r->state_words = record_words - ORR_STATE_HEAD_WORDS - 1;
  r->record = orr_arena_alloc(r->arena, record_words, sizeof *r->record);
  r->checkpoint_bytes = orr_ring_size(CHECKPOINTS, 8 * (1 + r->state_words));
  r->checkpoint_memory = memory(r->checkpoint_bytes);
  r->event_bytes = orr_ring_size(EVENTS, sizeof(struct event));
  r->event_memory = memory(r->event_bytes);
  bool good = orr_ring_init(&r->events, r->event_memory, EVENTS, sizeof(struct event)) &&
              orr_ring_init(&r->frames, r->frame_memory, slots, 8 * r->slot_words) &&
              orr_ring_init(&r->checkpoints, r->checkpoint_memory, CHECKPOINTS, 8 * (1 + r->state_words));
  assert(good);
  (void)good;
}

static void make_memory(struct orr_logger *r) {
  r->block = memory(8 * (size_t)r->desc.table->value_count);
  r->last_commands = memory(8 * (size_t)r->topics->command_count);
  r->last_links = memory(8 * LINK_WORDS * (size_t)r->desc.link_count);
  r->last = memory(sizeof *r->last * (size_t)r->topics->entity_count);
  for (int i = 0; i < r->topics->entity_count; i++)
    r->last[i] = memory(r->topics->entities[i].bytes);
}

static size_t pairs_bytes(const struct orr_mcap_pair *pairs, size_t count) {
  size_t bytes = 256;
  for (size_t i = 0; i < count; i++)
    bytes += 8 + pairs[i].key.size + pairs[i].value.size;
  return bytes;
}

/* The index takes what is smaller than itself at once, so it gets that much before. */
static void reserve(struct orr_logger *r, enum orr_mcap_list list, size_t bytes) {
  struct orr_mcap_bytes *b = &r->file.index->lists[list];
  while (b->room - b->used < bytes) {
    b->full = true;
    orr_log_index_grow(r->file.index);
  }
}

static void write_topic(struct orr_logger *r, const struct orr_log_topic *t, bool schema) {
  size_t bytes = 256 + t->schema.name.size + t->schema.data.size;
  reserve(r, ORR_MCAP_LIST_SCHEMAS, bytes);
  if (schema && orr_log_file_room(&r->file, bytes))
    orr_mcap_write_schema(&r->file.out, r->file.index, &t->schema);
  bytes = pairs_bytes(t->pairs, t->pair_count) + t->channel.topic.size;
  reserve(r, ORR_MCAP_LIST_CHANNELS, bytes);
  if (orr_log_file_room(&r->file, bytes))
    orr_mcap_write_channel(&r->file.out, r->file.index, &t->channel, t->pairs, t->pair_count);
}

static void write_metadata(struct orr_logger *r, const char *name, const struct orr_mcap_pair *pairs, size_t count) {
  reserve(r, ORR_MCAP_LIST_METADATA, 256);
  if (orr_log_file_room(&r->file, pairs_bytes(pairs, count)))
    orr_mcap_write_metadata(&r->file.out, r->file.index, name, pairs, count);
}

static void write_text(struct orr_logger *r, const struct orr_logger_text *text) {
  const struct orr_mcap_attachment a = {.log_ns = time_of(r, r->desc.first_frame),
                                        .name = orr_mcap_text(text->name),
                                        .media_type = orr_mcap_text(text->media_type),
                                        .data = text->text};
  reserve(r, ORR_MCAP_LIST_ATTACHMENTS, 256 + a.name.size + a.media_type.size);
  if (orr_log_file_room(&r->file, orr_mcap_attachment_size(&a)))
    orr_mcap_write_attachment(&r->file.out, r->file.index, &r->file.crc, &a);
}

static bool write_head(struct orr_logger *r) {
  orr_mcap_begin(&r->file.out, "", r->desc.library);
  for (int i = ORR_LOG_COMMANDS; i < ORR_LOG_LINK; i++)
    write_topic(r, &r->topics->system[i], true);
  for (int i = 0; i < r->topics->link_count; i++)
    write_topic(r, &r->topics->links[i], i == 0);
  for (int i = 0; i < r->topics->entity_count; i++)
    write_topic(r, &r->topics->entities[i], true);
  write_metadata(r, "orrery", r->desc.facts, r->desc.fact_count);
  write_metadata(r, "machine", r->desc.machine, r->desc.machine_count);
  for (size_t i = 0; i < r->desc.text_count; i++)
    write_text(r, &r->desc.texts[i]);
  return orr_log_file_flush(&r->file);
}

/* Signals are for the program's first thread. */
static int start_thread(struct orr_logger *r) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  sem_init(&r->ready, 0, 0);
  int error = pthread_create(&r->thread, NULL, write_log, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  while (!error && sem_wait(&r->ready) != 0) {
    /* a signal was handled meanwhile */
  }
  if (!error && r->cage_error) {
    pthread_join(r->thread, NULL);
    error = r->cage_error;
  }
  sem_destroy(&r->ready);
  return error;
}

static size_t chunk_bytes(const struct orr_logger *r) {
  size_t frame = frame_bytes(r), state = 8 * orr_state_record_words(&r->desc.state_head) + 256,
         most = frame > state ? frame : state;
  return most * 2 > CHUNK_BYTES ? most * 2 : CHUNK_BYTES;
}

struct orr_logger *orr_logger_start(const struct orr_logger_desc *desc, char *message, size_t size) {
  struct orr_logger *r = memory(sizeof *r);
  const char *links[64];
  r->desc = *desc;
  r->file.fd = -1;
  r->expected = r->next_checkpoint = desc->first_frame;
  r->arena = orr_arena_create();
  assert(desc->link_count <= 64);
  for (int i = 0; i < desc->link_count; i++)
    links[i] = desc->links[i].name;
  r->topics = orr_log_topics_create(r->arena, desc->table, desc->chosen, links, desc->link_count);
  const char *wrong = NULL;
  bool made = orr_log_file_create(&r->file, desc->path, chunk_bytes(r));
  if (!made)
    wrong = errno == EEXIST ? "something of that name is there, and nothing is overwritten" : strerror(errno);
  r->file.packer = made && desc->zstd ? orr_packer_create() : NULL;
  r->file.limit = desc->limit;
  r->file.keep_free = desc->keep_free;
  lay_out(r);
  if (made) {
    make_rings(r);
    make_memory(r);
    if (!write_head(r))
      wrong = orr_log_stop_text(r->file.stop, r->file.error);
  }
  int error = wrong ? 0 : start_thread(r);
  if (!wrong && !error)
    return r;
  snprintf(message, size, "%s", error ? strerror(error) : wrong);
  if (made)
    unlink(desc->path);
  orr_logger_free(r);
  return NULL;
}

size_t orr_logger_regions(const struct orr_logger *r, struct orr_region *regions, size_t room) {
  const struct orr_region all[] = {{(void *)(uintptr_t)r, sizeof *r},
                                   {r->frame_memory, r->frame_bytes},
                                   {r->checkpoint_memory, r->checkpoint_bytes},
                                   {r->event_memory, r->event_bytes},
                                   {r->runs, sizeof *r->runs * (size_t)r->run_count}};
  size_t n = 0;
  for (; n < sizeof all / sizeof *all && n < room; n++)
    regions[n] = all[n];
  return n;
}

struct orr_logger_trouble orr_logger_trouble(const struct orr_logger *r) {
  return (struct orr_logger_trouble){.stop = (enum orr_log_stop)atomic_load(&r->stopped),
                                     .error = atomic_load(&r->error),
                                     .behind = !r->desc.patient && orr_ring_refused(&r->frames) > 0};
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

const struct orr_logger_result *orr_logger_stop(struct orr_logger *r, int64_t next,
                                                const struct orr_frame_record *timing, const struct orr_mcap_pair *end,
                                                size_t end_count) {
  atomic_store(&r->stopping, 1);
  pthread_join(r->thread, NULL);
  take_events(r, INT64_MAX);
  lose(r, r->expected, next - r->expected, &r->result.lost_ring);
  if (next > r->expected)
    put_lost(r, r->expected, next - 1, "the ring was full");
  if (timing)
    put_timed(r, timing);
  close_chunk(r);
  write_metadata(r, "end", end, end_count);
  bool finished = orr_log_file_finish(&r->file);
  r->result.stop = r->file.stop;
  r->result.error = r->file.error;
  if (r->file.stop == ORR_LOG_GONE || r->file.stop == ORR_LOG_SPOILT) { /* so are those that were written */
    lose(r, r->desc.first_frame, (int64_t)r->result.frames, &r->result.lost_file);
    r->result.frames = 0;
  }
  r->result.bytes = finished ? r->file.out.at : r->file.whole;
  r->result.lost_checkpoints = orr_ring_refused(&r->checkpoints);
  r->result.lost_events = orr_ring_refused(&r->events);
  r->result.complete = finished && r->result.stop == ORR_LOG_GOES_ON && r->result.lost_ring + r->result.lost_file == 0;
  return &r->result;
}

void orr_logger_free(struct orr_logger *r) {
  if (!r)
    return;
  for (int i = 0; r->last && i < r->topics->entity_count; i++)
    free(r->last[i]);
  free(r->last);
  free(r->last_links);
  free(r->last_commands);
  free(r->block);
  free(r->frame_memory);
  free(r->checkpoint_memory);
  free(r->event_memory);
  free(r->runs);
  orr_log_file_close(&r->file);
  orr_arena_destroy(r->arena);
  free(r);
}
