/* Reads JSON files, and rows of them, that may come from anywhere, in memory that is bounded before it is parsed.
 * [init] */
#ifndef ORR_TOOLS_COMMON_JSON_FILE_H
#define ORR_TOOLS_COMMON_JSON_FILE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

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

/* A line of a file of rows. [init] */
struct orr_json_line {
  char *text; /* NULL before the first; its owner frees it */
  size_t room;
  size_t length; /* with its end; of a line that is longer than a file may be, the text is not kept */
};

/* The next one, and whether it has its end. O(line). */
enum orr_json_end { ORR_JSON_NONE, ORR_JSON_PART, ORR_JSON_WHOLE };
enum orr_json_end orr_json_next(struct orr_json_line *line, FILE *in);

/* What it holds; to be json_decref'ed. NULL: no JSON, or more than a file may hold. O(line). */
json_t *orr_json_row(const struct orr_json_line *line);

#endif
