/* The section `links` of a run file. */
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/wire/wire.h"

#define WAIT_NS INT64_C(10000000000) /* where the file says nothing */

static const char *const transports[] = {
    [ORR_TRANSPORT_LINKED] = "linked", [ORR_TRANSPORT_SHM] = "shm",   [ORR_TRANSPORT_UDP] = "udp",
    [ORR_TRANSPORT_SERIAL] = "serial", [ORR_TRANSPORT_TCP] = "tcp",   [ORR_TRANSPORT_UNIX] = "unix",
    [ORR_TRANSPORT_CAN] = "can",       [ORR_TRANSPORT_PCAP] = "pcap", NULL};

struct link_keys {
  double stiffness[3], damping[3];
  int64_t wait;
  int latch, endian;
  const char *name, *stand_in;
  struct orr_run_udp_keys udp;
  struct orr_run_cable_keys line;
  struct orr_run_can_keys can;
  struct orr_run_pcap_keys pcap;
  struct orr_place framing, transport, rate, phase, telemetry, commands, timeout, lockstep, layout;
};

enum {
  TRANSPORT,
  NAME,
  RATE,
  PHASE,
  TELEMETRY,
  COMMANDS,
  STAND_IN,
  STIFFNESS,
  DAMPING,
  WAIT,
  LATCH,
  TIMEOUT,
  LOCKSTEP,
  LAYOUT,
  LISTEN,
  PEER,
  ALLOW,
  IDS,
  MTU,
  KEY_FILE,
  FRAMING,
  CONNECT,
  DEVICE,
  BAUD,
  DATA_BITS,
  PARITY,
  STOP_BITS,
  RS485,
  LOW_LATENCY,
  PATH,
  SOCKET,
  ENDIAN,
  INTERFACE,
  FD,
  DBC,
  SIGNALS,
  ANSWERS,
  CAPTURE,
  PORT,
  BEGIN,
  LINK_KEYS
};

#define PLACE(field) .type = ORR_KEY_PLACE, .offset = offsetof(struct link_keys, field)

struct timeout_keys {
  struct orr_place frames;
  int policy;
};

static const char *const silence_policies[] = {"hold", "zero", "stop", NULL};
static const struct orr_range frames_range = {1, 1e9, false};

static const struct orr_key timeout_table[] = {
    {.name = "frames",
     .doc = "frames of the link, or a time, without a command until the policy rules",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_frames,
     .offset = offsetof(struct timeout_keys, frames)},
    {.name = "policy",
     .doc = "hold the last commands, set them to zero, or stop the run",
     .type = ORR_KEY_CHOICE,
     .required = true,
     .choices = silence_policies,
     .offset = offsetof(struct timeout_keys, policy)},
};

static const struct orr_mapping timeout_mapping = {
    .name = "links.timeout", .doc = "What happens when no commands come any more.", ORR_KEYS(timeout_table)};

struct lockstep_keys {
  int64_t timeout;
  int policy;
};

static const char *const answer_policies[] = {"stop", "continue", NULL};

static const struct orr_key lockstep_table[] = {
    {.name = "timeout",
     .doc = "how long an answer is waited for, on the clock",
     .type = ORR_KEY_TIME,
     .range = &orr_range_positive,
     .fallback = "10 s",
     .offset = offsetof(struct lockstep_keys, timeout)},
    {.name = "policy",
     .doc = "without an answer stop the run, or continue it with what is held",
     .type = ORR_KEY_CHOICE,
     .choices = answer_policies,
     .fallback = "stop",
     .offset = offsetof(struct lockstep_keys, policy)},
};

static const struct orr_mapping lockstep_mapping = {
    .name = "links.lockstep", .doc = "How a run in lockstep waits for answers.", ORR_KEYS(lockstep_table)};

static const struct orr_range port_range = {1, 65535, false};
static const struct orr_range mtu_range = {128, 8192, false};
static const struct orr_range baud_range = {50, 4000000, false}, data_range = {5, 8, false}, stop_range = {1, 2, false};
static const char *const parities[] = {"none", "even", "odd", NULL}, *const switches[] = {"off", "on", NULL};
static const char *const sockets[] = {"seqpacket", "stream", NULL};
static const char *const latches[] = {"boundary", "asap", NULL};
static const char *const endians[] = {"little", "big", NULL};

