/* Reads mappings by a table of their keys: one line per key says its name, type, unit, range, default, what it means
 * and where the value goes.
 *
 * The tables are also the reference: `orrery help run-file`, configs/run-file.md and `orrery schema` are printed from
 * them (tools/reference). So a key without `doc`, and one that may be left out without `fallback` or `absent`, is a
 * mistake in the program. An assert finds it.
 *
 * These functions read every value of every file: model files, cases, run files, the parameters of devices. Each
 * function reports what is wrong with its value and returns false; reading goes on with the next. [init]; one thread at
 * a time.
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
  ORR_KEY_WHOLE,   /* int64_t; with `choices` one of them may stand in its place: −1 for the first, −2, … */
  ORR_KEY_TIME,    /* int64_t, ns; with `choices` as above */
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

/* What stands in a PLACE, for the reference: its reader is not in the table. */
enum orr_shape_kind {
  ORR_SHAPE_TEXT,    /* a text; `what` says of what kind */
  ORR_SHAPE_WORD,    /* one of `words` */
  ORR_SHAPE_NUMBER,  /* a number of `unit` */
  ORR_SHAPE_TIME,    /* an exact time */
  ORR_SHAPE_NUMBERS, /* a list of `count` numbers of `unit`; 0: of any length */
  ORR_SHAPE_MAPPING, /* the keys of `mapping` */
  ORR_SHAPE_LATER,   /* the mapping of this name (`what`), which a later room reads (tools/reference/language.h) */
  ORR_SHAPE_DEVICE,  /* a device; `what` is its role */
  ORR_SHAPE_LIST,    /* a list of `of` */
  ORR_SHAPE_PAIR,    /* a list of `of` and `other`, one each */
  ORR_SHAPE_NAMED,   /* a mapping of names, of `what`, to `of` */
  ORR_SHAPE_EITHER,  /* `of`, or `other` */
};

struct orr_mapping;

struct orr_shape {
  enum orr_shape_kind kind;
  const char *what, *unit;
  size_t count;
  const char *const *words; /* ends with NULL */
  const struct orr_mapping *mapping;
  const struct orr_shape *of, *other;
};

/* In a table of keys: `.shape = ORR_TEXT("a node, body.node")`. */
#define ORR_SHAPE(...)       (&(const struct orr_shape){__VA_ARGS__})
#define ORR_TEXT(said)       ORR_SHAPE(.kind = ORR_SHAPE_TEXT, .what = (said))
#define ORR_WORD(list)       ORR_SHAPE(.kind = ORR_SHAPE_WORD, .words = (list))
#define ORR_NUMBER(si)       ORR_SHAPE(.kind = ORR_SHAPE_NUMBER, .unit = (si))
#define ORR_NUMBERS(n, si)   ORR_SHAPE(.kind = ORR_SHAPE_NUMBERS, .count = (n), .unit = (si))
#define ORR_MAPPING(name)    ORR_SHAPE(.kind = ORR_SHAPE_MAPPING, .mapping = &(name))
#define ORR_LATER(name)      ORR_SHAPE(.kind = ORR_SHAPE_LATER, .what = (name))
#define ORR_LIST(item)       ORR_SHAPE(.kind = ORR_SHAPE_LIST, .of = (item))
#define ORR_PAIR(a, b)       ORR_SHAPE(.kind = ORR_SHAPE_PAIR, .of = (a), .other = (b))
#define ORR_NAMED(whose, of) ORR_SHAPE(.kind = ORR_SHAPE_NAMED, .what = (whose), ORR_SHAPE_OF(of))
#define ORR_SHAPE_OF(item)   .of = (item)
#define ORR_EITHER(a, b)     ORR_SHAPE(.kind = ORR_SHAPE_EITHER, .of = (a), .other = (b))

/* The unit of a number is that of the channel that it is for. */
#define ORR_UNIT_OF_CHANNEL "*"

extern const struct orr_shape orr_shape_node;       /* body.node */
extern const struct orr_shape orr_shape_direction;  /* [x, y, z], made unit */
extern const struct orr_shape orr_shape_quaternion; /* [x, y, z, w] */
extern const struct orr_shape orr_shape_channels;   /* names of channels, with `*` */

