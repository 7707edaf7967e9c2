/* Reads the sections of a run file (conventions, "The run file") beside its spacecraft: devices, pointing, simulation,
 * scripted commands, links to flight software, what a run in real time asks of the machine, and what is expected of the
 * run.
 *
 * orr_run_load → use it while the diagnostics live. [init]; one thread at a time.
 * A section, kind or transport that is not built yet is an error that says so.
 */
#ifndef ORR_IO_CONFIG_RUN_RUN_FILE_H
#define ORR_IO_CONFIG_RUN_RUN_FILE_H

#include "core/plant/plant.h"
#include "core/plant/world.h"
#include "io/config/run/condition.h"
#include "io/config/run/run_layout.h"
#include "io/config/spacecraft/case.h"
#include "io/wire/framing.h"
#include "io/wire/serial_port.h"
#include "rt/executive.h"

/* A scripted command: from `at_ns` on. The entry that began last sets its channel. */
enum orr_script_form { ORR_SCRIPT_STEP, ORR_SCRIPT_RAMP, ORR_SCRIPT_SINE, ORR_SCRIPT_TABLE };

struct orr_script_entry {
  enum orr_script_form form;
  int channel, element;     /* element -1: all numbers of the channel */
  int64_t at_ns, until_ns;  /* until another entry takes the channel over */
  const double *values;     /* step: [count of the channel, or 1] */
  double from, to;          /* ramp */
  int64_t over_ns;          /* ramp: its length; the end value stands after it */
  double amplitude, offset; /* sine: offset + amplitude sin(2π f (t − at) + phase) */
  double frequency_hz, phase_rad;
  size_t row_count; /* table */
  const int64_t *row_ns;
  const double *row_values; /* linear between rows, the last one stands */
};

enum orr_transport {
  ORR_TRANSPORT_LINKED,
  ORR_TRANSPORT_SHM,
  ORR_TRANSPORT_UDP,
  ORR_TRANSPORT_SERIAL,
  ORR_TRANSPORT_TCP,
  ORR_TRANSPORT_UNIX,
  ORR_TRANSPORT_CAN,
  ORR_TRANSPORT_PCAP,
};

/* IPv4. port 0: any. */
struct orr_run_address {
  uint32_t ip; /* host order */
  uint16_t port;
};

/* What a command does to the attitude, in the axes of the link's first sensor; NONE: the plain law leaves it alone. */
enum orr_run_effect_kind { ORR_EFFECT_NONE, ORR_EFFECT_WHEEL, ORR_EFFECT_THRUSTER };
struct orr_run_effect {
  enum orr_run_effect_kind kind;
  double
      torque[3]; /* wheel: its axis, the body feels the opposite; thruster: about the mass centre while it is on, N m */
  double force[3]; /* thruster: N */
  double limit;    /* wheel: its largest torque; 0: none */
};

/* A capture of a network: what was in the datagrams to one port (io/config/run/capture.h). */
struct orr_run_datagram {
  int64_t at_ns; /* after the first */
  const uint8_t *bytes;
  size_t count;
};

struct orr_run_capture {
  size_t count;
  const struct orr_run_datagram *datagrams;
  int64_t begin_ns; /* simulated time of the first */
  size_t cut;       /* datagrams to the port that are not all there */
  bool ends_early;  /* the file ends within a packet */
};

/* What a packet of a link is (io/links/forms/form.h). */
enum orr_packet_form { ORR_FORM_ORRERY, ORR_FORM_CFE };

/* A link: what goes out to flight software at frames kd, and what it commands for frame (k+1)d (both
 * later by its phase).
 *
 * A controller inside the program (a stand-in) answers a link of transport `linked`, and in a batch run any link. The
 * link names it or gives its gains. A link without a stand-in cannot fly in batch. */
