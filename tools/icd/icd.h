/* The formats of `orrery icd`, in the files icd_….c: each prints the links of a run to stdout. [init] */
#ifndef ORR_TOOLS_ICD_ICD_H
#define ORR_TOOLS_ICD_ICD_H

#include "io/config/run/run_file.h"
#include "io/links/terms/directory.h"

/* One direction of a link. */
struct orr_icd_side {
  const char *name; /* telemetry, commands */
  const struct orr_layout_side *side;
  uint16_t id;     /* UDP: of the first packet */
  size_t block_at; /* UDP: of the block in a packet */
  size_t piece;    /* UDP: bytes of payload in a whole packet */
  uint32_t pieces; /* UDP: packets of a frame; 0: shared memory */
  bool bare;       /* framing cfe: no block and no sum, the payload alone, with zeros up to a multiple of 8 */
  bool big;        /* its numbers are big-endian */
};

struct orr_icd_link {
  const struct orr_run_link *desc;
  struct orr_layout layout;
  struct orr_wire_header header;
  struct orr_icd_side sides[2];
  void *entries;
};

struct orr_icd {
  const struct orr_run *run;
  const char *path;
  struct orr_icd_link *links;
  size_t count;
  bool (*undetermined)[ORR_LOOP_MAX_ROWS]; /* [loops of the run] of orr_run_undetermined */
};

struct orr_icd_format {
  const char *name;
  bool identifiers;                         /* it makes identifiers of channel names, and they must differ */
  bool packets;                             /* it has links over UDP only, with Orrery's block in each packet */
  bool layouts;                             /* it has links with a layout of their own */
  bool blocks;                              /* so it has, and links in shared memory too */
  bool (*holds)(const struct orr_icd *icd); /* whether it can hold this one; false with a message. NULL: it can */
  bool folds;                               /* it does not tell small letters from capitals */
  void (*write)(const struct orr_icd *icd);
};

void orr_icd_markdown(const struct orr_icd *icd);
void orr_icd_json(const struct orr_icd *icd);
void orr_icd_c(const struct orr_icd *icd);
void orr_icd_python(const struct orr_icd *icd);
void orr_icd_xtce(const struct orr_icd *icd);
void orr_icd_cosmos(const struct orr_icd *icd);
void orr_icd_eds(const struct orr_icd *icd);
void orr_icd_dbc(const struct orr_icd *icd);
/* Whether the numbers of links that are on no bus go into frames; false with a message. */
bool orr_icd_dbc_holds(const struct orr_icd *icd);

/* The part of a link with a layout of its own. */
void orr_icd_layout_markdown(const struct orr_icd *icd, const struct orr_icd_link *link);
void orr_icd_layout_c(const struct orr_icd *icd, const struct orr_icd_link *link);

/* A bit for each number of the channel that is always 0 because the loop's equations do not determine that force. */
unsigned orr_icd_undetermined(const struct orr_icd *icd, const struct orr_channel *channel);

/* Where the payload begins in a packet; bytes of the packet with piece `piece`. */
size_t orr_icd_payload_at(const struct orr_icd_side *side);
size_t orr_icd_packet_bytes(const struct orr_icd_side *side, uint32_t piece);
/* f64, i64, u8; bytes of one number. */
const char *orr_icd_type(const struct orr_channel *channel);
uint32_t orr_icd_bytes(const struct orr_channel *channel);
/* gyro.rate.x, or the channel's name where it has one number. */
void orr_icd_element(const struct orr_channel *channel, int i, char *text, size_t size);
/* A name as C and Python take it: gyro_rate. */
void orr_icd_identifier(const char *name, char *text, size_t size);

#endif
