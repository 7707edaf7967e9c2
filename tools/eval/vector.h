/* The vector of `orrery eval --solve`: numbers in the command line or in a file. [init] */
#ifndef ORR_TOOLS_EVAL_VECTOR_H
#define ORR_TOOLS_EVAL_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

struct orr_vector {
  double *numbers; /* [count]; free() it */
  size_t count;
  bool from_file;  /* the text came from a file, not from the command line */
  char error[160]; /* what is wrong, as a sentence without its end; "" when nothing is */
};

/* `1,0,-0.5`, or `@FILE` for a file that holds the numbers. Commas, white space or both separate them. Brackets around
 * them are allowed, so a JSON array of numbers works. False with `error` filled: a file that cannot be read, something
 * that is not a finite number, no number at all. O(text). */
bool orr_vector_read(struct orr_vector *vector, const char *word);

#endif
