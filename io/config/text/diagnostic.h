/* Errors and warnings about files, collected while they are read and printed as a compiler prints them:
 *
 *     wing.yaml:12:7: error: unknown key 'inertai' in a body, did you mean 'inertia'?
 *        12 |       inertai: [1, 2, 3]
 *           |       ^~~~~~~
 *     ship.yaml:3:13: note: included from here
 *
 * create → read files with it → ask for the counts, print → destroy. It owns the texts of the files and every place
 * (`orr_source`) in them: destroy it after everything that was read with it. [init]; one thread at a time.
 */
#ifndef ORR_IO_CONFIG_TEXT_DIAGNOSTIC_H
#define ORR_IO_CONFIG_TEXT_DIAGNOSTIC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "io/config/text/source.h"

enum orr_severity { ORR_WARNING, ORR_ERROR };

struct orr_message {
  enum orr_severity severity;
  const char *code; /* what kind of mistake, e.g. "unknown-key": for programs */
  const char *text; /* what is wrong and what to do */
  orr_source at;
  const char *related_text; /* of a second place, e.g. "first written here"; or NULL */
  orr_source related;
};

struct orr_diagnostics;

/* [init] Never NULL. */
struct orr_diagnostics *orr_diagnostics_create(void);

/* [init] NULL is allowed. */
void orr_diagnostics_destroy(struct orr_diagnostics *diagnostics);

/* [init] The files and places that messages refer to. */
struct orr_sources *orr_diagnostics_sources(struct orr_diagnostics *diagnostics);

/* [init] Memory that lives as long as the diagnostics. */
struct orr_arena *orr_diagnostics_arena(struct orr_diagnostics *diagnostics);

/* [init] Adds a message. The same text at the same spot is kept once (an alias repeats a mistake). Messages beyond
 * ORR_MESSAGES_KEPT are counted and not kept. */
enum { ORR_MESSAGES_KEPT = 1000 };
void orr_report(struct orr_diagnostics *diagnostics, enum orr_severity severity, orr_source at, const char *code,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
void orr_report_list(struct orr_diagnostics *diagnostics, enum orr_severity severity, orr_source at, const char *code,
                     const char *format, va_list arguments) __attribute__((format(printf, 5, 0)));

/* [init] Adds a second place to the message reported last, if that was kept. */
void orr_report_related(struct orr_diagnostics *diagnostics, orr_source at, const char *text);

/* [init] Puts the messages of index ≥ `first` in the order of their files and places. */
void orr_diagnostics_sort(struct orr_diagnostics *diagnostics, size_t first);

/* [any] How many errors, those repeated or beyond ORR_MESSAGES_KEPT included. */
size_t orr_diagnostics_errors(const struct orr_diagnostics *diagnostics);

/* [any] The messages kept. */
size_t orr_diagnostics_count(const struct orr_diagnostics *diagnostics);
struct orr_message orr_diagnostics_get(const struct orr_diagnostics *diagnostics, size_t index);

/* [init] Prints those of index ≥ `first`, with source lines, carets and the places that led there. */
void orr_diagnostics_print(struct orr_diagnostics *diagnostics, size_t first, FILE *out, bool colour);

#endif
