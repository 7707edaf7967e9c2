/* The sandboxes of threads: what one can still do there and what fails, as root and as nobody; what the ring of the io
 * thread takes; and a run whose io thread is made to open files, which says so. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "io/links/packets/sandbox.h"
#include "tests/support/clock.h"
#include "tests/support/flight.h"
#include "tests/support/port.h"
#include "tools/run/links_report.h"

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

/* What is open before it goes in. */
struct opened {
  enum orr_sandbox what_for;
  int pair[2], null, listening, file;
  _Atomic pid_t thread;
  atomic_bool seen;
};

/* One line for each mistake, so that what a child finds is seen: it has no cmocka. */
static int wrong;
static void must(bool good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "sandbox: %s (%s)\n", what, strerror(errno));
  wrong++;
}

static bool refused(long status) { return status == -1 && errno == EPERM; }

static void *nothing_to_do(void *user) { return user; }

static void try_what_must_fail(void) {
  char *const words[] = {(char *)(uintptr_t) "/bin/true", NULL};
  uint64_t before = orr_sandbox_tried().count;
  must(refused(open("/etc/passwd", O_RDONLY | O_CLOEXEC)), "opened a file");
  must(orr_sandbox_tried().last == SYS_openat, "which call was tried");
  must(refused(syscall(SYS_openat, AT_FDCWD, "/tmp/orrery.sandbox", O_CREAT | O_WRONLY, 0600)), "made a file");
  must(refused(execv("/bin/true", words)), "started a program");
  must(refused(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, NULL, 0)), "started a program by execveat");
  must(refused(socket(AF_INET, SOCK_DGRAM, 0)), "made a socket");
  must(refused(syscall(SYS_unlinkat, AT_FDCWD, "/tmp/orrery.sandbox", 0)), "removed a file");
  must(refused(kill(getppid(), 0)), "reached another process");
  must(refused(syscall(SYS_ptrace, 0, 0, 0, 0)), "traced");
  must(refused(syscall(SYS_io_uring_register, 0, 0, 0, 0)), "changed a ring");
  void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(code == MAP_FAILED && errno == EPERM, "made memory that can be run");
  pthread_t child;
  must(pthread_create(&child, NULL, nothing_to_do, NULL) == EPERM, "started a thread");
  must(fork() == -1, "started a process");
  must(orr_sandbox_tried().count - before >= 10, "counted");
}

static void use_the_heap(void) {
  void *large = malloc(4 << 20);
  must(large != NULL, "has a heap");
  if (large)
    memset(large, 1, 4 << 20);
  free(large);
  nap_ms(1);
}

/* The thread of the log: places of its file, and nobody to speak to. */
static void do_what_a_log_needs(const struct opened *o) {
  struct stat status;
  struct statvfs disk;
  char byte = 'x';
  must(pwrite(o->file, &byte, 1, 7) == 1, "writes at a place");
  must(fstat(o->file, &status) == 0 && status.st_size == 8, "looks at its file");
  must(fstatvfs(o->file, &disk) == 0, "looks at the disk");
  use_the_heap();
  must(refused(send(o->pair[0], &byte, 1, 0)), "a log sends nothing");
  must(refused(accept(o->listening, NULL, NULL)), "a log accepts nobody");
  must(refused(pread(o->file, &byte, 1, 0)), "a log reads nothing");
}

/* Of `orrery ctl`: who comes is heard and answered; it has no file. */
static void do_what_ctl_needs(const struct opened *o) {
  struct ucred who;
  socklen_t size = sizeof who;
  char byte = 'x', *text = NULL;
  size_t bytes = 0;
  int taken = accept4(o->listening, NULL, NULL, SOCK_CLOEXEC);
  must(taken >= 0, "accepts");
  must(getsockopt(taken, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid(), "knows who that is");
  struct pollfd at = {taken, POLLOUT, 0};
  must(ppoll(&at, 1, NULL, NULL) == 1, "waits");
  must(send(taken, "ok", 2, MSG_NOSIGNAL) == 2 && close(taken) == 0, "answers");
  FILE *out = open_memstream(&text, &bytes);
  must(out && fprintf(out, "%.17g", 0.1) > 0 && fclose(out) == 0, "writes an answer");
  free(text);
  use_the_heap();
  must(refused(pwrite(o->file, &byte, 1, 0)), "has no file to write at");
  must(refused(sendmsg(o->pair[0], &(struct msghdr){0}, 0)), "sends no packets");
}

static void do_what_it_needs(const struct opened *o) {
  char byte = 'x';
  struct sockaddr_un name;
  socklen_t size = sizeof name;
  must(send(o->pair[0], &byte, 1, 0) == 1 && recv(o->pair[1], &byte, 1, 0) == 1, "datagrams pass");
  must(write(o->null, &byte, 1) == 1, "writes");
  int taken = accept(o->listening, (struct sockaddr *)&name, &size);
  must(taken >= 0, "accepts");
  must(write(taken, "ok", 2) == 2 && close(taken) == 0, "answers whom it has accepted");
  use_the_heap();
}

static void *live_in_it(void *user) {
  struct opened *o = user;
  free(malloc(1));
  must(orr_sandbox_enter(o->what_for) == 0, "goes in");
  atomic_store(&o->thread, gettid());
  while (!atomic_load(&o->seen)) /* how it stands in /proc */
    nap_ms(1);
  try_what_must_fail();
  if (o->what_for == ORR_SANDBOX_LOG)
    do_what_a_log_needs(o);
  else if (o->what_for == ORR_SANDBOX_CONTROL)
    do_what_ctl_needs(o);
  else
    do_what_it_needs(o);
  return NULL;
}

/* The capabilities of a thread as others see them; −1: not known. */
static long long rights_of(pid_t thread) {
  char path[64], line[200];
  long long all = -1;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "CapPrm:", 7) == 0 || strncmp(line, "CapEff:", 7) == 0)
      all = (all < 0 ? 0 : all) | (long long)strtoull(line + 7, NULL, 16);
  if (f)
    fclose(f);
  return all;
}

