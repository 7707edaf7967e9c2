#include "core/math/roots.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "core/math/elementary.h"

typedef struct orr_complex number;

static number times(number a, number b) {
  return (number){fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
static number plus(number a, number b) { return (number){a.re + b.re, a.im + b.im}; }
static number minus(number a, number b) { return (number){a.re - b.re, a.im - b.im}; }
static number scaled(double f, number a) { return (number){f * a.re, f * a.im}; }
static number conjugate(number a) { return (number){a.re, -a.im}; }
static double size(number a) { return orr_hypot(a.re, a.im); }

static number over(number a, number b) {
  double d = size(b);
  return scaled(1 / d, times(a, scaled(1 / d, conjugate(b))));
}

static number root_of(number a) {
  double r = size(a), re = sqrt(0.5 * (r + fabs(a.re)));
  if (re == 0)
    return (number){0, 0};
  double im = fabs(a.im) / (2 * re);
  if (a.re < 0) {
    double t = re;
    re = im;
    im = t;
  }
  return (number){re, copysign(im, a.im)};
}

/* ---- eigenvalues of a general matrix ----------------------------------------------------------------------------- */

/* [cosine sine; −sine* cosine] [a; b] = [r; 0], the cosine real. */
struct turn {
  double cosine;
  number sine;
};

static struct turn turn_of(number a, number b) {
  double x = size(a), y = size(b), r = orr_hypot(x, y);
  if (y == 0)
    return (struct turn){1, {0, 0}};
  if (x == 0)
    return (struct turn){0, scaled(1 / y, conjugate(b))};
  return (struct turn){x / r, scaled(1 / (x * r), times(a, conjugate(b)))};
}

/* Rows i and i + 1 of a [n][n], columns from … to. */
static void turn_rows(size_t n, number *a, size_t i, size_t from, size_t to, struct turn t) {
  for (size_t c = from; c <= to; c++) {
    number x = a[i * n + c], y = a[(i + 1) * n + c];
    a[i * n + c] = plus(scaled(t.cosine, x), times(t.sine, y));
    a[(i + 1) * n + c] = minus(scaled(t.cosine, y), times(conjugate(t.sine), x));
  }
}

/* Columns i and i + 1, rows from … to, by the inverse. */
static void turn_columns(size_t n, number *a, size_t i, size_t from, size_t to, struct turn t) {
  for (size_t r = from; r <= to; r++) {
    number x = a[r * n + i], y = a[r * n + i + 1];
    a[r * n + i] = plus(scaled(t.cosine, x), times(conjugate(t.sine), y));
    a[r * n + i + 1] = minus(scaled(t.cosine, y), times(t.sine, x));
  }
}

/* Zeros below the first subdiagonal, by rotations of neighbours. */
static void make_hessenberg(size_t n, number *a) {
  for (size_t c = 0; c + 2 < n; c++)
    for (size_t r = n - 1; r > c + 1; r--) {
      struct turn t = turn_of(a[(r - 1) * n + c], a[r * n + c]);
      turn_rows(n, a, r - 1, c, n - 1, t);
      turn_columns(n, a, r - 1, 0, n - 1, t);
    }
}

/* The eigenvalue of the last 2 × 2 block that is nearer to its corner (Wilkinson's shift). */
static number shift_of(size_t n, const number *a, size_t last) {
  number p = a[(last - 1) * n + last - 1], q = a[(last - 1) * n + last], r = a[last * n + last - 1],
         s = a[last * n + last];
  number half = scaled(0.5, minus(p, s)), root = root_of(plus(times(half, half), times(q, r)));
  number left = plus(half, root), right = minus(half, root);
  return plus(s, size(left) < size(right) ? left : right);
}

/* One step A − μ = QR, A' = RQ + μ on rows and columns first … last. `turns` [n]. */
static void qr_step(size_t n, number *a, size_t first, size_t last, number shift, struct turn *turns) {
  for (size_t i = first; i <= last; i++)
    a[i * n + i] = minus(a[i * n + i], shift);
  for (size_t i = first; i < last; i++) {
    turns[i] = turn_of(a[i * n + i], a[(i + 1) * n + i]);
    turn_rows(n, a, i, i, last, turns[i]);
  }
  for (size_t i = first; i < last; i++)
    turn_columns(n, a, i, first, i + 1, turns[i]);
  for (size_t i = first; i <= last; i++)
    a[i * n + i] = plus(a[i * n + i], shift);
}

/* Where the block that ends in `last` begins: below it the subdiagonal is nothing beside the diagonal. */
static size_t block_start(size_t n, const number *a, size_t last) {
  size_t first = last;
  for (; first > 0; first--) {
    double beside = size(a[first * n + first]) + size(a[(first - 1) * n + first - 1]);
    if (size(a[first * n + first - 1]) <= DBL_EPSILON * beside + DBL_MIN)
      break;
  }
  return first;
}

/* On the diagonal of a [n][n]. */
static bool make_triangular(size_t n, number *a, struct turn *turns) {
  enum { TRIES = 60 };
  make_hessenberg(n, a);
  for (size_t last = n - 1, tries = 0; last > 0;) {
    size_t first = block_start(n, a, last);
    if (first == last) {
      last--;
      tries = 0;
      continue;
    }
    if (tries++ == TRIES)
      return false;
    number shift = shift_of(n, a, last);
    if (tries % 10 == 0) /* going round in a circle: leave it */
      shift.re += size(a[last * n + last - 1]);
    qr_step(n, a, first, last, shift, turns);
  }
  return true;
}

/* ---- the quadratic problem --------------------------------------------------------------------------------------- */

/* With s = σ s', the eigenvalues s' of [0 1; −k/σ² −c/σ]. */
bool orr_quadratic_roots(size_t n, const double *c, const double *k, number *work, number *roots) {
  size_t m = 2 * n;
  double sigma = 0;
  assert(n <= ORR_QUADRATIC_MOST);
  for (size_t i = 0; i < n * n; i++) {
    if (!isfinite(c[i]) || !isfinite(k[i]))
      return false;
    sigma = orr_max(sigma, orr_max(fabs(c[i]), sqrt(fabs(k[i]))));
  }
  for (size_t i = 0; i < m * m; i++)
    work[i] = (number){0, 0};
  for (size_t i = 0; i < m; i++)
    roots[i] = (number){0, 0};
  if (sigma == 0)
    return true;
  for (size_t i = 0; i < n; i++) {
    work[i * m + n + i].re = 1;
    for (size_t j = 0; j < n; j++) {
      work[(n + i) * m + j].re = -k[i * n + j] / sigma / sigma;
      work[(n + i) * m + n + j].re = -c[i * n + j] / sigma;
    }
  }
  struct turn turns[2 * ORR_QUADRATIC_MOST];
  if (!make_triangular(m, work, turns))
    return false;
  for (size_t i = 0; i < m; i++)
    roots[i] = scaled(sigma, work[i * m + i]);
  return true;
}

/* x = a⁻¹ x by elimination with the largest pivot of the column; a pivot that vanishes is made tiny, as inverse
 * iteration wants it. */
static void solve(size_t n, number *a, double largest, number *x) {
  for (size_t i = 0; i < n; i++) {
    size_t best = i;
    for (size_t r = i + 1; r < n; r++)
      if (size(a[r * n + i]) > size(a[best * n + i]))
        best = r;
    for (size_t c = i; c < n && best != i; c++) {
      number t = a[i * n + c];
      a[i * n + c] = a[best * n + c];
      a[best * n + c] = t;
    }
    number t = x[i];
    x[i] = x[best];
    x[best] = t;
    if (size(a[i * n + i]) < DBL_EPSILON * largest)
      a[i * n + i] = (number){DBL_EPSILON * largest, 0};
    for (size_t r = i + 1; r < n; r++) {
      number f = over(a[r * n + i], a[i * n + i]);
      for (size_t c = i; c < n; c++)
        a[r * n + c] = minus(a[r * n + c], times(f, a[i * n + c]));
      x[r] = minus(x[r], times(f, x[i]));
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t c = i + 1; c < n; c++)
      x[i] = minus(x[i], times(a[i * n + c], x[c]));
    x[i] = over(x[i], a[i * n + i]);
  }
}

void orr_quadratic_vector(size_t n, const double *c, const double *k, number root, number *work, number *x) {
  number square = times(root, root);
  for (size_t i = 0; i < n; i++)
    x[i] = (number){1, 0.1 * (double)(i % 7)};
  for (int round = 0; round < 3; round++) {
    double largest = size(square), sum = 0; /* of what is added up: the sum itself vanishes */
    for (size_t i = 0; i < n * n; i++) {
      work[i] = plus(scaled(c[i], root), (number){k[i], 0});
      if (i % (n + 1) == 0)
        work[i] = plus(work[i], square);
      largest = orr_max(largest, orr_max(size(scaled(c[i], root)), fabs(k[i])));
    }
    solve(n, work, orr_max(largest, DBL_MIN / DBL_EPSILON), x);
    for (size_t i = 0; i < n; i++)
      sum = orr_hypot(sum, size(x[i]));
    for (size_t i = 0; i < n && sum > 0; i++)
      x[i] = scaled(1 / sum, x[i]);
  }
}
