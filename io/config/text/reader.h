/* Reads mappings by a table of their keys: one line per key says its name, type, unit, range and where the value goes.
 *
 * Everything in a file goes through here: model files, cases, run files, the parameters of devices. Each function
 * reports what is wrong with its value and returns false; reading goes on with the next. [init]; one thread at a time.
 */
#ifndef ORR_IO_CONFIG_TEXT_READER_H
#define ORR_IO_CONFIG_TEXT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/config/text/yaml.h"

struct orr_reader {
  struct orr_diagnostics *diagnostics;
  struct orr_arena *arena; /* for what is read */
};

enum orr_key_type {
  ORR_KEY_NUMBER,  /* double, SI */
  ORR_KEY_NUMBERS, /* double[count], SI */
  ORR_KEY_WHOLE,   /* int64_t */
  ORR_KEY_TIME,    /* int64_t, ns */
  ORR_KEY_FLAG,    /* bool */
  ORR_KEY_CHOICE,  /* int: the index into `choices` */
  ORR_KEY_TEXT,    /* const char * */
  ORR_KEY_PLACE,   /* struct orr_place, for the caller to read */
  ORR_KEY_UNBUILT, /* part of the language, not of this program yet: an error that says so */
};

struct orr_range {
  double low, high; /* HUGE_VAL for none */
  bool open;        /* `low` itself is outside */
};

extern const struct orr_range orr_range_positive;     /* (0, ∞) */
extern const struct orr_range orr_range_not_negative; /* [0, ∞) */

struct orr_key {
  const char *name;
  enum orr_key_type type;
  bool required;
  const char *unit;              /* NUMBER(S): as orr_quantity_parse takes it; NULL: a plain number */
  const struct orr_range *range; /* NUMBER(S), WHOLE, TIME (in s): NULL for any finite */
  size_t count;                  /* NUMBERS: how many; at most 32 */
  const char *form;              /* NUMBERS: what they are, "[x, y, z]"; or NULL */
  const char *const *choices;    /* CHOICE: ends with NULL */
  size_t offset;                 /* of the value in the target */
};

/* What a mapping is, for its messages: "unknown key 'x' in body 'bus'". */
struct orr_thing {
  const char *what;       /* "body" */
  const char *name;       /* "bus", or NULL */
  struct orr_place place; /* the mapping */
  struct orr_place key;   /* of the mapping, shown where something is missing; its node may be NULL */
};

/* [init] Reads a mapping into the struct that starts at `target`: at most 64 keys. Bit i of *present is set when key i
 * is there and right; what is absent or wrong leaves the target as it was. False after reporting anything. */
bool orr_read_mapping(struct orr_reader *reader, const struct orr_thing *thing, const struct orr_key *keys,
                      size_t key_count, void *target, uint64_t *present);

/* [init] The place of a value of a thing by its key, or of the thing where it has none; O(keys). */
struct orr_place orr_read_member(struct orr_reader *reader, const struct orr_thing *thing, const char *key);

/* [init] One value; `name` is the key's, for messages. */
bool orr_read_number(struct orr_reader *reader, struct orr_place place, const char *name, const char *unit,
                     const struct orr_range *range, double *out);
bool orr_read_numbers(struct orr_reader *reader, struct orr_place place, const struct orr_key *key, double *out);
bool orr_read_text(struct orr_reader *reader, struct orr_place place, const char *name, const char **out);

/* [init] That a value is a mapping, or a list; an empty value passes for an empty one. */
bool orr_expect_mapping(struct orr_reader *reader, struct orr_place place, const char *name);
bool orr_expect_sequence(struct orr_reader *reader, struct orr_place place, const char *name);

/* [init] A new name: letters, digits, _ and -, not beginning with a digit, at most 63. */
bool orr_read_name(struct orr_reader *reader, struct orr_place key, const char *what);

/* [init] A unit quaternion x y z w, normalised; with a warning when it is not quite one, an error when it is none. */
bool orr_read_quaternion(struct orr_reader *reader, struct orr_place place, const char *name, double out[4]);

/* [init] A direction, normalised; an error when it has no length. */
bool orr_read_direction(struct orr_reader *reader, struct orr_place place, const char *name, double out[3]);

/* [init] Items of a list, or entries of a mapping; 0 for an empty value. */
size_t orr_place_count(struct orr_place place);

/* [init] Whether looking for the nearest name is still worth it: not when a hundred errors have been found, since each
 * look costs O(names). */
bool orr_read_may_suggest(const struct orr_reader *reader);

/* [init] Reports at a place. */
void orr_read_error(struct orr_reader *reader, struct orr_place place, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void orr_read_warning(struct orr_reader *reader, struct orr_place place, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
