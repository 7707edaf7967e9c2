/* Conditions in the frame: no text, no memory but the state that is given. */
#include <math.h>

#include "io/config/run/condition.h"

/* Words of the state: of `rising` whether it held in the frame before, of `for` since when it has held. */
enum { RISING_UNKNOWN = 0, RISING_NO = 1, RISING_YES = 2 };
static const int64_t FOR_NOT = -1;

void orr_condition_reset(const struct orr_condition *condition, int64_t *state) {
  for (int i = 0; i < condition->count; i++) {
    const struct orr_condition_node *n = &condition->nodes[i];
    if (n->memory >= 0)
      state[n->memory] = n->sort == ORR_CONDITION_FOR ? FOR_NOT : RISING_UNKNOWN;
  }
}

bool orr_condition_is_sound(const struct orr_condition *condition, const int64_t *state, int64_t now_ns) {
  for (int i = 0; i < condition->count; i++) {
    const struct orr_condition_node *n = &condition->nodes[i];
    if (n->sort == ORR_CONDITION_FOR && (state[n->memory] < FOR_NOT || state[n->memory] > now_ns))
      return false;
  }
  return true;
}

static double value_of(const struct orr_condition_node *n, const double *values, int64_t now_ns) {
  if (n->first < 0)
    return (double)now_ns / 1e9;
  if (!n->norm)
    return values[n->first];
  double sum = 0;
  for (int i = 0; i < n->count; i++)
    sum += values[n->first + i] * values[n->first + i];
  return sqrt(sum);
}

static bool compare(const struct orr_condition_node *n, double value) {
  switch (n->relation) {
  case ORR_CONDITION_ABOVE:
    return value > n->low;
  case ORR_CONDITION_BELOW:
    return value < n->high;
  case ORR_CONDITION_AT_LEAST:
    return value >= n->low;
  case ORR_CONDITION_AT_MOST:
    return value <= n->high;
  case ORR_CONDITION_IS:
    return value == n->low;
  case ORR_CONDITION_IS_NOT:
    return value < n->low || value > n->low; /* and so not for what is no number */
  default:
    return value >= n->low && value <= n->high;
  }
}

static bool has_held(int64_t *since, bool now, int64_t span_ns, int64_t now_ns) {
  if (!now)
    *since = FOR_NOT;
  else if (*since < 0)
    *since = now_ns;
  return now && now_ns - *since >= span_ns;
}

bool orr_condition_judge(const struct orr_condition *condition, int64_t *state, const double *values, int64_t now_ns) {
  bool holds[ORR_CONDITION_NODES] = {false};
  for (int i = 0; i < condition->count; i++) {
    const struct orr_condition_node *n = &condition->nodes[i];
    bool left = n->left >= 0 && holds[n->left], right = n->right >= 0 && holds[n->right];
    int64_t *memory = n->memory >= 0 ? &state[n->memory] : NULL;
    switch (n->sort) {
    case ORR_CONDITION_BOUND:
      holds[i] = compare(n, value_of(n, values, now_ns));
      break;
    case ORR_CONDITION_AND:
      holds[i] = left && right;
      break;
    case ORR_CONDITION_OR:
      holds[i] = left || right;
      break;
    case ORR_CONDITION_NOT:
      holds[i] = !left;
      break;
    case ORR_CONDITION_RISING:
      holds[i] = left && memory && *memory == RISING_NO;
      if (memory)
        *memory = left ? RISING_YES : RISING_NO;
      break;
    case ORR_CONDITION_FOR:
      holds[i] = memory && has_held(memory, left, n->span_ns, now_ns);
      break;
    }
  }
  return condition->count > 0 && holds[condition->count - 1];
}
