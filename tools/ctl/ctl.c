/* `orrery ctl`: commands a run that is going on, through its socket. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/config/text/names.h"
#include "io/control/control_socket.h"
#include "tools/common/commands.h"

enum { FOLDERS = 3, FOLDER_TEXT = sizeof((struct sockaddr_un *)0)->sun_path };

struct arguments {
  bool json;
  const char *pid; /* NULL: the only run */
  enum orr_control_sort sort;
  char line[ORR_CONTROL_LINE + 2];
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery ctl: %s%s%s%s\nTry 'orrery help ctl'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static int read_verb(struct arguments *a, const char *word) {
  struct orr_nearest nearest = {.wanted = word};
  char what[120];
  for (int i = 0; i < ORR_CONTROL_SORTS; i++) {
    if (strcmp(orr_control_verbs[i], word) == 0) {
      a->sort = (enum orr_control_sort)i;
      return ORR_EXIT_OK;
    }
    orr_nearest_offer(&nearest, orr_control_verbs[i]);
  }
  if (nearest.best) {
    snprintf(what, sizeof what, "there is no command '%.40s', did you mean '%s'?", word, nearest.best);
    return usage(what, NULL);
  }
  return usage("say one of pause, step, go, set, fault, clear, mark, get, status and stop, not", word);
}

/* The words behind the verb, as one line. */
static int join(struct arguments *a, int argc, char **argv) {
  size_t used = 0;
  for (int i = 0; i < argc; i++) {
    size_t n = strlen(argv[i]);
    if (strchr(argv[i], '\n'))
      return usage("a command is one line", NULL);
    if (used + n + 1 > ORR_CONTROL_LINE)
      return usage("the command is too long", NULL);
    if (i)
      a->line[used++] = ' ';
    memcpy(a->line + used, argv[i], n);
    used += n;
  }
  a->line[used] = '\n';
  return ORR_EXIT_OK;
}

static int parse(int argc, char **argv, struct arguments *a) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    if (strcmp(argv[i], "--json") != 0)
      return usage("unknown option", argv[i]);
    a->json = true;
  }
  if (i < argc && argv[i][0] && strspn(argv[i], "0123456789") == strlen(argv[i]))
    a->pid = argv[i++];
  if (i == argc)
    return usage("needs a command: pause, step, go, set, fault, clear, mark, get, status or stop", NULL);
  int status = read_verb(a, argv[i]);
  if (status == ORR_EXIT_OK && i + 1 < argc && strcmp(argv[argc - 1], "--json") == 0) {
    a->json = true;
    argc--;
  }
  return status == ORR_EXIT_OK ? join(a, argc - i, argv + i) : status;
}

/* ---- which run --------------------------------------------------------------------------------------------------- */

/* Where runs of this user may have their sockets: this environment's folder, and those of others. */
static int folders(char out[FOLDERS][FOLDER_TEXT]) {
  int count = orr_control_folder(out[0], FOLDER_TEXT) ? 1 : 0;
  if (getenv("ORRERY_CTL"))
    return count;
  snprintf(out[count++], FOLDER_TEXT, "/run/user/%ld/orrery", (long)geteuid());
  snprintf(out[count++], FOLDER_TEXT, "/tmp/orrery-%ld", (long)geteuid());
  return count;
}

/* A connection, or −1 with errno. Nobody else can have put a socket into a folder that is only this user's. */
static int open_at(const char *folder, const char *pid) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  int length = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s.sock", folder, pid);
  errno = (size_t)length >= sizeof at.sun_path ? ENAMETOOLONG : orr_control_check_folder(folder, false);
  if (errno)
    return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
    return fd;
  int error = errno;
  if (fd >= 0)
    close(fd);
  errno = error;
  return -1;
}

static int open_named(const char *pid) {
  char all[FOLDERS][FOLDER_TEXT];
  int count = folders(all), error = ENOENT;
  for (int i = 0; i < count; i++) {
    int fd = open_at(all[i], pid);
    if (fd >= 0)
      return fd;
    error = errno != ENOENT ? errno : error;
  }
  fprintf(stderr, "orrery ctl: no run with the process id %s takes commands: %s\n", pid, strerror(error));
  return -1;
}

