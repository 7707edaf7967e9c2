/* The topics of a log, made from the table of channels: one for each device and body, with a field for each of its
 * channels, and topics of the run itself (`/orrery/...`).
 *
 * orr_log_topics_create [init] → const. Everything lives as long as the arena.
 */
#ifndef ORR_IO_LOG_TOPICS_H
#define ORR_IO_LOG_TOPICS_H

#include "core/plant/channel.h"
#include "io/config/text/arena.h"
#include "io/log/mcap.h"
#include "io/log/message.h"

/* Topics of the run, by the id of their MCAP channel and of its schema. */
enum orr_log_id {
  ORR_LOG_COMMANDS = 1, /* all commands of a frame, where one differs from the frame before */
  ORR_LOG_TIMING,       /* each frame of a run in real time, as the executive measured it */
  ORR_LOG_OVERRUN,      /* a frame that was late */
  ORR_LOG_LOST,         /* frames that are not in the log */
  ORR_LOG_CHECKPOINT,   /* the whole state before a frame */
  ORR_LOG_EVENT,        /* what a procedure did: such as a fault that begins or ends */
  ORR_LOG_LINK,         /* what a link did in a frame; one channel for each link, of this schema */
  ORR_LOG_ENTITIES      /* the first device or body */
};

struct orr_log_topic {
  struct orr_mcap_schema schema;
  struct orr_mcap_channel channel;
  struct orr_mcap_pair *pairs; /* [pair_count] channel, unit and elements of each field */
  size_t pair_count;
  const int *fields; /* [field_count] channels of the table */
  int field_count;
  size_t bytes; /* of a message of a device or body */
};

struct orr_log_topics {
  const struct orr_channel_table *table;
  struct orr_log_topic system[ORR_LOG_ENTITIES];
  struct orr_log_topic *links; /* [link_count], of the schema ORR_LOG_LINK */
  int link_count;
  struct orr_log_topic *entities; /* [entity_count] */
  int entity_count;
  int command_count; /* numbers of all commands */
};

/* [init] `chosen` [table->count]: the channels that are recorded. O(channels²). */
const struct orr_log_topics *orr_log_topics_create(struct orr_arena *arena, const struct orr_channel_table *table,
                                                   const bool *chosen, const char *const *links, int link_count);

/* [any] A message of a device or body, of topic->bytes, from the frame's block. O(numbers). */
void orr_log_topic_write(const struct orr_log_topics *topics, const struct orr_log_topic *topic, const double *values,
                         uint8_t *message);

/* [any] Whether some channel of the topic has a new value at a frame; commands have no times of their own.
 * O(channels). */
bool orr_log_topic_is_due(const struct orr_log_topics *topics, const struct orr_log_topic *topic, int64_t frame);

#endif
