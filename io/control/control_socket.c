#include "io/control/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "io/links/packets/own_socket.h"
#include "io/links/packets/sandbox.h"
#include "rt/machine/make_folder.h"

/* How often it looks whether what is on its way has been applied. */
enum { LOOK_NS = 500000 };

enum waiting {
  NOT_WAITING,
  FOR_ITS_COMMAND, /* to be applied */
  FOR_ITS_STEPS    /* to be flown */
};

struct client {
  int fd; /* −1: free */
  size_t used;
  char in[ORR_CONTROL_LINE + 1];
  enum waiting waiting;
  uint64_t number; /* of its command, of all that were committed */
  int64_t applied, until;
  char *out; /* its answer; NULL: none */
  size_t out_size, sent;
  bool last;  /* nothing more is obeyed */
  bool ended; /* it says no more, and is still to be answered */
};

struct orr_control_socket {
  struct orr_control *control;
  struct orr_control_scope scope;
  bool *known;
  const char *file, *mode;
  int listener, wake;
  pthread_t thread;
  bool caged;
  int cage_error;
  sem_t ready; /* it is in its sandbox, or not, as cage_error says */
  atomic_bool over;
  bool snapshot_taken; /* by a command that is on its way */
  struct client clients[ORR_CONTROL_CLIENTS];
  struct sockaddr_un address;
};

/* ---- the folder -------------------------------------------------------------------------------------------------- */

bool orr_control_folder(char *folder, size_t size) {
  const char *named = getenv("ORRERY_CTL"), *runtime = getenv("XDG_RUNTIME_DIR");
  if (named)
    snprintf(folder, size, "%s", named);
  else if (runtime && runtime[0] == '/')
    snprintf(folder, size, "%s/orrery", runtime);
  else
    snprintf(folder, size, "/tmp/orrery-%ld", (long)geteuid());
  return folder[0] != '\0';
}

int orr_control_check_folder(const char *folder, bool make) {
  struct stat there;
  if (make && orr_make_folder(folder, 0700) != 0 && errno != EEXIST)
    return errno;
  if (lstat(folder, &there) != 0)
    return errno;
  if (!S_ISDIR(there.st_mode))
    return ENOTDIR;
  bool whole = !make || (there.st_mode & 0700) == 0700;
  return there.st_uid != geteuid() || there.st_mode & 077 || !whole ? EPERM : 0;
}

/* What a run that was killed has left: nobody listens there. */
static void sweep(const char *folder) {
  DIR *d = opendir(folder);
  const struct dirent *e;
  while (d && (e = readdir(d)) != NULL) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strspn(e->d_name, "0123456789");
    int length = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", folder, e->d_name);
    if (n == 0 || strcmp(e->d_name + n, ".sock") != 0 || (size_t)length >= sizeof at.sun_path)
      continue;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) != 0 && errno == ECONNREFUSED)
      unlink(at.sun_path);
    if (fd >= 0)
      close(fd);
  }
  if (d)
    closedir(d);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static double seconds(const struct orr_control_socket *s, int64_t frame) {
  return 1e-9 * (double)(frame * s->control->plant->step_ns);
}

/* An answer is written into memory by `out`, and sent from there as the client takes it. */
static FILE *begin_answer(struct client *c) { return open_memstream(&c->out, &c->out_size); }

static void end_answer(struct client *c, FILE *out) {
  fclose(out);
  c->sent = 0;
  c->waiting = NOT_WAITING;
}

static void refuse(struct client *c, const char *message) {
  FILE *out = begin_answer(c);
  if (!out)
    return;
  orr_control_write_error(out, message);
  end_answer(c, out);
}

static void write_head(const struct orr_control_socket *s, FILE *out, int64_t frame) {
  fprintf(out, "{\"ok\": true, \"frame\": %" PRId64 ", \"time_s\": %.17g", frame, seconds(s, frame));
}

static void answer_applied(struct orr_control_socket *s, struct client *c, const struct orr_control_slot *slot) {
  const struct orr_control_command *command = &slot->command;
  if (command->sort == ORR_CONTROL_STEP) {
    c->waiting = FOR_ITS_STEPS;
    c->applied = slot->frame;
    c->until = slot->frame + command->frames;
    return;
  }
  FILE *out = begin_answer(c);
  if (!out)
    return;
  write_head(s, out, slot->frame);
  if (command->sort == ORR_CONTROL_CLEAR)
    fprintf(out, ", \"ended\": %d", slot->changed);
  if (command->sort == ORR_CONTROL_SET)
    orr_control_write_commanded(out, &s->scope, command);
  if (command->sort == ORR_CONTROL_GET) {
    fputs(", \"values\": ", out);
    orr_control_write_values(out, &s->scope, command->text, s->control->snapshot);
    fputs(", \"units\": ", out);
    orr_control_write_values(out, &s->scope, command->text, NULL);
    s->snapshot_taken = false;
  }
  fputs("}\n", out);
  end_answer(c, out);
}

