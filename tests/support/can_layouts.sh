# What scripts share that fly the cubesat on a CAN bus. It is sourced.
#   can_link FORM CARRIER   the link `fsw` of a run file that carries frames of a form: doubles, one in each classic
#                           frame; fd, several in a frame of CAN FD; whole, whole numbers in classic frames, of both
#                           byte orders. CARRIER is the line that says over what. Over UDP the same packets begin with
#                           the identifier
#   start_stand_in          the library that makes a Unix socket of messages of CAN's, $dir/bus
#   on_bus COMMAND...       COMMAND with it; BUS_MTU and BUS_DOWN say what its interface vcan7 is like
can_link() {
  udp=
  case $2 in *udp*) udp=1 ;; esac
  awk '/^links:/ {exit} {print}' configs/cubesat.yaml
  cat <<P2
links:
  fsw:
    $2
    rate: 10 Hz
    wait: 60 s
    telemetry: [gyro.rate, star.attitude, bus.target]
    commands: [wheel_*.torque]
    lockstep: {timeout: 60 s}
    layout:
      packets:
        hello: {$(can_head 0x300)direction: commands, fields: [$(can_id 0x300){constant: 0x5a, type: u8}]}
P2
  case $1 in
  doubles)
    for k in 0 1 2; do
      echo "        rate$k: {$(can_head 0x10$k)direction: telemetry, fields: [$(can_id 0x10$k){channel: 'gyro.rate[$k]', type: f64}]}"
      echo "        torque$k: {$(can_head 0x20$k)direction: commands, answers: $([ $k = 2 ] && echo true || echo false), fields: [$(can_id 0x20$k){channel: $(echo wheel_x wheel_y wheel_z | cut -d ' ' -f $((k + 1))).torque, type: f64, byte_order: little}]}"
    done
    for k in 0 1 2 3; do
      echo "        attitude$k: {$(can_head 0x11$k)direction: telemetry, fields: [$(can_id 0x11$k){channel: 'star.attitude[$k]', type: f64}]}"
    done
    for k in 0 1 2 3; do
      echo "        target$k: {$(can_head 0x12$k)direction: telemetry, fields: [$(can_id 0x12$k){channel: 'bus.target[$k]', type: f64}]}"
    done
    ;;
  fd)
    cat <<P2
        rate: {id: 0x100, direction: telemetry, byte_order: little, fields: [{channel: gyro.rate, type: f64}]}
        attitude: {id: 0x110, direction: telemetry, byte_order: little, fields: [{channel: star.attitude, type: f64}]}
        target: {id: 0x18ff1234, extended: true, direction: telemetry, byte_order: little, fields: [{channel: bus.target, type: f64}]}
        torque: {id: 0x200, direction: commands, byte_order: little, fields: [{channel: wheel_x.torque, type: f64}, {channel: wheel_y.torque, type: f64}, {channel: wheel_z.torque, type: f64}]}
P2
    ;;
  whole)
    cat <<P2
        rate: {$(can_head 0x100)direction: telemetry, fields: [$(can_id 0x100){channel: gyro.rate, type: i21, byte_order: little, lsb: 1e-6 rad/s}, {fill: 1, type: u1, byte_order: little}]}
        attitude0: {$(can_head 0x110)direction: telemetry, fields: [$(can_id 0x110){channel: 'star.attitude[0]', type: i32, lsb: 9.31322574615478515625e-10}, {channel: 'star.attitude[1]', type: i32, lsb: 9.31322574615478515625e-10}]}
        attitude1: {$(can_head 0x111)direction: telemetry, fields: [$(can_id 0x111){channel: 'star.attitude[2]', type: i32, lsb: 9.31322574615478515625e-10}, {channel: 'star.attitude[3]', type: i32, lsb: 9.31322574615478515625e-10}]}
        target0: {$(can_head 0x120)direction: telemetry, fields: [$(can_id 0x120){channel: 'bus.target[0]', type: i32, lsb: 9.31322574615478515625e-10}, {channel: 'bus.target[1]', type: i32, lsb: 9.31322574615478515625e-10}]}
        target1: {$(can_head 0x121)direction: telemetry, fields: [$(can_id 0x121){channel: 'bus.target[2]', type: i32, lsb: 9.31322574615478515625e-10}, {channel: 'bus.target[3]', type: i32, lsb: 9.31322574615478515625e-10}]}
        torque: {$(can_head 0x200)direction: commands, fields: [$(can_id 0x200){channel: wheel_x.torque, type: i16, lsb: 3e-8 N m}, {at: $([ -n "$udp" ] && echo 8 || echo 4), channel: wheel_y.torque, type: i16, lsb: 3e-8 N m}, {channel: wheel_z.torque, type: i16, lsb: 3e-8 N m}]}
P2
    ;;
  esac
}
can_head() { [ -n "$udp" ] || printf 'id: %s, ' "$1"; }
can_id() { [ -z "$udp" ] || printf '{constant: %s, type: u32}, ' "$1"; }
start_stand_in() {
cat >"$dir/bus.c" <<'P2'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
static int bus = -1;
int socket(int domain, int type, int protocol) {
  int fd = domain == PF_CAN ? REAL(socket)(AF_UNIX, (type & ~0xf) | SOCK_SEQPACKET, 0) : REAL(socket)(domain, type, protocol);
  return domain == PF_CAN ? (bus = fd) : fd;
}
int setsockopt(int fd, int level, int what, const void *value, socklen_t size) {
  return fd == bus && level == SOL_CAN_RAW ? 0 : REAL(setsockopt)(fd, level, what, value, size);
}
unsigned if_nametoindex(const char *name) { return strcmp(name, "vcan7") == 0 ? 7 : REAL(if_nametoindex)(name); }
int ioctl(int fd, unsigned long what, ...) {
  va_list all;
  va_start(all, what);
  void *value = va_arg(all, void *);
  va_end(all);
  struct ifreq *r = value;
  if (fd != bus || (what != SIOCGIFMTU && what != SIOCGIFFLAGS))
    return REAL(ioctl)(fd, what, value);
  if (what == SIOCGIFMTU)
    r->ifr_mtu = atoi(getenv("BUS_MTU"));
  else
    r->ifr_flags = getenv("BUS_DOWN") ? 0 : IFF_UP;
  return 0;
}
int bind(int fd, const struct sockaddr *to, socklen_t size) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  strcpy(at.sun_path, getenv("BUS"));
  return fd == bus ? connect(fd, (struct sockaddr *)&at, sizeof at) : REAL(bind)(fd, to, size);
}
P2
cc -shared -fPIC -O1 -o "$dir/bus.so" "$dir/bus.c" || fail "no library"
}
on_bus() { # COMMAND...
  BUS="$dir/bus" BUS_MTU="${mtu:-72}" LD_PRELOAD="$dir/bus.so" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" "$@"
}
