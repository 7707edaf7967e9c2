/* A run file while it is being read. For run.c and its neighbours run_*.c only. */
#ifndef ORR_IO_CONFIG_RUN_RUN_DRAFT_H
#define ORR_IO_CONFIG_RUN_RUN_DRAFT_H

#include "io/config/run/condition.h"
#include "io/config/run/run_file.h"
#include "io/config/spacecraft/draft.h"

struct orr_run_draft {
  struct orr_config *config;
  struct orr_draft *draft;
  struct orr_reader *reader;
  struct orr_run *run;
  struct orr_names names; /* of devices, also of wrong ones */
  struct orr_device_desc *devices;
  size_t device_count, device_room;
  struct orr_run_expect *promises; /* [promise_count] what steps of the sequence judge */
  size_t promise_count, promise_room;
  int64_t delayed;   /* numbers that delays of sensors and faults keep, up to ORR_RUN_MOST_DELAYED */
  bool blind;        /* the spacecraft is wrong: what refers to it is not judged, and no device is kept */
  bool ends_by_file; /* its duration stands in the file, and not on the command line */
  bool partial;      /* devices were wrong: channels that are not in the table are not reported */
};

/* [init] Reads one of the sections of devices, after the simulation (rates are judged against its step). */
void orr_run_read_devices(struct orr_run_draft *draft, enum orr_section section, enum orr_device_role role);

/* [init] Room for one more device. */
struct orr_device_desc *orr_run_new_device(struct orr_run_draft *draft);

/* [init] What devices must not do to each other: two drives on one hinge, more propellant than there is mass. */
void orr_run_check_devices(struct orr_run_draft *draft);

/* [init] Whether what a device feeds from is there, and a tank's bodies are what it needs (run_tanks.c). */
void orr_run_check_tank(struct orr_run_draft *draft, const struct orr_device_desc *device);

/* [init] The section `environment`, after the simulation. */
void orr_run_read_environment(struct orr_run_draft *draft);

/* [init] The section `pointing`, after the environment: targets of the plant's own, and devices of the world. */
void orr_run_read_pointings(struct orr_run_draft *draft);
void orr_run_judge_starts(struct orr_run_draft *draft);

/* [init] Adds the devices that stand for the environment, in front of all others, which are complete. */
void orr_run_add_world(struct orr_run_draft *draft);

/* [init] Whether a value of a thing was given on the command line. */
bool orr_run_is_set(struct orr_run_draft *draft, const struct orr_thing *thing, const char *key);

/* [init] A whole number of frames, or a time that is one of `frame_ns` (0: not known, and not judged); false after
 * reporting. The shape of such a key. */
bool orr_run_read_frames(struct orr_run_draft *draft, struct orr_place place, const char *key, int64_t frame_ns,
                         const struct orr_range *range, int *out);
extern const struct orr_shape orr_shape_frames;

/* [init] Frames between samples for a rate in Hz of a run with a step; 0 after reporting that it does not divide. */
int orr_run_divisor(struct orr_run_draft *draft, struct orr_place place, double rate_hz);

/* [init] The section `realtime`, after the simulation (times are judged against its step). */
void orr_run_read_realtime(struct orr_run_draft *draft);

/* [init] Scripted commands; the channel table is complete. */
void orr_run_read_script(struct orr_run_draft *draft);

/* [init] Links to flight software; the channel table is complete. */
void orr_run_read_links(struct orr_run_draft *draft);

/* The keys of a link that only UDP has, as they are written. */
struct orr_run_udp_keys {
  const char *listen, *peer, *key_file, *connect;
  int64_t mtu;
  struct orr_place allow, message_ids;
};

/* [init] Checks them; false after reporting. */
bool orr_run_read_udp(struct orr_run_draft *draft, const struct orr_thing *link, const struct orr_run_udp_keys *keys,
                      struct orr_run_link *out);

/* [init] `layout` of a link, whose lists of channels are complete: link->layout. False after reporting. */
bool orr_run_read_layout(struct orr_run_draft *draft, struct orr_place place, struct orr_run_link *link);
/* The keys of a link that only cables have: serial ports, streams, Unix sockets. */
struct orr_run_cable_keys {
  const char *device, *path;
  int64_t baud, data_bits, stop_bits;
  int parity, rs485, low_latency, socket;
};

/* [init] Checks them; false after reporting. */
bool orr_run_read_cable(struct orr_run_draft *draft, const struct orr_thing *link,
                        const struct orr_run_cable_keys *keys, struct orr_run_link *out);
