#!/bin/sh
# Links over UDP where the kernel has no io_uring, no rings of buffers (before 5.19) or no multishot receive (before
# 6.0): plain calls carry every frame, with the bits of the ring, and the run says what is missing.
. tests/support/script.sh
cc=${CC:-cc}
# Starts a program for which one system call fails.
cat >"$dir/without.c" <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) {
  struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(words[1]), 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(words[2])),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (count < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    return 77;
  execv(words[3], words + 3);
  return 127;
}
C
# Between a program and liburing: a receive that shall go on has a flag that no kernel knows, as an
# older one does not know that.
cat >"$dir/older.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <liburing.h>
#include <string.h>
static void spoil(struct io_uring *ring) {
  for (unsigned i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++) {
    struct io_uring_sqe *sqe = &ring->sq.sqes[i & *ring->sq.kring_mask];
    if (sqe->opcode == IORING_OP_RECVMSG && sqe->ioprio)
      sqe->ioprio = 1 << 15;
  }
}
static int call(const char *name, struct io_uring *ring, unsigned wait) {
  void *found = dlsym(RTLD_NEXT, name);
  int (*real)(struct io_uring *, unsigned);
  memcpy(&real, &found, sizeof real);
  spoil(ring);
  return real(ring, wait);
}
int io_uring_submit(struct io_uring *ring) { return call("io_uring_submit", ring, 0); }
int io_uring_submit_and_wait(struct io_uring *ring, unsigned n) { return call("io_uring_submit_and_wait", ring, n); }
int io_uring_submit_and_get_events(struct io_uring *ring) { return call("io_uring_submit_and_get_events", ring, 0); }
C
"$cc" -o "$dir/without" "$dir/without.c" || fail "the filter does not compile"
"$cc" -shared -fPIC -o "$dir/older.so" "$dir/older.c" -ldl || fail "the older kernel does not compile"
ldd "$ORRERY" | grep -q 'liburing\|libasan' || exit 77
ldd "$ORRERY" | grep -q libasan && exit 77 # it wants to be loaded first
over udp configs/cubesat.yaml >"$dir/run.yaml"
setup=425 register=427 # system calls

fly() { # MODE COMMAND...: in front of the run
  mode=$1
  shift
  "$fsw" "$(url_of udp)" 2>"$dir/fsw" &
  peer=$!
  "$@" "$ORRERY" run "$dir/run.yaml" --mode "$mode" --duration 6s --set realtime.spin=0s --set realtime.phase=0s >"$dir/out" 2>"$dir/err"
  status=$?
  [ $status -ne 77 ] || exit 77
  [ $status -eq 0 ] || fail "$*, $mode: $(cat "$dir/out" "$dir/err")"
  wait $peer || fail "$*, $mode: the flight software: $(cat "$dir/fsw")"
  grep -q '60 frames out, .* 1 peers' "$dir/out" || fail "$*, $mode: $(cat "$dir/out")"
}
fly lockstep env
grep -q 'plain sockets' "$dir/err" && exit 77 # this kernel is such a one
first=$(hash_of "$dir/out")
[ ${#first} -eq 16 ] || fail "no state_hash"
while IFS='|' read -r says command; do
  # shellcheck disable=SC2086
  fly lockstep $command
  grep -q "^orrery run: warning: links over UDP use plain sockets: $says" "$dir/err" || fail "$command says: $(cat "$dir/err")"
  [ "$(hash_of "$dir/out")" = "$first" ] || fail "$command: other bits than with io_uring"
  grep -q '60 frames out, 59 commands applied, 0 of them late, 0 missed' "$dir/out" || fail "$command: $(cat "$dir/out")"
  # shellcheck disable=SC2086
  fly realtime $command
  grep -q ' frames out, [1-9][0-9]* commands applied' "$dir/out" || fail "$command, in real time: $(cat "$dir/out")"
done <<LIST
no io_uring (Function not implemented)|$dir/without $setup 38
no io_uring (Operation not permitted)|$dir/without $setup 1
io_uring has no ring of buffers (Invalid argument)|$dir/without $register 22
io_uring has no multishot receive (Invalid argument)|env LD_PRELOAD=$dir/older.so
LIST
exit 0