static int calling(const struct sockaddr_un *name, socklen_t size) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(fd >= 0 && connect(fd, (const struct sockaddr *)name, size) == 0, "somebody calls");
  return fd;
}

/* The number of mistakes. */
static int live(enum orr_sandbox what_for) {
  FILE *written = tmpfile();
  struct opened o = {.what_for = what_for,
                     .file = written ? fileno(written) : -1,
                     .null = open("/dev/null", O_WRONLY | O_CLOEXEC),
                     .listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  struct sockaddr_un name = {.sun_family = AF_UNIX}; /* a name that the kernel gives */
  socklen_t size = sizeof name;
  pthread_t thread;
  char answer[2] = "";
  wrong = 0;
  must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, o.pair) == 0, "a pair");
  must(bind(o.listening, (const struct sockaddr *)&name, sizeof name.sun_family) == 0 && listen(o.listening, 1) == 0 &&
           getsockname(o.listening, (struct sockaddr *)&name, &size) == 0,
       "a place to call");
  int caller = calling(&name, size);
  must(orr_sandbox_prepare() == 0, "is prepared");
  must(pthread_create(&thread, NULL, live_in_it, &o) == 0, "a thread");
  while (!atomic_load(&o.thread))
    nap_ms(1);
  const long long memory = 1LL << 14; /* CAP_IPC_LOCK, where there is a limit that may not be lifted */
  must((rights_of(atomic_load(&o.thread)) & ~(what_for == ORR_SANDBOX_IO ? 0 : memory)) == 0, "has no rights");
  atomic_store(&o.seen, true);
  if (what_for != ORR_SANDBOX_LOG)
    must(read(caller, answer, 2) == 2 && memcmp(answer, "ok", 2) == 0, "is answered");
  pthread_join(thread, NULL);
  if (written)
    fclose(written);
  /* we are as free as before */
  int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  must(file >= 0, "others open files");
  must(geteuid() != 0 || rights_of(gettid()) != 0, "others keep their rights");
  const int all[] = {file, caller, o.null, o.listening, o.pair[0], o.pair[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    close(all[i]);
  return wrong;
}

static void a_thread_in_it_opens_nothing_and_starts_nothing(void **state) {
  (void)state;
  assert_int_equal(live(ORR_SANDBOX_IO), 0);
  assert_int_equal(live(ORR_SANDBOX_LOG), 0);
  assert_int_equal(live(ORR_SANDBOX_CONTROL), 0);
}

static void nor_does_one_of_a_user_without_rights(void **state) {
  (void)state;
  int status;
  if (geteuid() != 0)
    skip();
  pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0)
      _exit(99);
    _exit(live(ORR_SANDBOX_IO) + live(ORR_SANDBOX_LOG) + live(ORR_SANDBOX_CONTROL));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- its ring ---------------------------------------------------------------------------------------------------- */

static int result_of(struct io_uring *ring, void (*prepare)(struct io_uring_sqe *)) {
  struct io_uring_cqe *cqe;
  struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
  prepare(sqe);
  int error = io_uring_submit(ring);
  assert_true(error >= 0);
  assert_int_equal(io_uring_wait_cqe(ring, &cqe), 0);
  int result = cqe->res;
  io_uring_cqe_seen(ring, cqe);
  return result;
}

static void nothing(struct io_uring_sqe *sqe) { io_uring_prep_nop(sqe); }
static void to_open(struct io_uring_sqe *sqe) { io_uring_prep_openat(sqe, AT_FDCWD, "/etc/passwd", O_RDONLY, 0); }
static void to_connect(struct io_uring_sqe *sqe) { io_uring_prep_connect(sqe, 0, NULL, 0); }
static void to_link(struct io_uring_sqe *sqe) {
  io_uring_prep_nop(sqe);
  sqe->flags |= IOSQE_ASYNC;
}

static void its_ring_takes_what_it_needs_and_nothing_else(void **state) {
  (void)state;
  struct io_uring ring;
  struct io_uring_params params = {.flags = IORING_SETUP_R_DISABLED};
  if (io_uring_queue_init_params(8, &ring, &params) != 0)
    skip();
  assert_int_equal(orr_sandbox_ring(&ring), 0);
  assert_int_equal(result_of(&ring, nothing), 0);
  assert_int_equal(result_of(&ring, to_open), -EACCES);
  assert_int_equal(result_of(&ring, to_connect), -EACCES);
  assert_int_equal(result_of(&ring, to_link), -EACCES);
  assert_true(io_uring_register_eventfd(&ring, 0) < 0); /* nor is anything registered any more */
  io_uring_queue_exit(&ring);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* In place of the C library's: what somebody would do who had taken over the thread that reads his packets. */
static _Atomic int attempts, came_by;
static atomic_bool attacks;

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  if (atomic_exchange(&attacks, false)) {
    char *const words[] = {(char *)(uintptr_t) "/bin/true", NULL};
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    atomic_fetch_add(&came_by, file >= 0);
    atomic_fetch_add(&attempts, 1);
    if (file < 0) {
      execv("/bin/true", words);
      atomic_fetch_add(&attempts, 1);
    } else
      close(file);
  }
  return syscall(SYS_recvmsg, fd, message, flags);
}

static struct orr_flight fly_attacked(bool loose, uint64_t *refused_calls) {
  char text[2000], message[200], url[60];
  unsigned port = orr_port_free();
  snprintf(text, sizeof text,
           ORR_FLIGHT_CRAFT "links: {fsw: {transport: udp, listen: '127.0.0.1:%u', rate: 10 Hz, telemetry: "
                            "[gyro.rate], commands: [wheel.torque]}}\n",
           port);
  snprintf(url, sizeof url, "udp:127.0.0.1:%u", port);
  struct orr_flight f = orr_flight_make(text, NULL);
  f.session->relay.plain = true; /* where it calls recvmsg */
  f.session->relay.loose = loose;
  assert_true(orr_session_open_links(f.session, false, NULL, message, sizeof message));
  assert_int_equal(f.session->relay.sandbox_error, 0);
  uint64_t before = orr_sandbox_tried().count;
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, url, 5000), 0);
  atomic_store(&attempts, 0);
  atomic_store(&came_by, 0);
  atomic_store(&attacks, true);
  for (int i = 0; i < 5000 && atomic_load(&attempts) < (loose ? 1 : 2); i++)
    nap_ms(1);
  /* it flies on */
  for (int k = 0; k < 5; k++) {
    orr_flight_run(&f, 10);
    assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000), 1);
    assert_int_equal(orr_client_send(&c), 0);
  }
  orr_client_close(&c);
  *refused_calls = orr_sandbox_tried().count - before;
  return f;
}