static const struct orr_key link_table[LINK_KEYS] = {
    [TRANSPORT] = {.name = "transport",
                   .doc = "what carries it: linked, a controller inside the program; shm, shared memory; udp, tcp, "
                          "serial, unix: packets over UDP, TCP, a serial port or a Unix socket; can: frames of a CAN "
                          "bus, by a `layout` or a `dbc`; pcap, commands of a capture of UDP, and no flight software",
                   .required = true,
                   .shape = ORR_WORD(transports),
                   PLACE(transport)},
    [NAME] = {.name = "name",
              .doc = "shm: name of the segment, with one slash in front, such as /orrery.fsw; less than 48 long",
              .type = ORR_KEY_TEXT,
              .absent = "right for another transport",
              .offset = offsetof(struct link_keys, name)},
    [RATE] = {.name = "rate",
              .doc = "frames of the link in a second; it divides the base rate",
              .required = true,
              .shape = ORR_NUMBER("Hz"),
              PLACE(rate)},
    [PHASE] = {.name = "phase",
               .doc = "its first frame, or the time of it; less than from one of the link to the next",
               .absent = "0",
               .shape = &orr_shape_frames,
               PLACE(phase)},
    [TELEMETRY] =
        {.name = "telemetry",
         .doc = "outputs that go to flight software; on the wire they stand as `orrery icd` has them, flags last; "
                "a controller that is linked in has them in this order",
         .required = true,
         .shape = &orr_shape_channels,
         PLACE(telemetry)},
    [COMMANDS] = {.name = "commands",
                  .doc =
                      "commands that flight software gives, on the wire as `orrery icd` has them, whatever the order "
                      "here; no two links command one channel",
                  .required = true,
                  .shape = &orr_shape_channels,
                  PLACE(commands)},
    [STAND_IN] = {.name = "stand_in",
                  .doc = "a controller linked in that answers in batch: the sample flight software with its data for "
                         "that mission (`tools/fsw`): cubesat, cassini, wings, chain",
                  .type = ORR_KEY_TEXT,
                  .absent = "the plain law, where there are gains; without them the link cannot fly in batch",
                  .offset = offsetof(struct link_keys, stand_in)},
    [STIFFNESS] = {.name = "stiffness",
                   .doc =
                       "gains of the plain law that answers in batch: torque per angle about the axes of the "
                       "sensors; it takes the first channels of the telemetry that end with `.rate`, `.attitude` and "
                       "`.target`, and the commands are torques of wheels, on-times of thrusters, or both",
                   .type = ORR_KEY_NUMBERS,
                   .unit = "N m/rad",
                   .range = &orr_range_not_negative,
                   .count = 3,
                   .form = "[x, y, z]",
                   .absent = "no plain law",
                   .offset = offsetof(struct link_keys, stiffness)},
    [DAMPING] = {.name = "damping",
                 .doc = "its gains of torque per rate",
                 .type = ORR_KEY_NUMBERS,
                 .unit = "N m s/rad",
                 .range = &orr_range_not_negative,
                 .count = 3,
                 .form = "[x, y, z]",
                 .absent = "no plain law",
                 .offset = offsetof(struct link_keys, damping)},
    [WAIT] = {.name = "wait",
              .doc = "how long frame 0 waits for the peer, on the clock",
              .type = ORR_KEY_TIME,
              .range = &orr_range_not_negative,
              .absent =
                  "10 s; no wait where `peer` is named, and none on CAN: what only reacts waits for frame 0 itself",
              .offset = offsetof(struct link_keys, wait)},
    [LATCH] = {.name = "latch",
               .doc = "real time: a command acts at the link's next frame (boundary), or at the first frame after it "
                      "came (asap), which no second run repeats",
               .type = ORR_KEY_CHOICE,
               .choices = latches,
               .fallback = "boundary",
               .offset = offsetof(struct link_keys, latch)},
    [TIMEOUT] = {.name = "timeout",
                 .doc = "what happens when commands stop",
                 .absent = "levels are held for ever; pulses (on-times) end after more than a second without a command",
                 .shape = ORR_MAPPING(timeout_mapping),
                 PLACE(timeout)},
    [LOCKSTEP] = {.name = "lockstep",
                  .doc = "how a run in lockstep waits for answers",
                  .absent = "as its keys say",
                  .shape = ORR_MAPPING(lockstep_mapping),
                  PLACE(lockstep)},
    [LAYOUT] = {.name = "layout",
                .doc = "packets that somebody else defined: which bits of them hold which numbers",
                .absent = "Orrery's own payload, as `orrery icd` has it",
                .shape = ORR_MAPPING(orr_layout_mapping),
                PLACE(layout)},
    [LISTEN] = {.name = "listen",
                .doc = "udp, tcp: address and port where commands are expected, such as 127.0.0.1:5010; IPv4",
                .type = ORR_KEY_TEXT,
                .absent = "127.0.0.1:5010",
                .offset = offsetof(struct link_keys, udp.listen)},
    [PEER] = {.name = "peer",
              .doc = "udp: address and port where telemetry goes",
              .type = ORR_KEY_TEXT,
              .absent = "to whoever sent the last good packet",
              .offset = offsetof(struct link_keys, udp.peer)},
    [ALLOW] = {.name = "allow",
               .doc = "udp, tcp: addresses that may send",
               .absent = "`peer`, or this host where it listens to that alone",
               .shape = ORR_LIST(ORR_TEXT("IPv4 addresses")),
               PLACE(udp.allow)},
    [IDS] = {.name = "message_ids",
             .doc = "packets: message ids of the packets",
             .absent = "as its keys say",
             .shape = ORR_MAPPING(orr_message_ids_mapping),
             PLACE(udp.message_ids)},
    [MTU] = {.name = "mtu",
             .doc = "bytes of the longest packet on the wire; over UDP with IP's and UDP's 28",
             .type = ORR_KEY_WHOLE,
             .range = &mtu_range,
             .fallback = "1500",
             .offset = offsetof(struct link_keys, udp.mtu)},
    [KEY_FILE] = {.name = "key_file",
                  .doc =
                      "packets: file of 64 hexadecimal digits, its user's alone, beside the run file or by its whole "
                      "path; packets of those who have it not are refused, both ways",
                  .type = ORR_KEY_TEXT,
                  .absent = "packets carry no key: for a network of one's own",
                  .offset = offsetof(struct link_keys, udp.key_file)},
    [FRAMING] = {.name = "framing",
                 .doc = "how packets stand in a stream: cobs or slip, each with a CRC-32C behind it, or raw, bare "
                        "packets that are found by what their `layout`, or cFE, says of them; and what a packet is: "
                        "orrery, as `orrery icd` says, "
                        "or cfe, a bare message of cFE; or both, as [slip, cfe]",
                 .absent = "cobs where bytes are streamed, and packets of orrery",
                 .shape = ORR_EITHER(ORR_TEXT("a word"), ORR_LIST(ORR_TEXT("a word"))),
                 PLACE(framing)},
    [CONNECT] = {.name = "connect",
                 .doc = "tcp: address and port that the run connects to, again and again; IPv4",
                 .type = ORR_KEY_TEXT,
                 .absent = "flight software connects to `listen`",
                 .offset = offsetof(struct link_keys, udp.connect)},
    [DEVICE] = {.name = "device",
                .doc = "serial: the port, such as /dev/ttyUSB0",
                .type = ORR_KEY_TEXT,
                .absent = "right for another transport",
                .offset = offsetof(struct link_keys, line.device)},
    [BAUD] = {.name = "baud",
              .doc = "serial: bits in a second on the wire, any that the port has; 10 of them carry a byte (8N1)",
              .type = ORR_KEY_WHOLE,
              .range = &baud_range,
              .fallback = "115200",
              .offset = offsetof(struct link_keys, line.baud)},
    [DATA_BITS] = {.name = "data_bits",
                   .doc = "serial: of a byte on the wire",
                   .type = ORR_KEY_WHOLE,
                   .range = &data_range,
                   .fallback = "8",
                   .offset = offsetof(struct link_keys, line.data_bits)},
    [PARITY] = {.name = "parity",
                .doc = "serial: the bit behind them",
                .type = ORR_KEY_CHOICE,
                .choices = parities,
                .fallback = "none",
                .offset = offsetof(struct link_keys, line.parity)},
    [STOP_BITS] = {.name = "stop_bits",
                   .doc = "serial: after each byte",
                   .type = ORR_KEY_WHOLE,
                   .range = &stop_range,
                   .fallback = "1",
                   .offset = offsetof(struct link_keys, line.stop_bits)},
    [RS485] = {.name = "rs485",
               .doc = "serial: the driver turns the direction of an RS-485 line (RTS while it sends)",
               .type = ORR_KEY_CHOICE,
               .choices = switches,
               .fallback = "off",
               .offset = offsetof(struct link_keys, line.rs485)},
    [LOW_LATENCY] = {.name = "low_latency",
                     .doc = "serial: the driver hands over at once what came, where it can; a warning where it cannot",
                     .type = ORR_KEY_CHOICE,
                     .choices = switches,
                     .fallback = "off",
                     .offset = offsetof(struct link_keys, line.low_latency)},
    [PATH] = {.name = "path",
              .doc = "unix: whole path of the socket, in a folder that only its user writes to, or in /tmp",
              .type = ORR_KEY_TEXT,
              .absent = "right for another transport",
              .offset = offsetof(struct link_keys, line.path)},
    [SOCKET] = {.name = "socket",
                .doc = "unix: each packet is a message (seqpacket), or packets stand in a stream, by `framing`",
                .type = ORR_KEY_CHOICE,
                .choices = sockets,
                .fallback = "seqpacket",
                .offset = offsetof(struct link_keys, line.socket)},
    [ENDIAN] = {.name = "endian",
                .doc = "framing cfe: byte order of the numbers in a message",
                .type = ORR_KEY_CHOICE,
                .choices = endians,
                .fallback = "little",
                .offset = offsetof(struct link_keys, endian)},
    [INTERFACE] = {.name = "interface",
                   .doc = "can: the network interface of the bus, such as can0 or vcan0",
                   .type = ORR_KEY_TEXT,
                   .absent = "right for another transport",
                   .offset = offsetof(struct link_keys, can.interface)},
    [FD] = {.name = "fd",
            .doc = "can: frames of CAN FD go out, of up to 64 bytes, with the fast bit rate; both kinds are taken",
            .type = ORR_KEY_CHOICE,
            .choices = switches,
            .fallback = "off",
            .offset = offsetof(struct link_keys, can.fd)},
    [DBC] = {.name = "dbc",
             .doc = "can: a CAN database, beside the run file or by its whole path, that says which frames hold which "
                    "numbers, in place of `layout`; the signal of gyro.rate.x is gyro_rate_x",
             .type = ORR_KEY_TEXT,
             .absent = "`layout` says it",
             .offset = offsetof(struct link_keys, can.dbc)},
    [SIGNALS] = {.name = "signals",
                 .doc = "dbc: signals of other names, by the numbers of channels: `gyro.rate.x: Rates.omega_x`",
                 .absent = "each has the name of its channel",
                 .shape = ORR_NAMED("channel", ORR_TEXT("a signal, or MESSAGE.SIGNAL")),
                 PLACE(can.signals)},
    [ANSWERS] = {.name = "answers",
                 .doc = "dbc: the message of commands that ends an answer; the others are kept until it comes",
                 .type = ORR_KEY_TEXT,
                 .absent = "that of the highest identifier, which comes last on a bus",
                 .offset = offsetof(struct link_keys, can.answers)},
    [CAPTURE] = {.name = "file",
                 .doc = "pcap: the capture, beside the run file or by its whole path",
                 .type = ORR_KEY_TEXT,
                 .absent = "right for another transport",
                 .offset = offsetof(struct link_keys, pcap.file)},
    [PORT] = {.name = "port",
              .doc = "pcap: the UDP port that the commands went to",
              .type = ORR_KEY_WHOLE,
              .range = &port_range,
              .fallback = "5010",
              .offset = offsetof(struct link_keys, pcap.port)},
    [BEGIN] = {.name = "begin",
               .doc = "pcap: simulated time of the first datagram to that port; those that say by an echo which frame "
                      "they answer do not need it",
               .type = ORR_KEY_TIME,
               .range = &orr_range_not_negative,
               .fallback = "0 s",
               .offset = offsetof(struct link_keys, pcap.begin)},
};

