/* A serial port as both ends of a link open it. */
#ifndef ORR_IO_WIRE_SERIAL_PORT_H
#define ORR_IO_WIRE_SERIAL_PORT_H

#include <stdbool.h>

enum orr_parity { ORR_PARITY_NONE, ORR_PARITY_EVEN, ORR_PARITY_ODD };

struct orr_serial {
  unsigned baud; /* any that the port can be set to */
  int data_bits; /* 5 to 8 */
  int stop_bits; /* 1 or 2 */
  enum orr_parity parity;
  bool rs485;       /* the driver turns the direction */
  bool low_latency; /* the driver hands over what came at once */
};

/* [any] Opens a port, raw and without flow control, not blocking, and takes it for this process alone (TIOCEXCL). The
 * descriptor, or a negative errno: -ENOTTY for what is no serial port, -EINVAL for a rate that it has not. `*refused`
 * gets the errno with which it refused `low_latency`, which it then goes without; 0: it has it, or it was not asked. */
int orr_serial_open(const char *path, const struct orr_serial *serial, int *refused);

#endif
