#include "tools/campaign/cmaes.h"

#include <math.h>
#include <string.h>

#include "tools/campaign/draw.h"

/* Parameters of the tutorial's table 1, without negative weights. */
void orr_cmaes_init(struct orr_cmaes *s, int n, uint64_t seed) {
  double sum = 0, squares = 0, dim = n;
  memset(s, 0, sizeof *s);
  s->n = n;
  s->seed = seed;
  s->sigma = 0.3;
  s->lambda = 4 + (int)(3 * log(dim));
  s->mu = s->lambda / 2;
  for (int i = 0; i < s->mu; i++) {
    s->weights[i] = log((s->lambda + 1) / 2.0) - log(i + 1);
    sum += s->weights[i];
  }
  for (int i = 0; i < s->mu; i++) {
    s->weights[i] /= sum;
    squares += s->weights[i] * s->weights[i];
  }
  s->mu_eff = 1 / squares;
  s->c_sigma = (s->mu_eff + 2) / (dim + s->mu_eff + 5);
  s->d_sigma = 1 + 2 * fmax(0, sqrt((s->mu_eff - 1) / (dim + 1)) - 1) + s->c_sigma;
  s->c_c = (4 + s->mu_eff / dim) / (dim + 4 + 2 * s->mu_eff / dim);
  s->c_1 = 2 / ((dim + 1.3) * (dim + 1.3) + s->mu_eff);
  s->c_mu = fmin(1 - s->c_1, 2 * (0.25 + s->mu_eff + 1 / s->mu_eff - 2) / ((dim + 2) * (dim + 2) + s->mu_eff));
  s->chi = sqrt(dim) * (1 - 1 / (4 * dim) + 1 / (21 * dim * dim));
  for (int i = 0; i < n; i++) {
    s->mean[i] = 0.5;
    s->c[i][i] = s->b[i][i] = s->d[i] = 1;
  }
}

static double normal(struct orr_cmaes *s) {
  return orr_draw_normal_quantile(orr_draw_unit(orr_draw_bits(s->seed, s->drawn++, UINT64_C(1) << 43)));
}

/* x = m + σ B D z (38 – 40) */
void orr_cmaes_ask(struct orr_cmaes *s) {
  for (int k = 0; k < s->lambda; k++) {
    double z[ORR_CMAES_DIMENSIONS];
    for (int i = 0; i < s->n; i++)
      z[i] = normal(s);
    for (int i = 0; i < s->n; i++) {
      double y = 0;
      for (int j = 0; j < s->n; j++)
        y += s->b[i][j] * s->d[j] * z[j];
      s->x[k][i] = fmin(fmax(s->mean[i] + s->sigma * y, 0), 1);
      s->y[k][i] = (s->x[k][i] - s->mean[i]) / s->sigma;
    }
  }
}

static void rotate(double *a, double *b, double c, double s) {
  double x = *a, y = *b;
  *a = c * x - s * y;
  *b = s * x + c * y;
}

/* C = B D² Bᵀ by Jacobi's rotations. */
static void decompose(struct orr_cmaes *s) {
  double a[ORR_CMAES_DIMENSIONS][ORR_CMAES_DIMENSIONS];
  memcpy(a, s->c, sizeof a);
  memset(s->b, 0, sizeof s->b);
  for (int i = 0; i < s->n; i++)
    s->b[i][i] = 1;
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0, on = 0;
    for (int p = 0; p < s->n; p++)
      for (int q = 0; q < s->n; q++)
        *(p == q ? &on : &off) += a[p][q] * a[p][q];
    if (off <= 1e-28 * on)
      break;
    for (int p = 0; p < s->n; p++)
      for (int q = p + 1; q < s->n; q++) {
        double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]), c = cos(angle), t = sin(angle);
        for (int k = 0; k < s->n; k++)
          rotate(&a[k][p], &a[k][q], c, t);
        for (int k = 0; k < s->n; k++)
          rotate(&a[p][k], &a[q][k], c, t);
        for (int k = 0; k < s->n; k++)
          rotate(&s->b[k][p], &s->b[k][q], c, t);
      }
  }
  for (int i = 0; i < s->n; i++)
    s->d[i] = sqrt(fmax(a[i][i], 1e-20));
}

static void order_of(const struct orr_cmaes *s, const double *values, int *order) {
  for (int k = 0; k < s->lambda; k++) {
    int at = k;
    double value = isnan(values[k]) ? HUGE_VAL : values[k];
    for (; at > 0; at--) {
      double before = values[order[at - 1]];
      if (!((isnan(before) ? HUGE_VAL : before) > value))
        break;
      order[at] = order[at - 1];
    }
    order[at] = k;
  }
}

/* p_σ ← (1 − c_σ) p_σ + sqrt(c_σ (2 − c_σ) μ_eff) C^(−1/2) y (43); its length. */
static double follow_sigma(struct orr_cmaes *s, const double *step) {
  double part = sqrt(s->c_sigma * (2 - s->c_sigma) * s->mu_eff), length = 0;
  for (int i = 0; i < s->n; i++) {
    double white = 0;
    for (int j = 0; j < s->n; j++) {
      double along = 0;
      for (int k = 0; k < s->n; k++)
        along += s->b[k][j] * step[k];
      white += s->b[i][j] * along / s->d[j];
    }
    s->p_sigma[i] = (1 - s->c_sigma) * s->p_sigma[i] + part * white;
    length += s->p_sigma[i] * s->p_sigma[i];
  }
  return sqrt(length);
}

/* (41 – 47) */
void orr_cmaes_tell(struct orr_cmaes *s, const double *values) {
  int order[ORR_CMAES_POINTS] = {0};
  double step[ORR_CMAES_DIMENSIONS] = {0};
  order_of(s, values, order);
  for (int i = 0; i < s->n; i++) {
    for (int k = 0; k < s->mu; k++)
      step[i] += s->weights[k] * s->y[order[k]][i];
    s->mean[i] += s->sigma * step[i];
  }
  double length = follow_sigma(s, step), passed = pow(1 - s->c_sigma, 2 * (double)(++s->generation));
  double stalls = length / sqrt(1 - passed) < (1.4 + 2 / (s->n + 1.0)) * s->chi ? 1 : 0;
  for (int i = 0; i < s->n; i++)
    s->p_c[i] = (1 - s->c_c) * s->p_c[i] + stalls * sqrt(s->c_c * (2 - s->c_c) * s->mu_eff) * step[i];
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++) {
      double spread = 0;
      for (int k = 0; k < s->mu; k++)
        spread += s->weights[k] * s->y[order[k]][i] * s->y[order[k]][j];
      s->c[i][j] = (1 - s->c_1 - s->c_mu + (1 - stalls) * s->c_1 * s->c_c * (2 - s->c_c)) * s->c[i][j] +
                   s->c_1 * s->p_c[i] * s->p_c[j] + s->c_mu * spread;
    }
  s->sigma = fmin(1, s->sigma * exp(fmin(1, s->c_sigma / s->d_sigma * (length / s->chi - 1))));
  decompose(s);
}
