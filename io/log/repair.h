/* Makes the index of a log that was cut, from the records in it. [init] */
#ifndef ORR_IO_LOG_REPAIR_H
#define ORR_IO_LOG_REPAIR_H

#include "io/log/mcap_read.h"

struct orr_repair {
  bool was_complete; /* nothing was done */
  struct orr_mcap_extent extent;
  uint64_t bytes_before, bytes_after, messages;
};

/* Cuts the file back to its last whole chunk and writes index and end behind it. A second call does nothing. False with
 * what is wrong in `message`. O(file). */
bool orr_log_repair(const char *path, struct orr_repair *out, char *message, size_t size);

#endif
