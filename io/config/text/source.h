/* Texts that were read, and places in them.
 *
 * A place is an `orr_source` (core/model/description.h): an index into this table, 0 for none. A place reached through
 * an alias, a merge key or an include has a `via`, the place that led to it, so that a message can show both. create →
 * add files → places → ask for lines and columns → destroy. [init]; one thread at a time.
 */
#ifndef ORR_IO_CONFIG_TEXT_SOURCE_H
#define ORR_IO_CONFIG_TEXT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "core/model/description.h"
#include "io/config/text/arena.h"

struct orr_yaml;
struct orr_sources;

/* A file in memory: for tests and fuzzers. */
struct orr_text_file {
  const char *name, *text;
  size_t length;
};

enum orr_via { ORR_VIA_NONE, ORR_VIA_ALIAS, ORR_VIA_MERGE, ORR_VIA_INCLUDE };

struct orr_location {
  uint32_t file;               /* as orr_sources_add_file gave it */
  uint32_t offset;             /* bytes from the start of the file */
  orr_source via;              /* what led here; 0: nothing did, it is written where it counts */
  enum orr_via kind;           /* what this place is when it is the `via` of another */
  orr_source node_via;         /* what led to `node`, which may be an alias behind a key */
  const struct orr_yaml *node; /* what stands here, for a look at its members; or NULL */
};

struct orr_line {
  const char *text; /* the source line; not ended by a NUL */
  size_t length;    /* without its line end */
  size_t number;    /* from 1 */
  size_t column;    /* of the place, in characters, from 1 */
  size_t byte;      /* of the place in `text`, from 0; at most `length` */
};

/* [init] Never NULL. The arena must outlive the table. */
struct orr_sources *orr_sources_create(struct orr_arena *arena);

/* [init] Keeps name and text (not copied: they live as long as the arena). O(1). */
uint32_t orr_sources_add_file(struct orr_sources *sources, const char *name, const char *text, size_t length);

const char *orr_sources_file_name(const struct orr_sources *sources, uint32_t file);

/* [init] How many files there are, those that could not be read not counted; and the i-th, as it was read. O(1). */
size_t orr_sources_file_count(const struct orr_sources *sources);
struct orr_text_file orr_sources_file(const struct orr_sources *sources, size_t index);

/* [init] Counts one more value in the texts, and returns the count so far. */
size_t orr_sources_count_value(struct orr_sources *sources);

/* [init] A new place; amortised O(1). */
orr_source orr_sources_add(struct orr_sources *sources, struct orr_location location);

/* [init] A place reached by way of `inner` and, before it, `outer`: content may come through several aliases and
 * includes. At most eight are kept. */
orr_source orr_sources_join(struct orr_sources *sources, orr_source inner, orr_source outer);

/* [init] The location of a place; of 0 a location with file 0 that has no text. */
struct orr_location orr_sources_get(const struct orr_sources *sources, orr_source source);

/* [init] The line around an offset; O(log lines) after a first call that is O(file). */
struct orr_line orr_sources_line(struct orr_sources *sources, uint32_t file, uint32_t offset);

/* [init] The offset of a line and column (characters) from 1; kept within the file. */
uint32_t orr_sources_offset(struct orr_sources *sources, uint32_t file, size_t line, size_t column);

#endif
