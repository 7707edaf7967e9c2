/* What a status of the solver means, for a message. [any] */
#ifndef ORR_IO_STATUS_TEXT_H
#define ORR_IO_STATUS_TEXT_H

#include <stdbool.h>

#include "core/model/model.h"

const char *orr_status_text(enum orr_status status);

/* Whether the status is about a closed loop, and not about a body. */
bool orr_status_is_of_loop(enum orr_status status);

#endif
