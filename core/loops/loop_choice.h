/* Which loop equations are solved, and how they turn from step to step.
 *
 * How many equations are independent is learned once, on closed postures (orr_choice_learn): the rank r, with the one
 * tolerance ORR_LOOP_TOLERANCE. From then on exactly r equations are solved, and the others follow from them wherever
 * the loops are closed. Off that manifold, at the stages of an integrator, rows that follow become independent by as
 * much as the stage misses closure; so which rows are solved is a choice that is held over a step, like that of
 * independent coordinates (embed.h), and a rank above r is redundancy, too.
 *
 * A posture where the r best rows have less than the tolerance left is singular. Near one the rows, made orthonormal in
 * the same order, turn fast. A step in which they would turn further than an integrator follows well is divided into
 * parts, as many as the rates ask for at which they turned last and at which the smallest shrank. Where they turn too
 * far all the same, the linkage passes a singular posture (there a row turns over), or comes too close to one: that is
 * a status, for the motion beyond it is not determined.
 *
 * Call order: orr_choice_layout → orr_choice_learn at some closed postures → orr_choice_choose, then for each
 * evaluation orr_choice_judge; for each step orr_choice_begin, and orr_choice_part and orr_choice_follow for each of
 * its parts. Thread of the loops.
 */
#ifndef ORR_CORE_LOOPS_LOOP_CHOICE_H
#define ORR_CORE_LOOPS_LOOP_CHOICE_H

#include "core/loops/embed.h"

struct orr_choice {
  struct orr_embed *embed;
  int augment_rank; /* what augmented loops add to the embedded ones; −1: not known, and not judged */
  int embedded;     /* how many of `rows` are those of embedded loops, as their aggregates choose them */
  int count;
  int *rows; /* [row_count] the equations solved: embedded ones, then augmented ones */
  int followed_count;
  int *followed;                 /* [row_count] the rows of `basis`, in their order */
  double rate;                   /* rad/s, how fast rows turned in the last part of a step */
  double wanted;                 /* 1/s, over how long a part of a step may be from here on; −1: not known */
  double least;                  /* what the smallest of the rows followed has left, over its gross size */
  double part_s;                 /* s, how long the part at hand is; 0: none is */
  bool undivided;                /* it should be shorter */
  double *ahead;                 /* [q_count] scratch */
  int *basis_first, *basis_past; /* [row_count] the columns outside which a row of it is zero */
  double *basis;                 /* [row_count][width] those rows made orthonormal, at the end of the last step */
};

void orr_choice_layout(struct orr_choice *choice, struct orr_embed *embed, struct orr_block *block);

/* Raises the ranks to those of the placed posture with G filled. [init] O(rows² columns). */
void orr_choice_learn(struct orr_choice *choice, const struct orr_workspace *ws);

/* The rank that is known, of all loops together. [any] */
int orr_choice_rank(const struct orr_choice *choice);

/* Chooses the rows of augmented loops anew, the largest first. False where they are fewer than the rank known; *loop is
 * then one that has lost an equation. Leaves loops->judge factored. [rt] O(rows² columns). */
bool orr_choice_choose(struct orr_choice *choice, const struct orr_workspace *ws, int *loop);

/* Chooses at the posture where a motion begins, as far as it can, and sees how weak the weakest row is there. [init]
 * O(rows² columns). */
void orr_choice_start(struct orr_choice *choice, const struct orr_workspace *ws);

/* loops->judge factored with the chosen rows, which are chosen first where they have not been. False, with the loop,
 * where they have lost rank at this posture. [rt] O(rows² columns). */
bool orr_choice_judge(struct orr_choice *choice, const struct orr_workspace *ws, int *loop);

/* At the start of a step: sees how the rows turn where that is not known, because the motion begins here. [rt] O(1) but
 * for the first, O(rows² columns). */
void orr_choice_begin(struct orr_choice *choice, struct orr_workspace *ws, const double *q, const double *u);

/* How long the next part of a step is to be, of which left_ns are left: all of it, or less where rows turn fast. [rt]
 * at most a thousand parts a step. */
int64_t orr_choice_part(struct orr_choice *choice, const double *u, int64_t step_ns, int64_t left_ns);

/* At the end of a part of a step: how the chosen rows have turned in it, and whether others serve much better from here
 * on. False, with the loop, where it was not followed or is singular. [rt] O(rows² columns). */
bool orr_choice_follow(struct orr_choice *choice, const struct orr_workspace *ws, int *loop);

/* The choice of augmented loops as words of a run's state, then the rates, and setting them. Words of the choice alone:
 * none where no loop is augmented. [any] */
size_t orr_choice_words(const struct orr_choice *choice);
size_t orr_choice_state_words(const struct orr_choice *choice);
void orr_choice_state_get(const struct orr_choice *choice, uint64_t *words);
void orr_choice_state_put(struct orr_choice *choice, const uint64_t *words);

#endif
