/* The reference of what files may say: `orrery help devices`, `channels`, `units`, `run-file` and `campaign-file`.
 * Printed from the tables that the reader reads by (io/config/text/reader.h, core/plant/device.h), for a terminal or as
 * Markdown: devices.md, run-file.md and campaign-file.md of configs are what `--markdown` prints, and a test keeps them
 * so. [init] */
#ifndef ORR_TOOLS_REFERENCE_REFERENCE_H
#define ORR_TOOLS_REFERENCE_REFERENCE_H

#include "io/config/text/reader.h"
#include "tools/common/ending.h"
#include "tools/reference/page.h"

struct orr_topic {
  const char *name, *usage, *summary;
  enum orr_exit (*print)(struct orr_page *page, const char *what, bool example); /* `what`: KIND or SECTION, or NULL */
};

/* Ends with an entry without a name. */
extern const struct orr_topic orr_topics[];

/* `orrery help TOPIC …`: argv[0] is the topic's name. */
enum orr_exit orr_topic_help(const struct orr_topic *topic, int argc, char **argv);

/* reference_devices.c, reference_files.c */
enum orr_exit orr_reference_devices(struct orr_page *page, const char *kind, bool example);
enum orr_exit orr_reference_channels(struct orr_page *page, const char *nothing, bool example);
enum orr_exit orr_reference_run_file(struct orr_page *page, const char *section, bool example);
enum orr_exit orr_reference_campaign_file(struct orr_page *page, const char *nothing, bool example);
enum orr_exit orr_reference_conditions(struct orr_page *page, const char *nothing, bool example);
enum orr_exit orr_reference_units(struct orr_page *page, const char *nothing, bool example);

/* The table of keys of a mapping. */
void orr_reference_keys(struct orr_page *page, const struct orr_key *keys, size_t count);

#endif
