#include "tools/fsw/flight.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double GAP_S = 0.25;      /* telemetry that stops for so long is not flown on */
static const double BLIND_S = 5;       /* nor is an attitude without a star sample for so long */
static const double STARS_NEEDED = 3;  /* samples, before an estimate is trusted */
static const double STAR_GAIN = 0.15;  /* of a sample, into the attitude: a second's worth of samples at 10 Hz */
static const double BIAS_GAIN = 0.01;  /* 1/s, into the bias: slower than the slews it must not learn from */
static const double STAR_LIMIT = 0.02; /* rad: a sample further off is followed, but the bias learns nothing from it */
static const double DUMP_PERIOD_S = 1;
static const double DUMP_SHARE = 0.5; /* of the wheels' torque, that a dump may ask of them */

/* ---- quaternions, x y z w ---------------------------------------------------------------------------------------- */

/* p ∘ q */
static void multiply(const double *p, const double *q, double *out) {
  out[0] = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1];
  out[1] = p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0];
  out[2] = p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3];
  out[3] = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2];
}

/* q ∘ exp(φ/2), for small φ, and unit again. */
static void turn(double *q, const double *phi) {
  double step[4] = {0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2], 1}, out[4], norm = 0;
  multiply(q, step, out);
  for (int i = 0; i < 4; i++)
    norm += out[i] * out[i];
  norm = sqrt(norm);
  for (int i = 0; i < 4; i++)
    q[i] = out[i] / norm;
}

/* The rotation from p to q in the axes of q, the short way: 2 vec(p* ∘ q). */
static void between(const double *p, const double *q, double phi[3]) {
  double conjugate[4] = {-p[0], -p[1], -p[2], p[3]}, off[4];
  multiply(conjugate, q, off);
  double twice = off[3] < 0 ? -2 : 2;
  for (int i = 0; i < 3; i++)
    phi[i] = twice * off[i];
}