struct orr_run_link {
  const char *name;
  enum orr_transport transport;
  const char *name_shm; /* shm: of the segment, with the leading slash */
  int divisor, phase;   /* it is due in frames k·divisor + phase */
  int64_t period_ns;    /* between two of them */
  int telemetry_count, command_count;
  const int *telemetry, *commands;      /* channels, in the order of the file's patterns */
  const char *stand_in_name;            /* of the controller inside; NULL: the plain law, with these gains */
  const struct orr_run_effect *effects; /* [command_count] for the plain law; NULL: it does not fly */
  const int *flown; /* [flown_count] the commands that the controller inside gives; others stay as they are */
  int flown_count;
  int law[3];                      /* the plain law: numbers of telemetry where rate, attitude and target begin */
  bool wheels_span;                /* its wheels span the three axes */
  bool thrusters_reach;            /* its thrusters turn both ways about each axis */
  bool stand_in;                   /* a name or gains are there */
  double stiffness[3], damping[3]; /* N m/rad, N m s/rad: about the axes of the sensors */
  int64_t wait_ns;                 /* for a peer, before frame 0 */
  bool asap;                       /* real time: a command is applied at the first frame after it came */
  int silence_frames;              /* of the link, without a command, until the policy applies; 0: never */
  int silence_policy;              /* hold, zero, stop */
  int64_t answer_ns;               /* lockstep: how long an answer is waited for */
  struct orr_run_address listen;   /* udp: where commands are expected */
  struct orr_run_address peer;     /* udp: where telemetry goes; port 0: to whoever sent the last good packet */
  const uint32_t *allow;           /* udp: [allow_count] addresses that may send */
  int allow_count;
  struct orr_run_address connect; /* tcp: where we connect to; port 0: others connect to `listen` */
  const char *device;             /* serial */
  struct orr_serial serial;
  const char *path;                    /* unix: of the socket, */
  bool stream;                         /* which is one of a stream, not of messages */
  enum orr_framing framing;            /* how packets stand in what carries them */
  enum orr_packet_form form;           /* what a packet is, */
  bool big_endian;                     /* cfe: and in which order the bytes of a number stand */
  uint16_t telemetry_id, command_id;   /* udp: message ids of the first packet of a frame, of a command */
  uint32_t packet_max;                 /* udp: bytes of the longest packet, without a seal */
  const char *key_file;                /* udp: every packet has a seal of this key; NULL: none has */
  const struct orr_run_layout *layout; /* packets that somebody else defined; NULL: Orrery's own */
  const char *capture_name;            /* pcap */
  const struct orr_run_capture *capture;
  const char *interface; /* can */
  bool can_fd;           /* can: frames of CAN FD go out */
  bool answer_stop;      /* lockstep: without one the run stops, else it goes on with what is held */
};

/* [any] Whether a frame is one of the link's, and the newest one of the link before a frame; −1: there is none. O(1).
 * */
bool orr_run_link_due(const struct orr_run_link *link, int64_t frame);
int64_t orr_run_link_before(const struct orr_run_link *link, int64_t frame);

/* [any] The commands that come by the link: all, or where the controller inside answers those that it gives. O(1). */
struct orr_run_given {
  const int *channels;
  int count;
};
struct orr_run_given orr_run_link_given(const struct orr_run_link *link, bool inside);

/* [any] What these channels take in a payload (io/wire/wire.h). O(channels). */
struct orr_run_payload {
  int numbers;
  size_t bytes;
};
struct orr_run_payload orr_run_payload(const struct orr_channel_table *table, const int *channels, int count);

/* [any] The signal of a number of a channel in a CAN database, where the run file names no other: gyro_rate_x. */
void orr_run_signal_name(const struct orr_channel *channel, int element, char *text, size_t size);

/* `realtime`: how the executive keeps time. */
struct orr_run_realtime {
  int core;                  /* or ORR_CORE_AUTO, ORR_CORE_ANY */
  int priority;              /* SCHED_FIFO; 0: none */
  int64_t spin_ns, phase_ns; /* or ORR_AUTO_NS */
  enum orr_overrun_policy policy;
  uint32_t limit; /* frames in a row that catch_up runs at once */
  bool strict;    /* what the machine cannot give ends the start */
};

