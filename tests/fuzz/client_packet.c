/* Datagrams of any bytes into a client over UDP (io/client/client_udp, client): a description that may be of any bytes,
 * then frames. The network is one datagram in memory; the run at its other end is a link over UDP without a socket
 * (io/links/packets/udp), which takes what the client sends.
 *
 * The first byte is the shape: bits 0 to 3 as orr_link_rig_init takes them; bit 4 the packets come in frames of a
 * stream (io/client/client_stream), by SLIP with bit 5 and else by COBS; bit 6 the link has a key, and what comes is
 * sealed with it, but for every eighth, which is a copy of the seal before. Then steps; what:
 *   0 a datagram as it is       1 the same with length, checksums and sequence flags set right
 *   2 bytes of the description change: two bytes of place, then the bytes       3 it gets another length: two bytes
 *   4 a client comes and is told the description, in pieces of 8 (byte[0] + 1) bytes or as the run cuts it (0); with
 *     piece byte[1] - 1 something is wrong: 1 id, 2 number, 3 flags, 4 nobody is there
 *   5 the run's next frame; pieces whose bit of byte[0] is set get lost       6 the frames before once more
 *   7 a packet of a frame as the client awaits it: byte[0] piece, byte[1] added to the frame, byte[2] whole words of
 *     payload
 *   8 the run's farewell       9 the client asks the run to end       10 the client's beat
 *   11 a datagram longer than any packet       12 the run takes and latches commands       13 nobody listens
 *   14 as 0, and neither sealed nor in a frame
 * Fuzz with: -max_len=512
 */
#undef _FORTIFY_SOURCE /* its recv is an inline function, and the one here takes the place of that of the C library */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/client/client_carrier.h"
#include "io/client/client_seal.h"
#include "io/client/client_stream.h"
#include "io/links/packets/udp.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DESCRIPTION_ROOM = 4096, PACKET_MAX = 256, STEPS = 15, WIRE = 1000, LISTEN = 16, SLIP = 32, KEYED = 64 };

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_udp udp;
  struct sockaddr_in from;
  uint8_t description[DESCRIPTION_ROOM];
  size_t description_bytes;
  struct orr_client client;
  bool open;
  const struct orr_step *entering;
  uint8_t datagram[ORR_FRAMING_MOST]; /* on its way to the client; in a stream, its frame */
  size_t told;                        /* its bytes; 0: none */
  bool refused;                       /* nobody listens, says the kernel */
  unsigned shape;
  bool raw;                /* what comes is neither sealed nor in a frame */
  struct orr_deframer out; /* of what the client sends in a stream */
};

/* ---- the network: these stand in for the C library's ------------------------------------------------------------- */

static struct rig *wire;

static enum orr_framing framing_of(unsigned shape) { return shape & SLIP ? ORR_FRAMING_SLIP : ORR_FRAMING_COBS; }

/* As the run seals, for the peer that was heard last. */
static size_t sealed(uint8_t to[ORR_WIRE_PACKET_MAX], const uint8_t *bytes, size_t size) {
  struct orr_seal *seal = wire->udp.packets.seal;
  memcpy(to, bytes, size);
  if (!seal || wire->raw || size + ORR_WIRE_SEAL_BYTES > ORR_WIRE_PACKET_MAX)
    return size;
  seal->sent -= seal->sent % 8 == 7;
  return orr_seal_put(seal, wire->client.seal ? wire->client.seal->peer : seal->peer, to, size);
}

static void put(const uint8_t *bytes, size_t size) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  wire->told = size;
  if (size > ORR_WIRE_PACKET_MAX) /* it is no packet, whatever is in it */
    return;
  size = sealed(packet, bytes, size);
  wire->told = wire->shape & LISTEN && !wire->raw
                   ? orr_frame_write(framing_of(wire->shape), packet, size, wire->datagram)
                   : size;
  if (!(wire->shape & LISTEN) || wire->raw)
    memcpy(wire->datagram, packet, size);
}

/* A piece of the description, or what may come in its place. */
static void answer(uint64_t number) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  const struct orr_step *s = wire->entering;
  unsigned wrong = s && orr_step_byte(s, 1) == number + 1 ? orr_step_byte(s, 2) % 5 : 0;
  size_t piece = s && orr_step_byte(s, 0) ? 8 * (orr_step_byte(s, 0) + 1) : wire->udp.packets.description_piece;
  size_t at = number * piece < wire->description_bytes ? number * piece : wire->description_bytes;
  size_t left = wire->description_bytes - at;
  struct orr_wire_packet p = {.id = (uint16_t)(ORR_WIRE_DESCRIPTION_ID - (wrong == 1)),
                              .frame = number + (wrong == 2),
                              .flags = wrong == 3 ? ORR_WIRE_OUT_ENDED : 0,
                              .answered = wire->description_bytes};
  size_t size = orr_wire_packet_write(packet, &p, wire->description + at, left < piece ? left : piece);
  if (wrong < 4)
    put(packet, size);
  else
    wire->refused = true;
}

