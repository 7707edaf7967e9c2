/* `orrery top`: watches a running executive through its statistics block, without disturbing it. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/tick/board.h"
#include "rt/tick/clock.h"
#include "tools/common/commands.h"
#include "tools/common/text.h"
#include "tools/common/timing_report.h"

enum { NAMES_MAX = 64, WORST_SHOWN = 8 };

struct arguments {
  const char *name; /* or a process id */
  bool once, json;
  double interval_s;
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery top: %s%s%s%s\nTry 'orrery help top'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

static int parse(int argc, char **argv, struct arguments *a) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--once") == 0) {
      a->once = true;
    } else if (strcmp(argv[i], "--json") == 0) {
      a->json = a->once = true;
    } else if (strcmp(argv[i], "--interval") == 0) {
      char *end = NULL;
      a->interval_s = argv[i + 1] ? strtod(argv[i + 1], &end) : 0;
      if (!end || *end || !(a->interval_s >= 0.05 && a->interval_s <= 3600))
        return usage("--interval takes seconds, 0.05 to 3600", NULL);
      i++;
    } else if (argv[i][0] == '-') {
      return usage("unknown option", argv[i]);
    } else if (a->name) {
      return usage("one run at a time, not also", argv[i]);
    } else {
      a->name = argv[i];
    }
  }
  return ORR_EXIT_OK;
}

static bool open_named(const char *name, struct orr_board *board) {
  char wanted[ORR_BOARD_NAME_MAX];
  bool digits = strspn(name, "0123456789") == strlen(name);
  snprintf(wanted, sizeof wanted, "%s%s", digits ? ORR_BOARD_PREFIX : "", name);
  int error = orr_board_open(board, wanted);
  if (error)
    fprintf(stderr, "orrery top: %s: %s\n", wanted,
            error == EPROTO   ? "not a statistics block of this version"
            : error == ENOENT ? "there is no such run in real time, and only such a run has its timing watched; of any "
                                "other, 'orrery ctl PID status' says how far it is"
                              : strerror(error));
  return error == 0;
}

/* Its process id, and the file that it flies. It may have ended meanwhile. */
static void print_run(const char *name) {
  struct orr_board board;
  bool open = orr_board_open(&board, name) == 0;
  fprintf(stderr, "  %-8s %.*s\n", name + strlen(ORR_BOARD_PREFIX), open ? (int)sizeof board.stats->name : 0,
          open ? board.stats->name : "");
  if (open)
    orr_board_close(&board);
}

/* Opens the only run that lives. Returns false after saying that there are others, or none. */
static bool open_only(struct orr_board *board) {
  char names[NAMES_MAX][ORR_BOARD_NAME_MAX];
  size_t count = orr_board_list(names, NAMES_MAX), living = 0, hidden = 0;
  for (size_t i = 0; i < count; i++) {
    struct orr_board found;
    int error = orr_board_open(&found, names[i]);
    hidden += error == EACCES;
    if (error)
      continue;
    bool lives = orr_board_alive(&found);
    if (lives && living == 0)
      *board = found;
    else
      orr_board_close(&found);
    if (lives)
      memmove(names[living++], names[i], sizeof names[i]); /* those that live come first */
  }
  if (living == 1)
    return true;
  if (living > 1) {
    orr_board_close(board);
    fprintf(stderr, "orrery top: %zu runs are going on; name one by its process id:\n", living);
    for (size_t i = 0; i < living; i++)
      print_run(names[i]);
  } else if (hidden > 0) {
    fputs("orrery top: the runs that are going on are another user's, who alone may watch them\n", stderr);
  } else {
    fputs("orrery top: no run is going on\n", stderr);
  }
  return false;
}

/* Of the simulation. */
static double doing_since_s(const struct orr_stats *s) { return 1e-9 * (double)s->doing_since * (double)s->period_ns; }

static void print_heading(const struct orr_board *board, const struct orr_live *live, bool alive) {
  const struct orr_stats *s = board->stats;
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT], c[ORR_DURATION_TEXT];
  printf("%.*s  pid %lld  %s\n", (int)sizeof s->name, s->name, (long long)s->pid,
         live->ended ? "ended"
         : alive     ? "running"
                     : "its process died");
  printf("frame %llu  tick every %s  phase %s  spin %s  core %d  priority %d\n\n", (unsigned long long)live->frames,
         orr_duration_text(s->period_ns, a), orr_duration_text(s->phase_ns, b), orr_duration_text(s->margin_ns, c),
         s->core, s->priority);
  if (s->doing[0])
    printf("step %.*s  since %.9g s\n\n", (int)sizeof s->doing, s->doing, doing_since_s(s));
}