/* Where it stands after steps: at the frame that was asked for, or at another where somebody else has spoken. */
static void answer_stepped(const struct orr_control_socket *s, struct client *c, bool over) {
  FILE *out = begin_answer(c);
  if (!out)
    return;
  write_head(s, out, c->applied);
  if (over)
    fputs(", \"over\": true}\n", out);
  else
    fprintf(out, ", \"stands_at\": %" PRId64 "}\n", atomic_load(&s->control->frame));
  end_answer(c, out);
}

static void answer_status(const struct orr_control_socket *s, struct client *c) {
  int64_t frame = atomic_load(&s->control->frame), since;
  const struct orr_run_step *step = orr_control_step(s->control, &since);
  FILE *out = begin_answer(c);
  if (!out)
    return;
  if (frame < 0)
    fputs("{\"ok\": true, \"frame\": null", out);
  else
    write_head(s, out, frame);
  fprintf(out, ", \"pid\": %ld, \"mode\": \"%s\", \"paused\": %s, \"file\": ", (long)getpid(), s->mode,
          atomic_load(&s->control->pausing) ? "true" : "false");
  orr_control_write_text(out, s->file);
  if (step && frame >= 0) {
    fputs(", \"step\": ", out);
    orr_control_write_text(out, step->name);
    fputs(", \"waits_for\": ", out);
    orr_control_write_text(out, step->text);
    fprintf(out, ", \"since_s\": %.17g", seconds(s, since));
  }
  fputs("}\n", out);
  end_answer(c, out);
}

/* ---- clients ----------------------------------------------------------------------------------------------------- */

/* What it has on its way is applied all the same. */
static void drop(struct client *c) {
  close(c->fd);
  free(c->out);
  *c = (struct client){.fd = -1};
}

static bool is_ours(int fd) {
  struct ucred who;
  socklen_t size = sizeof who;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && (who.uid == geteuid() || who.uid == 0);
}

static void welcome(struct orr_control_socket *s) {
  static const char full[] = "{\"ok\": false, \"error\": \"16 clients are there already\"}\n";
  int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0)
    return;
  struct client *room = NULL;
  for (int i = 0; i < ORR_CONTROL_CLIENTS && !room; i++)
    room = s->clients[i].fd < 0 ? &s->clients[i] : NULL;
  if (room && is_ours(fd)) {
    *room = (struct client){.fd = fd};
    return;
  }
  if (!room)
    send(fd, full, sizeof full - 1, MSG_NOSIGNAL);
  close(fd);
}

/* The client that waits for a slot; NULL: it is gone. */
static struct client *client_of(struct orr_control_socket *s, const struct orr_control_slot *slot, uint64_t number) {
  struct client *c = &s->clients[slot->client];
  return c->fd >= 0 && c->waiting == FOR_ITS_COMMAND && c->number == number ? c : NULL;
}

/* Commands are done in their order. `next` is the first that was not seen done. */
static uint64_t take_done(struct orr_control_socket *s, uint64_t next) {
  const struct orr_control_slot *slot;
  for (; (slot = orr_control_done(s->control, next)) != NULL; next++) {
    struct client *c = client_of(s, slot, next);
    if (c)
      answer_applied(s, c, slot);
    else if (slot->command.sort == ORR_CONTROL_GET)
      s->snapshot_taken = false;
  }
  return next;
}

static void look_at_steps(struct orr_control_socket *s) {
  int64_t frame = atomic_load(&s->control->frame);
  bool pausing = atomic_load(&s->control->pausing);
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++) {
    struct client *c = &s->clients[i];
    if (c->fd >= 0 && c->waiting == FOR_ITS_STEPS && (pausing || frame > c->until))
      answer_stepped(s, c, false);
  }
}

/* False where it has to wait for room. */
static bool obey(struct orr_control_socket *s, struct client *c, const char *line, size_t length) {
  struct orr_control_command command;
  char message[ORR_CONTROL_MESSAGE];
  if (!orr_control_parse(&s->scope, line, length, &command, message, sizeof message)) {
    refuse(c, message);
    return true;
  }
  if (command.sort == ORR_CONTROL_STATUS) {
    answer_status(s, c);
    return true;
  }
  struct orr_control_slot *slot = orr_control_claim(s->control);
  bool get = command.sort == ORR_CONTROL_GET;
  if (!slot || (get && s->snapshot_taken))
    return false;
  s->snapshot_taken |= get;
  slot->command = command;
  slot->client = (uint64_t)(c - s->clients);
  c->number = atomic_load(&s->control->head);
  c->waiting = FOR_ITS_COMMAND;
  orr_control_commit(s->control);
  return true;
}