/* What can be expected of a run beside its channels. */
enum orr_measure {
  ORR_MEASURE_OVERRUNS_OWN,     /* frames late by our own computing or page faults */
  ORR_MEASURE_OVERRUNS_MACHINE, /* by the machine */
  ORR_MEASURE_OVERRUNS_ALL,     /* those that followed from an earlier one included */
  ORR_MEASURE_LINKS_LATE,       /* commands applied late, of all links */
  ORR_MEASURE_LINKS_MISSED,     /* boundaries without a command */
  ORR_MEASURE_LINKS_REFUSED,
  ORR_MEASURE_LINKS_TIMEOUTS,
  ORR_MEASURE_LATENCY, /* a percentile of a histogram of the executive */
};

enum orr_expect_form { ORR_EXPECT_BELOW, ORR_EXPECT_ABOVE, ORR_EXPECT_BETWEEN, ORR_EXPECT_IS, ORR_EXPECT_OF_PEAK };

/* What is computed from a channel over time, or from a condition, and compared with a bound. */
enum orr_probe_kind {
  ORR_PROBE_RMS,
  ORR_PROBE_INTEGRAL,
  ORR_PROBE_OVERSHOOT,
  ORR_PROBE_SETTLING_TIME,
  ORR_PROBE_CROSSINGS,
  ORR_PROBE_ALWAYS,
  ORR_PROBE_EVENTUALLY,
  ORR_PROBE_STEP /* what a step of the sequence judges when it comes to it */
};

struct orr_run_probe {
  enum orr_probe_kind kind;
  int channel, first, count;             /* the block's numbers; −1, 0, 0: a condition */
  double to, tolerance;                  /* SI; of crossings `to` is the level */
  const struct orr_condition *condition; /* always, eventually; or NULL */
};

/* One line of `expect`: a bound on each number of a channel over a span of time, or on a measure of the whole run. */
struct orr_run_expect {
  int channel, element; /* −1: a measure, or a probe; −1: all numbers of the channel */
  enum orr_measure measure;
  const char *histogram; /* latency: "wake-up", "start", or a stage */
  double fraction;       /* latency: 0…1, 1 the maximum */
  enum orr_expect_form form;
  double low, high; /* SI; of_peak: `high` is the part of the largest magnitude before `after_ns` that may be left */
  int64_t after_ns, until_ns;         /* both ends count */
  const char *subject, *bound, *unit; /* as the file has them, and the unit inside */
  const char *told;                   /* the bound with its unit, where the file has a bare number */
  const char *shown_unit;             /* that of the bound in the file */
  double shown_unit_si;               /* one of it */
  orr_source source;                  /* of the subject */
  const char *name, *requirement;     /* or NULL */
  const struct orr_run_probe *probe;  /* NULL: the bound is on the channel itself, or on a measure */
};

/* What is broken. */
enum orr_fault_target {
  ORR_FAULT_NUMBERS, /* numbers of the frame's block: of a channel, or all outputs of a device */
  ORR_FAULT_DEVICE,  /* a device, by a fault of its kind */
  ORR_FAULT_HINGE,   /* a hinge jams */
  ORR_FAULT_LINK,    /* answers on a link are lost */
};

/* What becomes of a number x. Of a whole attitude q, turned about the axes of its node: q ∘ exp(v) for v the vector of
 * values, of values (t − when it began), or of values n; and the turn of q times value. */
