/* The one table of signals: all that the spacecraft and its devices measure and take as commands. Every layout is made
 * from it.
 *
 * A channel is `<device>.<quantity>`, `<body>.<quantity>` or `<body>.<node>.<quantity>`: `count` numbers with one unit.
 * All numbers of a frame stand in one block of doubles, outputs first and commands behind them; `offset` is the
 * channel's place in it. A number is a double whatever the channel's type, which says what the number means: a link may
 * pack it tighter.
 *
 * Call order, [init]: a zeroed table → declare everything (counts) → orr_channels_size → a block → orr_channels_place →
 * declare the same again (fills) → orr_channels_seal. After that the table is const but for `asked`, and any thread may
 * read it.
 */
#ifndef ORR_CORE_PLANT_CHANNEL_H
#define ORR_CORE_PLANT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/math/block.h"

enum orr_channel_type {
  ORR_CHANNEL_REAL,  /* any finite number */
  ORR_CHANNEL_WHOLE, /* a whole number, at most 2^53 in size */
  ORR_CHANNEL_FLAG,  /* 0 or 1 */
};

enum orr_channel_direction {
  ORR_CHANNEL_OUTPUT,  /* from the plant: a measurement, telemetry of a device, truth */
  ORR_CHANNEL_COMMAND, /* to the plant */
};

enum orr_channel_hold {
  ORR_CHANNEL_LEVEL, /* held until the next one */
  ORR_CHANNEL_PULSE, /* a command applied once; zero: nothing new */
};

/* In place of a pulse, where commands have stopped: what is left of the last one ends now. No peer may send it. */
#define ORR_CHANNEL_PULSE_ENDS (-1.0)

enum { ORR_CHANNEL_COUNT_MAX = 4096 };

struct orr_channel {
  const char *name; /* full: "gyro.rate" */
  const char *doc;  /* what it is, a sentence without a full stop at its end */
  const char *unit; /* as io/config writes units: "rad/s"; "" for a plain number */
  enum orr_channel_type type;
  enum orr_channel_direction direction;
  enum orr_channel_hold hold;  /* commands; outputs are levels */
  int count;                   /* numbers, ≥ 1 */
  const char *const *elements; /* [count] their names, or NULL: only by index */
  double low, high;            /* commands: what is outside is refused; −∞, ∞ for no bound */
  double most;        /* commands: beyond it, either way, a number has no more effect; 0: there is no such limit */
  int divisor, phase; /* outputs: a new value at the frames phase + k divisor; between them the last one stands */
  int offset;         /* of the first number in the frame's block; after seal */
  bool asked;         /* someone reads it: truth is computed only where asked for */
};

struct orr_channel_table {
  struct orr_channel *channels; /* [count]; NULL while counting */
  int count;
  int output_values; /* numbers of all outputs: the commands start here in the block */
  int value_count;   /* numbers of all channels */
  int room;
  char *names;
  size_t name_bytes, name_room;
  bool sealed;
};

/* Names of elements that several channels share. */
extern const char *const orr_channel_xyz[3];    /* x y z */
extern const char *const orr_channel_xyzw[4];   /* x y z w */
extern const char *const orr_channel_wrench[6]; /* nx ny nz fx fy fz: [N; F] */

/* [any] The unit of one number of a channel: that of the channel, but of a wrench a moment's or a force's. Element −1:
 * of all. */
const char *orr_channel_unit(const struct orr_channel *channel, int element);

/* [init] Adds a channel named `<entity>.<name>` (`entity` may itself hold a dot), or counts it. The strings of `unit`
 * and `elements` are kept, not copied. Returns its index. O(length). */
int orr_channel_declare(struct orr_channel_table *table, const char *entity, const struct orr_channel *spec);

/* [init] After counting: the bytes that the table's arrays take; and taking them (the same block, measured or real),
 * which also starts the second round of declarations. */
size_t orr_channels_size(const struct orr_channel_table *table);
void orr_channels_place(struct orr_channel_table *table, struct orr_block *block);

/* [init] Gives every channel its place: outputs in the order of declaration, then commands. O(channels). */
void orr_channels_seal(struct orr_channel_table *table);

/* [any] Index of a channel by its full name, or -1. O(channels). */
int orr_channel_find(const struct orr_channel_table *table, const char *name);

/* [any] A channel or one of its numbers by name: `gyro.rate`, `gyro.rate.x` or `gyro.rate[0]`. *element is -1 for the
 * whole channel. Index of the channel, or -1. O(channels). */
int orr_channel_find_element(const struct orr_channel_table *table, const char *name, int *element);

/* [any] Whether a full name fits a pattern in which `*` stands for any letters, dots too. O(length²) at most. */
bool orr_channel_matches(const char *pattern, const char *name);

/* [any] Whether `value` may be given to the channel: finite, whole or a flag where the type says so, in its range.
 * O(1). */
bool orr_channel_accepts(const struct orr_channel *channel, double value);

/* [any] A hash of names, units, types, counts, directions and order: two tables with the same one have the same layout.
 * O(table). */
uint64_t orr_channels_hash(const struct orr_channel_table *table);

#endif
