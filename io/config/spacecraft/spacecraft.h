/* A spacecraft section, its parts included, becomes a description. For config.c only. */
#ifndef ORR_IO_CONFIG_SPACECRAFT_SPACECRAFT_H
#define ORR_IO_CONFIG_SPACECRAFT_SPACECRAFT_H

#include "io/config/spacecraft/draft.h"
#include "io/config/text/files.h"

/* [init] Reads the mapping at `place`, of file `file`. The draft holds what could be read, and its description is whole
 * when no error was reported; O(text + expansion). */
void orr_spacecraft_read(struct orr_draft *draft, struct orr_files *files, const struct orr_file *file,
                         struct orr_place place, struct orr_place key, struct orr_description *out);

/* [init] Judges the `orrery: 1` of a file; a place without a node is fine. */
void orr_spacecraft_check_version(struct orr_reader *reader, struct orr_place place);

#endif
