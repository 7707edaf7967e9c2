#include "io/links/packets/sandbox.h"

#include <errno.h>
#include <liburing.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "rt/machine/rights.h"

#if defined(__x86_64__)
#define ORR_SANDBOX_ARCH                 AUDIT_ARCH_X86_64
#define ORR_SANDBOX_GIVE(context, error) ((context)->uc_mcontext.gregs[REG_RAX] = -(error))
#elif defined(__aarch64__)
#define ORR_SANDBOX_ARCH                 AUDIT_ARCH_AARCH64
#define ORR_SANDBOX_GIVE(context, error) ((context)->uc_mcontext.regs[0] = (uint64_t)(-(error)))
#endif

/* ---- what was refused -------------------------------------------------------------------------------------------- */

/* A signal handler is given nothing else to write to. */
static _Atomic uint64_t tried_count;
static _Atomic int tried_last;

struct orr_sandbox_tried orr_sandbox_tried(void) {
  return (struct orr_sandbox_tried){atomic_load(&tried_count), atomic_load(&tried_last)};
}

const char *orr_sandbox_call_name(int number) {
  static const struct {
    int number;
    const char *name;
  } names[] = {{SYS_openat, "openat"},
               {SYS_execve, "execve"},
               {SYS_socket, "socket"},
               {SYS_connect, "connect"},
               {SYS_bind, "bind"},
               {SYS_clone, "clone"},
               {SYS_clone3, "clone3"},
               {SYS_ptrace, "ptrace"},
               {SYS_unlinkat, "unlinkat"},
               {SYS_kill, "kill"},
               {SYS_openat2, "openat2"},
               {SYS_execveat, "execveat"},
               {SYS_mprotect, "mprotect"},
               {SYS_mmap, "mmap"},
               {SYS_io_uring_register, "io_uring_register"},
#ifdef SYS_open
               {SYS_open, "open"},
               {SYS_fork, "fork"},
               {SYS_unlink, "unlink"}
#endif
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].number == number)
      return names[i].name;
  return NULL;
}

#ifdef ORR_SANDBOX_ARCH

/* The kernel has not made the call: its result is ours to give. */
static void refuse(int signal, siginfo_t *info, void *context) {
  (void)signal;
  if (info->si_code != 1 /* SYS_SECCOMP, which not every header has */)
    return;
  ucontext_t *thread = context;
  atomic_store(&tried_last, info->si_syscall);
  atomic_fetch_add(&tried_count, 1);
  ORR_SANDBOX_GIVE(thread, EPERM);
}

int orr_sandbox_prepare(void) {
  const uint32_t trap = SECCOMP_RET_TRAP;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) != 0)
    return errno;
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
  action.sa_sigaction = refuse;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGSYS, &action, NULL) == 0 ? 0 : errno;
}

/* ---- the filter -------------------------------------------------------------------------------------------------- */

/* What threads do with what is open: none of these gets at a file, a program or a process that they have not. mmap and
 * mprotect are the heap's, and may not make memory that can be run: that is judged apart. */
enum { IO = ORR_SANDBOX_IO, LOG = ORR_SANDBOX_LOG, CONTROL = ORR_SANDBOX_CONTROL, ALL = IO | LOG | CONTROL };

static const struct {
  int call;
  unsigned who;
} allowed[] = {
    {SYS_io_uring_enter, IO},
    {SYS_clock_nanosleep, ALL},
    {SYS_clock_gettime, ALL},
    {SYS_ppoll, IO | CONTROL},
    {SYS_sendto, IO | CONTROL},
    {SYS_recvfrom, IO | CONTROL},
    {SYS_pwrite64, LOG},
    {SYS_sendmsg, IO},
    {SYS_recvmsg, IO},
    {SYS_sendmmsg, IO},
    {SYS_recvmmsg, IO},
    {SYS_read, IO},
    {SYS_write, ALL},
    {SYS_readv, IO},
    {SYS_writev, ALL},
    {SYS_accept, IO},
    {SYS_accept4, IO | CONTROL},
    {SYS_shutdown, IO},
    {SYS_close, IO | CONTROL},
    {SYS_getsockopt, IO | CONTROL},
    {SYS_setsockopt, IO},
    {SYS_getsockname, IO},
    {SYS_getpeername, IO},
    {SYS_fcntl, IO},
    {SYS_fstat, ALL},
    {SYS_fstatfs, LOG},
    {SYS_futex, ALL},
    {SYS_nanosleep, ALL},
    {SYS_sched_yield, ALL},
    {SYS_sched_getaffinity, ALL}, /* how many heaps the C library makes */
    {SYS_restart_syscall, ALL},
    {SYS_munmap, ALL},
    {SYS_madvise, ALL},
    {SYS_brk, ALL},
    {SYS_mremap, ALL},
    {SYS_exit, ALL},
    {SYS_exit_group, ALL},
    {SYS_rt_sigreturn, ALL},
    {SYS_rt_sigprocmask, ALL},
    {SYS_getpid, ALL},
    {SYS_gettid, ALL},
    {SYS_geteuid, CONTROL},
    {SYS_getrandom, ALL},
    {SYS_rseq, ALL},
    {SYS_set_robust_list, ALL},
    {SYS_epoll_pwait, IO},
    {SYS_epoll_ctl, IO},
    {SYS_membarrier, ALL},
    {SYS_getrusage, IO},
    {SYS_sigaltstack, ALL},
#ifdef SYS_poll
    {SYS_poll, IO | CONTROL},
    {SYS_epoll_wait, IO},
#endif
#ifdef SYS_newfstatat
    {SYS_newfstatat, ALL}, /* fstat of glibc 2.33 and later: it tells of a path, and opens none */
#endif
};