/* What the client sends is a packet that the run can read, whatever it was told. */
static void take(const uint8_t *bytes, size_t size) {
  uint8_t reply[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p = {0};
  const uint8_t *piece;
  size_t piece_bytes, seal = wire->udp.packets.seal ? ORR_WIRE_SEAL_BYTES : 0;
  orr_must(size > seal && orr_wire_packet_read(bytes, size - seal, &p, &piece, &piece_bytes));
  if (p.function == ORR_WIRE_DESCRIBE)
    answer(p.frame);
  else
    orr_udp_receive(&wire->udp, &wire->from, bytes, size, reply);
}

/* A datagram is whole; a stream's bytes are a frame when they are all there. */
static void take_sent(const uint8_t *bytes, size_t size) {
  if (!(wire->shape & LISTEN)) {
    take(bytes, size);
    return;
  }
  for (size_t i = 0; i < size; i++) {
    int came = orr_frame_read(&wire->out, bytes[i]);
    orr_must(came >= 0);
    if (came > 0)
      take(wire->out.bytes, (size_t)came);
  }
}

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  (void)flags;
  orr_must(fd == WIRE);
  take_sent(bytes, size);
  if (!wire->refused)
    return (ssize_t)size;
  errno = ECONNREFUSED;
  return -1;
}

ssize_t read(int fd, void *to, size_t room) {
  if (fd != WIRE)
    return syscall(SYS_read, fd, to, room);
  size_t size = wire->told < room ? wire->told : room;
  errno = wire->refused ? ECONNRESET : EAGAIN;
  if (wire->refused || size == 0)
    return -1;
  memcpy(to, wire->datagram, size);
  memmove(wire->datagram, wire->datagram + size, wire->told - size);
  wire->told -= size;
  return (ssize_t)size;
}

ssize_t recv(int fd, void *to, size_t room, int flags) {
  size_t size = wire->told, copied = size < room ? size : room;
  orr_must(fd == WIRE && flags == MSG_TRUNC);
  errno = wire->refused ? ECONNREFUSED : EAGAIN;
  wire->refused = false;
  if (errno == ECONNREFUSED || size == 0)
    return -1;
  memcpy(to, wire->datagram, copied);
  wire->told = 0;
  return (ssize_t)size;
}

int poll(struct pollfd *what, nfds_t count, int most_ms) {
  (void)what;
  (void)count;
  (void)most_ms;
  return 0;
}

int close(int fd) { return fd == WIRE ? 0 : (int)syscall(SYS_close, fd); }

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void look(struct rig *r, double value) {
  int status = orr_client_wait(&r->client, ORR_CLIENT_POLL, 0);
  orr_must(status == 0 || status == 1 || status == -EPIPE || status == -ECONNRESET);
  orr_must(orr_client_why(status)[0]);
  if (status != 1)
    return;
  orr_must(r->client.missed <= r->client.newest);
  orr_client_visit(&r->client, value);
  orr_must(orr_client_send(&r->client) == 0);
}

static void tell(struct rig *r, const uint8_t *bytes, size_t size) {
  if (!r->open)
    return;
  put(bytes, size);
  look(r, 0.25);
}

static size_t set_right(uint8_t to[ORR_WIRE_PACKET_MAX], const struct orr_step *s) {
  size_t at = ORR_WIRE_TELEMETRY_AT, body = at + ORR_WIRE_BLOCK_HEAD;
  if (s->size < body)
    return 0;
  struct orr_wire_packet p = {.id = (uint16_t)((s->bytes[0] << 8 | s->bytes[1]) & 0x1fff) | ORR_WIRE_ID_SECONDARY,
                              .function = s->bytes[6],
                              .flags = s->bytes[15]};
  memcpy(&p.frame, s->bytes + at, 8);
  memcpy(&p.time_ns, s->bytes + at + 8, 8);
  memcpy(&p.answered, s->bytes + at + 16, 8);
  if (p.id == ORR_WIRE_DESCRIPTION_ID && p.flags) /* or it is refused at once */
    p.frame = orr_wire_word_frame(p.flags);
  return orr_wire_packet_write(to, &p, s->bytes + body, s->size - body);
}

static void enter(struct rig *r, const struct orr_step *s) {
  orr_client_close(&r->client);
  r->client = (struct orr_client){.fd = WIRE};
  if (r->shape & LISTEN) {
    r->client.stream = calloc(1, sizeof *r->client.stream);
    orr_must(r->client.stream != NULL);
    r->client.stream->in.framing = framing_of(r->shape);
    r->out = (struct orr_deframer){.framing = framing_of(r->shape)};
  }
  if (r->shape & KEYED)
    orr_must((r->client.seal = orr_client_seal_make(r->udp.packets.seal->key)) != NULL);
  r->entering = s;
  int error = orr_client_udp_enter(&r->client, 0);
  r->entering = NULL;
  orr_must(error == 0 || error == EPROTO || error == ENOENT);
  r->open = error == 0;
  if (r->open)
    orr_client_beat(&r->client);
  else
    orr_client_close(&r->client);
}