static bool show(struct orr_board *board, const struct arguments *a, bool alive) {
  struct orr_live live;
  if (!orr_board_look(board)) {
    fputs("orrery top: somebody has spoilt the statistics of the run, which it does not notice; look again\n", stderr);
    return false;
  }
  if (!orr_stats_live(board->stats, &live)) {
    fputs("orrery top: the run died in the middle of a frame\n", stderr);
    return false;
  }
  if (a->json) {
    json_t *all = orr_timing_json(board->stats, &live);
    json_object_set_new(all, "alive", json_boolean(alive));
    if (board->stats->doing[0]) {
      json_object_set_new(all, "step", orr_json_text(board->stats->doing));
      json_object_set_new(all, "step_since_s", json_real(doing_since_s(board->stats)));
    }
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
    return true;
  }
  if (!a->once)
    fputs("\033[H\033[J", stdout); /* home, and clear below: all terminals know these two */
  print_heading(board, &live, alive);
  orr_timing_print(stdout, board->stats, &live);
  putchar('\n');
  orr_timing_print_worst(stdout, board->stats, WORST_SHOWN);
  fflush(stdout);
  return true;
}

/* Sleeps for the interval; true when a signal says to end. */
static bool interrupted(double interval_s, const sigset_t *signals) {
  const struct timespec t = {.tv_sec = (time_t)interval_s,
                             .tv_nsec = (long)((interval_s - (double)(time_t)interval_s) * (double)ORR_NS_PER_S)};
  return sigtimedwait(signals, NULL, &t) > 0;
}

static int watch(struct orr_board *board, const struct arguments *a) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, &before);
  bool ok, alive, more;
  do {
    alive = orr_board_alive(board);
    ok = show(board, a, alive);
    more = ok && alive && !a->once && !ferror(stdout) && !interrupted(a->interval_s, &signals);
  } while (more);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return ok ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

static int run(int argc, char **argv) {
  struct arguments a = {.interval_s = 0.5};
  struct orr_board board;
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  if (!(a.name ? open_named(a.name, &board) : open_only(&board)))
    return ORR_EXIT_BAD;
  status = watch(&board, &a);
  orr_board_close(&board);
  return status;
}

const struct orr_command orr_cmd_top = {
    .name = "top",
    .summary = "watch the timing of a run that is going on",
    .usage = "[--once] [--json] [--interval S] [PID]",
    .help = "Shows start and wake-up latency, slack and stage times as percentiles, late frames by cause, and the\n"
            "worst frames of a run in real time, in any terminal; of a run with a sequence also the step that it\n"
            "is at, what that waits for, and since when. It only reads shared memory: the run does not notice.\n"
            "\n"
            "  PID            the run's process; not needed when there is one run\n"
            "  --once         print once and end\n"
            "  --json         as one JSON object, once\n"
            "  --interval S   seconds between two looks (default 0.5)\n"
            "\n"
            "It ends with the run, or with Ctrl-C. Only a run in real time has such statistics: batch and\n"
            "lockstep keep no clock.\n",
    .help_end = "\n"
                "The words of the table, which `orrery run --mode realtime` prints at its end, too. A tick is the\n"
                "moment at which a frame should begin; a row has the percentiles of all frames so far.\n"
                "  start       from the tick to the first work of its frame; a tick that was skipped counts, too\n"
                "  wake-up     from the moment at which the sleep should have ended to its end; the spin before\n"
                "              the tick is there to hide it\n"
                "  slack       from the end of a frame's work to the next tick: what was left; below zero the\n"
                "              frame was over too late. Its low values are the bad ones, so p99 is the slack that\n"
                "              99 of 100 frames had at least, and the row falls\n"
                "  a stage     how long it took: publish, latch, record, integrate, sensors\n"
                "  spin        the margin before the tick in which it no longer sleeps, but looks at the clock\n"
                "  phase       how far its ticks were moved against those of the kernel's timer\n"
                "  late        frames that ended after the next tick, or started more than a quarter of the period\n"
                "              (at most 1 ms) after their own, by the largest cause\n"
                "  by our own doing  of those, the ones by a stage that took longer, or by a page fault: Orrery's\n"
                "              and not the machine's\n"
                "  overran     frames that ended after the next tick\n"
                "  caught up   frames that then ran at once, behind their ticks (overrun: catch_up)\n"
                "  slips       how often all further ticks were moved instead, and `periods skipped` by how many\n"
                "              periods in sum; no frame is left out\n"
                "\n"
                "Exit status: 0 the run was shown; 1 there is no such run, or it died within a frame; 2 the command\n"
                "line is wrong.\n",
    .run = run,
};