/* The runs that listen in one folder: the first is kept in *fd, all are told of in `names`. */
static int look_into(const char *folder, int *fd, char *names, size_t size) {
  DIR *d = orr_control_check_folder(folder, false) == 0 ? opendir(folder) : NULL;
  const struct dirent *e;
  int found = 0;
  while (d && (e = readdir(d)) != NULL) {
    char pid[24];
    size_t n = strspn(e->d_name, "0123456789"), used = strlen(names);
    if (n == 0 || n >= sizeof pid || strcmp(e->d_name + n, ".sock") != 0)
      continue;
    memcpy(pid, e->d_name, n);
    pid[n] = '\0';
    int one = open_at(folder, pid);
    if (one < 0)
      continue;
    found++;
    snprintf(names + used, size - used, " %s", pid);
    if (*fd < 0)
      *fd = one;
    else
      close(one);
  }
  if (d)
    closedir(d);
  return found;
}

static int open_only(void) {
  char all[FOLDERS][FOLDER_TEXT], names[400] = "";
  int count = folders(all), fd = -1, found = 0;
  for (int i = 0; i < count; i++) {
    bool again = false;
    for (int k = 0; k < i; k++)
      again |= strcmp(all[i], all[k]) == 0;
    found += again ? 0 : look_into(all[i], &fd, names, sizeof names);
  }
  if (found == 1)
    return fd;
  if (fd >= 0)
    close(fd);
  if (found > 1)
    fprintf(stderr, "orrery ctl: %d runs are going on; name one by its process id:%s\n", found, names);
  else
    fputs("orrery ctl: no run of yours is going on that takes commands\n", stderr);
  return -1;
}

/* ---- question and answer ----------------------------------------------------------------------------------------- */

