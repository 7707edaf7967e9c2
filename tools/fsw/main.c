/* Sample flight software: attitude control at the other end of a link.
 *
 *   fsw [--key-file FILE] [URL [MISSION]]     shm:/orrery.fsw, or udp:HOST:PORT; the run may start before or after it
 *
 * MISSION `cubesat`, which is the default, is the plain law of attitude.h for configs/cubesat.yaml. The others
 * (missions.c) are the controller of flight.h with the data of that spacecraft.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "io/client/client.h"
#include "tools/fsw/attitude.h"
#include "tools/fsw/flight.h"

enum { SILENCE_MS = 5000 };

static const double stiffness[3] = {0.004, 0.004, 0.0015}; /* N m/rad: the cubesat's */
static const double damping[3] = {0.02, 0.02, 0.006};      /* N m s/rad */

/* What is read and commanded, by its place in the link. */
struct signals {
  struct orr_signal gyro, star, valid, target, speed[ORR_FSW_WHEELS], torque[ORR_FSW_WHEELS], on_time[ORR_FSW_JETS];
};

static void get(const struct orr_client *link, struct orr_signal signal, double *out, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    out[i] = orr_client_get(link, signal, i);
}

static struct orr_signal numbered(struct orr_client *link, const char *device, int k, const char *quantity) {
  char name[48];
  snprintf(name, sizeof name, "%s_%d.%s", device, k, quantity);
  return orr_client_find(link, name);
}

/* False, with what is missing, when the link is not that of the mission. */
static bool find_signals(struct orr_client *link, const struct orr_mission *m, struct signals *s) {
  static const char axes[3] = {'x', 'y', 'z'};
  char target[48];
  snprintf(target, sizeof target, "%s.target", m ? m->pointed : "bus");
  s->gyro = orr_client_find(link, "gyro.rate");
  s->star = orr_client_find(link, "star.attitude");
  s->valid = orr_client_find(link, "star.valid");
  s->target = orr_client_find(link, target);
  bool good = s->gyro.count == 3 && s->star.count == 4 && s->target.count == 4 && (!m || s->valid.count == 1);
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    char name[24];
    snprintf(name, sizeof name, "wheel_%c.torque", axes[k]);
    s->torque[k] = m ? numbered(link, "wheel", k + 1, "torque") : orr_client_find(link, name);
    s->speed[k] = numbered(link, "wheel", k + 1, "speed");
    good &= s->torque[k].count == 1 && (!m || s->speed[k].count == 1);
  }
  for (int k = 0; k < ORR_FSW_JETS; k++) {
    s->on_time[k] = numbered(link, "jet", k + 1, "on_time");
    good &= !m || !(m->jet_period > 0) || s->on_time[k].count == 1;
  }
  if (!good)
    fprintf(stderr, "fsw: this link is not that of the mission '%s'\n", m ? m->name : "cubesat");
  return good;
}

static void answer_plainly(struct orr_client *link, const struct signals *s) {
  double rate[3], attitude[4], target[4], torque[3];
  get(link, s->gyro, rate, 3);
  get(link, s->star, attitude, 4);
  get(link, s->target, target, 4);
  orr_attitude_control(rate, attitude, target, stiffness, damping, torque);
  for (int k = 0; k < 3; k++)
    orr_client_set(link, s->torque[k], 0, torque[k]);
}

static void answer(struct orr_client *link, const struct signals *s, const struct orr_mission *m, struct orr_fsw *fsw) {
  struct orr_fsw_in in = {.time_ns = link->frame.time_ns};
  struct orr_fsw_out out;
  get(link, s->gyro, in.rate, 3);
  get(link, s->star, in.attitude, 4);
  get(link, s->valid, &in.valid, 1);
  get(link, s->target, in.target, 4);
  for (int k = 0; k < ORR_FSW_WHEELS; k++)
    get(link, s->speed[k], &in.wheel_speed[k], 1);
  orr_fsw_step(m, fsw, &in, &out);
  for (int k = 0; k < ORR_FSW_WHEELS; k++)
    orr_client_set(link, s->torque[k], 0, out.wheel_torque[k]);
  for (int k = 0; k < ORR_FSW_JETS; k++)
    orr_client_set(link, s->on_time[k], 0, out.on_time[k]);
}