const struct orr_mapping orr_link_mapping = {
    .name = "links",
    .doc = "A link to one flight software: what goes out, what comes in, how often. A command that answers frame k of "
           "the link acts at frame k + 1, in every mode. `orrery icd FILE` prints the interface that follows.",
    ORR_KEYS(link_table),
    .example = "links:\n"
               "  fsw:\n"
               "    transport: shm\n"
               "    name: /orrery.example\n"
               "    rate: 10 Hz\n"
               "    telemetry: [gyro.rate, star.attitude, bus.target]\n"
               "    commands: [wheel_*.torque]\n"
               "    wait: 10 s\n"
               "    timeout: {frames: 50, policy: hold}\n"
               "    stiffness: [20, 20, 20]\n"
               "    damping: [100, 100, 100]\n",
};

/* Channels of one direction that the patterns of a list name, in the order of the list. -1 after reporting. */
static int read_channels(struct orr_run_draft *d, struct orr_place list, const char *name,
                         enum orr_channel_direction direction, const int **out) {
  const struct orr_channel_table *table = &d->run->table;
  int *found = orr_arena_alloc(d->reader->arena, (size_t)table->count + 1, sizeof *found), count = 0;
  *out = found;
  if (!orr_expect_sequence(d->reader, list, name))
    return -1;
  for (size_t i = 0; i < orr_place_count(list); i++) {
    struct orr_place item = orr_place_item(d->reader->diagnostics, list, i);
    const char *pattern;
    bool fits = false;
    if (!orr_read_text(d->reader, item, name, &pattern))
      return -1;
    for (int k = 0; k < table->count; k++) {
      bool known = false;
      if (table->channels[k].direction != direction || !orr_channel_matches(pattern, table->channels[k].name))
        continue;
      fits = true;
      for (int j = 0; j < count; j++)
        known |= found[j] == k;
      if (!known)
        found[count++] = k;
    }
    if (!fits && !d->partial) {
      orr_run_no_channel(d, item, pattern, (int)direction);
      return -1;
    }
  }
  return count;
}

