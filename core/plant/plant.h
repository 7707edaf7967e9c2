/* The plant: a compiled spacecraft with its devices, stepped frame by frame.
 *
 *   commands in the block → orr_plant_advance (actuators, integrate) → orr_plant_sense (sensors of the next frame)
 *   → outputs
 *
 * Call order: orr_model_init, orr_workspace_init → orr_plant_size → a block → orr_plant_init [init]; orr_plant_ask for
 * the truth that somebody reads; orr_plant_reset; then per frame, [rt]: write commands into values[],
 * orr_plant_advance, orr_plant_sense. One thread at a time. Nothing allocates after init. The same commands in the same
 * frames give the same bits, whichever channels are asked for.
 *
 * Pulse commands are set to zero by orr_plant_advance once they have been applied; levels stay.
 */
#ifndef ORR_CORE_PLANT_PLANT_H
#define ORR_CORE_PLANT_PLANT_H

#include "core/loops/loop.h"
#include "core/plant/bounds.h"
#include "core/plant/device.h"
#include "core/plant/events.h"
#include "core/plant/motions.h"

/* One moment of a target attitude; between two the target turns along the shortest way at a constant rate. */
struct orr_target {
  int64_t at_ns;
  double attitude[4]; /* unit */
};

/* `pointing`: the error of a node's attitude against a target in time. */
struct orr_pointing_desc {
  int body, node;
  size_t target_count; /* ≥ 1, in order of time */
  const struct orr_target *targets;
};

struct orr_world_desc; /* core/plant/world.h */

struct orr_plant_desc {
  const struct orr_description *spacecraft; /* with the rotors of orr_plant_rotors */
  size_t device_count;
  const struct orr_device_desc *devices;
  size_t pointing_count;
  const struct orr_pointing_desc *pointings;
  int64_t step_ns;
  int substeps;
  enum orr_integrator integrator;
  uint64_t seed;
  const struct orr_world_desc *world; /* whose devices are among these; NULL: none. Not the plant's to make */
  const double *q, *u;                /* the initial state [q_count], [u_count]; kept by the caller */
};

/* A truth channel: what of which body, node or loop, or of all. */
struct orr_truth {
  int channel; /* index in the table */
  int body;    /* file order; −1: of a loop, or of the whole spacecraft */
  int node;    /* of the model, or −1 */
  int loop;    /* file order, or −1 */
  int what;    /* of truth.c */
};

/* One device's samples on their way out. */
struct orr_sample_queue {
  int room;
  int64_t *due;    /* [room + 2] the frame at which a sample comes out; then the first one's index, and how many wait */
  double *samples; /* [room + 1][output_count]; the last one is what stands in the block */
};

struct orr_plant {
  struct orr_drive drive; /* first: the integration calls back with it */
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_integration *integration;
  const struct orr_description *spacecraft;
  struct orr_channel_table table;
  double *values; /* [table.value_count] the frame's block */
  /* As the run file says. */
  struct orr_device *devices;
  struct orr_sample_queue *queues; /* [device_count] */
  struct orr_truth *truths;
  const struct orr_pointing_desc *pointings;
  int *pointing_channel; /* [pointing_count] of the target; the error is the next */
  int *body_command;     /* [body_count] index in values of `<body>.acceleration`, or −1 */
  bool *burns;           /* [body_count] some device uses propellant of it */
  bool has_tanks;
  int device_count, truth_count, pointing_count;
  int *asked;         /* [truth_count] truths that somebody reads: the first asked_count; loads of nodes: the last */
  int *pulse;         /* [pulse_count] places in values of pulse commands */
  int *accelerometer; /* [accelerometer_count] devices that need accelerations */
  int asked_count, asked_loads, pulse_count, accelerometer_count;
  bool asked_acceleration; /* some truth that is asked for needs accelerations */
  int64_t step_ns;
  int substeps;
  const double *q0, *u0; /* initial state */
  struct orr_acting acting;
  struct orr_jam *jams; /* [jam_count] hinges that can jam (core/plant/fault.h) */
  int jam_count;
  struct orr_motions motions;  /* of hinges and loops; who joins loops to the plant does so here, too */
  struct orr_events events;    /* stops, located in the step; what is counted is no state */
  struct orr_limited *limited; /* [device_count] what actuators could not give: counted, not state */
  struct orr_bounds bounds;    /* where mode shapes are not right any more: counted, not state */
  int failed_body;             /* file order, after a step that failed; −1 where unknown */
  /* The state beside the integration's; devices' states and queues point into the same piece. */
  char *state;
  size_t state_bytes, hashed_bytes; /* the remembered signs of quaternions stand behind hashed_bytes */
  int64_t *frame;
  double *shafts;     /* [gears with backlash] angles of their shafts: rotor over ratio, from the hinge's first place */
  double *taken;      /* [device_count] kg of propellant used */
  double *truth_sign; /* [truth_count][4] the last quaternion of each attitude channel */
  double *target_sign; /* [pointing_count][4] */
};

/* [init] Rotors that the devices carry, in the order of devices: fills `rotors` (NULL: only counts) and returns their
 * number. The bodies are those of the spacecraft, file order. */
size_t orr_plant_rotors(const struct orr_body_desc *bodies, const struct orr_device_desc *devices, size_t count,
                        struct orr_rotor_desc *rotors);