/* As the executive computes: tiny numbers are zero, so that the same law linked into a run has the same bits. */
static void flush_denormals(void) {
#ifdef __SSE2__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static int fly(struct orr_client *link, const struct orr_mission *m) {
  struct signals signals;
  struct orr_fsw fsw = {0};
  bool told = false;
  int status;
  if (!find_signals(link, m, &signals))
    return 1;
  bool silent = false;
  while ((status = orr_client_wait(link, ORR_CLIENT_FUTEX, SILENCE_MS)) >= 0 || status == -EBUSY) {
    if (status <= 0) { /* it stays: by the gap in time the next frame finds it in its safe hold */
      if (!silent)
        fprintf(stderr, "fsw: %s; holding until a frame comes\n",
                status ? orr_client_why(status) : "no frame for five seconds");
      silent = true;
      continue;
    }
    silent = false;
    if (link->frame.flags & ORR_WIRE_OUT_RESTORED && !told)
      fprintf(stderr, "fsw: the run goes on from a saved state, at frame %llu\n",
              (unsigned long long)link->frame.number);
    told = true;
    if (m)
      answer(link, &signals, m, &fsw);
    else
      answer_plainly(link, &signals);
    orr_client_send(link);
  }
  if (status != -EPIPE)
    fprintf(stderr, "fsw: %s\n",
            status == -ECONNRESET ? "the run has died; waiting for another" : orr_client_why(status));
  return status;
}

static const char usage[] = "usage: fsw [--key-file FILE] [URL [MISSION]]\n";

static int help(void) {
  printf("%s\nFILE has the key of a link over UDP, the run file's key_file. URL is shm:/name (without one:\n"
         "shm:/orrery.fsw) or udp:HOST:PORT. MISSION is cubesat",
         usage);
  for (int i = 0; orr_mission_get(i); i++)
    printf(", %s", orr_mission_get(i)->name);
  printf(" (without one: cubesat).\nThe run may start before or after. Where Orrery is installed, this program is "
         "called orrery-fsw.\n\nExit status: 0 the run is over; 1 it went wrong; 2 the command line is wrong.\n");
  return 0;
}

int main(int argc, char **argv) {
  struct orr_client link;
  const char *key_file = NULL;
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
    return help();
  if (argc > 1 && strcmp(argv[1], "--key-file") == 0) {
    if (argc < 4)
      return fprintf(stderr, "fsw: --key-file takes a file, and is followed by udp:HOST:PORT\n"), 2;
    key_file = argv[2];
    argc -= 2;
    argv += 2;
  }
  if (argc > 1 && argv[1][0] == '-')
    return fprintf(stderr, "fsw: unknown option '%s'\n%s", argv[1], usage), 2;
  if (argc > 3)
    return fprintf(stderr, "fsw: a URL and a mission, not also '%s'\n%s", argv[3], usage), 2;
  const struct orr_mission *mission = argc > 2 ? orr_mission_find(argv[2]) : NULL;
  if (argc > 2 && !mission && strcmp(argv[2], "cubesat") != 0) {
    fprintf(stderr, "fsw: there is no mission '%s'; there are cubesat", argv[2]);
    for (int i = 0; orr_mission_get(i); i++)
      fprintf(stderr, ", %s", orr_mission_get(i)->name);
    fputc('\n', stderr);
    return 2;
  }
  flush_denormals();
  int status;
  do { /* a run that died may be started again, and with another layout */
    status = orr_client_open_keyed(&link, argc > 1 ? argv[1] : "shm:/orrery.fsw", key_file, 10000);
    if (status != 0) {
      bool nobody = status == -ENOENT || status == -EAGAIN;
      fprintf(stderr, "fsw: %s%s\n", link.error, nobody ? " (tried for ten seconds)" : "");
      return 1;
    }
    status = fly(&link, mission);
    orr_client_close(&link);
  } while (status == -ECONNRESET);
  return status != -EPIPE;
}