enum orr_fault_form {
  ORR_FAULT_BIAS,     /* x + value */
  ORR_FAULT_DRIFT,    /* x + value (t − when it began) */
  ORR_FAULT_SCALE,    /* x value */
  ORR_FAULT_NOISE,    /* x + value n, n standard normal, new for each sample */
  ORR_FAULT_FREEZE,   /* what stood in the frame before it began */
  ORR_FAULT_STUCK_AT, /* value */
  ORR_FAULT_BIT_FLIP, /* x with a bit turned over, in a part of the samples */
  ORR_FAULT_DELAY,    /* x of so many frames before */
  ORR_FAULT_DROP,     /* the sample before it; a part of the samples is lost */
  ORR_FAULT_FORMS
};
extern const char *const orr_fault_form_names[ORR_FAULT_FORMS + 1]; /* as files write them; ends with NULL */

/* What a fault of a link does to what goes by it in a frame. */
enum orr_link_trouble {
  ORR_LINK_WORKS,
  ORR_LINK_LOSES,
  ORR_LINK_CORRUPTS, /* it comes damaged, is found so, and is thrown away */
  ORR_LINK_REORDERS, /* it comes behind the next one */
  ORR_LINK_COPIES,   /* it comes twice */
  /* of lines that carry bytes: what is hit is found damaged and thrown away, as by CORRUPTS */
  ORR_LINK_BIT_ERRORS,
  ORR_LINK_LOSES_BYTES,
  ORR_LINK_DOUBLES_BYTES,
  ORR_LINK_STUCK,     /* the line stands at one level: nothing comes */
  ORR_LINK_BABBLES,   /* another node talks into what is sent */
  ORR_LINK_UNPLUGGED, /* of any link outside: nothing comes either way, and a connection is gone */
};

/* One line of `faults`. */
struct orr_run_fault {
  const char *name; /* no other fault has it */
  const char *what; /* in words: "gyro.rate: bias 0.1 deg/s" */
  enum orr_fault_target target;
  /* numbers */
  int channel, first, count; /* the first one; the block's numbers */
  enum orr_fault_form form;
  const double *values; /* [count] SI, of the forms that have one; where it turns an attitude [3], or one number */
  bool turns;           /* a whole attitude, by bias, drift, scale or noise */
  double chance;        /* bit_flip, drop: of a sample; of a link: of an answer */
  int bit;              /* bit_flip: 0 the lowest; −1: any */
  int delay_frames;
  int divisor, phase; /* a sample is new at frames phase + k divisor */
  /* comes and goes */
  int64_t every_ns; /* 0: it is always there */
  double part;      /* of those spans in which it is there */
  /* device */
  int device; /* of the plant; −1 */
  const struct orr_device_fault *fault;
  double number;
  /* hinge */
  int body;        /* file order; −1 */
  int64_t over_ns; /* it comes to rest within */
  /* link; `chance` is of a command, or a frame out */
  int link; /* of the run; −1 */
  enum orr_link_trouble trouble;
  bool of_telemetry; /* of what goes out; else of the commands that come, */
  bool both_ways;    /* or of both */
  double rate;       /* bit errors: of a bit; bytes lost or doubled: of a byte. Stuck: 0 or 1, the level */
  /* when */
  int64_t at_ns;                    /* −1: not by the time */
  const struct orr_condition *when; /* NULL: not by a condition */
  int64_t for_ns;                   /* INT64_MAX: until it is cleared */
  uint64_t key;                     /* of its random numbers */
};

/* A sequence, compiled: steps one after the other, with jumps. */
enum orr_step_sort {
  ORR_STEP_WAIT,   /* for span_ns */
  ORR_STEP_UNTIL,  /* the condition holds; or for span_ns, and then `otherwise` */
  ORR_STEP_SET,    /* commands */
  ORR_STEP_RAMP,   /* a command to values[0] within span_ns */
  ORR_STEP_FAULT,  /* begins */
  ORR_STEP_CLEAR,  /* a fault ends; −1: all */
  ORR_STEP_EXPECT, /* the condition holds now */
  ORR_STEP_MARK,
  ORR_STEP_REPEAT, /* the steps up to its ORR_STEP_AGAIN so many times */
  ORR_STEP_AGAIN,  /* jumps to `target` while `counter` counts down */
  ORR_STEP_UNLESS, /* jumps to `target` unless the condition holds now */
  ORR_STEP_JUMP,
  ORR_STEP_END,
};

