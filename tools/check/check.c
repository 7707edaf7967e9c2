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
#include "tools/run/controller.h"

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

enum { MOST_SETTINGS = 64 };

struct request {
  bool json, channels;  /* of these alone */
  const char *patterns; /* of them only those that fit; NULL: all */
  char *sequence;       /* "@FILE", to be freed; NULL: none */
  const char *settings[MOST_SETTINGS];
  size_t setting_count;
};

/* What a link's controller lacks, which a run refuses; true where that is nothing. */
static bool judge_controllers(const struct orr_run *run, const char *path, json_t *messages) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    abort();
  bool good = orr_controller_fits(run, path, out);
  fclose(out);
  fputs(text, stderr);
  if (!good && messages)
    json_array_append_new(messages, json_pack("{s:s, s:s, s:o}", "severity", "error", "code", "stand-in", "message",
                                              orr_json_text(text)));
  free(text);
  return good;
}

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
  const struct orr_config_options options = {.settings = want->settings, .setting_count = want->setting_count};
  const struct orr_run *run;
  struct orr_config *config;
  if (want->sequence) { /* it can be flown with a run alone */
    run = orr_run_load(path, &options, d);
    config = run ? run->config : NULL;
  } else
    config = orr_run_check(path, &options, d, &run);
  struct orr_stability stability = {0};
  bool good = config != NULL;
  json_t *o = json_object();
  if (config && run)
    stability = orr_run_judge_step(run, d);
  fflush(stdout); /* so that the errors of this file do not overtake what was said of the last */
  orr_diagnostics_print(d, 0, stderr, colourful(STDERR_FILENO));
  json_t *messages = messages_json(d);
  good = good && (!run || judge_controllers(run, path, messages));
  if (config && want->channels && !list)
    good = print_channels(run, path, want->patterns) && good;
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
    if (want->sequence)
      json_object_set_new(o, "sequence", orr_json_text(want->sequence + 1));
    json_object_set_new(o, "ok", json_boolean(good));
    json_object_set(o, "messages", messages);
    json_array_append(list, o);
  }
  json_decref(messages);
  json_decref(o);
  orr_diagnostics_destroy(d);
  return good;
}

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery check: %s%s\nTry 'orrery help check'.\n", what, word);
  return ORR_EXIT_USAGE;
}

/* A file of a procedure is laid over each file as the setting `@FILE`, as `orrery run` does. */
static int add_setting(struct request *want, const char *word, const char *value) {
  bool sequence = strcmp(word, "--sequence") == 0;
  if (!value)
    return usage("a value is missing after ", word);
  if (!sequence && value[0] == '@')
    return usage("write it as PATH.TO.KEY=VALUE, not ", value);
  if (sequence && want->sequence)
    return usage("one --sequence, not also ", value);
  if (want->setting_count == MOST_SETTINGS)
    return usage("too many settings", "");
  if (sequence) {
    want->sequence = malloc(strlen(value) + 2);
    if (!want->sequence)
      abort();
    want->sequence[0] = '@';
    memcpy(want->sequence + 1, value, strlen(value) + 1);
  }
  want->settings[want->setting_count++] = sequence ? want->sequence : value;
  return ORR_EXIT_OK;
}

/* The files are left in argv, their number in *files. */
static int parse(int argc, char **argv, struct request *want, int *files) {
  bool only_files = false;
  int status = ORR_EXIT_OK;
  for (int i = 1; i < argc && status == ORR_EXIT_OK; i++) {
    const char *word = argv[i];
    if (!only_files && strcmp(word, "--") == 0)
      only_files = true;
    else if (!only_files && strcmp(word, "--json") == 0)
      want->json = true;
    else if (!only_files && strcmp(word, "--channels") == 0)
      want->channels = true;
    else if (!only_files && strncmp(word, "--channels=", 11) == 0) {
      want->channels = true;
      want->patterns = word + 11;
    } else if (!only_files && (strcmp(word, "--sequence") == 0 || strcmp(word, "--set") == 0)) {
      status = add_setting(want, word, argv[i + 1]);
      i++;
    } else if (!only_files && word[0] == '-')
      status = usage("unknown option ", word);
    else
      argv[(*files)++] = argv[i];
  }
  return status != ORR_EXIT_OK || *files ? status : usage("no file given", "");
}

static int run(int argc, char **argv) {
  struct request want = {0};
  int files = 0, status = parse(argc, argv, &want, &files);
  bool good = true;
  json_t *list = want.json ? json_array() : NULL;
  for (int i = 0; i < files && status == ORR_EXIT_OK; i++) {
    if (i > 0 && !list)
      putchar('\n');
    good = check_file(argv[i], list, &want, colourful(STDOUT_FILENO)) && good;
  }
  if (list && status == ORR_EXIT_OK) {
    json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
  }
  json_decref(list);
  free(want.sequence);
  return status != ORR_EXIT_OK ? status : good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

const struct orr_command orr_cmd_check = {
    .name = "check",
    .summary = "say what a spacecraft file means, or what is wrong with it",
    .usage = "[--json] [--channels[=PATTERNS]] [--sequence FILE] [--set PATH=VALUE]... FILE...",
    .help = "Reads each FILE (YAML or JSON), with the files it includes, and prints what was understood:\n"
            "the tree of bodies with the mass of each, its hinge, where that hangs, its degrees of\n"
            "freedom, springs and dampers, and the modes of flexible bodies; the loops; total mass,\n"
            "centre of mass and inertia about it at rest (every coordinate zero, nothing deformed);\n"
            "the frequencies of the modes, and where the shapes are not orthogonal in the masses also\n"
            "those that the body has with its inboard node held; the bytes that the compiled model and\n"
            "one workspace take. Of a run file also its step, the stiffest motion\n"
            "(of springs, dampers and modes at the initial state) with the longest step at which the\n"
            "integrator follows it, what the worst frame costs (in evaluations of the equations of motion;\n"
            "'orrery bench --plant FILE' times the frame), devices with their channels, and links, with what\n"
            "flies each of them where there is no flight software, by which wheels and thrusters.\n"
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
            "            of a run file 'run', with every channel in 'channel_list' and how many steps, faults\n"
            "            and expectations there are in 'procedure'\n"
            "  --channels[=PATTERNS]  print the channels of a run file instead, a line each: name, output or\n"
            "            command, how many numbers and their names, unit, what it is; with PATTERNS only those\n"
            "            that fit one of them: 'gyro.*,wheel_*.torque'\n"
            "  --sequence FILE  the procedure in FILE laid over each run file, as 'orrery run --sequence' does:\n"
            "            its mistakes and doubts are told as those of the run file\n"
            "  --set PATH=VALUE  a value laid over each file, as 'orrery run' does\n"
            "  --        what follows are files, even if they begin with a dash\n"
            "\n"
            "Environment:\n"
            "  NO_COLOR  when set, no colours on a terminal; there are none elsewhere\n"
            "\n"
            "Examples:\n"
            "  orrery check configs/wings.yaml\n"
            "  orrery check --channels='wheel_*' configs/cubesat.yaml\n"
            "  orrery check configs/cubesat.yaml --sequence configs/procedures/wheel-failure.yaml\n"
            "  orrery check --json ship.yaml | jq '.[0].spacecraft.mass'\n"
            "\n"
            "Exit status: 0 every file is right, perhaps with warnings; 1 a file is wrong; 2 the command line is\n"
            "wrong.\n",
    .run = run,
};
