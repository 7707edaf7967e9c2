/* A condition where a run file writes one. */
#include <string.h>

#include "io/config/run/run_draft.h"

/* The place of a mistake within a scalar, where the file has the text as it was decoded; else the scalar. */
static orr_source place_within(struct orr_run_draft *d, struct orr_place place, size_t at) {
  struct orr_sources *sources = orr_diagnostics_sources(d->reader->diagnostics);
  const struct orr_yaml *node = place.node;
  uint32_t offset = node->offset + node->quoted + (uint32_t)at;
  struct orr_line line = orr_sources_line(sources, node->file, node->offset);
  size_t begin = line.byte + node->quoted;
  bool as_written = begin + node->count <= line.length && memcmp(line.text + begin, node->text, node->count) == 0;
  return orr_sources_add(sources, (struct orr_location){.file = node->file,
                                                        .offset = as_written ? offset : node->offset,
                                                        .via = place.via,
                                                        .node = node,
                                                        .node_via = place.via});
}

const struct orr_condition *orr_run_read_condition(struct orr_run_draft *d, struct orr_place place, const char *name) {
  const char *text;
  struct orr_condition_error error;
  if (!orr_read_text(d->reader, place, name, &text) || d->blind)
    return NULL;
  const struct orr_condition *c = orr_condition_parse(text, &d->run->table, d->reader->arena, &error);
  if (c || (d->partial && strcmp(error.code, "unknown-channel") == 0))
    return c;
  orr_report(d->reader->diagnostics, ORR_ERROR, place_within(d, place, error.at), error.code, "%s", error.text);
  return NULL;
}
