/* A machine of plain files, for what reads and writes /proc and /sys below a root of its own: a folder of its own with
 * proc/ and sys/ in it. One at a time. */
#ifndef ORR_TESTS_SUPPORT_MACHINE_H
#define ORR_TESTS_SUPPORT_MACHINE_H

enum { ORR_MACHINE_PATH = 400 };

struct orr_machine {
  char root[64];
};

/* Makes the folder, 0 when it could. And removes it with all that is in it. */
int orr_machine_make(struct orr_machine *machine);
int orr_machine_remove(const struct orr_machine *machine);

void orr_machine_path(const struct orr_machine *machine, char path[ORR_MACHINE_PATH], const char *name);

/* Writes a file, with the folders it lies in; reads its first line, without the end, until the next call. Fail the test
 * where they cannot. */
void orr_machine_put(const struct orr_machine *machine, const char *name, const char *text);
const char *orr_machine_get(const struct orr_machine *machine, const char *name);

/* No cgroups, four cores, three interrupts, throttling at 95. */
void orr_machine_furnish(const struct orr_machine *machine);

#endif
