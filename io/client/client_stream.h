/* Packets of a client over TCP, a Unix socket or a serial port, in place of datagrams; for io/client only. The rest is
 * as over UDP (client_udp). */
#ifndef ORR_IO_CLIENT_CLIENT_STREAM_H
#define ORR_IO_CLIENT_CLIENT_STREAM_H

#include <sys/types.h>

#include "io/client/client.h"
#include "io/wire/framing.h"

enum { ORR_CLIENT_STREAM_ROOM = 4 * ORR_FRAMING_MOST };

struct orr_client_stream {
  struct orr_deframer in;
  size_t at, count; /* of `got`, what is still to be read */
  size_t out_at, out_bytes;
  bool is_port; /* serial; else a socket */
  uint8_t got[ORR_WIRE_PACKET_MAX];
  uint8_t out[ORR_CLIENT_STREAM_ROOM];
};

/* [init] Connects client.fd, and makes client.stream: `tcp:host:port` without its kind is orr_client_stream_tcp's, and
 * so on; `,slip` behind it frames by SLIP in place of COBS. 0 or an errno, with words in *why or NULL there. */
int orr_client_stream_tcp(struct orr_client *client, const char *address, const char **why);
int orr_client_stream_unix(struct orr_client *client, const char *path, const char **why);
int orr_client_stream_serial(struct orr_client *client, const char *port, const char **why);

/* [any] As send and recv of a datagram. Sending: whether there was room for it. Receiving: its length; or −1 with
 * EAGAIN for none, ECONNREFUSED when the other end is gone. O(bytes). */
bool orr_client_stream_send(struct orr_client *client, const uint8_t *packet, size_t bytes);
ssize_t orr_client_stream_receive(struct orr_client *client, uint8_t packet[ORR_WIRE_PACKET_MAX]);

/* [any] Splits `host:port`: NULL, or what is wrong with it. */
const char *orr_client_split(const char *address, char *host, size_t size, const char **port);

#endif
