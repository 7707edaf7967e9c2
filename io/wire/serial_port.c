#include "io/wire/serial_port.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int set_line(int fd, const struct orr_serial *s) {
  static const tcflag_t sizes[] = {CS5, CS6, CS7, CS8};
  struct termios2 t, got;
  if (ioctl(fd, TCGETS2, &t) != 0)
    return errno;
  t.c_iflag = s->parity ? INPCK : 0;
  t.c_oflag = t.c_lflag = 0;
  t.c_cflag = CREAD | CLOCAL | BOTHER | (BOTHER << IBSHIFT) | sizes[s->data_bits - 5];
  t.c_cflag |= (s->stop_bits == 2 ? CSTOPB : 0) | (s->parity ? PARENB : 0) | (s->parity == ORR_PARITY_ODD ? PARODD : 0);
  t.c_cc[VMIN] = 1;
  t.c_cc[VTIME] = 0;
  t.c_ispeed = t.c_ospeed = s->baud;
  if (ioctl(fd, TCSETS2, &t) != 0 || ioctl(fd, TCGETS2, &got) != 0)
    return errno;
  /* a driver takes the nearest rate that it has: a receiver bears some two per cent */
  double off = (double)got.c_ospeed / s->baud - 1;
  return off > 0.02 || off < -0.02 ? EINVAL : 0;
}

static int set_direction(int fd) {
  struct serial_rs485 r = {.flags = SER_RS485_ENABLED | SER_RS485_RTS_ON_SEND};
  return ioctl(fd, TIOCSRS485, &r) == 0 ? 0 : errno;
}

static int set_latency(int fd) {
  struct serial_struct s;
  memset(&s, 0, sizeof s);
  if (ioctl(fd, TIOCGSERIAL, &s) != 0)
    return errno;
  s.flags = (int)((unsigned)s.flags | (unsigned)ASYNC_LOW_LATENCY);
  return ioctl(fd, TIOCSSERIAL, &s) == 0 ? 0 : errno;
}

int orr_serial_open(const char *path, const struct orr_serial *s, int *refused) {
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  int error = set_line(fd, s);
  if (!error && s->rs485)
    error = set_direction(fd);
  if (!error && ioctl(fd, TIOCEXCL) != 0)
    error = errno;
  *refused = !error && s->low_latency ? set_latency(fd) : 0;
  if (!error)
    return fd;
  close(fd);
  return -error;
}
