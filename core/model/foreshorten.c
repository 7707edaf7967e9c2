#include "core/model/foreshorten.h"

#include <string.h>

/* Nodes nearer than this part of the length are at one place; they may be as far off the line, too. */
static const double NEAR = 1e-6;

static double along_line(const struct orr_body_desc *b, const struct orr_spine *line, size_t node) {
  return v3_dot(line->along, v3_sub(v3_from(b->nodes[node].at), v3_from(b->nodes[0].at)));
}

/* φ: how a mode moves a node across the line. */
static orr_vec3 across(const struct orr_body_desc *b, const struct orr_spine *line, size_t node, size_t mode) {
  orr_vec3 v = v3_from(b->nodes[node].modes + 6 * mode + 3);
  return v3_madd(v, -v3_dot(line->along, v), line->along);
}

static bool move_alike(const struct orr_body_desc *b, const struct orr_spine *line, size_t one, size_t other) {
  for (size_t r = 0; r < b->mode_count; r++) {
    orr_vec3 x = across(b, line, one, r), y = across(b, line, other, r);
    if (!(v3_norm(v3_sub(x, y)) <= NEAR * (v3_norm(x) + v3_norm(y))))
      return false;
  }
  return true;
}

struct orr_spine orr_spine_find(const struct orr_body_desc *b) {
  orr_vec3 first = v3_from(b->nodes[0].at), span = v3_sub(v3_from(b->nodes[b->node_count - 1].at), first);
  struct orr_spine line = {.length = v3_norm(span)};
  if (!(line.length > 0)) {
    line.fault = ORR_SPINE_POINT;
    return line;
  }
  line.along = v3_scale(1 / line.length, span);
  double before = 0;
  for (size_t j = 1; j < b->node_count; j++) {
    orr_vec3 from = v3_sub(v3_from(b->nodes[j].at), first);
    double x = along_line(b, &line, j);
    line.node = j;
    line.off = v3_norm(v3_madd(from, -x, line.along));
    if (!(line.off <= NEAR * line.length))
      line.fault = ORR_SPINE_OFF;
    else if (!(x >= before - NEAR * line.length))
      line.fault = ORR_SPINE_ORDER;
    else if (x <= before + NEAR * line.length && !move_alike(b, &line, j, j - 1))
      line.fault = ORR_SPINE_TWICE;
    if (line.fault != ORR_SPINE_OK)
      return line;
    before = x;
  }
  return line;
}

bool orr_curves_given(const struct orr_body_desc *b) {
  for (size_t j = 0; j < b->node_count; j++)
    if (b->nodes[j].curves)
      return true;
  return false;
}

struct orr_foreshorten orr_foreshorten_layout(const struct orr_body_desc *b, struct orr_block *block) {
  struct orr_foreshorten f;
  f.at = ORR_TAKE(block, double, b->node_count);
  f.station = ORR_TAKE(block, int, b->node_count);
  f.slope = ORR_TAKE(block, double, 3 * b->node_count * b->mode_count);
  f.phi = ORR_TAKE(block, orr_vec3, b->node_count);
  f.over = ORR_TAKE(block, double, b->node_count);
  f.diag = ORR_TAKE(block, double, b->node_count);
  f.sum = ORR_TAKE(block, double, b->mode_count * b->mode_count);
  return f;
}

/* How many stations there are. */
static int find_stations(const struct orr_body_desc *b, const struct orr_spine *line, struct orr_foreshorten *f) {
  int count = 0;
  for (size_t j = 0; j < b->node_count; j++) {
    double x = along_line(b, line, j);
    if (j == 0 || x > f->at[count - 1] + NEAR * line->length)
      f->at[count++] = x;
    f->station[j] = count - 1;
  }
  return count;
}

static double *slope_at(const struct orr_body_desc *b, const struct orr_foreshorten *f, int station) {
  return f->slope + 3 * b->mode_count * (size_t)station;
}

/* The mean slope between stations i and i + 1. */
static orr_vec3 chord(const struct orr_foreshorten *f, int i) {
  return v3_scale(1 / (f->at[i + 1] - f->at[i]), v3_sub(f->phi[i + 1], f->phi[i]));
}

/* A row of the spline: what stands below the diagonal, on it and above, and the weights of chords k and k + 1. */
struct row {
  double under, diag, over, weight[2];
  int k;
};

/* The equations of a not-a-knot spline for its slopes d, m ≥ 4 stations, h_i between i and i + 1, chords c_i:
 *   h_1 d_0 + (h_0 + h_1) d_1 = ((3 h_0 + 2 h_1) h_1 c_0 + h_0² c_1)/(h_0 + h_1), and the same from the other end
 *   h_i d_{i−1} + 2 (h_{i−1} + h_i) d_i + h_{i−1} d_{i+1} = 3 (h_i c_{i−1} + h_{i−1} c_i) */
static struct row spline_row(const struct orr_foreshorten *f, int m, int i) {
  int k = i == 0 ? 0 : i == m - 1 ? m - 3 : i - 1;
  double a = f->at[k + 1] - f->at[k], b = f->at[k + 2] - f->at[k + 1], sum = a + b;
  if (i == 0)
    return (struct row){0, b, sum, {(3 * a + 2 * b) * b / sum, a * a / sum}, k};
  if (i == m - 1)
    return (struct row){sum, a, 0, {b * b / sum, (3 * b + 2 * a) * a / sum}, k};
  return (struct row){b, 2 * sum, a, {3 * b, 3 * a}, k};
}

