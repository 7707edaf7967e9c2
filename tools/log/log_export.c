/* `orrery log export`: the numbers of devices and bodies as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/common/out_file.h"
#include "tools/log/log_verbs.h"

static void head(const struct orr_log_rows *rows, FILE *out) {
  fputs("time (s)", out);
  for (size_t i = 0; i < rows->count; i++) {
    const struct orr_log_column *c = &rows->columns[i];
    bool plain = !c->unit || !*c->unit;
    fprintf(out, ",%s%s%s%s", c->name, plain ? "" : " (", plain ? "" : c->unit, plain ? "" : ")");
  }
  fputc('\n', out);
}

static void row(const struct orr_log_rows *rows, FILE *out) {
  fprintf(out, "%.9f", 1e-9 * (double)rows->time_ns);
  for (size_t i = 0; i < rows->count; i++)
    if (rows->columns[i].seen)
      fprintf(out, ",%.17g", rows->columns[i].value);
    else
      fputc(',', out);
  fputc('\n', out);
}

static bool write_table(struct orr_log_rows *rows, const struct orr_log_arguments *a) {
  struct orr_out_file file;
  if (!orr_out_file_open(&file, a->csv)) {
    fprintf(stderr, "orrery log: cannot write '%s': %s\n", a->csv, strerror(errno));
    return false;
  }
  head(rows, file.out);
  while (orr_log_rows_next(rows))
    if (rows->time_ns >= a->from_ns && rows->time_ns <= a->to_ns)
      row(rows, file.out);
  bool good = orr_out_file_close(&file, true);
  if (!good)
    fprintf(stderr, "orrery log: cannot write all of '%s': %s\n", a->csv, strerror(errno));
  return good && !rows->wrong;
}

static bool has_columns(const struct orr_log_rows *rows, const struct orr_log_arguments *a) {
  if (!orr_log_has_topics(&rows->log, a->topics))
    return false;
  if (a->topics && rows->count == 0) {
    fprintf(stderr, "orrery log: no topic that fits '%s' has columns: 'orrery log cat' shows what is no number\n",
            a->topics);
    return false;
  }
  return true;
}

int orr_log_export(const struct orr_log_arguments *a) {
  struct orr_log_rows *rows = malloc(sizeof *rows);
  if (!rows)
    abort();
  bool good = orr_log_rows_open(rows, "orrery log", a->path, a->topics);
  if (good) {
    good = has_columns(rows, a) && write_table(rows, a);
    good = orr_log_ended(&rows->log) && good;
    orr_log_rows_close(rows);
  }
  free(rows);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}
