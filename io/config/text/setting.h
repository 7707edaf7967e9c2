/* Values from the command line laid over a file: `--set simulation.duration=10s`. [init]; one thread at a time. */
#ifndef ORR_IO_CONFIG_TEXT_SETTING_H
#define ORR_IO_CONFIG_TEXT_SETTING_H

#include "io/config/text/reader.h"

/* [init] Returns the tree with `path.to.key=value` applied. The value is YAML. Items of lists are counted from 0. Keys
 * that do not exist are added. The given tree is not changed; it is returned as it is after a wrong setting was
 * reported. O(entries on the way). */
const struct orr_yaml *orr_setting_apply(struct orr_reader *reader, const struct orr_yaml *root, const char *setting);

/* [init] Returns `root` with the entries of `over` laid over it: an entry replaces the one of its key, or is added
 * behind the others. Keys that are not in `keys` (ends with NULL) are errors. A list in place of a mapping is the entry
 * of the last of `keys`. O(entries). */
const struct orr_yaml *orr_setting_overlay(struct orr_reader *reader, const struct orr_yaml *root,
                                           const struct orr_yaml *over, const char *const *keys);

#endif