bool orr_run_link_due(const struct orr_run_link *link, int64_t frame) {
  return frame >= link->phase && (frame - link->phase) % link->divisor == 0;
}

int64_t orr_run_link_before(const struct orr_run_link *link, int64_t frame) {
  return frame <= link->phase ? -1 : frame - 1 - (frame - 1 - link->phase) % link->divisor;
}

struct orr_run_given orr_run_link_given(const struct orr_run_link *link, bool inside) {
  if (inside && link->flown)
    return (struct orr_run_given){link->flown, link->flown_count};
  return (struct orr_run_given){link->commands, link->command_count};
}

struct orr_run_payload orr_run_payload(const struct orr_channel_table *table, const int *channels, int count) {
  struct orr_run_payload sum = {0};
  for (int i = 0; i < count; i++) {
    const struct orr_channel *c = &table->channels[channels[i]];
    sum.numbers += c->count;
    sum.bytes += orr_wire_number_bytes(c->type) * (size_t)c->count;
  }
  return sum;
}

/* `timeout: {frames: 50, policy: hold}` */
static bool read_timeout(struct orr_run_draft *d, struct orr_place place, struct orr_run_link *out) {
  struct timeout_keys keys = {0};
  const struct orr_thing thing = {.what = "timeout", .place = place};
  uint64_t present;
  bool good = orr_read_mapping(d->reader, &thing, &timeout_mapping, &keys, &present);
  out->silence_policy = keys.policy;
  if (keys.frames.node)
    good &= orr_run_read_frames(d, keys.frames, "frames", out->period_ns, &frames_range, &out->silence_frames);
  return good;
}