static void send_all(struct rig *r, unsigned lost) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  for (;;) {
    uint32_t this = piece;
    size_t n = orr_packets_send(&r->udp.packets, &piece, packet);
    if (n == 0)
      return;
    if (!(lost >> this % 8 & 1))
      tell(r, packet, n);
  }
}

static void latch(struct rig *r) {
  orr_packets_take(&r->udp.packets, &r->link.rules);
  orr_link_rig_latch(&r->link);
}

static void next_frame(struct rig *r, unsigned lost) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  if (r->link.out)
    latch(r);
  orr_link_rig_publish(&r->link, head);
  orr_packets_publish(&r->udp.packets, head, r->link.values);
  send_all(r, lost);
}

static void tell_frame(struct rig *r, const struct orr_step *s) {
  static const uint8_t zeros[8 * 256] = {0};
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p = {.id = (uint16_t)(r->client.header.telemetry_id + orr_step_byte(s, 0)),
                              .frame = r->client.newest + (uint64_t)(int64_t)(int8_t)orr_step_byte(s, 1)};
  size_t size = orr_wire_packet_write(packet, &p, zeros, 8 * (size_t)orr_step_byte(s, 2));
  tell(r, packet, size);
}

static void change(struct rig *r, const struct orr_step *s) {
  size_t at = orr_step_byte(s, 0) << 8 | orr_step_byte(s, 1);
  if (s->what % STEPS == 3)
    r->description_bytes = at % DESCRIPTION_ROOM;
  else
    for (size_t i = 2; i < s->size && r->description_bytes; i++, at++)
      r->description[at % r->description_bytes] = s->bytes[i];
}

static void do_step(struct rig *r, const struct orr_step *s) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  size_t size;
  switch (s->what % STEPS) {
  case 0:
    tell(r, s->bytes, s->size);
    break;
  case 1:
    size = set_right(packet, s);
    tell(r, packet, size);
    break;
  case 2:
  case 3:
    change(r, s);
    break;
  case 4:
    enter(r, s);
    break;
  case 5:
    next_frame(r, orr_step_byte(s, 0));
    break;
  case 6:
    if (r->link.frame > 0)
      orr_packets_repeat(&r->udp.packets);
    send_all(r, 0);
    break;
  case 7:
    if (r->open)
      tell_frame(r, s);
    break;
  case 8:
    size = orr_packets_farewell(&r->udp.packets, packet);
    tell(r, packet, size);
    break;
  case 9:
    if (r->open)
      (void)orr_client_end(&r->client);
    break;
  case 10:
    if (r->open)
      orr_client_beat(&r->client);
    break;
  case 11:
    if (!(r->shape & LISTEN))
      tell(r, r->datagram, ORR_WIRE_PACKET_MAX + 1);
    break;
  case 12:
    latch(r);
    break;
  case 14:
    r->raw = true;
    tell(r, s->bytes, s->size);
    r->raw = false;
    break;
  default:
    r->refused = true;
    if (r->open)
      look(r, 0);
  }
}

/* Without a file. */
static void give_key(struct rig *r) {
  struct orr_seal *seal = calloc(1, sizeof *seal);
  orr_must(seal != NULL && (seal->seen = calloc(1, sizeof *seal->seen)) != NULL);
  seal->run = 7;
  r->udp.packets.seal = seal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint32_t allow[] = {INADDR_LOOPBACK};
  struct rig r = {.client.fd = -1, .shape = size ? data[0] : 0};
  wire = &r;
  orr_link_rig_init(&r.link, size ? data[0] : 0, 40);
  r.desc = (struct orr_run_link){.divisor = ORR_RIG_DIVISOR,
                                 .telemetry_id = 0x0880,
                                 .command_id = 0x1880,
                                 .packet_max = PACKET_MAX,
                                 .allow = allow,
                                 .allow_count = 1,
                                 .peer = {.ip = INADDR_LOOPBACK, .port = 9}};
  r.from = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  orr_must(orr_udp_prepare(&r.udp, &r.desc, &r.link.layout, 1000000) == 0);
  orr_must(r.udp.packets.description_bytes <= DESCRIPTION_ROOM);
  memcpy(r.description, r.udp.packets.description, r.udp.packets.description_bytes);
  r.description_bytes = r.udp.packets.description_bytes;
  if (r.shape & KEYED)
    give_key(&r);
  struct orr_steps steps = {data + 1, size ? size - 1 : 0};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  orr_client_close(&r.client);
  orr_udp_close(&r.udp);
  return 0;
}
