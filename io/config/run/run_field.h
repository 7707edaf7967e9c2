/* A field of a packet of `layout`, while it is read. For run_layout.c, run_packet.c and run_field.c only. */
#ifndef ORR_IO_CONFIG_RUN_RUN_FIELD_H
#define ORR_IO_CONFIG_RUN_RUN_FIELD_H

#include "io/config/run/run_draft.h"

/* What a field says that its packet judges: where it stands, what it refers to. */
struct orr_field_draft {
  struct orr_run_field field; /* of a whole channel: the first number */
  int numbers;                /* how many fields it is, one behind the other */
  bool placed;                /* it says `at` */
  struct orr_place place;
  struct orr_place over;     /* length, checksum: of which bytes; or none */
  int64_t plus;              /* length: added */
  struct orr_place sets, by; /* sub-commutated: `sets`, and no field of its own */
};

extern const struct orr_mapping orr_field_mapping;
extern const char *const orr_byte_orders[];

/* [init] One entry of `fields`; false after reporting. */
bool orr_run_read_field(struct orr_run_draft *draft, struct orr_place place, const struct orr_run_link *link,
                        bool command, bool little, struct orr_field_draft *out);

/* [init] The fields of a packet, laid out and judged; out->bytes is its length behind out->head, or 0, and the whole
 * length then. Bytes count from the end of the head, which becomes a constant, out->id. False after reporting. */
bool orr_run_read_fields(struct orr_run_draft *draft, struct orr_place list, const struct orr_run_link *link,
                         bool little, struct orr_run_telegram *out);

#endif
