/* `orrery check`: reads spacecraft files and says what was understood, or what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/config/run/run_file.h"
#include "io/config/spacecraft/config.h"
#include "tools/check/summary.h"
#include "tools/check/summary_run.h"
#include "tools/common/commands.h"
#include "tools/common/text.h"

static bool colourful(int fd) {
  const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(fd) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static json_t *message_json(struct orr_diagnostics *d, const struct orr_message *m) {
  struct orr_sources *sources = orr_diagnostics_sources(d);
  struct orr_location l = orr_sources_get(sources, m->at);
  json_t *o = json_object();
  json_object_set_new(o, "severity", json_string(m->severity == ORR_ERROR ? "error" : "warning"));
  json_object_set_new(o, "code", json_string(m->code));
  json_object_set_new(o, "message", orr_json_text(m->text));
  if (l.file) {
    struct orr_line line = orr_sources_line(sources, l.file, l.offset);
    json_object_set_new(o, "file", orr_json_text(orr_sources_file_name(sources, l.file)));
    json_object_set_new(o, "line", json_integer((json_int_t)line.number));
    json_object_set_new(o, "column", json_integer((json_int_t)line.column));
  }
  return o;
}

static json_t *messages_json(struct orr_diagnostics *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < orr_diagnostics_count(d); i++) {
    struct orr_message m = orr_diagnostics_get(d, i);
    json_array_append_new(list, message_json(d, &m));
  }
  return list;
}

struct request {
  bool channels;        /* of these alone */
  const char *patterns; /* of them only those that fit; NULL: all */
};

/* False where there is none to show. */
static bool print_channels(const struct orr_run *run, const char *path, const char *patterns) {
  if (run && orr_summary_channels_print(run, patterns, stdout) > 0)
    return true;
  if (run)
    fprintf(stderr, "orrery check: no channel of '%s' fits '%s'; without a pattern '--channels' lists all\n", path,
            patterns ? patterns : "*");
  else
    fprintf(stderr, "orrery check: '%s' has no channels: a file with 'simulation' has, which can be flown\n", path);
  return false;
}

/* Describes a file, as text or into the list. False when it is wrong. */
static bool check_file(const char *path, json_t *list, const struct request *want, bool colour) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *run;
  struct orr_config *config = orr_run_check(path, NULL, d, &run);
  struct orr_stability stability = {0};
  bool good = config != NULL;
  json_t *o = json_object();
  if (config && run)
    stability = orr_run_judge_step(run, d);
  fflush(stdout); /* so that the errors of this file do not overtake what was said of the last */
  orr_diagnostics_print(d, 0, stderr, colourful(STDERR_FILENO));
  if (config && want->channels && !list)
    good = print_channels(run, path, want->patterns);
  if (config && (list || !want->channels)) {
    struct orr_summary summary;
    orr_summary_create(&summary, orr_config_description(config));
    if (list)
      json_object_set_new(o, "spacecraft", orr_summary_json(&summary));
    else
      orr_summary_print(&summary, path, colour, stdout);
    orr_summary_destroy(&summary);
  }
  if (run && list)
    json_object_set_new(o, "run", orr_summary_run_json(run, &stability, want->patterns));
  else if (run && !want->channels)
    orr_summary_run_print(run, &stability, stdout);
  if (list) {
    json_object_set_new(o, "file", orr_json_text(path));
    json_object_set_new(o, "ok", json_boolean(config));
    json_object_set_new(o, "messages", messages_json(d));
    json_array_append(list, o);
  }
  json_decref(o);
  orr_diagnostics_destroy(d);
  return good;
}

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery check: %s%s\nTry 'orrery help check'.\n", what, word);
  return ORR_EXIT_USAGE;
}

static int run(int argc, char **argv) {
  bool json = false, only_files = false, good = true;
  struct request want = {0};
  int files = 0;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (!only_files && strcmp(word, "--") == 0)
      only_files = true;
    else if (!only_files && strcmp(word, "--json") == 0)
      json = true;
    else if (!only_files && strcmp(word, "--channels") == 0)
      want.channels = true;
    else if (!only_files && strncmp(word, "--channels=", 11) == 0)
      want = (struct request){true, word + 11};
    else if (!only_files && word[0] == '-')
      return usage("unknown option ", word);
    else
      argv[files++] = argv[i];
  }
  if (files == 0)
    return usage("no file given", "");
  json_t *list = json ? json_array() : NULL;
  for (int i = 0; i < files; i++) {
    if (i > 0 && !json)
      putchar('\n');
    good = check_file(argv[i], list, &want, colourful(STDOUT_FILENO)) && good;
  }
  if (list) {
    json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(list);
  }
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

const struct orr_command orr_cmd_check = {
    .name = "check",
    .summary = "say what a spacecraft file means, or what is wrong with it",
    .usage = "[--json] [--channels[=PATTERNS]] FILE...",
    .help = "Reads each FILE (YAML or JSON), with the files it includes, and prints what was understood:\n"
            "the tree of bodies with the mass of each, its hinge, where that hangs, its degrees of\n"
            "freedom, springs and dampers, and the modes of flexible bodies; the loops; total mass,\n"
            "centre of mass and inertia about it at rest (every coordinate zero, nothing deformed);\n"
            "the frequencies of the modes, and where the shapes are not orthogonal in the masses also\n"
            "those that the body has with its inboard node held; the bytes that the compiled model and\n"
            "one workspace take. Of a run file also its step, the stiffest motion\n"
            "(of springs, dampers and modes at the initial state) with the longest step at which the\n"
            "integrator follows it, what the worst frame costs (in evaluations of the equations of motion;\n"
            "'orrery bench --plant FILE' times the frame), devices with their channels, and links.\n"
            "\n"
            "Every mistake in a file is reported on standard error, as FILE:LINE:COLUMN: error: what is\n"
            "wrong, with the line, a mark under the place and what to do. After a syntax error only that\n"
            "one is known. Content that came through an alias, a merge key (<<) or an include shows both\n"
            "places. Warnings are printed the same way and leave the file usable.\n"
            "\n"
            "Options:\n"
            "  --json    print the same as data: a list with an object for each file, which has 'file',\n"
            "            'ok', 'messages' (severity, code, message, file, line, column) and, when the file\n"
            "            is right, 'spacecraft' (SI units; inertia is xx yy zz xy xz yz);\n"
            "            of a run file 'run', with every channel in 'channel_list'\n"
            "  --channels[=PATTERNS]  print the channels of a run file instead, a line each: name, output or\n"
            "            command, how many numbers and their names, unit, what it is; with PATTERNS only those\n"
            "            that fit one of them: 'gyro.*,wheel_*.torque'\n"
            "  --        what follows are files, even if they begin with a dash\n"
            "\n"
            "Environment:\n"
            "  NO_COLOR  when set, no colours on a terminal; there are none elsewhere\n"
            "\n"
            "Examples:\n"
            "  orrery check configs/wings.yaml\n"
            "  orrery check --channels='wheel_*' configs/cubesat.yaml\n"
            "  orrery check --json ship.yaml | jq '.[0].spacecraft.mass'\n"
            "\n"
            "Exit status: 0 every file is right, perhaps with warnings; 1 a file is wrong; 2 the command line is\n"
            "wrong.\n",
    .run = run,
};
