/* Any bytes as a saved state (io/log/state_record), and records with a right sum whose words are of any value, put into
 * a session (io/session/saved_state), which flies on from what it takes. Devices with queues, pulses and draws, a
 * link with an answer on its way, loops with equations chosen: the state leads to places in memory by many of its
 * words.
 *
 * The first byte's lowest bit: 0 the bytes as they are, a copy of just their size; 1 changes of a good record, which is
 * sealed anew: three bytes of which word and how, then eight of a word. How: 0 to 3 the word is these; 4 a bit flips; 5
 * a few are added; 6 zero; 7 the same word of another place.
 * Fuzz with: -max_len=1024
 */
#include <stdlib.h>
#include <string.h>

#include "io/session/saved_state.h"
#include "tests/support/flight.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char craft[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, inertia: [2, 3, 4, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {a: {at: [1, 0, 0]}}}\n"
    "    crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [0, 0, 1]}}\n"
    "    follower: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [0, 0, 1]}}\n"
    "    dish: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [1, 0, 0],\n"
    "      motion: {sine: {amplitude: 0.5 rad, frequency: 0.2 Hz}}}}\n"
    "  loops: [{gear: {hinge: crank, drives: follower, ratio: -2}, method: augment}]\n"
    "actuators:\n"
    "  jet: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1, valve_delay: 50 ms, isp: 200 s,\n"
    "    propellant: 1 kg}\n"
    "  wheel: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 0.1, max_torque: 1, max_speed: 600}\n"
    "sensors:\n"
    "  gyro: {kind: rate_gyro, node: bus.origin, rate: 50 Hz, delay: 5, noise: {angle_random_walk: 0.01 "
    "deg/sqrt(h)}}\n"
    "  star: {kind: star_tracker, node: bus.origin, boresight: [1, 0, 0], noise: {across: 1 arcsec, about: 9 arcsec}}\n"
    "simulation: {step: 10 ms, duration: 10 s, initial: {bus: {rate: [0.1, 0.2, 0.3]}, crank: {speed: [0.5]},\n"
    "  follower: {speed: [-1]}}}\n"
    "commands: [{channel: jet.on_time, at: 0.02 s, value: 0.5}]\n"
    "links: {fsw: {transport: shm, name: /orrery.saved, rate: 100 Hz, telemetry: [gyro.rate],\n"
    "  commands: [wheel.torque]}}\n"
    "faults: [{channel: wheel.torque, at: 0 s, bias: 0.01}, {hinge: crank, at: 40 ms, for: 50 ms, jammed: 100 ms},\n"
    "  {hinge: follower, at: 60 ms, jammed: true}, {hinge: dish, at: 50 ms, jammed: 100 ms}]\n";

enum { FRAMES = 8, FURTHER = 3 };

/* One session for all: to make it takes longer than all else. What was put is forgotten by the next good record. */
static struct {
  struct orr_flight flight;
  struct orr_state_head head;
  uint64_t *good, *tried;
  size_t words;
} rig;

static void set_up(void) {
  rig.flight = orr_flight_make(craft, NULL);
  orr_flight_run(&rig.flight, FRAMES);
  rig.head = orr_saved_state_head(rig.flight.session, "fuzz");
  rig.words = orr_state_record_words(&rig.head);
  rig.good = calloc(2 * rig.words, sizeof *rig.good);
  orr_must(rig.good != NULL);
  rig.tried = rig.good + rig.words;
  orr_saved_state_take(rig.flight.session, &rig.head, rig.good);
}

static void put(const void *bytes, size_t size) {
  struct orr_state_record record;
  enum orr_state_fault fault = orr_state_record_open(bytes, size, &record);
  orr_must(orr_state_fault_text(fault)[0] != 0);
  if (fault != ORR_STATE_GOOD)
    return;
  orr_must(record.state >= (const unsigned char *)bytes &&
           record.state + 8 * record.state_words + 8 == (const unsigned char *)bytes + size);
  orr_must(record.head.build[ORR_STATE_BUILD - 1] == 0);
  if (orr_saved_state_put(rig.flight.session, &record) == NULL)
    for (int i = 0; i < FURTHER && orr_session_frame(rig.flight.session) == 0; i++) {
    }
}

/* Ours is good again, and the session goes on from it: nothing of what was tried is left. */
static void put_good(void) {
  struct orr_state_record record;
  orr_must(orr_state_record_open(rig.good, 8 * rig.words, &record) == ORR_STATE_GOOD);
  orr_must(orr_session_start(rig.flight.session) == ORR_OK);
  orr_must(orr_saved_state_put(rig.flight.session, &record) == NULL);
}

static void change(const uint8_t *data, size_t size) {
  enum { EACH = 11 };
  memcpy(rig.tried, rig.good, 8 * rig.words);
  for (; size >= EACH; data += EACH, size -= EACH) {
    uint64_t word;
    memcpy(&word, data + 3, 8);
    uint64_t *to =
        &rig.tried[ORR_STATE_HEAD_WORDS + (size_t)(data[0] | data[1] << 8) % (rig.words - ORR_STATE_HEAD_WORDS)];
    switch (data[2] % 8) {
    case 4:
      *to ^= UINT64_C(1) << word % 64;
      break;
    case 5:
      *to += (uint64_t)(int64_t)(int8_t)word;
      break;
    case 6:
      *to = 0;
      break;
    case 7:
      *to = rig.good[word % rig.words];
      break;
    default:
      *to = word;
    }
  }
  orr_state_record_seal(rig.tried, &rig.head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!rig.good)
    set_up();
  bool changes = size > 0 && data[0] & 1;
  if (changes) {
    change(data + 1, size - 1);
    put(rig.tried, 8 * rig.words);
  } else {
    uint8_t *exact = malloc(size ? size : 1);
    orr_must(exact != NULL);
    if (size > 1)
      memcpy(exact, data + 1, size - 1);
    put(exact, size ? size - 1 : 0);
    free(exact);
  }
  if (changes)
    put_good();
  return 0;
}
