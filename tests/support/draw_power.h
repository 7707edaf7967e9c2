/* xʸ for drawing numbers of all sizes in tests. Its bits never change, so that the random models of a seed stay what
 * they are when core's own power becomes better: tests/baseline/state_hash stands on them. Up to 1.3 ulp off. */
#ifndef ORR_TESTS_SUPPORT_DRAW_POWER_H
#define ORR_TESTS_SUPPORT_DRAW_POWER_H

/* For x > 0, which may be infinite, and −1 ≤ y ≤ 1. */
double orr_draw_power(double x, double y);

#endif