/* Two stations have their chord, three their parabola. */
static orr_vec3 short_slope(const struct orr_foreshorten *f, int m, int i) {
  if (m == 2)
    return chord(f, 0);
  double h[2] = {f->at[1] - f->at[0], f->at[2] - f->at[1]};
  orr_vec3 middle = v3_scale(h[1] / (h[0] + h[1]), chord(f, 0));
  middle = v3_madd(middle, h[0] / (h[0] + h[1]), chord(f, 1));
  return i == 1 ? middle : v3_madd(v3_neg(middle), 2, chord(f, i / 2));
}

/* φ' of mode r at all stations, from φ there: Gaussian elimination, whose pivots are never below a step. */
static void fill_slopes(const struct orr_body_desc *b, struct orr_foreshorten *f, int m, size_t r) {
  for (int i = 0; i < m && m < 4; i++)
    v3_to(slope_at(b, f, i) + 3 * r, short_slope(f, m, i));
  for (int i = 0; i < m && m > 3; i++) {
    struct row row = spline_row(f, m, i);
    orr_vec3 d = v3_madd(v3_scale(row.weight[0], chord(f, row.k)), row.weight[1], chord(f, row.k + 1));
    if (i > 0) {
      double share = row.under / f->diag[i - 1];
      row.diag -= share * f->over[i - 1];
      d = v3_madd(d, -share, v3_from(slope_at(b, f, i - 1) + 3 * r));
    }
    f->diag[i] = row.diag;
    f->over[i] = row.over;
    v3_to(slope_at(b, f, i) + 3 * r, d);
  }
  for (int i = m - 1; i >= 0 && m > 3; i--) {
    orr_vec3 d = v3_from(slope_at(b, f, i) + 3 * r);
    if (i < m - 1)
      d = v3_madd(d, -f->over[i], v3_from(slope_at(b, f, i + 1) + 3 * r));
    v3_to(slope_at(b, f, i) + 3 * r, v3_scale(1 / f->diag[i], d));
  }
}

/* ∫ φ_r'·φ_s' between stations i and i + 1, where φ' is a parabola: with its chord c and its ends d, e
 *   h/30 (36 c·c − 3 c·(d + e) − 3 (d + e)·c + 4 d·d + 4 e·e − d·e − e·d) */
static double between(const struct orr_body_desc *b, const struct orr_foreshorten *f, int i, size_t r, size_t s,
                      const orr_vec3 chords[2]) {
  orr_vec3 dr = v3_from(slope_at(b, f, i) + 3 * r), ds = v3_from(slope_at(b, f, i) + 3 * s);
  orr_vec3 er = v3_from(slope_at(b, f, i + 1) + 3 * r), es = v3_from(slope_at(b, f, i + 1) + 3 * s);
  double sum = 36 * v3_dot(chords[0], chords[1]);
  sum -= 3 * (v3_dot(chords[0], v3_add(ds, es)) + v3_dot(chords[1], v3_add(dr, er)));
  sum += 4 * (v3_dot(dr, ds) + v3_dot(er, es)) - v3_dot(dr, es) - v3_dot(er, ds);
  return (f->at[i + 1] - f->at[i]) / 30 * sum;
}

/* f->sum += sign ∫ over the step from station i to the next. */
static void add_step(const struct orr_body_desc *b, const struct orr_spine *line, struct orr_foreshorten *f, int i,
                     const size_t ends[2], double sign) {
  size_t n = b->mode_count;
  double h = f->at[i + 1] - f->at[i];
  for (size_t r = 0; r < n; r++)
    for (size_t s = 0; s <= r; s++) {
      orr_vec3 c[2];
      for (int k = 0; k < 2; k++) {
        size_t mode = k ? s : r;
        c[k] = v3_scale(1 / h, v3_sub(across(b, line, ends[1], mode), across(b, line, ends[0], mode)));
      }
      f->sum[r * n + s] += sign * between(b, f, i, r, s, c);
      f->sum[s * n + r] = f->sum[r * n + s];
    }
}

/* From the hinge's node to one end of the line, `sign` 1 or −1 along the order of the nodes. */
static void walk(const struct orr_body_desc *b, const struct orr_spine *line, struct orr_foreshorten *f, int sign,
                 double *out) {
  size_t n = b->mode_count, square = n * n, at = (size_t)b->hinge.node, count = b->node_count;
  memset(f->sum, 0, square * sizeof *f->sum);
  memcpy(out + at * square, f->sum, square * sizeof *out);
  while (sign > 0 ? at + 1 < count : at > 0) {
    size_t next = sign > 0 ? at + 1 : at - 1, low = sign > 0 ? at : next, high = sign > 0 ? next : at;
    if (f->station[low] != f->station[high])
      add_step(b, line, f, f->station[low], (const size_t[2]){low, high}, sign);
    at = next;
    memcpy(out + at * square, f->sum, square * sizeof *out);
  }
}

void orr_foreshorten(const struct orr_body_desc *b, const struct orr_spine *line, struct orr_foreshorten *f,
                     double *out) {
  int m = find_stations(b, line, f);
  for (size_t r = 0; r < b->mode_count; r++) {
    for (size_t j = 0; j < b->node_count; j++)
      f->phi[f->station[j]] = across(b, line, j, r);
    fill_slopes(b, f, m, r);
  }
  walk(b, line, f, 1, out);
  walk(b, line, f, -1, out);
}
