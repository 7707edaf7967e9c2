/* The `orrery` command: finds the subcommand, prints help and version. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/devices/devices.h"
#include "io/config/text/names.h"
#include "tools/common/commands.h"
#include "tools/common/version.h"
#include "tools/reference/reference.h"

/* In the order of `orrery --help`; ends with NULL. */
/* clang-format off */
static const struct orr_command *const commands[] = {
    &orr_cmd_check, &orr_cmd_eval,   &orr_cmd_run,   &orr_cmd_campaign, &orr_cmd_replay, &orr_cmd_judge, &orr_cmd_log,
    &orr_cmd_icd,   &orr_cmd_bench,  &orr_cmd_timing, &orr_cmd_doctor, &orr_cmd_top, &orr_cmd_ctl, &orr_cmd_schema,
    NULL,
};
/* clang-format on */

static const struct orr_command *find(const char *name) {
  for (const struct orr_command *const *c = commands; *c; c++)
    if (strcmp((*c)->name, name) == 0)
      return *c;
  return NULL;
}

static void print_overview(FILE *out) {
  fputs("orrery - a real-time stand-in for a flexible spacecraft\n"
        "\n"
        "usage: orrery COMMAND [ARGUMENTS]\n"
        "       orrery help COMMAND | TOPIC\n"
        "       orrery --version\n"
        "\n"
        "A spacecraft is written in a model file (YAML or JSON): bodies, the hinges that join them, the modes\n"
        "of the flexible ones. Everything inside is SI; a scalar in a file may carry a unit (30 deg, 5 ms,\n"
        "1200 rpm). A run file adds devices, links to flight software outside, and how to fly it all.\n"
        "\n"
        "start with:\n"
        "  orrery check configs/cubesat.yaml\n"
        "  orrery run configs/cubesat.yaml --mode batch --plot flight.svg\n"
        "An installed Orrery has `configs` in share/orrery below its prefix, and its documents in\n"
        "share/doc/orrery: cp -r /usr/share/orrery/configs .\n"
        "The sample flight software is build/fsw in the source tree and orrery-fsw where it is installed.\n"
        "\n"
        "commands:\n",
        out);
  for (const struct orr_command *const *c = commands; *c; c++)
    fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
  fputs("\ntopics of orrery help:\n", out);
  for (const struct orr_topic *t = orr_topics; t->name; t++)
    fprintf(out, "  %-10s %s\n", t->name, t->summary);
  fputs("\n"
        "Exit status of every command:\n"
        "  0  the work was done, and the answer is good\n"
        "  1  a file is wrong, or the answer is bad: an expectation not met, a run that diverged, a bad\n"
        "     finding\n"
        "  2  the command line is wrong\n"
        "  3  incomplete: a run or a measurement ended before its time, an expectation begins after the run's\n"
        "     end, or a link got no command. 1 outranks 3\n",
        out);
}

/* Broken between words, but for those that brackets hold together, where a line would pass 100 columns. */
static void print_usage(const struct orr_command *c) {
  enum { COLUMNS = 100, HANG = 11 };
  int at = printf("usage: orrery %s", c->name);
  for (const char *word = c->usage; *word;) {
    int n = 0, depth = 0;
    for (; word[n] && word[n] != '\n' && (word[n] != ' ' || depth > 0 || n == 0); n++)
      depth += (word[n] == '[') - (word[n] == ']');
    if (word == c->usage)
      at += printf(" ");
    else if (at + n > COLUMNS && *word == ' ')
      at = printf("\n%*s", HANG - 1, "") - 1;
    at += printf("%.*s", n, word);
    word += n;
    if (*word == '\n') {
      putchar(*word++);
      at = 0;
    }
  }
  putchar('\n');
}

static int print_help(const struct orr_command *c) {
  printf("orrery %s - %s\n\n", c->name, c->summary);
  print_usage(c);
  printf("\n%s%s", c->help, c->help_end ? c->help_end : "");
  return ORR_EXIT_OK;
}

static int print_version(void) {
  printf("orrery %s\ncommit: %s\ncompiler: %s\nflags: %s\n", orr_version(), orr_version_commit(),
         orr_version_compiler(), orr_version_flags());
  return ORR_EXIT_OK;
}

static bool is_device(const char *name) {
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    if (strcmp((*k)->name, name) == 0)
      return true;
  return false;
}

static int unknown_command(const char *name, bool help) {
  struct orr_nearest nearest = {.wanted = name};
  for (const struct orr_command *const *c = commands; *c; c++)
    orr_nearest_offer(&nearest, (*c)->name);
  for (const struct orr_topic *t = orr_topics; help && t->name; t++)
    orr_nearest_offer(&nearest, t->name);
  fprintf(stderr, "orrery: unknown command '%s'", name);
  if (help && is_device(name))
    fprintf(stderr, ", but 'orrery help devices %s' tells of that device", name);
  else if (nearest.best)
    fprintf(stderr, ", did you mean '%s'?", nearest.best);
  fputs("\nTry 'orrery --help'.\n", stderr);
  return ORR_EXIT_USAGE;
}

static int is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static int help(int argc, char **argv) {
  if (argc < 3) {
    print_overview(stdout);
    return ORR_EXIT_OK;
  }
  for (const struct orr_topic *t = orr_topics; t->name; t++)
    if (strcmp(t->name, argv[2]) == 0)
      return (int)orr_topic_help(t, argc - 2, argv + 2);
  const struct orr_command *c = find(argv[2]);
  return c ? print_help(c) : unknown_command(argv[2], true);
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    print_overview(stderr);
    return ORR_EXIT_USAGE;
  }
  if (is_help(argv[1]) || strcmp(argv[1], "help") == 0)
    return help(argc, argv);
  if (strcmp(argv[1], "--version") == 0)
    return print_version();
  const struct orr_command *c = find(argv[1]);
  if (!c)
    return unknown_command(argv[1], false);
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (is_help(argv[i]))
      return print_help(c);
  return c->run(argc - 1, argv + 1);
}

/* Help, and what only shows what is in a file. */
static bool asks_for_a_page(int argc, char **argv) {
  static const char *const showing[] = {"help", "log", "icd", "schema", "check"};
  bool shows = false;
  for (size_t i = 0; argc > 1 && i < sizeof showing / sizeof *showing; i++)
    shows |= strcmp(argv[1], showing[i]) == 0;
  return argc > 1 && (shows || is_help(argv[1]) || (argc > 2 && is_help(argv[argc - 1])));
}

/* Of a pipe that is standard output. */
static bool reader_has_gone(void) {
  struct pollfd out = {.fd = STDOUT_FILENO};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* A file that is opened next would take the number of a stream that the caller closed, and messages would go there:
 * into a link. A directory can be neither read nor written, and there always is one. */
static void fill_closed_streams(void) {
  int fd = open("/", O_RDONLY | O_DIRECTORY);
  while (fd >= 0 && fd <= STDERR_FILENO)
    fd = open("/", O_RDONLY | O_DIRECTORY);
  if (fd >= 0)
    close(fd);
}

int main(int argc, char **argv) {
  fill_closed_streams();
  /* A reader that goes away, and a file that may not grow (ulimit -f), are writes that fail, and not the end: there is
   * much to take back. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  bool page = asks_for_a_page(argc, argv);
  int status = dispatch(argc, argv);
  /* A full disk or a closed pipe must not look like success, but for a page that was read as far as somebody wanted. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    if (page && reader_has_gone())
      return status;
    fputs("orrery: cannot write the output\n", stderr);
    return (int)orr_exit_outranking((enum orr_exit)status, ORR_EXIT_BAD);
  }
  return status;
}
