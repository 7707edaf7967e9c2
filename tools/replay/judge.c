/* `orrery judge LOG... RULES.yaml`: old logs held to new expectations. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/files.h"
#include "tools/common/commands.h"
#include "tools/common/text.h"
#include "tools/replay/replay.h"
#include "tools/run/expect_report.h"

enum { RULES_MOST = 1 << 20, NAME_WIDTH = 48 };

/* What came of one log. */
struct column {
  const char *path;
  json_t *list; /* of orr_expect_json, the rules' own; NULL: it could not be flown */
  bool identical, whole;
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery judge: %s%s%s%s\nTry 'orrery help judge'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* What stands behind the rules is judged by the log's own sequence, and is not asked for. */
static void take(void *user, const struct orr_session *session, bool identical, bool whole) {
  struct column *c = user;
  const struct orr_expect_report report = {.session = session};
  c->list = orr_expect_json(&report);
  while (json_array_size(c->list) > (size_t)session->run->sequence.first_expect)
    json_array_remove(c->list, json_array_size(c->list) - 1);
  c->identical = identical;
  c->whole = whole;
}

/* ---- the matrix -------------------------------------------------------------------------------------------------- */

static const char *text_in(const json_t *one, const char *key) {
  const char *text = json_string_value(json_object_get(one, key));
  return text ? text : "";
}

static const char *verdict_of(const struct column *c, size_t rule) {
  return text_in(json_array_get(c->list, rule), "verdict");
}

static void describe(const json_t *one, char *text, size_t size) {
  if (json_object_get(one, "name"))
    snprintf(text, size, "%s", text_in(one, "name"));
  else
    snprintf(text, size, "%s %s", text_in(one, "subject"), text_in(one, "bound"));
}

static const json_t *rules_of(const struct column *columns, int count) {
  for (int i = 0; i < count; i++)
    if (columns[i].list)
      return columns[i].list;
  return NULL;
}

/* Below the matrix: what each log has where an expectation is not met, and when. */
static void print_unmet(const struct column *columns, int count) {
  const json_t *one;
  size_t i;
  bool any = false;
  for (int k = 0; k < count; k++)
    json_array_foreach(columns[k].list, i, one) {
      char name[400];
      if (strcmp(text_in(one, "verdict"), "not_met") != 0)
        continue;
      describe(one, name, sizeof name);
      printf("%s%3d  NOT MET  %s:", any ? "" : "\n", k + 1, name);
      any = true;
      if (json_object_get(one, "name"))
        printf(" %s:", text_in(one, "asked"));
      printf(" %s\n", text_in(one, "told"));
    }
}

static void print(const struct column *columns, int count) {
  const json_t *rules = rules_of(columns, count), *one;
  size_t i;
  for (int k = 0; k < count; k++)
    printf("%3d  %s%s\n", k + 1, columns[k].path,
           !columns[k].list        ? ": could not be flown"
           : !columns[k].identical ? ": differs from its log here (orrery replay says where)"
           : !columns[k].whole     ? ": not whole, what it lacks was not judged"
                                   : "");
  printf("\n%-14s %-*s", "requirement", NAME_WIDTH, "expectation");
  for (int k = 0; k < count; k++)
    printf(" %-10d", k + 1);
  putchar('\n');
  json_array_foreach(rules, i, one) {
    char name[400];
    describe(one, name, sizeof name);
    printf("%-14s %-*s", text_in(one, "requirement"), NAME_WIDTH, name);
    for (int k = 0; k < count; k++) {
      const char *verdict = verdict_of(&columns[k], i);
      printf(" %-10s", strcmp(verdict, "not_met") == 0      ? "NOT MET"
                       : strcmp(verdict, "not_judged") == 0 ? "not judged"
                       : *verdict                           ? verdict
                                                            : "-");
    }
    putchar('\n');
  }
  print_unmet(columns, count);
}

static void print_json(const struct column *columns, int count) {
  json_t *root = json_object(), *logs = json_array();
  for (int k = 0; k < count; k++) {
    json_t *log = json_pack("{s:o, s:b, s:b, s:b}", "log", orr_json_text(columns[k].path), "flown",
                            columns[k].list != NULL, "identical", columns[k].identical, "whole", columns[k].whole);
    json_object_set(log, "expect", columns[k].list ? columns[k].list : json_null());
    json_array_append_new(logs, log);
  }
  json_object_set_new(root, "logs", logs);
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(root);
}

/* Bad: something is not met, or no log as it was. Incomplete: something is not judged, or a log lacks frames. */
static int conclude(const struct column *columns, int count) {
  bool bad = false, open = false;
  for (int k = 0; k < count; k++) {
    bad |= !columns[k].list || !columns[k].identical;
    open |= !columns[k].whole;
    for (size_t i = 0; i < json_array_size(columns[k].list); i++) {
      bad |= strcmp(verdict_of(&columns[k], i), "not_met") == 0;
      open |= strcmp(verdict_of(&columns[k], i), "not_judged") == 0;
    }
  }
  return bad ? ORR_EXIT_BAD : open ? ORR_EXIT_INCOMPLETE : ORR_EXIT_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* An old log is easily given last; mostly it is longer than rules may be. */
static bool is_log(const char *path) {
  char head[5] = "";
  FILE *in = orr_text_open(path);
  bool is = in && fread(head, sizeof head, 1, in) == 1 && memcmp(head + 1, "MCAP", 4) == 0;
  if (in)
    fclose(in);
  return is;
}

static char *read_rules(const char *path, size_t *length) {
  char *text = orr_text_load(path, RULES_MOST, length);
  int error = errno;
  if (text ? *length >= 5 && memcmp(text + 1, "MCAP", 4) == 0 : error == EFBIG && is_log(path)) {
    fprintf(stderr, "orrery judge: '%s' is a log: the file of expectations stands behind the logs\n", path);
    free(text);
    return NULL;
  }
  if (!text)
    fprintf(stderr, "orrery judge: cannot read '%s': %s\n", path,
            error == EFBIG ? "it is longer than 1 MiB, which no expectations are" : orr_text_trouble(error));
  return text;
}

/* Before any log is read. */
static bool are_rules(const struct orr_text_file *file) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  bool good = orr_run_check_rules(file, d);
  if (!good)
    orr_diagnostics_print(d, 0, stderr, false);
  orr_diagnostics_destroy(d);
  return good;
}

static int judge(char **logs, int count, const char *path, bool json) {
  struct orr_text_file file = {.name = path};
  char *text = read_rules(path, &file.length), *told = NULL;
  struct column *columns = calloc((size_t)count, sizeof *columns);
  if (!columns)
    abort();
  file.text = text;
  bool good = text && are_rules(&file);
  for (int k = 0; good && k < count; k++) {
    const struct orr_replay_rules rules = {.file = &file, .judged = take, .user = &columns[k], .told = &told};
    const struct orr_replay_arguments arguments = {.path = logs[k], .to_ns = UINT64_MAX, .rules = &rules};
    columns[k].path = logs[k];
    orr_replay_fly(&arguments);
  }
  int status = good ? conclude(columns, count) : ORR_EXIT_BAD;
  if (good)
    (json ? print_json : print)(columns, count);
  for (int k = 0; k < count; k++)
    json_decref(columns[k].list);
  free(columns);
  free(text);
  free(told);
  return status;
}

static int run(int argc, char **argv) {
  bool json = false;
  int count = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0)
      json = true;
    else if (argv[i][0] == '-' && argv[i][1])
      return usage("unknown option", argv[i]);
    else
      argv[count++] = argv[i];
  }
  return count < 2 ? usage("needs logs, and a file of expectations behind them", NULL)
                   : judge(argv, count - 1, argv[count - 1], json);
}

const struct orr_command orr_cmd_judge = {
    .name = "judge",
    .summary = "hold logs to expectations that were written later",
    .usage = "LOG... RULES.yaml [--json]",
    .help = "Flies the run of each log again, with its own commands, faults and sequence, and judges it by the\n"
            "section `expect` of another file (or a list of expectations alone) in place of its own. Any channel\n"
            "can be judged, also one that the log does not hold. The rules are read before any log: a file\n"
            "that is none ends the command. Prints a matrix of requirements against logs,\n"
            "and below it value and time of each expectation that is not met.\n"
            "\n"
            "  --json  the verdicts of each log, with values and times, as JSON\n"
            "\n"
            "Exit status: 0 everything is met; 1 something is not met, or a log cannot be flown or comes out\n"
            "otherwise than it was written; 2 the command line is wrong; 3 something could not be judged, or a\n"
            "log is not whole.\n"
            "\n"
            "example:\n"
            "  orrery judge orrery-logs/cubesat-*.mcap rules.yaml\n",
    .run = run,
};
