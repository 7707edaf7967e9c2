/* What the fuzz targets of links share: a link of a few channels of all types, and an input read as a list of steps.
 *
 * orr_link_rig_init → per frame orr_link_rig_publish, orr_link_rig_latch → orr_link_rig_account. One thread per rig; it
 * must not move.
 */
#ifndef ORR_TESTS_SUPPORT_STEPS_H
#define ORR_TESTS_SUPPORT_STEPS_H

#include "io/client/client.h"
#include "io/links/terms/rules.h"

/* One byte says what, one how long, then so many bytes (fewer where the input ends). */
struct orr_steps {
  const uint8_t *data;
  size_t left;
};

struct orr_step {
  unsigned what;
  const uint8_t *bytes;
  size_t size;
};

/* False when there is none left. */
bool orr_steps_next(struct orr_steps *steps, struct orr_step *step);
/* Byte i of a step, 0 where it is shorter. */
unsigned orr_step_byte(const struct orr_step *step, size_t i);

/* Ends the program: what the targets hold true does not hold. */
void orr_must(bool good);

enum { ORR_RIG_CHANNELS = 7, ORR_RIG_VALUES = 260, ORR_RIG_WORDS = 260, ORR_RIG_DIVISOR = 2 };

struct orr_link_rig {
  struct orr_channel
      channels[ORR_RIG_CHANNELS]; /* a.rate, a.count, a.on out; b.torque, b.time (a pulse), c.mode, d.on in */
  struct orr_channel_table table;
  struct orr_layout_entry entries[ORR_RIG_CHANNELS + 1];
  struct orr_layout layout;
  struct orr_rules rules;
  uint64_t places[ORR_RULES_PLACES * ORR_RIG_WORDS], payload[ORR_RIG_WORDS];
  double values[ORR_RIG_VALUES];
  int64_t frame; /* the next to go out */
  bool out;      /* one is out whose boundary is not latched yet */
};

/* Commands of 33 bytes, or, with bit 0 of `shape`, with `torques` numbers of b.torque in place of one (at most 188:
 * 1529 bytes) and 30 of a.rate in place of 3. Bits 1 and 2: the policy of silence; bit 3: asap. */
void orr_link_rig_init(struct orr_link_rig *rig, unsigned shape, int torques);
/* The head and payload of the next frame, told to the rules. The one before is latched. */
void orr_link_rig_publish(struct orr_link_rig *rig, uint64_t head[ORR_WIRE_OUT_WORDS]);
/* Latches what is due at the boundary, or under asap between boundaries; the numbers of the plant must stay values of
 * their channels. */
void orr_link_rig_latch(struct orr_link_rig *rig);
/* Each frame out is answered in one way, or not. Of `offered` commands each one is applied, refused by cause, or waits
 * (0: not known how many). */
void orr_link_rig_account(const struct orr_link_rig *rig, uint64_t offered);

/* What a client does with a frame: every channel found, read and, where it is a command, set to `value`. */
void orr_client_visit(struct orr_client *client, double value);

#endif
