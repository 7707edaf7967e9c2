/* Reads a model file into a description (core/model/description.h) and judges it.
 *
 *     struct orr_diagnostics *d = orr_diagnostics_create();
 *     struct orr_config *c = orr_config_load("ship.yaml", NULL, d);
 *     if (c) … orr_config_description(c) …
 *     orr_diagnostics_print(d, 0, stderr, false);
 *     orr_diagnostics_destroy(d);
 *
 * Everything read lives as long as the diagnostics. [init]; one thread at a time for each diagnostics.
 */
#ifndef ORR_IO_CONFIG_SPACECRAFT_CONFIG_H
#define ORR_IO_CONFIG_SPACECRAFT_CONFIG_H

#include "core/model/description.h"
#include "io/config/text/diagnostic.h"
#include "io/config/text/yaml.h"

struct orr_config;

struct orr_config_options {
  const struct orr_text_file *files; /* [file_count]: files in memory in place of the disk; or NULL */
  size_t file_count;
  const char *from_disk; /* of the settings "@FILE", the file that is on the disk although others are in memory */
  int64_t start_ns;      /* when the run begins; −1: not known */
  const char *const
      *settings; /* [setting_count]: "simulation.duration=10 s", laid over the file before it is read; "@FILE": the
                    sections of a procedure in that file; "@@FILE": its expectations alone; or NULL */
  size_t setting_count;
  bool state_follows; /* a state comes with the model and says where its loops close: no posture need be found */
};

/* [init] NULL when anything is wrong: every mistake is then among the diagnostics. Warnings leave a config. Options may
 * be NULL. O(text), and O(modes³) for the modal mass of each body. */
struct orr_config *orr_config_load(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics);

/* [any] The spacecraft: bodies in file order, parts behind the bodies of the file that includes them. */
const struct orr_description *orr_config_description(const struct orr_config *config);

/* The sections of a run file, beside the spacecraft (io/config/run/run_file.h reads them). */
enum orr_section {
  ORR_SECTION_ACTUATORS,
  ORR_SECTION_SENSORS,
  ORR_SECTION_POINTING,
  ORR_SECTION_ENVIRONMENT,
  ORR_SECTION_SIMULATION,
  ORR_SECTION_COMMANDS,
  ORR_SECTION_REALTIME,
  ORR_SECTION_LINKS,
  ORR_SECTION_RECORD,
  ORR_SECTION_FAULTS,
  ORR_SECTION_SEQUENCE,
  ORR_SECTION_EXPECT,
  ORR_SECTION_COUNT
};

/* [any] When a run of this duration is over, from where it begins; 0: that is not known. */
int64_t orr_config_end_ns(const struct orr_config *config, int64_t duration_ns);

/* [any] A section's value, with a NULL node where the file has none; and its key. */
struct orr_place orr_config_section(const struct orr_config *config, enum orr_section section);
struct orr_place orr_config_section_key(const struct orr_config *config, enum orr_section section);

/* Expectations of a run file in whose place those of a procedure stand. */
struct orr_replaced {
  size_t count;          /* 0: there are none */
  const char *file, *by; /* where they stand, and the others */
};

/* [any] */
struct orr_replaced orr_config_replaced(const struct orr_config *config);

/* [any] Whether the file has any section beside the spacecraft, so that it is a run and not only a model. */
bool orr_config_is_run(const struct orr_config *config);

/* [any] Index of a body, or -1; O(length). */
int orr_config_find_body(const struct orr_config *config, const char *name);

/* [any] Index of a node of a body, or -1; O(nodes) at most. */
int orr_config_find_node(const struct orr_config *config, int body, const char *name);

#endif
