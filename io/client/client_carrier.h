/* The interface of what carries a client's link, and what the two carriers share; for io/client only. */
#ifndef ORR_IO_CLIENT_CLIENT_CARRIER_H
#define ORR_IO_CLIENT_CLIENT_CARRIER_H

#include "io/client/client.h"

int64_t orr_client_now_ms(void);
void orr_client_pause_us(long us);

/* Whether all that the header describes lies within `bytes`; of a segment, the slots too. */
bool orr_client_sound(const struct orr_wire_header *header, uint64_t bytes, bool segment);
/* Copies directory and names, judges them, and makes room for payloads; client.header is sound. 0 or an errno. */
int orr_client_copy(struct orr_client *client, const char *memory);

/* A carrier, once a link is open: a const table. The functions are those below. */
struct orr_client_carrier {
  bool in_memory; /* a look costs no system call, so it is done often, and a frame is answered by a sign of life */
  int (*look)(struct orr_client *client);
  void (*sleep)(struct orr_client *client, int64_t most_ms);
  int (*send)(struct orr_client *client, uint64_t flags);
  void (*beat)(struct orr_client *client);
  int (*pulse)(struct orr_client *client);
};
extern const struct orr_client_carrier orr_client_shm, orr_client_udp;

/* What they do. enter reads what the run says of itself, in client.memory or over client.fd (waiting `answer_ms` for
 * each piece of it); 0 or an errno: EAGAIN while it is being written, ENOENT when the run is over or silent, EPROTO for
 * what is not a link of this version. look returns 1 for a new frame, 0 for none, or the reason to end; sleep waits for
 * one. pulse is called now and then while none comes: it tells the run that we are alive, and checks that the run is. 0
 * or the reason to end. */
int orr_client_shm_enter(struct orr_client *client);
int orr_client_shm_look(struct orr_client *client);
void orr_client_shm_sleep(struct orr_client *client, int64_t most_ms);
int orr_client_shm_send(struct orr_client *client, uint64_t flags);
void orr_client_shm_beat(struct orr_client *client);
int orr_client_shm_pulse(struct orr_client *client);
void orr_client_shm_close(struct orr_client *client);

int orr_client_udp_enter(struct orr_client *client, int answer_ms);
int orr_client_udp_look(struct orr_client *client);
void orr_client_udp_sleep(struct orr_client *client, int64_t most_ms);
int orr_client_udp_send(struct orr_client *client, uint64_t flags);
void orr_client_udp_beat(struct orr_client *client);
int orr_client_udp_pulse(struct orr_client *client);
void orr_client_udp_close(struct orr_client *client);

#endif