static bool send_all(int fd, const char *text, size_t size) {
  while (size) {
    ssize_t n = send(fd, text, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text += n;
    size -= (size_t)n;
  }
  return true;
}

/* One line; NULL where the run ended before it was whole. */
static char *receive(int fd) {
  size_t room = 4096, used = 0;
  char *text = malloc(room);
  while (text) {
    ssize_t n = recv(fd, text + used, room - used - 1, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    used += (size_t)n;
    if (text[used - 1] == '\n') {
      text[used] = '\0';
      return text;
    }
    if (room - used > 1)
      continue;
    char *more = realloc(text, room *= 2);
    if (!more)
      break;
    text = more;
  }
  free(text);
  return NULL;
}

static void print_values(const json_t *values, const json_t *units) {
  const char *name;
  json_t *value, *item;
  size_t i;
  json_object_foreach((json_t *)values, name, value) {
    printf("%-28s", name);
    if (!json_is_array(value))
      printf(json_is_number(value) ? " %.9g" : " none", json_number_value(value));
    json_array_foreach(value, i, item) printf(json_is_number(item) ? " %.9g" : " none", json_number_value(item));
    const char *unit = json_string_value(json_object_get(units, name));
    printf("%s%s\n", unit && *unit ? " " : "", unit ? unit : "");
  }
}

static void print_status(const json_t *answer) {
  printf("%s  pid %" JSON_INTEGER_FORMAT "  %s%s\n", json_string_value(json_object_get(answer, "file")),
         json_integer_value(json_object_get(answer, "pid")), json_string_value(json_object_get(answer, "mode")),
         json_is_true(json_object_get(answer, "paused")) ? "  paused" : "");
  const json_t *frame = json_object_get(answer, "frame"), *step = json_object_get(answer, "step");
  if (json_is_integer(frame))
    printf("frame %" JSON_INTEGER_FORMAT "  t = %.9g s\n", json_integer_value(frame),
           json_number_value(json_object_get(answer, "time_s")));
  else
    puts("before its first frame");
  if (step)
    printf("step %s %s  since %.9g s\n", json_string_value(step),
           json_string_value(json_object_get(answer, "waits_for")),
           json_number_value(json_object_get(answer, "since_s")));
}

static void print_answer(const struct arguments *a, const json_t *answer) {
  const json_t *stands = json_object_get(answer, "stands_at"), *ended = json_object_get(answer, "ended");
  const char *note = json_string_value(json_object_get(answer, "note"));
  if (a->sort == ORR_CONTROL_STATUS) {
    print_status(answer);
    return;
  }
  printf("%s at frame %" JSON_INTEGER_FORMAT ", t = %.9g s", orr_control_verbs[a->sort],
         json_integer_value(json_object_get(answer, "frame")), json_number_value(json_object_get(answer, "time_s")));
  if (stands)
    printf("; the run stands at frame %" JSON_INTEGER_FORMAT, json_integer_value(stands));
  if (json_is_true(json_object_get(answer, "over")))
    printf("; the run is over");
  if (ended)
    printf("; faults ended: %" JSON_INTEGER_FORMAT, json_integer_value(ended));
  if (note)
    printf("; %s", note);
  putchar('\n');
  if (json_object_get(answer, "values"))
    print_values(json_object_get(answer, "values"), json_object_get(answer, "units"));
}

static int ask(const struct arguments *a, int fd) {
  char *text = send_all(fd, a->line, strlen(a->line)) ? receive(fd) : NULL;
  json_error_t error;
  json_t *answer = text ? json_loads(text, 0, &error) : NULL;
  bool good = json_is_true(json_object_get(answer, "ok"));
  const char *wrong = json_string_value(json_object_get(answer, "error"));
  if (!answer)
    fputs(text ? "orrery ctl: the answer of the run is not JSON\n" : "orrery ctl: the run ended before it answered\n",
          stderr);
  else if (a->json)
    fputs(text, stdout);
  else if (good)
    print_answer(a, answer);
  else
    fprintf(stderr, "orrery ctl: %s\n", wrong ? wrong : "refused");
  json_decref(answer);
  free(text);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

static int run(int argc, char **argv) {
  struct arguments a = {0};
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  int fd = a.pid ? open_named(a.pid) : open_only();
  if (fd < 0)
    return ORR_EXIT_BAD;
  status = ask(&a, fd);
  close(fd);
  return status;
}

const struct orr_command orr_cmd_ctl = {
    .name = "ctl",
    .summary = "command a run that is going on",
    .usage = "[--json] [PID] pause | step N | go | set COMMAND VALUE | fault NAME | clear [NAME] | mark TEXT | "
             "get PATTERNS | status | stop",
    .help = "Speaks to a run of yours in any mode, through a socket that only you can open. What it commands is\n"
            "applied at the top of a frame, before anything else of it; the answer says at which. It stands in\n"
            "the log with that frame, and `orrery replay` does it again.\n"
            "\n"
            "  PID            the run's process; not needed when there is one run\n"
            "  pause          in lockstep and batch: stands at the top of the next frame, until told to go on\n"
            "  step N         flies N frames and stands; the answer comes when it does\n"
            "  go             flies on\n"
            "  set COMMAND VALUE   a command channel, or one number of it: set wheel_x.torque 1 mN m, or\n"
            "                 set wheel.torque [0, 0, 1]. It acts from this frame on, until flight software, the\n"
            "                 file's `commands` or a step of a sequence says otherwise: of a command that a\n"
            "                 link gives, too, until the link's next one, which the answer says. To hold it for\n"
            "                 longer let a fault stick the channel, or leave it out of the link's `commands`\n"
            "  fault NAME     begins a fault that the run's file names under `faults`\n"
            "  clear [NAME]   ends it, or all that act\n"
            "  mark TEXT      writes a text into the log\n"
            "  get PATTERNS   the numbers of channels at the top of a frame: get 'gyro.*,wheel_x.speed', in SI,\n"
            "                 with their units\n"
            "  status         the frame, whether it stands, and at which step of its sequence; at once, also\n"
            "                 while the run waits for flight software\n"
            "  stop           ends the run, with its summary\n"
            "  --json         the answer as JSON, one object in a line: ok, frame, time_s; or ok and error\n"
            "\n"
            "`orrery run --paused` stands before its first frame. The socket is PID.sock in $ORRERY_CTL, else in\n"
            "$XDG_RUNTIME_DIR/orrery, else in /tmp/orrery-UID; with ORRERY_CTL empty a run has none. It takes\n"
            "these same lines, and answers each with a line of JSON; orrery_ctl.py does so for scripts.\n"
            "\n"
            "Exit status: 0 it was applied; 1 it was refused, or there is no such run; 2 the command line is\n"
            "wrong.\n"
            "\n"
            "example:\n"
            "  orrery run configs/cubesat.yaml --mode batch --paused &\n"
            "  orrery ctl step 100 && orrery ctl get 'gyro.*' && orrery ctl go\n",
    .run = run,
};
