/* A cage for a thread that reads what others send, or writes what they said: once it is in, it opens no file, makes no
 * socket and starts no program, whatever it is made to try.
 *
 * orr_sandbox_prepare on the main thread [init] → orr_sandbox_enter on the thread itself, when all it needs is open →
 * orr_sandbox_tried at any time. Other threads are as free as before.
 *
 * A seccomp filter lists the calls that the thread may make, on what is open, by what it is for: the io thread sends,
 * receives, reads, writes and accepts; that of `orrery ctl` accepts and speaks; that of the log writes at places of its
 * file. Any other call fails with EPERM and is noted. Those that start threads and processes fail and are not noted.
 * The thread's capabilities are dropped (rt/machine/rights.h), and no program that it could start has more. What an
 * io_uring does for it seccomp does not see: the ring is restricted by orr_sandbox_ring. It is a thread of a process,
 * and can still write into memory that others use.
 */
#ifndef ORR_IO_LINKS_SANDBOX_H
#define ORR_IO_LINKS_SANDBOX_H

#include <stdint.h>

struct io_uring;

/* What a thread is for. */
enum orr_sandbox { ORR_SANDBOX_IO = 1, ORR_SANDBOX_LOG = 2, ORR_SANDBOX_CONTROL = 4 };

/* [init] Catches the signal by which the kernel tells of a refused call. 0, or an errno that says why no thread can go
 * in: ENOSYS on a processor that is not known here, or a kernel without such filters. */
int orr_sandbox_prepare(void);
/* [init] On the thread that goes in, with whatever signals blocked, and after it has allocated once: the C library may
 * look at the machine for the first heap. 0, or an errno: then it is as free as before, but for what was done already
 * (capabilities). */
int orr_sandbox_enter(enum orr_sandbox what_for);
/* [init] For a ring that was made with IORING_SETUP_R_DISABLED and has its files and buffers: from now on it sends,
 * receives, reads, writes, accepts, waits, cancels and closes, and takes no other operation. Enables it. 0 or an errno;
 * ENOTSUP where the kernel has no restrictions. */
int orr_sandbox_ring(struct io_uring *ring);

/* [any] How many calls were refused in this process, and the number of the last one (as in <sys/syscall.h>). O(1). */
struct orr_sandbox_tried {
  uint64_t count;
  int last;
};
struct orr_sandbox_tried orr_sandbox_tried(void);
/* [any] The names of some calls that one would try; NULL for others. */
const char *orr_sandbox_call_name(int number);

#endif
