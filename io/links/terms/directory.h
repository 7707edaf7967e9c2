/* The description of a link: header, directory and names of io/wire/wire.h, made from a layout. Shared memory begins
 * with it, a peer over UDP can ask for it, `orrery icd` prints it. [init] */
#ifndef ORR_IO_LINKS_DIRECTORY_H
#define ORR_IO_LINKS_DIRECTORY_H

#include "io/links/terms/layout.h"

/* The header, without its magic. The places are those in a segment. */
struct orr_wire_header orr_directory_header(const struct orr_layout *layout, int64_t step_ns, int divisor);
/* Directory and names, where the header says; `memory` has room up to names_at + names_bytes. */
void orr_directory_write(const struct orr_layout *layout, const struct orr_wire_header *header, char *memory);

#endif
