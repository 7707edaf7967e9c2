#include "tests/support/beam.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math/eigen.h"

/* cos β cosh β = −1; φ = cosh βx − cos βx − σ (sinh βx − sin βx), written so that nothing large cancels. */
double orr_beam_shape(int k, double x, double *slope, double *beta) {
  double b = 3.14159265358979323846 * (k - 0.5);
  for (int i = 0; i < 50; i++)
    b -= (cos(b) + 1 / cosh(b)) / (-sin(b) - sinh(b) / (cosh(b) * cosh(b)));
  double sigma = (cosh(b) + cos(b)) / (sinh(b) + sin(b)), less = (sin(b) - cos(b) - exp(-b)) / (sinh(b) + sin(b));
  double grows = 0.5 * less * exp(b * x), falls = 0.5 * (1 + sigma) * exp(-b * x); /* 1 − σ, 1 + σ */
  if (slope)
    *slope = b * (grows - falls + sin(b * x) + sigma * cos(b * x));
  if (beta)
    *beta = b;
  return grows + falls - cos(b * x) + sigma * sin(b * x);
}

struct orr_sample *orr_beam_make(const struct orr_beam *beam) {
  static const char *const names[] = {"root", "node", "tip"};
  int n = beam->flap + beam->lag, count = beam->segments + 1;
  struct orr_mode_desc modes[ORR_BEAM_MODES] = {0};
  struct orr_node_desc nodes[ORR_BEAM_SEGMENTS + 1] = {0};
  double rows[ORR_BEAM_SEGMENTS + 1][6 * ORR_BEAM_MODES] = {{0}};
  assert(n <= ORR_BEAM_MODES && beam->segments <= ORR_BEAM_SEGMENTS);
  double rate = sqrt(beam->bending / (beam->mass * pow(beam->length, 4)));
  for (int j = 0; j < count; j++) {
    double x = (double)j / beam->segments, whole = beam->mass * beam->length / beam->segments;
    nodes[j].name = names[j == 0 ? 0 : j == count - 1 ? 2 : 1];
    nodes[j].at[0] = beam->length * x;
    nodes[j].mass = j == 0 || j == count - 1 ? 0.5 * whole : whole;
    nodes[j].modes = rows[j];
    for (int r = 0; r < n; r++) {
      bool flap = r >= beam->lag;
      double slope, beta, shift = orr_beam_shape(1 + (flap ? r - beam->lag : r), x, &slope, &beta);
      modes[r].frequency_hz = beta * beta * rate / (2 * 3.14159265358979323846);
      rows[j][6 * r + (flap ? 5 : 4)] = shift;
      rows[j][6 * r + (flap ? 1 : 2)] = (flap ? -slope : slope) / beam->length; /* turned about −y, about z */
    }
  }
  const struct orr_node_desc rim[2] = {{.name = "origin"}, {.name = "rim", .at = {beam->hub, 0, 0}}};
  const struct orr_hinge_desc fixed = {.kind = ORR_HINGE_FIXED, .parent_node = 1, .rotation = {0, 0, 0, 1}};
  struct orr_hinge_desc base = {.kind = beam->base,
                                .parent = ORR_INERTIAL,
                                .axes = {{0, 0, 1}},
                                .rotation = {0, 0, 0, 1},
                                .prescribed = beam->base == ORR_HINGE_REVOLUTE};
  const struct orr_body_desc bodies[2] = {
      {.name = "hub", .mass = 10, .inertia = {3, 4, 5, 0, 0, 0}, .node_count = 2, .nodes = rim, .hinge = base},
      {.name = "beam",
       .flexible = true,
       .stiffening = beam->stiffening,
       .mode_count = (size_t)n,
       .modes = modes,
       .node_count = (size_t)count,
       .nodes = nodes,
       .hinge = fixed}};
  return orr_sample_of(bodies, 2);
}

/* x² P_k(2x − 1) and its first two derivatives. */
static void polynomial(int k, double x, double out[3]) {
  double y = 2 * x - 1, p[3] = {1, 0, 0}, before[3] = {0, 0, 0};
  for (int i = 0; i < k; i++) { /* (i + 1) P_i+1 = (2i + 1) y P_i − i P_i−1 */
    double next[3], a = (2 * i + 1.0) / (i + 1), b = i / (i + 1.0);
    next[0] = a * y * p[0] - b * before[0];
    next[1] = a * (y * p[1] + p[0]) - b * before[1];
    next[2] = a * (y * p[2] + 2 * p[1]) - b * before[2];
    memcpy(before, p, sizeof p);
    memcpy(p, next, sizeof p);
  }
  p[1] *= 2;
  p[2] *= 4;
  out[0] = x * x * p[0];
  out[1] = x * x * p[1] + 2 * x * p[0];
  out[2] = x * x * p[2] + 4 * x * p[1] + 2 * p[0];
}

/* Points and weights of Gauss and Legendre on 0 … 1. */
static void gauss(int count, double *x, double *w) {
  for (int i = 0; i < count; i++) {
    double y = cos(3.14159265358979323846 * (i + 0.75) / (count + 0.5)), slope = 1;
    for (int step = 0; step < 40; step++) {
      double p = 1, before = 0;
      for (int k = 0; k < count; k++) {
        double next = ((2 * k + 1) * y * p - k * before) / (k + 1);
        before = p;
        p = next;
      }
      slope = count * (y * p - before) / (y * y - 1);
      y -= p / slope;
    }
    x[i] = 0.5 * (1 + y);
    w[i] = 1 / ((1 - y * y) * slope * slope);
  }
}

/* ∫ φ''φ'' + T φ'φ' − [lag] Ω² φφ over ∫ φφ, with T = Ω² ∫_x^1 (hub + s) ds. The inverses of the frequencies'
 * squares are the eigenvalues, as the large ones come out with all digits. */
void orr_beam_ritz(double hub, double spin, bool flap, int count, double *frequencies) {
  enum { N = ORR_BEAM_RITZ, POINTS = 48 };
  double k[N * N] = {0}, m[N * N] = {0}, values[N], x[POINTS], w[POINTS], square = spin * spin;
  gauss(POINTS, x, w);
  for (int g = 0; g < POINTS; g++) {
    double phi[N][3], pull = square * (hub * (1 - x[g]) + 0.5 * (1 - x[g] * x[g]));
    for (int i = 0; i < N; i++)
      polynomial(i, x[g], phi[i]);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double mass = w[g] * phi[i][0] * phi[j][0];
        m[i * N + j] += mass;
        k[i * N + j] += w[g] * (phi[i][2] * phi[j][2] + pull * phi[i][1] * phi[j][1]) - (flap ? 0 : square * mass);
      }
  }
  bool good = orr_eigen_generalized(N, m, k, values);
  assert(good);
  (void)good;
  for (int i = 0; i < count; i++)
    frequencies[i] = 1 / sqrt(values[N - 1 - i]);
}
