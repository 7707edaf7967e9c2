/* Captures of networks (.pcap), as far as UDP over IPv4 to one port goes.
 *
 * Classic files of both byte orders, with stamps in us or ns, of Ethernet (with or without VLAN tags), Linux cooked
 * captures (SLL and SLL2) and raw IP. A text of any bytes becomes a list of what was in the datagrams, or a message.
 * What is no such datagram, or is a fragment, is skipped; one of which the capture has not all bytes is counted.
 * [init]; one thread at a time for an arena.
 */
#ifndef ORR_IO_CONFIG_RUN_CAPTURE_H
#define ORR_IO_CONFIG_RUN_CAPTURE_H

#include "io/config/environment/tables.h"
#include "io/config/run/run_file.h"

/* [init] The datagrams to `port`; their bytes stay those of the text, and `at_ns` counts from the first of them, never
 * backwards. False with the problem (`line` is 0). O(text). */
bool orr_capture_read(struct orr_text text, uint16_t port, struct orr_arena *arena, struct orr_run_capture *out,
                      struct orr_table_problem *problem);

#endif
