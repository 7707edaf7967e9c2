/* The peer's part of a shared segment filled with any bytes, under a link that flies (io/links/carriers/shm). The
 * segment is plain memory of just its size, so that the sanitizer sees a byte beyond.
 *
 * The first byte is the shape, as orr_link_rig_init takes it, but never large: slots know no pieces. Then steps; what:
 *   0 bytes written: two bytes of place in what the peer may write, then the bytes       1 the next frame
 *   2 the newest frame answered by a peer that is right, with the bytes as payload
 *   3 the same, but the first five bytes change answers, generation, layout and flags of it, and its sequence or
 *     (from 128 on) its sum
 *   4 a peer comes
 *   5 commands are taken and latched
 *   6 the link waits for nothing, and looks what the peer does
 * Nothing crashes or hangs, what is the executive's stays as it wrote it, and the plant's numbers stay values of their
 * channels.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/links/carriers/shm.h"
#include "io/links/terms/directory.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rig {
  struct orr_link_rig link;
  struct orr_shm shm;
  bool waited; /* once is enough: it spins, and looks into /proc */
};

/* Any bytes into the peer's words or the slots of commands. */
static void scribble(struct rig *r, const struct orr_step *s) {
  size_t slots = (size_t)(r->shm.memory + r->shm.bytes - r->shm.in), room = sizeof(struct orr_wire_peer) + slots;
  size_t place = (size_t)(orr_step_byte(s, 0) << 8 | orr_step_byte(s, 1)) % room;
  for (size_t i = 2; i < s->size; i++, place = (place + 1) % room) {
    char *to = place < sizeof(struct orr_wire_peer) ? (char *)r->shm.peer + place
                                                    : r->shm.in + place - sizeof(struct orr_wire_peer);
    *to = (char)s->bytes[i];
  }
}

static void latch(struct rig *r) {
  orr_shm_take(&r->shm, &r->link.rules);
  orr_link_rig_latch(&r->link);
}

static void next_frame(struct rig *r) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  if (r->link.out)
    latch(r);
  orr_link_rig_publish(&r->link, head);
  orr_shm_publish(&r->shm, head, r->link.payload);
  orr_must(atomic_load(&r->shm.run->published) == r->shm.published);
}

static void write_command(struct rig *r, const struct orr_step *s, bool right) {
  struct orr_step rest = *s;
  uint64_t payload[ORR_RIG_WORDS] = {0};
  size_t words = orr_wire_words(r->link.layout.commands.bytes);
  uint32_t generation = atomic_load(&r->shm.peer->generation) + (right ? 0 : orr_step_byte(s, 1));
  uint64_t wrong = right ? 0 : orr_step_byte(s, 3);
  uint64_t head[ORR_WIRE_IN_WORDS] = {r->link.rules.published > 0 ? (uint64_t)r->link.rules.published : 0,
                                      r->link.layout.hash,
                                      orr_wire_command_peer(generation, wrong & 15, ORR_WIRE_VERSION ^ wrong >> 4)};
  uint32_t number = atomic_load(&r->shm.peer->commanded) + 1;
  _Atomic uint64_t *slot = (_Atomic uint64_t *)(void *)(r->shm.in + r->shm.in_slot_bytes * (number % ORR_WIRE_SLOTS));
  if (!right) {
    head[ORR_WIRE_IN_ANSWERS] += (uint64_t)(int64_t)(int8_t)orr_step_byte(s, 0);
    head[ORR_WIRE_IN_LAYOUT] ^= orr_step_byte(s, 2);
    size_t skipped = s->size < 5 ? s->size : 5;
    rest = (struct orr_step){s->what, s->bytes + skipped, s->size - skipped};
  }
  memcpy(payload, rest.bytes, rest.size);
  head[ORR_WIRE_IN_SUM] = orr_wire_command_sum(head, payload, words);
  if (!right && orr_step_byte(s, 4) >= 128)
    head[ORR_WIRE_IN_SUM] ^= orr_step_byte(s, 4);
  orr_wire_slot_write(slot, head, ORR_WIRE_IN_WORDS, payload, words);
  if (!right && orr_step_byte(s, 4) % 128)
    atomic_fetch_add(slot, 1); /* torn */
  atomic_store(&r->shm.peer->commanded, number);
}

static void do_step(struct rig *r, const struct orr_step *s) {
  switch (s->what % 7) {
  case 0:
    scribble(r, s);
    break;
  case 1:
    next_frame(r);
    break;
  case 2:
  case 3:
    write_command(r, s, s->what % 7 == 2);
    break;
  case 4:
    atomic_store(&r->shm.peer->pid, (uint32_t)getpid());
    atomic_fetch_add(&r->shm.peer->generation, 1);
    break;
  case 5:
    latch(r);
    break;
  default:
    orr_carrier_shm.await(&r->shm.base, 1);
    (void)orr_carrier_shm.beats(&r->shm.base);
    if (!r->waited) {
      orr_carrier_shm.wait(&r->shm.base, 0);
      (void)orr_carrier_shm.process(&r->shm.base);
    }
    r->waited = true;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct rig r;
  orr_link_rig_init(&r.link, size ? data[0] & ~1u : 0, 1);
  r.waited = false;
  struct orr_wire_header head = orr_directory_header(&r.link.layout, 1000000, ORR_RIG_DIVISOR);
  r.shm = (struct orr_shm){
      .fd = -1, .bytes = head.segment_bytes, .base = {.kind = &orr_carrier_shm, .layout = &r.link.layout}};
  r.shm.memory = aligned_alloc(64, r.shm.bytes);
  char *before = malloc(head.out_at);
  orr_must(r.shm.memory && before);
  orr_shm_lay_out(&r.shm, &head);
  memcpy(before, r.shm.memory, head.out_at);
  struct orr_steps steps = {data + 1, size ? size - 1 : 0};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  orr_link_rig_account(&r.link, 0);
  orr_shm_end(&r.shm);
  orr_must(memcmp(before, r.shm.memory, ORR_WIRE_RUN_AT) == 0);
  orr_must(memcmp(before + head.directory_at, r.shm.memory + head.directory_at, head.out_at - head.directory_at) == 0);
  free(before);
  free(r.shm.memory);
  return 0;
}
