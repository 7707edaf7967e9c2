/* Finds the process that holds the name of a segment, or a port, that a link wants.
 *
 * All [init]. Each reads a few files of /proc; that of a port one for each descriptor of each process. The answer is 0
 * where it cannot be known: a user without rights does not see other users' descriptors, and a process in a namespace
 * does not see what is outside.
 */
#ifndef ORR_IO_LINKS_OWNER_H
#define ORR_IO_LINKS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* [init] The process that holds the lock on the segment of that name (a run holds it from its start to its end); 0:
 * none. */
pid_t orr_owner_of_segment(const char *name);

/* [init] The process that has a UDP port of this address open, or of all addresses; numbers in the order of the host.
 * 0: none that this user may see. */
pid_t orr_owner_of_port(uint32_t ip, uint16_t port);

/* [init] True where the port is taken by a socket that this user would see in a process, and no process has it: the
 * kernel alone still holds it, for a program that has ended. */
bool orr_owner_of_port_is_gone(uint32_t ip, uint16_t port);

/* [init] "process 4711 (orrery run configs/cubesat.yaml)", with as much of its command line as there is room for; "a
 * process that this user may not see" for 0. */
void orr_owner_describe(pid_t process, char *text, size_t size);

#endif
