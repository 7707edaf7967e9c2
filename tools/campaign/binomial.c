#include "tools/campaign/binomial.h"

#include <math.h>

/* ln of the binomial coefficient times p^k (1 − p)^(n − k) */
static double log_term(int64_t k, int64_t n, double p) {
  double a = (double)k, b = (double)(n - k), c = (double)n;
  return lgamma(c + 1) - lgamma(a + 1) - lgamma(b + 1) + (k ? a * log(p) : 0) + (n - k ? b * log1p(-p) : 0);
}

/* The probability of `k` or more of n. Terms fall off beyond the mean: the sum is taken from k away from it. */
static double at_least(int64_t k, int64_t n, double p) {
  double sum = 0, largest = log_term(k, n, p), term = 1;
  if ((double)k > p * (double)n) {
    for (int64_t i = k; i <= n && term > 1e-18 * sum; i++) {
      sum += term;
      term *= (double)(n - i) / (double)(i + 1) * p / (1 - p);
    }
    return fmin(1, sum * exp(largest));
  }
  if (k == 0)
    return 1;
  largest = log_term(k - 1, n, p);
  for (int64_t i = k - 1; i >= 0 && term > 1e-18 * sum; i--) {
    sum += term;
    term *= (double)i / (double)(n - i + 1) * (1 - p) / p;
  }
  return fmax(0, 1 - sum * exp(largest));
}

double orr_binomial_lower(int64_t met, int64_t count, double confidence) {
  double low = 0, high = 1;
  if (met <= 0 || count <= 0)
    return 0;
  for (int i = 0; i < 60; i++) {
    double p = 0.5 * (low + high);
    if (at_least(met, count, p) < 1 - confidence)
      low = p;
    else
      high = p;
  }
  return low;
}

double orr_binomial_upper(int64_t met, int64_t count, double confidence) {
  return 1 - orr_binomial_lower(count - met, count, confidence);
}

int64_t orr_binomial_needed(double share, double confidence) {
  double n = ceil(log1p(-confidence) / log(share) - 1e-9);
  return n < 1e15 ? (int64_t)n : INT64_MAX;
}