static double length(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* ---- estimate: gyro forward, stars back -------------------------------------------------------------------------- */

/* A tracker may call valid what is no attitude at all: nothing that follows would ever be a number again. */
static bool is_attitude(const double *q) {
  double norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  return fabs(norm2 - 1) < 0.01;
}

/* A complementary filter, which is the steady state of a Kalman filter of attitude and bias: the gyro less its bias
 * turns the attitude, a star sample pulls both. A sample is new when any bit of it is. */
static void estimate(struct orr_fsw *f, const struct orr_fsw_in *in, double dt, double rate[3]) {
  double phi[3];
  for (int i = 0; i < 3; i++) {
    rate[i] = in->rate[i] - f->bias[i];
    phi[i] = rate[i] * dt;
  }
  turn(f->attitude, phi);
  if (!(in->valid > 0) || !is_attitude(in->attitude) || memcmp(f->last_star, in->attitude, sizeof f->last_star) == 0)
    return;
  memcpy(f->last_star, in->attitude, sizeof f->last_star);
  double since = f->time_s - f->star_s, off[3];
  if (f->stars < STARS_NEEDED) {
    memcpy(f->attitude, in->attitude, sizeof f->attitude);
  } else {
    between(f->attitude, in->attitude, off);
    bool near = length(off) < STAR_LIMIT;
    for (int i = 0; i < 3; i++) {
      phi[i] = STAR_GAIN * off[i];
      f->bias[i] -= near ? BIAS_GAIN * off[i] * since : 0;
    }
    turn(f->attitude, phi);
  }
  f->stars++;
  f->star_s = f->time_s;
}

/* ---- law --------------------------------------------------------------------------------------------------------- */

/* What can slow a turn about an axis down, when each body axis has so much torque: the weakest decides. rad/s². */
static double brake(const struct orr_mission *m, const double *phi, double angle, const double *most, double share) {
  double least = HUGE_VAL;
  for (int i = 0; i < 3; i++)
    if (phi[i] != 0)
      least = fmin(least, share * most[i] / (m->inertia[i] * fabs(phi[i]) / angle));
  return least;
}

/* The rate wanted at an error φ: towards the target, in proportion near it, no faster than the brakes can stop, no
 * faster than the limit. The torque that brings the body to it: I c (ω_wanted − ω). Near the target this is −I (b² φ +
 * 2 ζ b ω). */
static void law(const struct orr_mission *m, double bandwidth, const double *most, double share, const double *phi,
                const double *rate, double torque[3]) {
  double angle = length(phi), gain = 2 * m->damping * bandwidth, speed = 0;
  if (angle > 0)
    speed = fmin(fmin(bandwidth / (2 * m->damping) * angle, sqrt(2 * angle * brake(m, phi, angle, most, share))),
                 m->rate_limit);
  for (int i = 0; i < 3; i++)
    torque[i] = m->inertia[i] * gain * ((angle > 0 ? -speed * phi[i] / angle : 0) - rate[i]);
}

/* tan x for |x| < 1.5, by Lambert's continued fraction: that of the C library has other last bits on another
 * machine. */
static double tangent(double x) {
  double below = 25;
  for (int odd = 23; odd > 0; odd -= 2)
    below = odd - x * x / below;
  return x / below;
}

/* A notch at w with the width (damping) ζ, by the bilinear transform, pre-warped, transposed direct form II:
 *   H(s) = (s² + w²)/(s² + 2ζ w s + w²) */
static double notch(const struct orr_mission *m, double *z, double dt, double x) {
  double k = tangent(0.5 * m->notch * dt), k2 = k * k, d = 1 + 2 * m->notch_width * k + k2;
  double b0 = (1 + k2) / d, b1 = 2 * (k2 - 1) / d, a2 = (1 - 2 * m->notch_width * k + k2) / d;
  double y = b0 * x + z[0];
  z[0] = b1 * x - b1 * y + z[1];
  z[1] = b0 * x - a2 * y;
  return y;
}

/* What the wheels are to do, about each axis: the notch, then a lag of first order, w/(s + w), by the backward
 * difference. */
static void filter(const struct orr_mission *m, struct orr_fsw *f, double dt, double torque[3]) {
  for (int i = 0; i < 3 && dt > 0; i++) {
    if (m->notch > 0)
      torque[i] = notch(m, f->notch[i], dt, torque[i]);
    if (m->roll_off > 0) {
      f->lag[i] += m->roll_off * dt / (1 + m->roll_off * dt) * (torque[i] - f->lag[i]);
      torque[i] = f->lag[i];
    }
  }
}

/* ---- actuators --------------------------------------------------------------------------------------------------- */

/* A torque on the body is the opposite of the torques on the rotors; beyond the limit the direction is kept. */
static void use_wheels(const struct orr_mission *m, const double *torque, struct orr_fsw_out *out) {
  double most = 0;
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    out->wheel_torque[k] = 0;
    for (int i = 0; i < 3; i++)
      out->wheel_torque[k] -= m->wheel_axis[k][i] * torque[i];
    most = fmax(most, fabs(out->wheel_torque[k]));
  }
  for (int k = 0; k < ORR_FSW_WHEELS && most > m->wheel_torque; k++)
    out->wheel_torque[k] *= m->wheel_torque / most;
}

/* A pair of thrusters for so long that its mean torque over the period is the one wanted; shorter pulses than they can
 * make are left out. */
static void pulse(const struct orr_mission *m, int axis, double torque, double period, struct orr_fsw_out *out) {
  double on = fmin(fabs(torque) / m->jet_torque[axis], 1) * period;
  if (on < m->jet_shortest)
    return;
  for (int k = 0; k < 2; k++)
    out->on_time[m->jet_pair[axis][torque < 0][k] - 1] += on;
}

static void use_jets(const struct orr_mission *m, struct orr_fsw *f, const double *torque, struct orr_fsw_out *out) {
  if (f->time_s - f->pulse_s < m->jet_period - 1e-6)
    return;
  f->pulse_s = f->time_s;
  for (int i = 0; i < 3; i++) {
    double most = m->jet_torque[i], step = most * m->jet_period / m->jet_ramp;
    double wanted = fmax(-most, fmin(most, torque[i]));
    f->push[i] += fmax(-step, fmin(step, wanted - f->push[i]));
    pulse(m, i, f->push[i], m->jet_period, out);
  }
  for (int j = 0; j < ORR_FSW_JETS; j++)
    out->on_time[j] = fmin(out->on_time[j], m->jet_period);
}

