/* `orrery replay`: flies a log again, or compares two. */
#include <stdio.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/replay/replay.h"

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery replay: %s%s%s%s\nTry 'orrery help replay'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

uint64_t orr_replay_ulps(double a, double b) {
  int64_t x, y;
  memcpy(&x, &a, 8);
  memcpy(&y, &b, 8);
  if (x == y)
    return 0;
  if (a - a != 0 || b - b != 0)
    return UINT64_MAX;
  /* doubles in their order are whole numbers in theirs; −0 stands one below 0 */
  x = x < 0 ? INT64_MIN - x - 1 : x;
  y = y < 0 ? INT64_MIN - y - 1 : y;
  return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* Options that take a value. */
static int option(struct orr_replay_arguments *a, const char *word, const char *value) {
  bool from = strcmp(word, "--from") == 0, to = strcmp(word, "--to") == 0;
  if (!from && !to && strcmp(word, "--with") != 0)
    return usage("unknown option", word);
  if (!value)
    return usage("a value is missing after", word);
  if (from || to)
    return orr_log_time(value, from ? &a->from_ns : &a->to_ns)
               ? ORR_EXIT_OK
               : usage(from ? "--from takes a time such as 12s, not" : "--to takes a time such as 12s, not", value);
  a->with = value;
  return ORR_EXIT_OK;
}

static int run(int argc, char **argv) {
  struct orr_replay_arguments a = {.to_ns = UINT64_MAX};
  int status = ORR_EXIT_OK;
  for (int i = 1; i < argc && status == ORR_EXIT_OK; i++) {
    if (strcmp(argv[i], "--json") == 0)
      a.json = true;
    else if (argv[i][0] == '-' && argv[i][1])
      status = option(&a, argv[i], argv[i + 1]), i++;
    else if (a.path)
      status = usage("one log, not also", argv[i]);
    else
      a.path = argv[i];
  }
  if (status != ORR_EXIT_OK)
    return status;
  if (!a.path)
    return usage("needs a log", NULL);
  return a.with ? orr_replay_compare(&a) : orr_replay_fly(&a);
}

const struct orr_command orr_cmd_replay = {
    .name = "replay",
    .summary = "fly a log again and compare every number with it",
    .usage = "LOG [--from T] [--to T] [--json]\n"
             "       orrery replay LOG --with OTHER [--from T] [--to T] [--json]",
    .help = "Flies the run that a log holds once more: with its files and settings, from a checkpoint, with the\n"
            "commands that acted in each frame, and without flight software. Every number of the log, the state\n"
            "at each checkpoint and the state_hash at the end are compared bit for bit. They are identical, or\n"
            "the first frame, stage and channel that differ are told with both values, and what differs between\n"
            "the two builds. Frames that the log lost are passed over up to the next checkpoint.\n"
            "\n"
            "With --with two logs are compared, at the times and in the channels that both have: the first\n"
            "difference, and for each channel that differs the largest one, in its unit and in ulps (doubles in\n"
            "between).\n"
            "\n"
            "  --from T, --to T  only that span of simulated time: 12s, 500ms; a flight begins at the last\n"
            "                    checkpoint before\n"
            "  --json            the result as JSON\n"
            "\n"
            "Exit status: 0 identical; 1 a difference, or a log that cannot be read or flown; 2 the command line\n"
            "is wrong.\n"
            "\n"
            "example:\n"
            "  orrery replay orrery-logs/cassini-slew-20260102T030405.678Z.mcap --from 10s\n",
    .run = run,
};
