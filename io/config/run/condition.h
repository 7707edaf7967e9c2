/* Conditions: the small language of faults, sequences and expectations (conventions, "Conditions").
 *
 *     bus.rate.z above 1 deg/s for 2 s and not star.valid
 *
 * orr_condition_parse [init] → a compiled form that is const → orr_condition_reset, then orr_condition_judge once a
 * frame [rt]. Parsing looks at names and units alone; judging looks at the frame's block alone, allocates nothing, and
 * does the same work in every frame.
 */
#ifndef ORR_IO_CONFIG_RUN_CONDITION_H
#define ORR_IO_CONFIG_RUN_CONDITION_H

#include "core/plant/channel.h"
#include "io/config/text/arena.h"

enum {
  ORR_CONDITION_NODES = 64, /* comparisons and words between them */
  ORR_CONDITION_DEPTH = 32, /* of nested parentheses and prefixes */
};

enum orr_condition_sort {
  ORR_CONDITION_BOUND,  /* a number against a bound */
  ORR_CONDITION_AND,    /* left and right */
  ORR_CONDITION_OR,     /* left or right */
  ORR_CONDITION_NOT,    /* not left */
  ORR_CONDITION_RISING, /* left, and not in the frame before */
  ORR_CONDITION_FOR,    /* left, in every frame of the last span_ns */
};

enum orr_condition_relation {
  ORR_CONDITION_ABOVE,
  ORR_CONDITION_BELOW,
  ORR_CONDITION_AT_LEAST,
  ORR_CONDITION_AT_MOST,
  ORR_CONDITION_IS,
  ORR_CONDITION_IS_NOT,
  ORR_CONDITION_BETWEEN, /* both ends belong to it */
};

struct orr_condition_node {
  enum orr_condition_sort sort;
  int left, right; /* nodes in front of this one */
  enum orr_condition_relation relation;
  int first, count; /* numbers of the frame's block; first −1: the time in s */
  bool norm;        /* the root of the sum of squares */
  double low, high; /* SI; a bound that is one number is both */
  int64_t span_ns;
  int memory; /* its word of the state, −1: it has none */
};

struct orr_condition {
  const char *text;
  int count, words;    /* nodes; words of its state */
  const int *channels; /* [channel_count] that it reads: for orr_plant_ask */
  int channel_count;
  const struct orr_condition_node *nodes; /* [count]; the last one is the whole */
};

/* What is wrong with a text, and where in it. */
struct orr_condition_error {
  size_t at, length;
  const char *code; /* "unknown-channel", "unit", "condition" */
  char text[300];
};

/* [init] NULL with what is wrong in *error. The form lives in the arena. O(length + channels · names). */
const struct orr_condition *orr_condition_parse(const char *text, const struct orr_channel_table *table,
                                                struct orr_arena *arena, struct orr_condition_error *error);

/* [init] For a message about a name that is no channel's: "'motor' has motor.rate" where what stands before one of its
 * dots has channels of a direction (-1: of both), else "there are" and all; at most so many, then how many more. */
const char *orr_channels_in_place_of(struct orr_arena *arena, const struct orr_channel_table *table, const char *name,
                                     int direction, int most);

/* [rt] Sets a state [condition->words] to what it is before the first frame. O(words). */
void orr_condition_reset(const struct orr_condition *condition, int64_t *state);

/* [init] Whether words that are not trusted can be its state at a time. O(nodes). */
bool orr_condition_is_sound(const struct orr_condition *condition, const int64_t *state, int64_t now_ns);

/* [rt] Whether it holds in a frame: its block, its time. A comparison with NaN does not hold. `rising` needs a frame in
 * which its condition was judged and did not hold. O(nodes + numbers of norms). */
bool orr_condition_judge(const struct orr_condition *condition, int64_t *state, const double *values, int64_t now_ns);

#endif