/* [init] `framing`, where it stands, after orr_run_read_cable: how packets stand in what carries them, and what they
 * are. False after reporting. */
bool orr_run_read_framing(struct orr_run_draft *draft, const struct orr_thing *link, struct orr_place framing,
                          struct orr_run_link *out);
/* [init] Notes the form of packets of this name (io/links/forms/form.h); false when there is none. */
bool orr_run_read_form(const char *word, struct orr_run_link *out);
/* [init] Whether that form finds its packets in a bare stream. */
bool orr_run_form_finds_packets(const struct orr_run_link *link);

/* [init] What goes with that form, once the link is read: byte order, key, and a payload in one message; false after
 * reporting. */
bool orr_run_judge_form(struct orr_run_draft *draft, const struct orr_thing *link, bool has_endian,
                        struct orr_place telemetry, struct orr_place commands, const struct orr_run_link *out);

/* [init] What the commands of a link do to the attitude, for the controller that is linked in; false after reporting
 * that it cannot fly with them. */
bool orr_run_find_effects(struct orr_run_draft *draft, struct orr_place key, int rate, struct orr_run_link *link);

/* The keys of a link that only a replay of a capture has. */
struct orr_run_pcap_keys {
  const char *file;
  int64_t port, begin;
};

/* [init] Checks them, and reads the capture; false after reporting. */
bool orr_run_read_pcap(struct orr_run_draft *draft, const struct orr_thing *link, const struct orr_run_pcap_keys *keys,
                       struct orr_run_link *out);

/* The keys of a link that only CAN has. */
struct orr_run_can_keys {
  const char *interface, *dbc, *answers;
  int fd;
  struct orr_place signals;
};

/* [init] Checks them; false after reporting. */
bool orr_run_read_can(struct orr_run_draft *draft, const struct orr_thing *link, const struct orr_run_can_keys *keys,
                      struct orr_run_link *out);
/* [init] `dbc` of a link, whose lists of channels are complete: link->layout. False after reporting. */
bool orr_run_read_dbc(struct orr_run_draft *draft, const struct orr_thing *link, const struct orr_run_can_keys *keys,
                      struct orr_run_link *out);
/* [init] Whether two links of one bus send apart, and take apart what comes; false after reporting. */
bool orr_run_judge_bus(struct orr_run_draft *draft, const struct orr_thing *thing, const struct orr_run_link *link,
                       const struct orr_run_link *other);

/* [init] What a log holds; the channel table is complete. */
void orr_run_read_record(struct orr_run_draft *draft);

/* [init] A fault of the line of a link, whose trouble, way and rate are read: whether that line can have it, and the
 * part of the frames that it hits. `name` is its key, which stands at `place`. False after reporting. */
bool orr_run_judge_line_fault(struct orr_run_draft *draft, struct orr_place place, const char *name,
                              struct orr_run_fault *fault);

/* [init] Faults; the channel table and the links are complete. */
void orr_run_read_faults(struct orr_run_draft *draft);

/* [init] The sequence; the faults are complete. */
void orr_run_read_sequence(struct orr_run_draft *draft);

/* [init] Counts numbers that a delay keeps, `frames` times `width` of them; false where all delays of the file keep too
 * many, which is reported once. */
enum { ORR_RUN_MOST_DELAYED = 8000000 };
bool orr_run_count_delayed(struct orr_run_draft *draft, orr_source source, int64_t frames, int64_t width);

/* [init] Doubts commands that nothing bounds; devices, links, faults and the sequence are complete and right. */
void orr_run_doubt_limits(struct orr_run_draft *draft);

/* [init] Expectations; the sequence is complete, and the channel table is complete. */
void orr_run_read_expect(struct orr_run_draft *draft);

/* [init] Refuses expectations of forces in loops that nothing determines; everything has been read and is right. */
void orr_run_judge_loop_forces(struct orr_run_draft *draft);
/* [init] A condition; NULL after reporting, or where what it names is not known. The channel table is complete. */
const struct orr_condition *orr_run_read_condition(struct orr_run_draft *draft, struct orr_place place,
                                                   const char *name);

/* [init] Reports a pattern that fits no channel of a direction (−1: of either), with the nearest or the list. */
void orr_run_no_channel(struct orr_run_draft *draft, struct orr_place place, const char *pattern, int direction);

/* [init] The channel, or one number of it, that a text names; -1 after reporting. */
int orr_run_find_channel(struct orr_run_draft *draft, struct orr_place place, const char *name, int *element);

#endif
