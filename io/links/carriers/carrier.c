#include "io/links/carriers/carrier.h"

#include <stdio.h>

#include "io/links/carriers/owner.h"

/* One line for each carrier, by the run file's transport. */
static const struct orr_carrier_kind *const kinds[] = {
    [ORR_TRANSPORT_LINKED] = &orr_carrier_linked, [ORR_TRANSPORT_SHM] = &orr_carrier_shm,
    [ORR_TRANSPORT_UDP] = &orr_carrier_udp,       [ORR_TRANSPORT_SERIAL] = &orr_carrier_serial,
    [ORR_TRANSPORT_TCP] = &orr_carrier_tcp,       [ORR_TRANSPORT_UNIX] = &orr_carrier_unix,
    [ORR_TRANSPORT_CAN] = &orr_carrier_can,       [ORR_TRANSPORT_PCAP] = &orr_carrier_pcap,
};

const struct orr_carrier_kind *orr_carrier_kind(enum orr_transport transport) { return kinds[transport]; }

void orr_carrier_taken(const struct orr_run_link *desc, const char *who, int owner, const char *key,
                       const char *variable, char *text, size_t size) {
  char described[160];
  orr_owner_describe(owner, described, sizeof described);
  snprintf(text, size,
           "%s has it open: %s. Let that end, or meet elsewhere: --set links.%s.%s (with make: %s), and the flight "
           "software at the same place",
           who, described, desc->name, key, variable);
}
