/* The mappings of a run file, beside those of its spacecraft. [any] */
#ifndef ORR_IO_CONFIG_RUN_RUN_MAPPINGS_H
#define ORR_IO_CONFIG_RUN_RUN_MAPPINGS_H

#include "core/plant/device.h"
#include "io/config/text/reader.h"

extern const struct orr_mapping orr_simulation_mapping;                     /* run_file.c */
extern const struct orr_mapping orr_pointing_mapping;                       /* run_pointing.c */
extern const struct orr_mapping orr_command_mapping;                        /* run_script.c */
extern const struct orr_mapping orr_environment_mapping, orr_orbit_mapping; /* run_environment.c */
extern const struct orr_mapping orr_expectation_mapping;                    /* run_expect.c */
extern const struct orr_mapping orr_fault_mapping;                          /* run_faults.c */
extern const struct orr_mapping orr_step_mapping;                           /* run_sequence.c */
extern const struct orr_mapping orr_link_mapping;                           /* run_links.c */
extern const struct orr_mapping orr_message_ids_mapping;                    /* run_udp.c */
extern const struct orr_mapping orr_layout_mapping;                         /* run_layout.c */
extern const struct orr_mapping orr_realtime_mapping;                       /* run_executive.c */
extern const struct orr_mapping orr_record_mapping;                         /* run_record.c */
extern const struct orr_mapping
    orr_device_mapping; /* run_devices.c: what devices have beside their kind's parameters */

/* Whether a kind takes that key of orr_device_mapping. */
bool orr_device_takes(const struct orr_device_kind *kind, const struct orr_key *key);

#endif