static bool read_lockstep(struct orr_run_draft *d, struct orr_place place, struct orr_run_link *out) {
  struct lockstep_keys keys = {0};
  const struct orr_thing thing = {.what = "lockstep", .place = place};
  uint64_t present;
  if (!orr_read_mapping(d->reader, &thing, &lockstep_mapping, &keys, &present))
    return false;
  out->answer_ns = keys.timeout;
  out->answer_stop = keys.policy == 0;
  return true;
}

/* Before the other keys are judged: one that is not built has keys that are not known. -1 after reporting. */
static int read_transport(struct orr_run_draft *d, struct orr_place link) {
  size_t at = orr_yaml_find(link.node, "transport");
  const char *text;
  if (at >= orr_place_count(link))
    return ORR_TRANSPORT_LINKED; /* the missing key is reported with the others */
  struct orr_place place = orr_place_value(d->reader->diagnostics, link, at);
  if (!orr_read_text(d->reader, place, "transport", &text))
    return -1;
  for (int i = 0; transports[i]; i++)
    if (strcmp(text, transports[i]) == 0)
      return i;
  orr_read_error(d->reader, place, "not-built",
                 "the transport '%.40s' is not built yet; this version has 'linked', 'shm', 'udp', 'tcp', 'serial', "
                 "'unix', 'can' and 'pcap'",
                 text);
  return -1;
}

/* A name of shared memory: one slash, in front, and no more than the system takes. */
static bool judge_name(struct orr_run_draft *d, const struct orr_thing *link, const char *name) {
  if (name && name[0] == '/' && name[1] && !strchr(name + 1, '/') && strlen(name) < 48 && strcmp(name, "/.") != 0 &&
      strcmp(name, "/..") != 0)
    return true;
  orr_read_error(
      d->reader, orr_read_member(d->reader, link, "name"), "link-name",
      "a link over shared memory has a name such as '/orrery.fsw': a slash, then at most 46 letters without one");
  return false;
}

/* What a payload may hold: io/wire/wire.h, of either side. */
static bool judge_payload(struct orr_run_draft *d, struct orr_place list, const char *name, size_t bytes, uint16_t id,
                          const struct orr_run_link *link) {
  if (bytes > ORR_WIRE_PAYLOAD_MAX) {
    orr_read_error(d->reader, list, "link-size",
                   "the %s of a link are at most %d bytes, and these are %zu: name fewer channels, or spread them over "
                   "several links",
                   name, ORR_WIRE_PAYLOAD_MAX, bytes);
    return false;
  }
  if (link->transport == ORR_TRANSPORT_SHM || link->layout)
    return true;
  uint32_t pieces = orr_wire_cut(id, bytes, link->packet_max).pieces;
  if (pieces <= ORR_WIRE_PIECES_MAX)
    return true;
  orr_read_error(d->reader, list, "link-size",
                 "the %s take %u packets, and may take %d: name fewer channels, or set 'mtu', which is at most 8192",
                 name, pieces, ORR_WIRE_PIECES_MAX);
  return false;
}

static bool judge_payloads(struct orr_run_draft *d, const struct link_keys *keys, const struct orr_run_link *link) {
  const struct orr_channel_table *table = &d->run->table;
  if (link->transport == ORR_TRANSPORT_LINKED || link->telemetry_count < 0 || link->command_count < 0)
    return true; /* mistakes in the lists were reported already */
  bool good =
      judge_payload(d, keys->telemetry, "telemetry",
                    orr_run_payload(table, link->telemetry, link->telemetry_count).bytes, link->telemetry_id, link);
  return judge_payload(d, keys->commands, "commands", orr_run_payload(table, link->commands, link->command_count).bytes,
                       link->command_id, link) &&
         good;
}

/* A ramp, a sine or a table writes its value in every frame, and so undoes a command at the next; a step writes
 * once. */
static const struct orr_script_entry *script_of(const struct orr_run *run, int channel) {
  const struct orr_script_entry *found = NULL;
  for (size_t i = 0; i < run->script_count; i++)
    if (run->script[i].channel == channel && (!found || found->form == ORR_SCRIPT_STEP))
      found = &run->script[i];
  return found;
}