/* Takes the line that is there, if it is whole and the one before is answered. */
static void take_line(struct orr_control_socket *s, struct client *c) {
  char *end = memchr(c->in, '\n', c->used);
  if (c->waiting != NOT_WAITING || c->out || c->last)
    return;
  if (!end && c->used == sizeof c->in) {
    refuse(c, "a line has at most 1024 bytes");
    c->last = true;
  }
  if (!end || !obey(s, c, c->in, (size_t)(end - c->in)))
    return;
  size_t used = (size_t)(end - c->in) + 1;
  memmove(c->in, c->in + used, c->used - used);
  c->used -= used;
}

static void hear(struct client *c) {
  ssize_t n = recv(c->fd, c->in + c->used, sizeof c->in - c->used, 0);
  if (n > 0)
    c->used += (size_t)n;
  else if (n == 0 && (c->waiting != NOT_WAITING || memchr(c->in, '\n', c->used)))
    c->ended = true;
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    drop(c);
}

static void speak(struct client *c) {
  ssize_t n = send(c->fd, c->out + c->sent, c->out_size - c->sent, MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  c->sent += n > 0 ? (size_t)n : 0;
  if (n >= 0 && c->sent < c->out_size)
    return;
  free(c->out);
  c->out = NULL;
  if (n < 0 || c->last || (c->ended && !memchr(c->in, '\n', c->used)))
    drop(c);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

enum { LISTENER, WAKE, FIRST_CLIENT };

/* Who has answers to take is not heard before he has. */
static short wanted(const struct client *c) {
  if (c->out)
    return POLLOUT;
  return c->used < sizeof c->in && !c->last && !c->ended ? POLLIN : 0;
}

static void wait_for_clients(struct orr_control_socket *s, bool soon) {
  const struct timespec look = {.tv_nsec = LOOK_NS};
  struct pollfd at[FIRST_CLIENT + ORR_CONTROL_CLIENTS] = {
      [LISTENER] = {s->listener, POLLIN, 0}, [WAKE] = {s->wake, POLLIN, 0}};
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++)
    at[FIRST_CLIENT + i] =
        (struct pollfd){s->clients[i].fd, s->clients[i].fd < 0 ? (short)0 : wanted(&s->clients[i]), 0};
  if (ppoll(at, FIRST_CLIENT + ORR_CONTROL_CLIENTS, soon ? &look : NULL, NULL) <= 0)
    return;
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++) {
    struct client *c = &s->clients[i];
    short happened = at[FIRST_CLIENT + i].revents;
    if (c->fd < 0 || !happened)
      continue;
    if (c->out && happened & (POLLOUT | POLLHUP))
      speak(c);
    else if (happened & POLLIN)
      hear(c);
    else /* it is gone */
      drop(c);
  }
  if (at[LISTENER].revents)
    welcome(s);
}

static bool somebody_waits(const struct orr_control_socket *s, uint64_t done) {
  bool waits = done < atomic_load(&s->control->head);
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++) {
    const struct client *c = &s->clients[i];
    waits |= c->fd >= 0 && (c->waiting != NOT_WAITING || (!c->out && memchr(c->in, '\n', c->used)));
  }
  return waits;
}

/* Nothing is applied any more. A client that does not read loses its answer. */
static void say_good_bye(struct orr_control_socket *s) {
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++) {
    struct client *c = &s->clients[i];
    if (c->fd < 0)
      continue;
    if (c->waiting == FOR_ITS_STEPS)
      answer_stepped(s, c, true);
    else if (c->waiting == FOR_ITS_COMMAND || memchr(c->in, '\n', c->used))
      refuse(c, "the run is over: this was not applied");
    if (c->out)
      speak(c);
    if (c->fd >= 0)
      drop(c);
  }
}

static void *serve(void *user) {
  struct orr_control_socket *s = user;
  uint64_t done = 0;
  free(malloc(1)); /* its heap */
  s->cage_error = s->caged ? orr_sandbox_enter(ORR_SANDBOX_CONTROL) : 0;
  bool good = s->cage_error == 0;
  sem_post(&s->ready);
  if (!good)
    return NULL;
  while (!atomic_load(&s->over)) {
    wait_for_clients(s, somebody_waits(s, done));
    done = take_done(s, done);
    look_at_steps(s);
    for (int i = 0; i < ORR_CONTROL_CLIENTS; i++)
      if (s->clients[i].fd >= 0)
        take_line(s, &s->clients[i]);
  }
  take_done(s, done);
  say_good_bye(s);
  return NULL;
}