enum orr_step_otherwise { ORR_OTHERWISE_FAIL, ORR_OTHERWISE_GO_ON, ORR_OTHERWISE_END };

struct orr_run_step {
  enum orr_step_sort sort;
  const char *name; /* "3 until": its number in the file, and what it is */
  const char *text; /* the rest of it, as the file has it */
  int64_t span_ns;  /* INT64_MAX: no time-out */
  const struct orr_condition *condition;
  int memory; /* words of its condition in the state, from here on */
  enum orr_step_otherwise otherwise;
  int first, count; /* numbers of the block that are set */
  const double *values;
  int fault;  /* −1: none, or all */
  int expect; /* number among those of the sequence; −1: none */
  int target, counter;
  int64_t times;
};

struct orr_run_sequence {
  int count;
  const struct orr_run_step *steps; /* [count]; the last one is the end */
  int counters, words;              /* of repeats; of conditions */
  int first_expect;                 /* what its steps judge stands from here on in the run's expectations */
};

/* `record`: what a log of the run holds. */
struct orr_run_record {
  const bool *chosen;        /* [table.count] channels; NULL: those that are computed anyway */
  int every;                 /* frames between messages of devices and bodies; 0: whenever they have something new */
  int64_t checkpoint_frames; /* between two checkpoints */
  uint64_t limit;            /* bytes of the file */
  bool zstd;                 /* its chunks are made smaller */
};

struct orr_run {
  struct orr_config *config;
  struct orr_description spacecraft;  /* with the rotors of the devices */
  struct orr_plant_desc plant;        /* but for the initial state, which needs the compiled model */
  const struct orr_world_desc *world; /* the environment, where it has an epoch; or NULL */
  const struct orr_case_body *initial;
  struct orr_channel_table table; /* the channels that the plant will have */
  orr_source step_source;         /* of `step`, for what is found out about it later */
  int64_t duration_ns;            /* 0: until stopped */
  size_t script_count;
  const struct orr_script_entry *script;
  size_t link_count;
  const struct orr_run_link *links;
  struct orr_run_realtime realtime;
  struct orr_run_record record;
  struct orr_replaced replaced; /* expectations in whose place the first ones of these stand */
  size_t expect_count;
  const struct orr_run_expect *expects;
  size_t fault_count;
  const struct orr_run_fault *faults;
  struct orr_run_sequence sequence; /* count 0: none */
};

/* [init] Reads a run file with its spacecraft. NULL when anything is wrong: every mistake is then among the
 * diagnostics; one in the spacecraft hides only what refers to it. Options may be NULL. Cost as orr_config_load. */
const struct orr_run *orr_run_load(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics);

/* [init] The same for a file that may be a model alone: *run is then NULL. */
struct orr_config *orr_run_check(const char *path, const struct orr_config_options *options,
                                 struct orr_diagnostics *diagnostics, const struct orr_run **run);

/* [init] Which moments and forces of each loop, in the order of the conventions, redundant equations leave undetermined
 * in this run: out [loop_count]. False, with none, where the loops do not close at the initial state. O(building the
 * plant). */
bool orr_run_undetermined(const struct orr_run *run, bool (*out)[ORR_LOOP_MAX_ROWS]);

/* [any] The same for one channel: a bit for each of its numbers; 0 for channels that are not of loops. */
unsigned orr_run_undetermined_of(const struct orr_run *run, bool (*undetermined)[ORR_LOOP_MAX_ROWS], int channel);

/* [init] What can be said of a file of expectations before any run is known: that it is one, and that each entry has
 * the keys of one. False after reporting. O(text). */
bool orr_run_check_rules(const struct orr_text_file *file, struct orr_diagnostics *diagnostics);

/* [init] Reads the sections of a file that orr_config_load accepted; as orr_run_load. O(text). */
const struct orr_run *orr_run_read(struct orr_config *config);

#endif
