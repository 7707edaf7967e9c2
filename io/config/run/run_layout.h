/* What `layout` of a link says: packets that somebody else defined, bit for bit.
 *
 * orr_run_read_layout fills it; all is const then, and lives as long as the run file. io/links/forms/telegram writes
 * and reads packets by it. A packet of a layout is called a telegram here, for the words packet and message have
 * meanings of their own in io/wire and in logs.
 *
 * Bits. A field takes `width` bits from `bit` on, counted through the telegram from 0. With big-endian fields bit 0
 * of a byte is its highest, and a field's highest bit comes first; with little-endian ones it is its lowest, and a
 * field's lowest bit comes first. So whole bytes stand as both names say.
 */
#ifndef ORR_IO_CONFIG_RUN_RUN_LAYOUT_H
#define ORR_IO_CONFIG_RUN_RUN_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ORR_TELEGRAMS_MAX = 32,         /* of a link, both directions */
  ORR_TELEGRAM_FIELDS_MAX = 1024, /* of a telegram, every number of a channel counted */
  ORR_TELEGRAM_BYTES_MAX = 4096,
  ORR_FIELD_STATES_MAX = 64,
};

enum orr_field_kind {
  ORR_FIELD_CHANNEL,  /* a number of a channel */
  ORR_FIELD_CONSTANT, /* written as it is, and judged when it comes */
  ORR_FIELD_FILL,     /* written as it is, and not looked at when it comes */
  ORR_FIELD_COUNTER,
  ORR_FIELD_TIME,
  ORR_FIELD_LENGTH, /* of a range of bytes: a constant, once the telegram is laid out */
  ORR_FIELD_CHECKSUM,
};

enum orr_field_number { ORR_FIELD_UNSIGNED, ORR_FIELD_SIGNED, ORR_FIELD_FLOAT };

enum orr_field_counts { ORR_COUNTS_FRAMES, ORR_COUNTS_PACKETS };

enum orr_field_sum { ORR_SUM_XOR, ORR_SUM_PLAIN, ORR_SUM_TWOS, ORR_SUM_ONES, ORR_SUM_CRC };

/* The parameters of a CRC, as catalogues of them have it. */
struct orr_field_crc {
  uint64_t poly, init, xorout;
  bool reflect_in, reflect_out;
};

/* A value of a channel that has its own number on the wire. */
struct orr_field_state {
  const char *name;
  double value;
  uint64_t raw;
};

struct orr_run_field {
  enum orr_field_kind kind;
  const char *name; /* or NULL */
  enum orr_field_number number;
  int width; /* bits: 1 to 64; of floats 32 or 64 */
  bool little;
  uint32_t bit;
  int by, set; /* field of the same telegram that counts the sets, and the set that this one is in; −1: in all */
  int of_sets; /* of the field that counts the sets: how many there are; else 0 */
  /* channel */
  int channel, element; /* of the run's table of channels */
  const char *channel_name;
  double lsb, offset; /* value = lsb raw + offset, SI */
  uint64_t nan;       /* what stands for a number that is none */
  int state_count;    /* 0: a number */
  const struct orr_field_state *states;
  const char *lsb_text; /* as the file has it, or NULL */
  /* constant, fill, length; as it stands in its bits */
  uint64_t raw;
  /* counter */
  enum orr_field_counts counts;
  uint64_t start, modulo; /* modulo 0: as many as its bits hold */
  /* time: ns of one count; added to the run's time */
  double lsb_ns;
  int64_t offset_ns;
  /* length, checksum: bytes `from` to before `to`; zeros are taken as if so many stood behind */
  uint32_t from, to, zeros;
  enum orr_field_sum sum;
  struct orr_field_crc crc;
};

/* On CAN a telegram begins with the identifier of its frame, big-endian, as a constant; its data stand behind. */
enum { ORR_RUN_CAN_HEAD = 4, ORR_RUN_CAN_DATA = 8, ORR_RUN_CAN_FD_DATA = 64 };
#define ORR_RUN_CAN_EXTENDED UINT32_C(0x80000000)

struct orr_run_telegram {
  const char *name;
  uint32_t id;      /* can: of its frame, with ORR_RUN_CAN_EXTENDED where it has 29 bits */
  uint32_t head;    /* bytes before its data: ORR_RUN_CAN_HEAD, or 0 */
  bool command;     /* from flight software */
  int every, phase; /* telemetry: goes out with the link's frames phase + k every */
  int request;      /* telemetry: the telegram that asks for it; −1: it goes out by itself */
  bool answers;     /* commands: it answers the newest frame; if not, its numbers wait for one that does */
  uint32_t bytes;
  int count;
  const struct orr_run_field *fields; /* as they stand in the file */
};

struct orr_run_layout {
  int count;
  const struct orr_run_telegram *telegrams;
};

/* [any] How many bytes the data of a frame that holds so many have; 0: none does. */
uint32_t orr_run_can_room(uint32_t bytes, bool fd);

#endif
