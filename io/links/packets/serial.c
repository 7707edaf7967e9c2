/* The carrier `serial`: a link over a serial port (io/wire/serial_port.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/links/packets/cable.h"
#include "io/wire/serial_port.h"

static int reach(struct orr_cable *l) {
  int refused = 0, fd = orr_serial_open(l->packets.base.desc->device, &l->packets.base.desc->serial, &refused);
  atomic_store(&l->refused, refused);
  return fd;
}

/* The port is ours alone while it is open. It may stay open elsewhere, and would then be nobody's. */
static void leave(int fd) {
  ioctl(fd, TIOCNXCL);
  close(fd);
}

static const struct orr_cable_way way = {.reach = reach, .leave = leave};

static int open_port(struct orr_carrier *c, int64_t step_ns) {
  struct orr_cable *l = orr_cable_of(c);
  int error = orr_cable_prepare(l, &way, step_ns);
  if (error)
    return error;
  int fd = reach(l); /* what is wrong with it is said before the run begins */
  if (fd >= 0)
    atomic_store(&l->fresh, fd);
  if (fd >= 0 && atomic_load(&l->refused))
    fprintf(stderr, "orrery run: warning: link '%s': %s has no low latency (%s): what comes may wait in its driver\n",
            c->desc->name, c->desc->device, strerror(atomic_load(&l->refused)));
  error = fd < 0 ? -fd : orr_cable_start(l);
  if (error)
    orr_cable_close(l);
  return error;
}

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "serial:%s@%u", desc->device, desc->serial.baud);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  if (error == ENOTTY)
    snprintf(text, size, "'%s' is no serial port%s", desc->device, desc->serial.rs485 ? ", or has no RS-485" : "");
  else if (error == EINVAL)
    snprintf(text, size, "the port has not the rate %u, or not these bits", desc->serial.baud);
  else if (error == ENOENT)
    snprintf(text, size, "there is no device '%s'; ls /dev/serial/by-id names those that are plugged in", desc->device);
  else if (error == EACCES)
    snprintf(text, size, "this user may not open it; on Debian the group dialout may");
  else if (error == EBUSY)
    snprintf(text, size, "another program has the port for itself");
  else
    snprintf(text, size, "%s", strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  static const char parity[] = {'N', 'E', 'O'};
  const struct orr_serial *s = &desc->serial;
  int said = snprintf(text, size, "Serial line: %u baud, %d%c%d%s. ", s->baud, s->data_bits, parity[s->parity],
                      s->stop_bits, s->rs485 ? ", RS-485" : "");
  if (said > 0 && (size_t)said < size)
    orr_cable_document(desc, h, text + said, size - (size_t)said);
}

const struct orr_carrier_kind orr_carrier_serial = {
    ORR_CABLE_CALLBACKS,  .name = "serial",   .open = open_port,
    .describe = describe, .explain = explain, .document = document,
};