static void judge_script(struct orr_run_draft *d, const struct link_keys *keys, const struct orr_run_link *link) {
  for (int i = 0; i < link->command_count; i++) {
    if (link->transport == ORR_TRANSPORT_LINKED && link->effects && link->effects[i].kind == ORR_EFFECT_NONE)
      continue; /* nobody else gives it */
    const struct orr_script_entry *e = script_of(d->run, link->commands[i]);
    const char *name = d->run->table.channels[link->commands[i]].name;
    bool pulse = d->run->table.channels[link->commands[i]].hold == ORR_CHANNEL_PULSE;
    if (e && e->form == ORR_SCRIPT_STEP && pulse)
      orr_read_warning(d->reader, keys->commands, "scripted-and-linked",
                       "'%.80s' is given a pulse by the file's own 'commands' too, at %.9g s, which goes on until its "
                       "time is over, this link gives another, or its commands stop: leave it out of one of the two",
                       name, 1e-9 * (double)e->at_ns);
    else if (e && e->form == ORR_SCRIPT_STEP)
      orr_read_warning(d->reader, keys->commands, "scripted-and-linked",
                       "'%.80s' is set by the file's own 'commands' too, at %.9g s, which lasts until this link's next "
                       "command: leave it out of one of the two",
                       name, 1e-9 * (double)e->at_ns);
    else if (e)
      orr_read_warning(d->reader, keys->commands, "scripted-and-linked",
                       "'%.80s' follows the file's own 'commands' too, in every frame for which this link commands "
                       "nothing: leave it out of one of the two",
                       name);
  }
}

/* ---- one link beside another ------------------------------------------------------------------------------------- */

static bool commands_meet(const struct orr_run_link *a, const struct orr_run_link *b, int *channel) {
  for (int i = 0; i < a->command_count; i++)
    for (int k = 0; k < b->command_count; k++)
      if (a->commands[i] == b->commands[k]) {
        *channel = a->commands[i];
        return true;
      }
  return false;
}

static bool addresses_meet(const struct orr_run_address *a, const struct orr_run_address *b) {
  return a->port == b->port && (a->ip == b->ip || a->ip == 0 || b->ip == 0);
}

static bool judge_beside(struct orr_run_draft *d, const struct orr_thing *thing, const struct orr_run_link *link,
                         const struct orr_run_link *other) {
  int channel;
  bool good = true;
  if (commands_meet(link, other, &channel)) {
    orr_read_error(d->reader, orr_read_member(d->reader, thing, "commands"), "link-shared",
                   "'%.80s' is commanded by the link '%.60s' already", d->run->table.channels[channel].name,
                   other->name);
    good = false;
  }
  if (link->transport != other->transport)
    return good;
  if (link->transport == ORR_TRANSPORT_SHM && strcmp(link->name_shm, other->name_shm) == 0) {
    orr_read_error(d->reader, orr_read_member(d->reader, thing, "name"), "link-shared",
                   "the link '%.60s' has the name '%s' already", other->name, other->name_shm);
    good = false;
  }
  bool listens = link->transport == ORR_TRANSPORT_UDP || link->transport == ORR_TRANSPORT_TCP;
  const char *const ours[] = {link->device, link->path}, *const theirs[] = {other->device, other->path};
  for (int i = 0; i < 2; i++)
    if (ours[i] && theirs[i] && strcmp(ours[i], theirs[i]) == 0) {
      orr_read_error(d->reader, orr_read_member(d->reader, thing, i ? "path" : "device"), "link-shared",
                     "the link '%.60s' has it already", other->name);
      good = false;
    }
  if (link->interface && other->interface && strcmp(link->interface, other->interface) == 0)
    good = orr_run_judge_bus(d, thing, link, other) && good;
  if (listens && !link->connect.port && !other->connect.port && addresses_meet(&link->listen, &other->listen)) {
    orr_read_error(d->reader, orr_read_member(d->reader, thing, "listen"), "link-shared",
                   "the link '%.60s' listens there already", other->name);
    good = false;
  }
  return good;
}

/* What the plain law flies on, by quantity and numbers: the first of each in the order of the link. Returns the channel
 * of the rate; −1 after a message. */
static int find_law(struct orr_run_draft *d, struct orr_place key, struct orr_run_link *link) {
  static const struct {
    const char *quantity, *words;
    int count;
  } needs[] = {{".rate", "rate", 3}, {".attitude", "attitude", 4}, {".target", "target attitude", 4}};
  int rate = -1;
  for (int n = 0; n < 3; n++) {
    int found = -1;
    for (int i = 0, at = 0; i < link->telemetry_count; i++) {
      const struct orr_channel *c = &d->run->table.channels[link->telemetry[i]];
      const char *quantity = strrchr(c->name, '.');
      if (found < 0 && c->count == needs[n].count && quantity && strcmp(quantity, needs[n].quantity) == 0) {
        found = link->telemetry[i];
        link->law[n] = at;
      }
      at += c->count;
    }
    if (found < 0) {
      orr_read_error(d->reader, key, "link",
                     "the linked-in controller flies on a rate ('gyro.rate'), an attitude ('star.attitude') and a "
                     "target ('bus.target') among the telemetry, in any order and beside others, and this link has no "
                     "%s (%d numbers of a channel '*%s')",
                     needs[n].words, needs[n].count, needs[n].quantity);
      return -1;
    }
    rate = n == 0 ? found : rate;
  }
  return rate;
}

