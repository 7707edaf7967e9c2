/* Finds the mappings of all files that Orrery reads, starting from three: a model or run file, the file of a part, a
 * case. A mapping that cannot be reached from these is missing in the reference. [init]: pure functions. */
#ifndef ORR_TOOLS_REFERENCE_LANGUAGE_H
#define ORR_TOOLS_REFERENCE_LANGUAGE_H

#include "io/config/run/run_mappings.h"
#include "io/config/spacecraft/mappings.h"

/* The mapping of a shape that is one (ORR_SHAPE_MAPPING, ORR_SHAPE_LATER), or NULL. */
const struct orr_mapping *orr_language_mapping(const struct orr_shape *shape);

enum { ORR_LANGUAGE_MOST = 64 };

/* All mappings below a file's, itself first, each once, those of a section before the next section. Returns their
 * number. */
size_t orr_language_list(const struct orr_mapping *file, const struct orr_mapping *list[ORR_LANGUAGE_MOST]);

/* "number, N m, at least 0": what may stand in a key, of a table or of a shape. `text` is cut where it does not fit. */
enum { ORR_LANGUAGE_TEXT = 600 };
void orr_language_describe(const struct orr_key *key, char text[ORR_LANGUAGE_TEXT]);

/* "default 10 s", "required", or what its absence means. */
void orr_language_absence(const struct orr_key *key, char text[ORR_LANGUAGE_TEXT]);

/* A parameter of a device as a key: its range lives in *range, and the texts that are made of numbers in `texts`. */
struct orr_key orr_language_param(const struct orr_param *param, struct orr_range *range,
                                  char texts[ORR_LANGUAGE_TEXT]);

#endif