enum { ALLOWED = sizeof allowed / sizeof *allowed, MOST = 2 * ALLOWED + 40 };

static int add(struct sock_filter *f, int n, struct sock_filter one) {
  f[n] = one;
  return n + 1;
}

static int add_check(struct sock_filter *f, int n, uint32_t value, uint32_t verdict) {
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
  return add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* A call that sets how memory may be used, argument 2: none that can be run. */
static int add_memory(struct sock_filter *f, int n, uint32_t call) {
  enum { PROT_RUN = 4 };
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
  n = add(f, n,
          (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[2])));
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_RUN, 1, 0));
  n = add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
}

/* Around these the C library blocks all signals, and one by which they were refused would end the process: they fail
 * without being noted. */
static const int quiet[] = {
    SYS_clone,
    SYS_clone3,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
};

enum { QUIET = sizeof quiet / sizeof *quiet };

/* tgkill to our own process alone: abort needs it. */
static int add_abort(struct sock_filter *f, int n) {
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4));
  n = add(f, n,
          (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[0])));
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1));
  n = add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
}

static int filter(struct sock_filter f[MOST], enum orr_sandbox what_for) {
  const struct sock_filter number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr));
  int n = 0;
  n = add(f, n, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch)));
  n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ORR_SANDBOX_ARCH, 1, 0));
  n = add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  n = add(f, n, number);
  for (int i = 0; i < ALLOWED; i++)
    if (allowed[i].who & (unsigned)what_for)
      n = add_check(f, n, (uint32_t)allowed[i].call, SECCOMP_RET_ALLOW);
  n = add_memory(f, n, SYS_mmap);
  n = add_memory(f, n, SYS_mprotect);
  n = add_abort(f, n);
  for (int i = 0; i < QUIET; i++)
    n = add_check(f, n, (uint32_t)quiet[i], SECCOMP_RET_ERRNO | EPERM);
  return add(f, n, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

int orr_sandbox_enter(enum orr_sandbox what_for) {
  struct sock_filter code[MOST];
  struct sock_fprog program = {.len = (unsigned short)filter(code, what_for), .filter = code};
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGSYS); /* blocked, it would end the process */
  int error = pthread_sigmask(SIG_UNBLOCK, &told, NULL);
  if (error == 0)
    error = orr_rights_drop(what_for == ORR_SANDBOX_IO ? ORR_RIGHTS_NONE : ORR_RIGHTS_MEMORY);
  if (error == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0)
    error = errno;
  return error;
}

#else

int orr_sandbox_prepare(void) { return ENOSYS; }
int orr_sandbox_enter(enum orr_sandbox what_for) {
  (void)what_for;
  return ENOSYS;
}

#endif

/* ---- io_uring ---------------------------------------------------------------------------------------------------- */

/* Not every liburing has these two. 0 or an errno. */
static int change(const struct io_uring *ring, unsigned what, void *with, unsigned count) {
  return syscall(SYS_io_uring_register, ring->ring_fd, what, with, count) < 0 ? errno : 0;
}

int orr_sandbox_ring(struct io_uring *ring) {
  static const uint8_t operations[] = {
      IORING_OP_RECVMSG, IORING_OP_SENDMSG,      IORING_OP_TIMEOUT,        IORING_OP_POLL_ADD, IORING_OP_POLL_REMOVE,
      IORING_OP_ACCEPT,  IORING_OP_RECV,         IORING_OP_SEND,           IORING_OP_READ,     IORING_OP_WRITE,
      IORING_OP_NOP,     IORING_OP_ASYNC_CANCEL, IORING_OP_TIMEOUT_REMOVE, IORING_OP_CLOSE};
  enum { OPERATIONS = sizeof operations };
  struct io_uring_restriction all[OPERATIONS + 1];
  memset(all, 0, sizeof all);
  for (int i = 0; i < OPERATIONS; i++) {
    all[i].opcode = IORING_RESTRICTION_SQE_OP;
    all[i].sqe_op = operations[i];
  }
  all[OPERATIONS].opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED;
  all[OPERATIONS].sqe_flags = IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
  int error = change(ring, IORING_REGISTER_RESTRICTIONS, all, OPERATIONS + 1);
  int enabled = change(ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
  return enabled ? enabled : error == EINVAL ? ENOTSUP : error;
}
