/* One flight of a campaign: its settings, its numbers, and the row that it becomes. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_FLIGHT_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_FLIGHT_H

#include <jansson.h>

#include "io/config/campaign/campaign_file.h"

enum {
  ORR_FLIGHT_SETTINGS = 2 * ORR_CAMPAIGN_VARIED + 16,
  ORR_FLIGHT_LINKS = 8,   /* that lead outside */
  ORR_FLIGHT_DIGITS = 17, /* of numbers in rows: all there are */
};

/* Settings that make flight i of the run file, in memory of their own. */
struct orr_flight_settings {
  char *text[ORR_FLIGHT_SETTINGS];
  size_t count;
};
void orr_flight_settings_make(struct orr_flight_settings *settings, const struct orr_campaign *campaign,
                              const double *values);
void orr_flight_settings_free(struct orr_flight_settings *settings);

/* Where flight software outside finds its link: `tag` is the campaign's and `worker` its own. */
struct orr_flight_place {
  const char *tag;
  int worker;
};

/* The name of the segment of link k. */
enum { ORR_FLIGHT_SEGMENT = 80 };
const char *orr_flight_segment(const struct orr_flight_place *place, size_t link, char name[ORR_FLIGHT_SEGMENT]);

/* What is known of a flight before it is flown: flight, seed, values. New reference. */
json_t *orr_flight_head(const struct orr_campaign *campaign, int64_t flight, const double *values);

/* A row that says why there is no more: "crashed", "hung", "out_of_memory" or "wrong". New reference. */
json_t *orr_flight_lost(const struct orr_campaign *campaign, int64_t flight, const double *values, const char *verdict,
                        const char *why);

/* Flies it. New reference: the row. */
json_t *orr_flight_fly(const struct orr_campaign *campaign, const struct orr_flight_place *place, int64_t flight,
                       const double *values);

/* "final bus.pointing_error", "max bus.rate.x", as keys of `measures`; `unit` is the channel's. Calls `tell` for each
 * number of each measure, in order. */
struct orr_flight_measure {
  const struct orr_campaign_measure *of;
  int channel, number; /* of the table; of the channel */
  int place;           /* in the frame's block */
  char name[160];
  const char *unit;
};
size_t orr_flight_measures(const struct orr_campaign *campaign, const struct orr_channel_table *table,
                           struct orr_flight_measure **list);

/* "gyro.rate.x", or the channel's name where it has one number. */
void orr_flight_number_name(const struct orr_channel *channel, int number, char *text, size_t size);

/* The name of expectation i, in tables: its own, or subject and bound. */
enum { ORR_FLIGHT_LABEL = 200 };
const char *orr_flight_label(const struct orr_run *run, size_t i, char text[ORR_FLIGHT_LABEL]);

#endif
