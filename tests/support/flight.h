/* A run file written in a test, flown frame by frame. */
#ifndef ORR_TESTS_SUPPORT_FLIGHT_H
#define ORR_TESTS_SUPPORT_FLIGHT_H

#include "io/session/session.h"

/* A craft for runs that are about something else, up to their links: one body that turns about z, a wheel there, a
 * thruster and a gyro; 100 frames a second. */
#define ORR_FLIGHT_CRAFT                                                                                               \
  "orrery: 1\n"                                                                                                        \
  "spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial},\n"            \
  "  nodes: {n: {at: [0, 0, 0]}}}}}\n"                                                                                 \
  "actuators:\n"                                                                                                       \
  "  wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}\n"                    \
  "  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 1}\n"                                            \
  "sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz}}\n"                                                    \
  "simulation: {step: 10 ms, duration: 10 s, initial: {bus: {rate: [0, 0, 0.1]}}}\n"

struct orr_flight {
  struct orr_diagnostics *diagnostics;
  const struct orr_run *run;
  struct orr_session *session;
  struct orr_plant *plant;
};

/* Reads the text, which must be right, asks for the truth channels that fit `watch` (NULL: none) and stands at frame 0.
 * Ends the program with the messages when something is wrong. */
struct orr_flight orr_flight_make(const char *text, const char *watch);
/* The same of a text that has the file at `path` beside it, by a name. */
struct orr_flight orr_flight_beside(const char *text, const char *path, const char *name, const char *watch);
/* The same with the field of WMM2025, as wmm.cof. */
struct orr_flight orr_flight_in_field(const char *text, const char *watch);
void orr_flight_free(struct orr_flight *flight);

/* Reads a text that is wrong: the first error's text into `message`, its line into *line. Ends the program when nothing
 * is wrong. */
void orr_flight_refuse(const char *text, char *message, size_t size, size_t *line);

/* Frames; the solver must not fail. Flies on where a link says that the run is over. */
void orr_flight_run(struct orr_flight *flight, int frames);

/* A number of a channel by its name; it must be there. */
double orr_flight_value(const struct orr_flight *flight, const char *name);

/* The elements x, y, z of a channel; and those of a quaternion, with w, as a matrix. */
orr_vec3 orr_flight_vector(const struct orr_flight *flight, const char *name);
orr_mat3 orr_flight_turn(const struct orr_flight *flight, const char *name);

/* Gives a command; a level stays until the next, a pulse is for the next frame. */
void orr_flight_command(struct orr_flight *flight, const char *name, double value);

/* Total energy, and momentum [angular; linear], at the frame that stands. */
double orr_flight_energy(struct orr_flight *flight);
orr_spatial orr_flight_momentum(struct orr_flight *flight);

#endif
