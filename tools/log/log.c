/* `orrery log`: looks into logs, makes tables of them, and repairs one that was cut. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/log/repair.h"
#include "tools/common/commands.h"
#include "tools/log/log_verbs.h"

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery log: %s%s%s%s\nTry 'orrery help log'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- arguments ----------------------------------------------------------------------------------------------------
 * */

/* Options that take a value. */
static int option(struct orr_log_arguments *a, const char *word, const char *value) {
  bool from = strcmp(word, "--from") == 0, to = strcmp(word, "--to") == 0;
  bool topics = strcmp(word, "--topics") == 0, csv = strcmp(word, "--csv") == 0, hdf5 = strcmp(word, "--hdf5") == 0;
  if (!from && !to && !topics && !csv && !hdf5)
    return usage("unknown option", word);
  if (!value)
    return usage("a value is missing after", word);
  if ((from || to) && !orr_log_time(value, from ? &a->from_ns : &a->to_ns))
    return usage(from ? "--from takes a time such as 12s, not" : "--to takes a time such as 12s, not", value);
  if (topics)
    a->topics = value;
  if (csv)
    a->csv = value;
  if (hdf5)
    a->hdf5 = value;
  return ORR_EXIT_OK;
}

static int parse(int argc, char **argv, struct orr_log_arguments *a) {
  int status = ORR_EXIT_OK;
  *a = (struct orr_log_arguments){.to_ns = UINT64_MAX};
  for (int i = 1; i < argc && status == ORR_EXIT_OK; i++) {
    if (strcmp(argv[i], "--json") == 0)
      a->json = true;
    else if (argv[i][0] == '-' && argv[i][1])
      status = option(a, argv[i], argv[i + 1]), i++;
    else if (!a->what)
      a->what = argv[i];
    else if (!a->path)
      a->path = argv[i];
    else
      status = usage("one log, not also", argv[i]);
  }
  return status;
}

/* ---- repair -------------------------------------------------------------------------------------------------------
 * */

static int repair(const struct orr_log_arguments *a) {
  struct orr_repair done;
  char message[256];
  if (!orr_log_repair(a->path, &done, message, sizeof message)) {
    fprintf(stderr, "orrery log: cannot repair '%s': %s\n", a->path, message);
    return ORR_EXIT_BAD;
  }
  if (done.was_complete) {
    printf("'%s' is complete: nothing to do\n", a->path);
    return ORR_EXIT_OK;
  }
  uint64_t cut = done.bytes_before - done.extent.end;
  printf("'%s': %zu whole chunks, %" PRIu64 " messages indexed; %" PRIu64
         " bytes behind the last one were taken off%s\n",
         a->path, done.extent.chunks, done.messages, cut, done.extent.damaged ? ", for they were damaged" : "");
  return ORR_EXIT_OK;
}

/* A table, or both. */
static int export(const struct orr_log_arguments *a) {
  int status = a->csv ? orr_log_export(a) : ORR_EXIT_OK;
  return a->hdf5 && status == ORR_EXIT_OK ? orr_log_hdf5(a) : status;
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 * */

static int run(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(const struct orr_log_arguments *);
    bool table, json, span;
  } verbs[] = {{"info", orr_log_info, false, true, false},
               {"cat", orr_log_cat, false, true, true},
               {"export", export, true, false, true},
               {"repair", repair, false, false, false}};
  struct orr_log_arguments a;
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  if (!a.what)
    return usage("needs one of info, cat, export and repair", NULL);
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    if (strcmp(verbs[i].name, a.what) != 0)
      continue;
    if (!a.path)
      return usage("needs a log", NULL);
    if (a.json && !verbs[i].json)
      return usage("no --json with", a.what);
    if (!verbs[i].table && (a.csv || a.hdf5))
      return usage("no --csv or --hdf5 with", a.what);
    if (verbs[i].table && !a.csv && !a.hdf5)
      return usage("--csv FILE or --hdf5 FILE is missing after", a.what);
    if (!verbs[i].span && (a.from_ns || a.to_ns != UINT64_MAX || a.topics))
      return usage("no --from, --to or --topics with", a.what);
    return verbs[i].run(&a);
  }
  return usage("knows info, cat, export and repair, not", a.what);
}

const struct orr_command orr_cmd_log = {
    .name = "log",
    .summary = "look into the log of a run, make a table of it, repair it",
    .usage = "info|repair LOG\n"
             "       orrery log cat LOG [--json] [--topics PATTERNS] [--from T] [--to T]\n"
             "       orrery log export LOG --csv FILE | --hdf5 FILE [--topics PATTERNS] [--from T] [--to T]",
    .help = "A log is an MCAP file (mcap.dev), which Foxglove, Lichtblick and PlotJuggler read, too. `orrery run`\n"
            "writes it.\n"
            "\n"
            "  info              what flew, when, on which build; the topics with their numbers of messages\n"
            "                    (--json)\n"
            "  cat               every message, a line each: time, topic, fields\n"
            "  export --csv FILE a table as `orrery run --csv` writes it: a row for each time, a column for each\n"
            "                    number of devices and bodies; what has no new value keeps the last one\n"
            "  export --hdf5 FILE  a file of HDF5: a group for each topic with a dataset for each field and the\n"
            "                    times, their units as attributes (needs the package hdf5-tools); checkpoints and\n"
            "                    attachments are not in it\n"
            "  repair            writes the index of a log that was cut, in its place, and takes off what is not\n"
            "                    whole\n"
            "\n"
            "  --json            a JSON object; of cat one a line\n"
            "  --topics A,B      only topics that fit one of the patterns: '/gyro', '/wheel_*', '/orrery/*'\n"
            "  --from T, --to T  only messages of that span of simulated time: 12s, 500ms\n"
            "\n"
            "Exit status: 0 all is well, or the log was cut (a warning says so); 1 the file cannot be read, is no\n"
            "log or is damaged, or a pattern fits no topic; 2 the command line is wrong.\n"
            "\n"
            "example:\n"
            "  orrery log cat flight.mcap --topics '/orrery/link/*' --from 12s --to 13s\n",
    .run = run,
};