/* What a frame costs, in evaluations of the equations of motion. */
struct orr_frame_cost {
  int plain;        /* a frame in which no stop is touched or left */
  int worst;        /* the worst one, sensors included; with loops, where no singular posture is near */
  int sensors;      /* of these for sensors of accelerations and loads: 1 or 0 */
  int stops;        /* contacts that are located in the step */
  bool not_located; /* there are stops, and the rule does not locate them */
};

/* [any] O(devices). */
struct orr_frame_cost orr_plant_frame_cost(const struct orr_plant_desc *desc);

/* [init] Declares all channels that a plant of this description has, in the same order. Steps, seed and state play no
 * part. */
void orr_plant_declare(const struct orr_plant_desc *desc, struct orr_channel_table *table);

/* [any] For the reference: the channels of bodies and nodes, index from 0 until NULL; `of` is "BODY" and so on. A
 * count of 0 and a unit of NULL stand for what follows from the hinge. */
const struct orr_channel *orr_plant_channel(size_t index, const char **of);

/* [init] Bytes. O(channels). */
size_t orr_plant_size(const struct orr_model *model, const struct orr_plant_desc *desc);

/* [init] Lays the plant out; the description, its devices' parameters and targets must live as long as the plant. NULL
 * if the block is too small. The plant is not yet reset. */
struct orr_plant *orr_plant_init(void *block, size_t bytes, const struct orr_model *model, struct orr_workspace *ws,
                                 const struct orr_plant_desc *desc);

/* [init] Someone reads this channel from now on. Devices' outputs are always there; truth is computed only where
 * asked. */
void orr_plant_ask(struct orr_plant *plant, int channel);

/* [init] Frame 0: initial state, commands zero, sensors sampled. A failure is one of the solver's at the initial
 * state. */
enum orr_status orr_plant_reset(struct orr_plant *plant);

/* [rt] Commands of the block → the state one frame on. O(substeps · evaluations · (N + Σn²)). On failure the state
 * stands where the failing sub-step began and failed_body tells the body. */
enum orr_status orr_plant_advance(struct orr_plant *plant);

/* [rt] Sensors, telemetry and asked truth of the new frame into the block. At most one more forward-dynamics
 * evaluation. */
enum orr_status orr_plant_sense(struct orr_plant *plant);

/* [any] The frame whose sensors stand in the block, and its time. */
int64_t orr_plant_frame(const struct orr_plant *plant);
int64_t orr_plant_time_ns(const struct orr_plant *plant);

/* [any] FNV-1a over the words of the state: coordinates, speeds, rotors, devices, propellant, commands held. What is
 * asked for plays no part. O(state). */
uint64_t orr_plant_hash(const struct orr_plant *plant);

/* [init] The words of the whole state, and setting them: a plant made of the same description goes on from there with
 * the same bits. What is counted begins anew there. */
size_t orr_plant_state_words(const struct orr_plant *plant);
void orr_plant_state_get(const struct orr_plant *plant, uint64_t *words);
enum orr_status orr_plant_state_put(struct orr_plant *plant, const uint64_t *words);

/* [init] Whether words from outside can be the state of this plant at that frame: whatever else they are, setting them
 * and flying on then touches no memory but the plant's. O(state). */
bool orr_plant_state_is_sound(const struct orr_plant *plant, const uint64_t *words, int64_t frame);

/* [init] What two plants must share to exchange states: layout of the state, channels. */
uint64_t orr_plant_layout_hash(const struct orr_plant *plant);

/* [rt] What the integration calls at each evaluation: commands to driven hinges, and every device in turn. Of plant.c,
 * for plant_layout.c. */
void orr_plant_act(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                   double *force, double *given);

/* ---- truth.c ----------------------------------------------------------------------------------------------------- */

/* [any] The channels of truth, as orr_plant_channel. */
const struct orr_channel *orr_truth_channel(size_t index, const char **of);

/* [init] Declares the truth of every body, node and loop, and of the whole; fills `truths` unless NULL, with nodes
 * counted in their body; returns their number. */
int orr_truth_declare(const struct orr_description *spacecraft, struct orr_channel_table *table,
                      struct orr_truth *truths);

/* [any] `loops.NAME`, with which the channels of a loop begin. */
enum { ORR_TRUTH_ENTITY = 2048 };
const char *orr_truth_loop_entity(const struct orr_description *spacecraft, int loop, char out[ORR_TRUTH_ENTITY]);

/* [any] How many moments and forces the channels of a loop have. */
struct orr_loop_numbers orr_truth_loop_numbers(const struct orr_description *spacecraft, int loop);

/* [any] Whether it is the load of a node, which orr_truth_fill does not know. */
bool orr_truth_is_node_load(const struct orr_truth *truth);

/* [rt] That load (plant_load.c): the moment and the force on the body of all that is attached to the node, about the
 * node, in its axes. After orr_integration_observe; what devices push is lost, until the next evaluation brings it
 * anew. O(bodies + loops + devices · bodies). */
void orr_plant_node_load(struct orr_plant *plant, const struct orr_truth *truth, double out[6]);

/* [any] Whether the channel needs accelerations. */
bool orr_truth_needs_acceleration(const struct orr_truth *truth);

/* [rt] Fills one channel's numbers. `last` [4] is the sign memory of attitudes; `closed` may be NULL where there are no
 * loops. After orr_poses_update (and orr_forward). O(n); energies and momenta O(N + Σn²). */
void orr_truth_fill(const struct orr_model *model, struct orr_workspace *ws, const struct orr_closed *closed,
                    const struct orr_truth *truth, double *last, double *out);

#endif