/* Signals are the main thread's. */
static int start_thread(struct orr_control_socket *s, int avoid_core) {
  pthread_attr_t attributes;
  cpu_set_t cores;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  if (avoid_core >= 0 && sched_getaffinity(0, sizeof cores, &cores) == 0) {
    CPU_CLR((size_t)avoid_core, &cores);
    if (CPU_COUNT(&cores) > 0)
      pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  }
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  sem_init(&s->ready, 0, 0);
  int error = pthread_create(&s->thread, &attributes, serve, s);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  while (!error && sem_wait(&s->ready) != 0) {
    /* a signal was handled meanwhile */
  }
  if (!error && s->cage_error) {
    pthread_join(s->thread, NULL);
    error = s->cage_error;
  }
  sem_destroy(&s->ready);
  pthread_attr_destroy(&attributes);
  return error;
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* 0 or an errno; the name is there then, and nobody else's. */
static int open_socket(struct orr_control_socket *s, const char *folder) {
  s->address.sun_family = AF_UNIX;
  int length = snprintf(s->address.sun_path, sizeof s->address.sun_path, "%s/%ld.sock", folder, (long)getpid());
  if ((size_t)length >= sizeof s->address.sun_path)
    return ENAMETOOLONG;
  int error = orr_control_check_folder(folder, true);
  if (error)
    return error;
  sweep(folder);
  struct sockaddr_un early = s->address;
  memcpy(early.sun_path + length - 4, "new", 4); /* in place of "sock" */
  unlink(early.sun_path);
  s->wake = eventfd(0, EFD_CLOEXEC);
  s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s->listener < 0 || s->wake < 0)
    return errno;
  /* It gets its name when it listens: another run that starts just then sweeps away what does not. */
  error = orr_own_socket_bind(s->listener, &early);
  if (error)
    return error;
  bool listens = listen(s->listener, ORR_CONTROL_CLIENTS) == 0 && rename(early.sun_path, s->address.sun_path) == 0;
  return listens ? 0 : errno;
}

static bool *known_channels(const struct orr_plant *p) {
  bool *known = calloc((size_t)p->table.count + 1, sizeof *known);
  int truth = p->truth_count ? p->truths[0].channel : p->table.count;
  if (!known)
    abort();
  for (int i = 0; i < p->table.count; i++)
    known[i] = i < truth || i >= truth + p->truth_count || p->table.channels[i].asked;
  return known;
}

static void give_back(struct orr_control_socket *s) {
  if (s->listener >= 0)
    close(s->listener);
  if (s->wake >= 0)
    close(s->wake);
  free(s->known);
  free(s);
}

struct orr_control_socket *orr_control_serve(struct orr_control *control, const struct orr_run *run, const char *file,
                                             const char *mode, struct orr_control_thread how, char *message,
                                             size_t size) {
  char folder[sizeof((struct sockaddr_un *)0)->sun_path];
  message[0] = '\0';
  if (!orr_control_folder(folder, sizeof folder))
    return NULL;
  struct orr_control_socket *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  *s = (struct orr_control_socket){.control = control, .file = file, .mode = mode, .listener = -1, .wake = -1};
  s->caged = how.caged;
  s->known = known_channels(control->plant);
  s->scope = (struct orr_control_scope){.table = &control->plant->table,
                                        .known = s->known,
                                        .faults = run->faults,
                                        .fault_count = run->fault_count,
                                        .links = run->links,
                                        .link_count = run->link_count,
                                        .inside = strcmp(mode, "batch") == 0,
                                        .may_pause = control->may_pause};
  for (int i = 0; i < ORR_CONTROL_CLIENTS; i++)
    s->clients[i].fd = -1;
  int error = open_socket(s, folder);
  if (!error) {
    error = start_thread(s, how.avoid_core);
    if (error)
      unlink(s->address.sun_path);
  }
  if (!error)
    return s;
  snprintf(message, size, "no socket for 'orrery ctl' in %s: %s%s", folder, strerror(error),
           error == EPERM ? ": the folder must be yours, with the mode 0700" : "");
  give_back(s);
  return NULL;
}

void orr_control_socket_close(struct orr_control_socket *s) {
  const uint64_t one = 1;
  if (!s)
    return;
  unlink(s->address.sun_path);
  atomic_store(&s->over, true);
  ssize_t ignored = write(s->wake, &one, sizeof one);
  (void)ignored;
  pthread_join(s->thread, NULL);
  give_back(s);
}