static bool judge_stand_in(struct orr_run_draft *d, struct orr_place key, struct orr_run_link *link) {
  if (link->stand_in_name || (link->transport != ORR_TRANSPORT_LINKED && !link->stand_in))
    return true;
  if (link->command_count == 0) {
    orr_read_error(d->reader, key, "link",
                   "the linked-in controller commands torques of wheels, on-times of thrusters, or both, and this link "
                   "has no commands; without 'stiffness' and 'damping' it is for flight software outside alone");
    return false;
  }
  int rate = find_law(d, key, link);
  return rate >= 0 && orr_run_find_effects(d, key, rate, link);
}

static bool judge_phase(struct orr_run_draft *d, const struct orr_thing *thing, const struct orr_run_link *link) {
  if (link->phase < link->divisor)
    return true;
  orr_read_error(d->reader, orr_read_member(d->reader, thing, "phase"), "out-of-range",
                 "'phase' counts frames within the %d between two of the link, so it is at most %d", link->divisor,
                 link->divisor - 1);
  return false;
}

/* Keys of Orrery's own packets. */
static bool judge_layout(struct orr_run_draft *d, const struct orr_thing *link, uint64_t present) {
  static const int own[] = {IDS, KEY_FILE};
  bool good = true;
  for (size_t i = 0; i < sizeof own / sizeof *own && present >> LAYOUT & 1; i++)
    if (present >> own[i] & 1) {
      size_t at = orr_yaml_find(link->place.node, link_table[own[i]].name);
      orr_read_error(d->reader, orr_place_key(d->reader->diagnostics, link->place, at), "link-key",
                     "'%s' is for Orrery's own packets, and this link has a 'layout'", link_table[own[i]].name);
      good = false;
    }
  return good;
}

/* A key that means nothing for the transport is a mistake, not an ornament. Where the transport was chosen on the
 * command line, what the file says for its own stays, and means nothing. */
static bool judge_keys(struct orr_run_draft *d, const struct orr_thing *link, uint64_t present, int transport) {
  bool good = true;
  enum { UDP = 1 << ORR_TRANSPORT_UDP, TCP = 1 << ORR_TRANSPORT_TCP, SERIAL = 1 << ORR_TRANSPORT_SERIAL };
  enum { CAN = 1 << ORR_TRANSPORT_CAN, PCAP = 1 << ORR_TRANSPORT_PCAP };
  enum { UNIX = 1 << ORR_TRANSPORT_UNIX, PACKETS = UDP | TCP | SERIAL | UNIX };
  static const int of[LINK_KEYS] = {/* the transports that a key is for; 0: all */
                                    [NAME] = 1 << ORR_TRANSPORT_SHM,
                                    [LAYOUT] = PACKETS | CAN | PCAP,
                                    [LISTEN] = UDP | TCP,
                                    [PEER] = UDP,
                                    [ALLOW] = UDP | TCP,
                                    [IDS] = PACKETS | PCAP,
                                    [MTU] = PACKETS | PCAP,
                                    [KEY_FILE] = PACKETS,
                                    [FRAMING] = PACKETS | PCAP,
                                    [ENDIAN] = PACKETS | PCAP,
                                    [CONNECT] = TCP,
                                    [DEVICE] = SERIAL,
                                    [BAUD] = SERIAL,
                                    [DATA_BITS] = SERIAL,
                                    [PARITY] = SERIAL,
                                    [STOP_BITS] = SERIAL,
                                    [RS485] = SERIAL,
                                    [LOW_LATENCY] = SERIAL,
                                    [PATH] = UNIX,
                                    [SOCKET] = UNIX,
                                    [INTERFACE] = CAN,
                                    [FD] = CAN,
                                    [DBC] = CAN,
                                    [SIGNALS] = CAN,
                                    [ANSWERS] = CAN,
                                    [CAPTURE] = PCAP,
                                    [PORT] = PCAP,
                                    [BEGIN] = PCAP};
  uint64_t foreign = 0;
  for (int i = 0; i < LINK_KEYS; i++)
    foreign |= of[i] && !(of[i] >> transport & 1) ? present & UINT64_C(1) << i : 0;
  for (int i = 0; i < LINK_KEYS && !orr_run_is_set(d, link, "transport"); i++)
    if (foreign >> i & 1) {
      size_t at = orr_yaml_find(link->place.node, link_table[i].name);
      orr_read_error(d->reader, orr_place_key(d->reader->diagnostics, link->place, at), "link-key",
                     "'%s' means nothing for the transport '%s'", link_table[i].name, transports[transport]);
      good = false;
    }
  return good;
}

