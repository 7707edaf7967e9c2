/* The mappings of a model file, and of a case, that others refer to. [any] */
#ifndef ORR_IO_CONFIG_SPACECRAFT_MAPPINGS_H
#define ORR_IO_CONFIG_SPACECRAFT_MAPPINGS_H

#include "io/config/text/reader.h"

extern const struct orr_mapping orr_body_mapping;       /* read_body.c */
extern const struct orr_mapping orr_hinge_mapping;      /* read_hinge.c */
extern const struct orr_mapping orr_loop_mapping;       /* read_loop.c */
extern const struct orr_mapping orr_motion_mapping;     /* read_motion.c */
extern const struct orr_mapping orr_spacecraft_mapping; /* spacecraft.c */
extern const struct orr_mapping orr_part_file_mapping;  /* spacecraft.c: the file of a part */
extern const struct orr_mapping orr_file_mapping;       /* config.c: a whole model or run file */
extern const struct orr_mapping orr_state_mapping;      /* case.c: the state of a body */
extern const struct orr_mapping orr_case_mapping;       /* case.c: a whole case */

#endif