struct orr_key {
  const char *name;
  const char *doc; /* what it means, a sentence without a full stop at its end */
  enum orr_key_type type;
  bool required;
  const char *fallback;          /* what holds without it, as a file would write it; the reader reads it, too */
  const char *absent;            /* or what its absence means, where no value says that */
  const struct orr_shape *shape; /* PLACE: what stands there */
  const char *unit;              /* NUMBER(S): as orr_quantity_parse takes it; NULL: a plain number */
  const struct orr_range *range; /* NUMBER(S), WHOLE, TIME (in s): NULL for any finite */
  size_t count;                  /* NUMBERS: how many; at most 32 */
  const char *form;              /* NUMBERS: what they are, "[x, y, z]"; or NULL */
  const char *const *choices;    /* CHOICE: ends with NULL */
  size_t offset;                 /* of the value in the target */
};

/* What a mapping of the language holds. */
struct orr_mapping {
  const char *name; /* of its own in the whole language: "links.timeout" */
  const char *doc;  /* what it is: sentences */
  const struct orr_key *keys;
  size_t key_count;
  const char *example; /* lines as they stand in a run file, from the section's own key on; or NULL */
};

#define ORR_KEYS(table) .keys = (table), .key_count = sizeof(table) / sizeof *(table)

/* What a mapping is, for its messages: "unknown key 'x' in body 'bus'". */
struct orr_thing {
  const char *what;       /* "body" */
  const char *name;       /* "bus", or NULL */
  struct orr_place place; /* the mapping */
  struct orr_place key;   /* of the mapping, shown where something is missing; its node may be NULL */
};

/* [init] Reads a mapping into the struct that starts at `target`: at most 64 keys. Bit i of *present is set when key i
 * is there and right; what is absent or wrong becomes its `fallback`, and without one leaves the target as it was. A
 * mapping that does not stand in the file at all (a NULL node) is right, with the fallbacks. False after reporting
 * anything. */
bool orr_read_mapping(struct orr_reader *reader, const struct orr_thing *thing, const struct orr_mapping *mapping,
                      void *target, uint64_t *present);

/* [init] The place of a value of a thing by its key, or of the thing where it has none; O(keys). */
struct orr_place orr_read_member(struct orr_reader *reader, const struct orr_thing *thing, const char *key);

/* [init] One value; `name` is the key's, for messages. */
bool orr_read_number(struct orr_reader *reader, struct orr_place place, const char *name, const char *unit,
                     const struct orr_range *range, double *out);
bool orr_read_numbers(struct orr_reader *reader, struct orr_place place, const struct orr_key *key, double *out);
bool orr_read_time(struct orr_reader *reader, struct orr_place place, const char *name, const struct orr_range *range,
                   int64_t *out);
bool orr_read_text(struct orr_reader *reader, struct orr_place place, const char *name, const char **out);

/* [init] Reports a value that is no mapping, or no list. An empty value counts as an empty one. */
bool orr_expect_mapping(struct orr_reader *reader, struct orr_place place, const char *name);
bool orr_expect_sequence(struct orr_reader *reader, struct orr_place place, const char *name);

/* [init] A new name: letters, digits, _ and -, not beginning with a digit, at most 63. */
bool orr_read_name(struct orr_reader *reader, struct orr_place key, const char *what);

/* [init] Reads a quaternion x y z w and normalises it. A length that is not quite 1 is warned about, any other is an
 * error. */
bool orr_read_quaternion(struct orr_reader *reader, struct orr_place place, const char *name, double out[4]);

/* [init] A direction, normalised; an error when it has no length. */
bool orr_read_direction(struct orr_reader *reader, struct orr_place place, const char *name, double out[3]);

/* [init] Items of a list, or entries of a mapping; 0 for an empty value. */
size_t orr_place_count(struct orr_place place);

/* [init] Whether to search for the nearest name: not after a hundred errors, since each search costs O(names). */
bool orr_read_may_suggest(const struct orr_reader *reader);

/* [init] Reports at a place. */
void orr_read_error(struct orr_reader *reader, struct orr_place place, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void orr_read_warning(struct orr_reader *reader, struct orr_place place, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
