/* A whole segment of any bytes under a client over shared memory (io/client/client_shm, client). The file is plain
 * memory of just its size, so that the sanitizer sees a byte beyond. A run beside it keeps what it would have written,
 * and takes what the client answers.
 *
 * The first byte is the shape, as orr_link_rig_init takes it, but never large; the next two change the size of the
 * file. Then steps; what:
 *   0 bytes written: two bytes of place, then the bytes
 *   1 the run's next frame
 *   2 a client comes, in place of one that was here
 *   3 it waits, reads every channel, sets commands to what byte[0] says, and answers       4 it asks the run to end
 *   5 the header says the file's size
 *   6 all is again as the run wrote it
 *   7 the run ends
 *   8 it takes and latches commands
 *   9 the client sleeps
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/client/client_carrier.h"
#include "io/links/carriers/shm.h"
#include "io/links/terms/directory.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 10 };

struct rig {
  struct orr_link_rig link;
  struct orr_shm shm; /* the run's own */
  char *file;
  size_t bytes;
  struct orr_client client;
  bool open;
};

static char *room(size_t bytes) {
  void *memory = NULL;
  orr_must(posix_memalign(&memory, 64, bytes) == 0);
  memset(memory, 0, bytes);
  return memory;
}

/* From the run's segment into the file, or back, as far as both reach. */
static void copy(struct rig *r, bool back, size_t from, size_t to) {
  size_t end = to < r->bytes ? to : r->bytes;
  if (from < end)
    memcpy((back ? r->shm.memory : r->file) + from, (back ? r->file : r->shm.memory) + from, end - from);
}

static void copy_slot(struct rig *r, bool back, const char *first, size_t bytes, uint32_t number) {
  size_t at = (size_t)(first - r->shm.memory) + bytes * (number % ORR_WIRE_SLOTS);
  copy(r, back, at, at + bytes);
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
  copy(r, false, ORR_WIRE_RUN_AT, ORR_WIRE_PEER_AT);
  copy_slot(r, false, r->shm.out, r->shm.out_slot_bytes, r->shm.published);
}

/* The file is not a mapping, which a client would give back. */
static void leave(struct rig *r) {
  r->client.memory = NULL;
  orr_client_close(&r->client);
  r->open = false;
}

static void enter(struct rig *r) {
  leave(r);
  r->client = (struct orr_client){.fd = -1, .memory = r->file, .memory_bytes = r->bytes};
  int error = orr_client_shm_enter(&r->client);
  orr_must(error == 0 || error == EAGAIN || error == EPROTO || error == ENOENT);
  r->open = error == 0;
  if (r->open)
    orr_client_beat(&r->client);
  else
    leave(r);
}

static void fly(struct rig *r, const struct orr_step *s) {
  int status = orr_client_wait(&r->client, ORR_CLIENT_POLL, 0);
  orr_must(status == 0 || status == 1 || status == -EPIPE || status == -EOWNERDEAD);
  orr_must(orr_client_why(status)[0]);
  orr_client_visit(&r->client, (int8_t)orr_step_byte(s, 0) / 64.);
  status = s->what % STEPS == 4 ? orr_client_end(&r->client) : orr_client_send(&r->client);
  orr_must(status == 0 || status == -EAGAIN || status == -EPIPE || status == -EOWNERDEAD);
  copy(r, true, ORR_WIRE_PEER_AT, ORR_WIRE_DIRECTORY_AT);
  copy_slot(r, true, r->shm.in, r->shm.in_slot_bytes, r->client.sent);
}

static void do_step(struct rig *r, const struct orr_step *s) {
  uint64_t bytes = r->bytes;
  switch (s->what % STEPS) {
  case 0:
    for (size_t i = 2, at = orr_step_byte(s, 0) << 8 | orr_step_byte(s, 1); i < s->size; i++, at++)
      r->file[at % r->bytes] = (char)s->bytes[i];
    break;
  case 1:
    next_frame(r);
    break;
  case 2:
    enter(r);
    break;
  case 3:
  case 4:
    if (r->open)
      fly(r, s);
    break;
  case 5:
    memcpy(r->file + offsetof(struct orr_wire_header, segment_bytes), &bytes, sizeof bytes);
    break;
  case 6:
    copy(r, false, 0, r->shm.bytes);
    break;
  case 7:
    orr_shm_end(&r->shm);
    copy(r, false, ORR_WIRE_RUN_AT, ORR_WIRE_PEER_AT);
    break;
  case 8:
    latch(r);
    break;
  default:
    if (r->open)
      orr_client_shm_sleep(&r->client, 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3)
    return 0;
  struct rig r = {.client.fd = -1};
  orr_link_rig_init(&r.link, data[0] & ~1u, 1);
  struct orr_wire_header head = orr_directory_header(&r.link.layout, 1000000, ORR_RIG_DIVISOR);
  r.shm = (struct orr_shm){
      .fd = -1, .bytes = head.segment_bytes, .base = {.kind = &orr_carrier_shm, .layout = &r.link.layout}};
  r.shm.memory = room(r.shm.bytes);
  orr_shm_lay_out(&r.shm, &head);
  int64_t bytes = (int64_t)r.shm.bytes + (int16_t)(data[1] << 8 | data[2]);
  r.bytes = bytes < ORR_WIRE_DIRECTORY_AT ? ORR_WIRE_DIRECTORY_AT : (size_t)bytes;
  r.file = room(r.bytes);
  copy(&r, false, 0, r.shm.bytes);
  struct orr_steps steps = {data + 3, size - 3};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  leave(&r);
  free(r.file);
  free(r.shm.memory);
  return 0;
}
