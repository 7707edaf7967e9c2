/* The verbs of `orrery log`; each returns the exit status. [init] */
#ifndef ORR_TOOLS_LOG_LOG_VERBS_H
#define ORR_TOOLS_LOG_LOG_VERBS_H

#include "tools/common/log_rows.h"

struct orr_log_arguments {
  const char *what, *path, *topics, *csv, *hdf5;
  bool json;
  uint64_t from_ns, to_ns;
};

int orr_log_info(const struct orr_log_arguments *arguments);
int orr_log_cat(const struct orr_log_arguments *arguments);
int orr_log_export(const struct orr_log_arguments *arguments);
int orr_log_hdf5(const struct orr_log_arguments *arguments);

#endif
