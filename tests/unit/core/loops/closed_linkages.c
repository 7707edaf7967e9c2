/* Hard linkages move rightly or say that they cannot: tests/support/linkages.h says what is judged. A seed is a
 * linkage, of the kinds by turns, judged by each method. By itself a few seeds; `closed_linkages FIRST COUNT [KIND]`
 * judges so many from FIRST on, of one kind where that is given, and prints the rates; ORR_SAY=1 tells what was
 * refused, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/linkages.h"
#include "tests/support/sanitized.h"

static const char *const methods[] = {"auto", "embed", "augment"};

struct tally {
  int count[ORR_LINKAGE_KINDS][3][3]; /* kind, method, verdict */
};

static void tell(enum orr_linkage_kind kind, int method, uint64_t seed, const struct orr_linkage_result *r) {
  printf("%s seed %llu %s: %s: status %d at %.4g s, q off by %.3g (half %.3g), energy %.3g of %.3g J, gap %.3g\n",
         orr_linkage_names[kind], (unsigned long long)seed, methods[method], r->why ? r->why : "refused",
         (int)r->status, r->stopped_s, r->difference, r->halved, r->energy, r->range, r->gap);
}

static void judge(struct tally *t, enum orr_linkage_kind kind, uint64_t seed, int quiet) {
  struct orr_linkage *linkage = orr_linkage_make(kind, seed);
  linkage->duration_s /= ORR_SANITIZED ? 4 : 1;
  for (int method = ORR_LOOP_AUTO; method <= ORR_LOOP_AUGMENT; method++) {
    struct orr_linkage_result r = orr_linkage_judge(linkage, (enum orr_loop_method)method);
    t->count[kind][method][r.verdict]++;
    if ((int)r.verdict > quiet)
      tell(kind, method, seed, &r);
  }
  orr_linkage_free(linkage);
}

static void sum(const struct tally *t, int out[3]) {
  out[0] = out[1] = out[2] = 0;
  for (int k = 0; k < ORR_LINKAGE_KINDS; k++)
    for (int m = 0; m < 3; m++)
      for (int v = 0; v < 3; v++)
        out[v] += t->count[k][m][v];
}

static void print(const struct tally *t) {
  int all[3];
  sum(t, all);
  printf("%-10s %-8s %6s %8s %6s\n", "kind", "method", "fine", "refused", "wrong");
  for (int k = 0; k < ORR_LINKAGE_KINDS; k++)
    for (int m = 0; m < 3; m++)
      printf("%-10s %-8s %6d %8d %6d\n", orr_linkage_names[k], methods[m], t->count[k][m][0], t->count[k][m][1],
             t->count[k][m][2]);
  printf("%-10s %-8s %6d %8d %6d\n", "all", "", all[0], all[1], all[2]);
}

static void hard_linkages_move_rightly_or_say_that_they_cannot(void **state) {
  (void)state;
  struct tally t = {0};
  int all[3];
  for (uint64_t seed = 0; seed < ORR_LINKAGE_KINDS; seed++)
    judge(&t, (enum orr_linkage_kind)(seed % ORR_LINKAGE_KINDS), seed, ORR_LINKAGE_REFUSED);
  judge(&t, ORR_LINKAGE_TILTED, 130, ORR_LINKAGE_REFUSED); /* equations as weak as others are open */
  judge(&t, ORR_LINKAGE_TILTED, 149, ORR_LINKAGE_REFUSED); /* an axis within 1e-8 of another body's */
  judge(&t, ORR_LINKAGE_LONG, 110, ORR_LINKAGE_REFUSED);   /* pivots of 1e-6 beside moments of 1e6 N m */
  sum(&t, all);
  assert_int_equal(all[ORR_LINKAGE_WRONG], 0);
  assert_true(10 * all[ORR_LINKAGE_REFUSED] <= all[0] + all[1]);
}

static int judge_many(uint64_t first, uint64_t count, int only) {
  struct tally t = {0};
  int all[3];
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (uint64_t seed = first; seed < first + count; seed++)
    judge(&t, (enum orr_linkage_kind)(only < 0 ? (int)(seed % ORR_LINKAGE_KINDS) : only), seed,
          getenv("ORR_SAY") ? ORR_LINKAGE_FINE : ORR_LINKAGE_REFUSED);
  print(&t);
  sum(&t, all);
  return all[ORR_LINKAGE_WRONG] > 0 || 10 * all[ORR_LINKAGE_REFUSED] > all[0] + all[1] + all[2];
}

int main(int argc, char **argv) {
  if (argc > 2)
    return judge_many(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10),
                      argc > 3 ? (int)strtol(argv[3], NULL, 10) : -1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hard_linkages_move_rightly_or_say_that_they_cannot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
