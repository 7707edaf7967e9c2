/* A log of a run with changes, as `orrery replay`, `judge` and `run --from` fly it again (tools/common/log_run,
 * tools/replay, tools/run/restore) and `replay --with` compares it with itself. Its sums are right after each change.
 * The files of the run in it stay as they are: `run_file` reads any.
 *
 * What a run is restored to is of the asked frame; a log without a change comes out as it was.
 *
 * The first byte: 0 replay, 1 judge, 2 restore, 3 compare; then five bits of from which frame; the highest: as JSON.
 * Then changes: two bytes of which place, one of how, eight of a number. How: 0 to 3 the eight bytes there are these;
 * 4 a bit flips; 5 a few are added; 6 one byte is this; 7 the eight are those of another place.
 * Fuzz with: -max_len=256 -entropic=0
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/math/hash.h"
#include "io/log/log_view.h"
#include "io/session/recording.h"
#include "tests/support/flight.h"
#include "tests/support/steps.h"
#include "tools/common/commands.h"
#include "tools/common/log_run.h"
#include "tools/replay/replay.h"
#include "tools/run/controller.h"
#include "tools/run/restore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name of the star tracker lacks two bytes to make its topic that of the link. */
static const char craft[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
    "actuators:\n"
    "  w: {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 0.1, max_torque: 1}\n"
    "  jet: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1, valve_delay: 50 ms}\n"
    "sensors:\n"
    "  g: {kind: rate_gyro, node: bus.origin, rate: 100 Hz, delay: 2, noise: {angle_random_walk: 0.01 deg/sqrt(h)}}\n"
    "  orrery_link_fsw: {kind: star_tracker, node: bus.origin, boresight: [1, 0, 0], rate: 50 Hz}\n"
    "commands: [{channel: w.torque, at: 0 s, sine: {amplitude: 0.5, frequency: 3 Hz}}]\n"
    "links: {fsw: {transport: shm, name: /orrery.log_run, rate: 50 Hz, telemetry: [g.rate], commands: [jet.on_time]}}\n"
    "faults: [{name: stuck, channel: g.rate, stuck_at: 0.1 rad/s}, {channel: w.torque, at: 80 ms, bias: 0.01}]\n"
    "sequence: [{wait: 30 ms}, {mark: here}]\n"
    "simulation: {step: 10 ms, duration: 160 ms, initial: {bus: {rate: [0.1, 0, 0.2]}}}\n"
    "record: {checkpoint: 40 ms}\n";
static const char rules_text[] = "[{channel: bus.rate, below: 1 deg/s}]\n";

enum { FRAMES = 16, STEP_NS = 10000000, STUCK_AT = 5, FREE_AT = 9, MOST_SPANS = 64, CHANGE = 11, SUM_AHEAD = 16 };

struct span {
  size_t begin, size;
};

static struct {
  struct orr_crc32 crc;
  uint8_t *good, *tried;
  size_t size;
  struct span mutable[MOST_SPANS], states[MOST_SPANS];
  struct span chunks[MOST_SPANS]; /* the records in them; the sum is told `SUM_AHEAD` bytes before */
  size_t mutable_count, chunk_count, state_count, places;
  int fd; /* of the log in memory */
  char path[64];
  FILE *nowhere;
} rig;

/* ---- a log ------------------------------------------------------------------------------------------------------- */

static void break_it(struct orr_recording *r, bool begins) {
  struct orr_session *s = r->session;
  const char *verb = orr_control_verbs[begins ? ORR_CONTROL_FAULT : ORR_CONTROL_CLEAR];
  orr_logger_event(r->logger, orr_plant_frame(s->plant), "ctl", verb, "stuck");
  orr_must(orr_control_break(s->procedure, 0, begins) == 1);
}

static void record(struct orr_flight *flight, const char *path) {
  char message[200] = "", hash[20], frames[20], step[20];
  struct orr_recording r;
  const struct orr_text_file file = {"run.yaml", craft, sizeof craft - 1};
  const struct orr_logger_text text = {file.name, "application/yaml", {file.text, file.length}};
  snprintf(step, sizeof step, "%d", STEP_NS);
  const struct orr_mcap_pair facts[] = {{orr_mcap_text("run"), orr_mcap_text(file.name)},
                                        {orr_mcap_text("mode"), orr_mcap_text("batch")},
                                        {orr_mcap_text("step_ns"), orr_mcap_text(step)}};
  const struct orr_recording_request request = {.path = path,
                                                .library = "orrery test",
                                                .build = "test",
                                                .patient = true,
                                                .facts = facts,
                                                .fact_count = sizeof facts / sizeof *facts,
                                                .texts = &text,
                                                .text_count = 1};
  orr_recording_choose(&r, flight->session);
  orr_must(orr_recording_start(&r, &request, message, sizeof message));
  for (int frame = 0; frame < FRAMES; frame++) {
    orr_recording_checkpoint(&r);
    if (frame == STUCK_AT || frame == FREE_AT)
      break_it(&r, frame == STUCK_AT);
    orr_must(orr_session_frame(flight->session) == 0);
  }
  orr_session_record_last(flight->session);
  snprintf(hash, sizeof hash, "%016" PRIx64, orr_session_hash(flight->session));
  snprintf(frames, sizeof frames, "%d", FRAMES);
  const struct orr_mcap_pair end[] = {{orr_mcap_text("state_hash"), orr_mcap_text(hash)},
                                      {orr_mcap_text("frame"), orr_mcap_text(frames)}};
  const struct orr_logger_result *result = orr_recording_stop(&r, end, 2);
  orr_must(result && result->complete);
  orr_recording_free(&r);
}

static void note(struct span *spans, size_t *count, size_t begin, size_t size) {
  orr_must(*count < MOST_SPANS);
  spans[(*count)++] = (struct span){begin, size};
}

/* Where its records, chunks and checkpoints stand. */
static void find_parts(void) {
  static struct orr_walk_tables tables;
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct orr_mcap_chunk_head chunk;
  struct orr_unpacker unpacker = {0};
  struct orr_walk walk;
  struct orr_walk_item item;
  struct orr_log_checkpoint at;
  orr_must(orr_mcap_start(&reader, rig.good, rig.size));
  /* those who fly a run read neither the indexes nor what stands behind the data */
  while (orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD && r.op != ORR_MCAP_DATA_END) {
    size_t content = (size_t)(r.content - rig.good);
    if (r.op != ORR_MCAP_ATTACHMENT && r.op != ORR_MCAP_MESSAGE_INDEX && r.size >= CHANGE) {
      note(rig.mutable, &rig.mutable_count, content, r.size);
      rig.places += r.size - 7;
    }
    if (r.op == ORR_MCAP_CHUNK && orr_mcap_read_chunk(&r, &chunk))
      note(rig.chunks, &rig.chunk_count, (size_t)((const uint8_t *)chunk.records.text - rig.good), chunk.records.size);
  }
  orr_must(orr_walk_start(&walk, &tables, &unpacker, &rig.crc, rig.good, rig.size));
  while (orr_walk_next(&walk, &item))
    if (item.kind == ORR_WALK_MESSAGE && orr_log_checkpoint_read(&item.message, &at) && at.fault == ORR_STATE_GOOD) {
      const unsigned char *begin = at.state.state - 8 * ORR_STATE_HEAD_WORDS;
      note(rig.states, &rig.state_count, (size_t)(begin - rig.good), 8 * orr_state_record_words(&at.state.head));
    }
  orr_must(walk.end == ORR_WALK_COMPLETE && rig.chunk_count > 0 && rig.state_count > 1);
  orr_unpacker_free(&unpacker);
}

static void set_up(void) {
  char folder[] = "/tmp/orrery-log-run-XXXXXX", path[64];
  struct orr_flight flight = orr_flight_make(craft, NULL);
  orr_must(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/log.mcap", folder);
  record(&flight, path);
  FILE *in = fopen(path, "rb");
  orr_must(in && fseek(in, 0, SEEK_END) == 0);
  rig.size = (size_t)ftell(in);
  rewind(in);
  rig.good = malloc(2 * rig.size);
  orr_must(rig.good && fread(rig.good, rig.size, 1, in) == 1);
  rig.tried = rig.good + rig.size;
  fclose(in);
  unlink(path);
  rmdir(folder);
  orr_flight_free(&flight);
  orr_crc32_init(&rig.crc);
  find_parts();
  rig.fd = memfd_create("log", MFD_CLOEXEC);
  rig.nowhere = fopen("/dev/null", "w");
  orr_must(rig.fd >= 0 && rig.nowhere);
  snprintf(rig.path, sizeof rig.path, "/proc/self/fd/%d", rig.fd);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* Eight bytes of which all may change. */
static uint8_t *place(uint8_t *bytes, size_t number) {
  number %= rig.places;
  for (size_t i = 0; i < rig.mutable_count; i++) {
    if (number < rig.mutable[i].size - 7)
      return bytes + rig.mutable[i].begin + number;
    number -= rig.mutable[i].size - 7;
  }
  abort();
}

static void change(const uint8_t *data) {
  uint64_t word, there;
  uint8_t *to = place(rig.tried, (size_t)(data[0] | data[1] << 8));
  memcpy(&word, data + 3, 8);
  memcpy(&there, to, 8);
  switch (data[2] % 8) {
  case 4:
    there ^= UINT64_C(1) << word % 64;
    break;
  case 5:
    there += (uint64_t)(int64_t)(int8_t)word;
    break;
  case 6:
    there = (there & ~UINT64_C(0xff)) | (word & 0xff);
    break;
  case 7:
    memcpy(&there, place(rig.good, (size_t)(word & 0xffff)), 8);
    break;
  default:
    there = word;
  }
  memcpy(to, &there, 8);
}

/* The sums of saved states first, for they stand in chunks: io/log/state_record, io/log/mcap. */
static void seal(void) {
  for (size_t i = 0; i < rig.state_count; i++) {
    uint8_t *begin = rig.tried + rig.states[i].begin;
    uint64_t sum = orr_hash_words(ORR_HASH_BEGIN, begin, rig.states[i].size - 8);
    memcpy(begin + rig.states[i].size - 8, &sum, 8);
  }
  for (size_t i = 0; i < rig.chunk_count; i++) {
    uint8_t *begin = rig.tried + rig.chunks[i].begin;
    uint32_t sum = orr_crc32(&rig.crc, 0, begin, rig.chunks[i].size);
    memcpy(begin - SUM_AHEAD, &sum, 4);
  }
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

struct verdict {
  bool judged, identical, whole;
};

static void hear(void *user, const struct orr_session *session, bool identical, bool whole) {
  (void)session;
  *(struct verdict *)user = (struct verdict){true, identical, whole};
}

static void fly(bool rules, uint64_t from_ns, bool json, bool changed) {
  static const struct orr_text_file file = {"rules.yaml", rules_text, sizeof rules_text - 1};
  struct verdict verdict = {0};
  char *told = NULL;
  const struct orr_replay_rules judge = {.file = &file, .judged = hear, .user = &verdict, .told = &told};
  const struct orr_replay_arguments arguments = {.path = rig.path,
                                                 .json = json,
                                                 .from_ns = rules ? 0 : from_ns,
                                                 .to_ns = UINT64_MAX,
                                                 .rules = rules ? &judge : NULL};
  int status = orr_replay_fly(&arguments);
  free(told);
  orr_must(changed || (status == ORR_EXIT_OK && (!rules || (verdict.judged && verdict.identical && verdict.whole))));
}

static void restore(uint64_t from_ns, bool changed) {
  struct orr_restore r;
  char text[100];
  snprintf(text, sizeof text, "%s@%" PRIu64 " ns", rig.path, from_ns);
  orr_must(orr_restore_parse(&r, text));
  bool good = orr_restore_open(&r) && orr_restore_compute(&r);
  orr_must(good || changed);
  orr_must(!good || (r.frame == r.state.head.frame && r.state.head.step_ns == r.of.step_ns));
  orr_restore_close(&r);
}

static void compare(bool json, bool changed) {
  const struct orr_replay_arguments arguments = {.path = rig.path, .with = rig.path, .json = json, .to_ns = UINT64_MAX};
  int status = orr_replay_compare(&arguments);
  orr_must(changed || status == ORR_EXIT_OK);
}

static void read_it(unsigned how, bool changed) {
  uint64_t from_ns = (uint64_t)(how >> 2) % FRAMES * STEP_NS;
  bool json = how & 128;
  if (how % 4 < 2)
    fly(how % 4 == 1, from_ns, json, changed);
  else if (how % 4 == 2)
    restore(from_ns, changed);
  else
    compare(json, changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!rig.good)
    set_up();
  unsigned how = size ? data[0] : 0;
  memcpy(rig.tried, rig.good, rig.size);
  for (size_t at = 1; at + CHANGE <= size; at += CHANGE)
    change(data + at);
  bool changed = memcmp(rig.tried, rig.good, rig.size) != 0;
  if (changed)
    seal();
  orr_must(pwrite(rig.fd, rig.tried, rig.size, 0) == (ssize_t)rig.size);
  FILE *out = stdout, *err = stderr;
  stdout = stderr = rig.nowhere;
  read_it(how, changed);
  stdout = out, stderr = err;
  return 0;
}
