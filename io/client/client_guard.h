/* Shared memory that the other side may shrink: SIGBUS in a guarded range maps a page of zeros there and sets *dead. A
 * SIGBUS elsewhere goes to the handler that was there before. A signal handler gets no argument of ours, so the list of
 * ranges is file-scope state, the only one in the client.
 *
 * orr_client_guard_add when a range is mapped, orr_client_guard_remove before it is unmapped. The handler may run on
 * any thread. For io/client only.
 */
#ifndef ORR_IO_CLIENT_CLIENT_GUARD_H
#define ORR_IO_CLIENT_CLIENT_GUARD_H

#include <stdatomic.h>
#include <stddef.h>

/* [init] Any thread. Beyond 64 ranges one is not guarded. */
void orr_client_guard_add(void *memory, size_t bytes, atomic_bool *dead);
/* [init] */
void orr_client_guard_remove(void *memory);

#endif