static void a_run_says_what_its_io_thread_was_made_to_try(void **state) {
  (void)state;
  uint64_t calls;
  struct orr_flight f = fly_attacked(false, &calls);
  assert_int_equal(atomic_load(&attempts), 2);
  assert_int_equal(atomic_load(&came_by), 0);
  assert_int_equal(calls, 2);
  json_t *root = json_object();
  orr_links_json(f.session, "by itself", root);
  const json_t *said = json_object_get(root, "io_thread");
  assert_true(json_is_true(json_object_get(said, "sandbox")));
  assert_true(json_integer_value(json_object_get(said, "refused_calls")) >= 2);
  assert_string_equal(json_string_value(json_object_get(said, "last_refused_call")), "execve");
  json_decref(root);
  orr_flight_free(&f);
}

static void without_the_sandbox_it_would_have_had_the_file(void **state) {
  (void)state;
  uint64_t calls;
  struct orr_flight f = fly_attacked(true, &calls);
  assert_int_equal(atomic_load(&came_by), 1);
  assert_int_equal(calls, 0);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_in_it_opens_nothing_and_starts_nothing),
      cmocka_unit_test(nor_does_one_of_a_user_without_rights),
      cmocka_unit_test(its_ring_takes_what_it_needs_and_nothing_else),
      cmocka_unit_test(a_run_says_what_its_io_thread_was_made_to_try),
      cmocka_unit_test(without_the_sandbox_it_would_have_had_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
