/* Values from the command line laid over a file: `--set simulation.duration=10s`. [init]; one thread at a time. */
#ifndef ORR_IO_CONFIG_TEXT_SETTING_H
#define ORR_IO_CONFIG_TEXT_SETTING_H

#include "io/config/text/reader.h"

/* [init] The tree with what `path.to.key=value` says: the value is YAML, items of lists are counted from 0, keys that
 * are not there are added. The given tree is not changed, and comes back after reporting what is wrong with the
 * setting. O(entries on the way). */
const struct orr_yaml *orr_setting_apply(struct orr_reader *reader, const struct orr_yaml *root, const char *setting);

/* [init] The mapping with entries of another one in place of its own or behind them: those with a key of `keys`, which
 * ends with NULL; any other is an error. A list is an entry with the last of the keys. O(entries). */
const struct orr_yaml *orr_setting_overlay(struct orr_reader *reader, const struct orr_yaml *root,
                                           const struct orr_yaml *over, const char *const *keys);

#endif
