/* Reads a JSON file that may come from anywhere, in memory that is bounded before it is parsed. [init] */
#ifndef ORR_TOOLS_COMMON_JSON_FILE_H
#define ORR_TOOLS_COMMON_JSON_FILE_H

#include <jansson.h>
#include <stddef.h>

/* A list of none takes two bytes of a text and 140 of memory, so both are counted. A slice of `orrery timing` has some
 * 2,000 to 20,000 values, 60 of them lists and objects. */
enum {
  ORR_JSON_MIB = 64, /* of text */
  ORR_JSON_VALUES = 4000000,
  ORR_JSON_HOLDERS = 500000, /* lists and objects */
  ORR_JSON_TROUBLE = 200     /* bytes of a message */
};

/* What the file holds, read with the `flags` of json_loadb; to be json_decref'ed. NULL, with what is wrong and where in
 * `trouble`, to stand behind the file's name and without control characters: it cannot be read, is a FIFO, is too long,
 * has too many values, is no JSON. O(text). */
json_t *orr_json_load(const char *path, size_t flags, char trouble[ORR_JSON_TROUBLE]);

#endif