static bool read_rate(struct orr_run_draft *d, const struct link_keys *keys, const struct orr_thing *thing,
                      struct orr_run_link *out) {
  double rate;
  if (!keys->rate.node || !orr_read_number(d->reader, keys->rate, "rate", "Hz", &orr_range_positive, &rate))
    return false;
  out->divisor = orr_run_divisor(d, keys->rate, rate);
  out->period_ns = out->divisor * d->run->plant.step_ns;
  static const struct orr_range range = {0, 1e9, false};
  if (keys->phase.node && !orr_run_read_frames(d, keys->phase, "phase", d->run->plant.step_ns, &range, &out->phase))
    return false;
  return out->divisor && (d->run->plant.step_ns <= 0 || judge_phase(d, thing, out));
}

static bool read_lists(struct orr_run_draft *d, const struct link_keys *keys, struct orr_run_link *out) {
  out->telemetry_count = out->command_count = -1;
  if (keys->telemetry.node)
    out->telemetry_count = read_channels(d, keys->telemetry, "telemetry", ORR_CHANNEL_OUTPUT, &out->telemetry);
  if (keys->commands.node)
    out->command_count = read_channels(d, keys->commands, "commands", ORR_CHANNEL_COMMAND, &out->commands);
  return out->telemetry_count >= 0 && out->command_count >= 0;
}

static bool read_link(struct orr_run_draft *d, struct orr_place key, struct orr_place value, struct orr_run_link *out) {
  struct link_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "link", .name = key.node->text, .place = value, .key = key};
  if (!orr_read_name(d->reader, key, "link") || !orr_expect_mapping(d->reader, value, key.node->text))
    return false;
  int transport = read_transport(d, value);
  if (transport < 0)
    return false;
  bool good = orr_read_mapping(d->reader, &thing, &orr_link_mapping, &keys, &present);
  *out = (struct orr_run_link){.name = key.node->text, .transport = (enum orr_transport)transport};
  out->name_shm = keys.name;
  out->wait_ns = present >> WAIT & 1 ? keys.wait : keys.udp.peer || transport == ORR_TRANSPORT_CAN ? 0 : WAIT_NS;
  out->asap = keys.latch == 1;
  out->stand_in_name = keys.stand_in;
  out->stand_in = keys.stand_in || (present >> STIFFNESS & 1 && present >> DAMPING & 1);
  memcpy(out->stiffness, keys.stiffness, sizeof out->stiffness);
  memcpy(out->damping, keys.damping, sizeof out->damping);
  good = read_rate(d, &keys, &thing, out) && good;
  good = read_lists(d, &keys, out) && good;
  good = read_timeout(d, keys.timeout, out) && good;
  good = read_lockstep(d, keys.lockstep, out) && good;
  good = judge_keys(d, &thing, present, transport) && judge_layout(d, &thing, present) && good;
  bool named = present >> NAME & 1 || orr_yaml_find(value.node, "name") >= orr_place_count(value);
  if (transport == ORR_TRANSPORT_SHM && named)
    good = judge_name(d, &thing, keys.name) && good;
  if (transport > ORR_TRANSPORT_SHM)
    good = orr_run_read_udp(d, &thing, &keys.udp, out) && orr_run_read_cable(d, &thing, &keys.line, out) &&
           orr_run_read_framing(d, &thing, keys.framing, out) && orr_run_read_can(d, &thing, &keys.can, out) &&
           orr_run_read_pcap(d, &thing, &keys.pcap, out) && good;
  if (!good || d->partial)
    return false;
  if (transport > ORR_TRANSPORT_SHM && keys.layout.node && !orr_run_read_layout(d, keys.layout, out))
    return false;
  if (transport == ORR_TRANSPORT_CAN && keys.can.dbc && !orr_run_read_dbc(d, &thing, &keys.can, out))
    return false;
  out->big_endian = keys.endian == 1;
  good = judge_payloads(d, &keys, out);
  good = orr_run_judge_form(d, &thing, present >> ENDIAN & 1, keys.telemetry, keys.commands, out) && good;
  for (size_t i = 0; i < d->run->link_count; i++)
    good = judge_beside(d, &thing, out, &d->run->links[i]) && good;
  good = good && judge_stand_in(d, key, out);
  judge_script(d, &keys, out);
  return good;
}

void orr_run_read_links(struct orr_run_draft *d) {
  struct orr_place place = orr_config_section(d->config, ORR_SECTION_LINKS);
  if (!place.node || !orr_expect_mapping(d->reader, place, "links"))
    return;
  size_t n = orr_place_count(place);
  struct orr_run_link *links = orr_arena_alloc(d->reader->arena, n, sizeof *links);
  d->run->links = links;
  for (size_t i = 0; i < n; i++)
    if (read_link(d, orr_place_key(d->reader->diagnostics, place, i), orr_place_value(d->reader->diagnostics, place, i),
                  &links[d->run->link_count]))
      d->run->link_count++;
}
