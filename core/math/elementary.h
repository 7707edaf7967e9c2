/* The elementary functions of core. The C library chooses its own by processor and version, so its bits differ between
 * machines; these are the same everywhere. They use +, −, ×, ÷, sqrt, floor, rint and fma alone, which IEEE 754 rounds
 * in one way.
 *
 * Each is within 1 ulp of the true value (tests/bench/elementary.c, against MPFR); special values, signs of zero and
 * symmetries are those of C17, annex F. No errno, no exception flags are promised. [any] [rt] O(1).
 */
#ifndef ORR_CORE_MATH_ELEMENTARY_H
#define ORR_CORE_MATH_ELEMENTARY_H

double orr_sin(double x);
double orr_cos(double x);
double orr_asin(double x);
double orr_acos(double x);
double orr_atan2(double y, double x);
double orr_exp(double x);
double orr_expm1(double x);
double orr_log(double x);
double orr_tanh(double x);
double orr_hypot(double x, double y);
/* For x > 0; NaN for others. Within 1 ulp where |y log x| ≤ 40. */
double orr_pow(double x, double y);

/* x − n turn, exact, with n whole and the result within half a turn; for |x| ≤ 1e9 turns. The one value that is nearest
 * to zero; at the half, either. */
double orr_wrapped(double x, double turn);

/* The larger, the smaller; the first where they are equal, and the number where the other is NaN. (fmax does not say
 * which zero it returns.) */
static inline double orr_max(double a, double b) { return a >= b || b != b ? a : b; }
static inline double orr_min(double a, double b) { return a <= b || b != b ? a : b; }

#endif
