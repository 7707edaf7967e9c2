/* What root may do, given up thread by thread once it was used: a core, a priority, locked memory.
 *
 * Linux keeps capabilities for each thread. A thread drops its own; nobody gets them back, neither it nor a program
 * that it would start. Without capabilities (a user without rights) there is nothing to drop, and the calls succeed.
 */
#ifndef ORR_RT_MACHINE_RIGHTS_H
#define ORR_RT_MACHINE_RIGHTS_H

/* What a thread still needs. A right that it has not it does not get. */
enum orr_rights {
  ORR_RIGHTS_NONE = 0,
  ORR_RIGHTS_MEMORY = 1, /* to allocate where all memory is locked: only as long as a limit stands against it */
  ORR_RIGHTS_FILES = 2,  /* to write files where others' folders are, and leave them their owners */
  ORR_RIGHTS_UNDO = 4    /* to take back what --fix did: cores of other users' tasks */
};

/* [init] The calling thread gives up all but what is kept. Where it may, it lifts the process's limit on locked memory
 * first, so that ORR_RIGHTS_MEMORY needs no capability. 0 or an errno; then some or all are still there. */
int orr_rights_drop(unsigned kept);

#endif