/* While a wheel is too fast, thrusters push against the momentum, no harder than the wheels can follow. */
static void dump(const struct orr_mission *m, struct orr_fsw *f, const struct orr_fsw_in *in, struct orr_fsw_out *out) {
  double fastest = 0, h[3] = {0};
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    fastest = fmax(fastest, fabs(in->wheel_speed[k]));
    for (int i = 0; i < 3; i++)
      h[i] += m->wheel_inertia * m->wheel_axis[k][i] * in->wheel_speed[k];
  }
  f->dumping = fastest > m->dump_above || (f->dumping > 0 && fastest > m->dump_below);
  if (!(f->dumping > 0) || !(m->jet_period > 0) || f->time_s - f->pulse_s < DUMP_PERIOD_S - 1e-6)
    return;
  f->pulse_s = f->time_s;
  for (int i = 0; i < 3; i++)
    pulse(m, i, -copysign(fmin(fabs(h[i]), DUMP_SHARE * m->wheel_torque), h[i]), DUMP_PERIOD_S, out);
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

static void to_mode(struct orr_fsw *f, enum orr_fsw_mode mode) {
  if ((enum orr_fsw_mode)f->mode == mode)
    return;
  f->mode = (double)mode;
  memset(f->notch, 0, sizeof f->notch);
  memset(f->lag, 0, sizeof f->lag);
  memset(f->push, 0, sizeof f->push);
}

/* Thrusters for what is far off, until wheels can hold it; between the two bounds it stays as it is. */
static void choose_mode(const struct orr_mission *m, struct orr_fsw *f, const double *phi, const double *rate) {
  double angle = length(phi);
  bool jets = m->jet_period > 0, was_safe = (enum orr_fsw_mode)f->mode == ORR_FSW_SAFE;
  bool held = angle < m->wheels_below && length(rate) < m->wheels_rate;
  if (f->stars < STARS_NEEDED || f->time_s - f->star_s > BLIND_S)
    to_mode(f, ORR_FSW_SAFE);
  else if (jets && angle > m->jets_above)
    to_mode(f, ORR_FSW_JETS_SLEW);
  else if (!jets || was_safe || held)
    to_mode(f, ORR_FSW_WHEELS_HOLD);
}

static bool usable(const struct orr_fsw_in *in) {
  double sum = in->valid;
  for (int i = 0; i < 3; i++)
    sum += in->rate[i] + in->wheel_speed[i];
  for (int i = 0; i < 4; i++)
    sum += in->attitude[i] + in->target[i];
  return isfinite(sum);
}

void orr_fsw_step(const struct orr_mission *m, struct orr_fsw *f, const struct orr_fsw_in *in,
                  struct orr_fsw_out *out) {
  double now_s = 1e-9 * (double)in->time_ns, dt = f->frames > 0 ? now_s - f->time_s : 0;
  double rate[3], phi[3], torque[3], wheels[3] = {m->wheel_torque, m->wheel_torque, m->wheel_torque};
  memset(out, 0, sizeof *out);
  if (!usable(in))
    return;                   /* nothing new is known: the next good frame finds a gap, or none */
  if (dt < 0 || dt > GAP_S) { /* what happened meanwhile is not known either */
    memset(f, 0, sizeof *f);
    dt = 0;
  }
  if (!(f->frames > 0))
    f->attitude[3] = 1;
  f->frames++;
  f->time_s = now_s;
  estimate(f, in, dt, rate);
  between(in->target, f->attitude, phi);
  choose_mode(m, f, phi, rate);
  switch ((enum orr_fsw_mode)f->mode) {
  case ORR_FSW_SAFE: /* stop turning, on wheels alone */
    memset(phi, 0, sizeof phi);
    law(m, m->bandwidth, wheels, m->wheel_brake, phi, rate, torque);
    use_wheels(m, torque, out);
    break;
  case ORR_FSW_WHEELS_HOLD:
    law(m, m->bandwidth, wheels, m->wheel_brake, phi, rate, torque);
    filter(m, f, dt, torque);
    use_wheels(m, torque, out);
    dump(m, f, in, out);
    break;
  case ORR_FSW_JETS_SLEW:
    law(m, m->jet_bandwidth, m->jet_torque, m->jet_brake, phi, rate, torque);
    use_jets(m, f, torque, out);
    break;
  }
}
