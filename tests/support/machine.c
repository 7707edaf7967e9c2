#include "tests/support/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int orr_machine_make(struct orr_machine *machine) {
  /* in memory, as /run is, where there is some: on a disk each note of a journal is waited for */
  snprintf(machine->root, sizeof machine->root, "/dev/shm/orrery-machine-XXXXXX");
  if (mkdtemp(machine->root))
    return 0;
  snprintf(machine->root, sizeof machine->root, "/tmp/orrery-machine-XXXXXX");
  return mkdtemp(machine->root) ? 0 : -1;
}

int orr_machine_remove(const struct orr_machine *machine) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", machine->root);
  return system(command);
}

void orr_machine_path(const struct orr_machine *machine, char path[ORR_MACHINE_PATH], const char *name) {
  snprintf(path, ORR_MACHINE_PATH, "%s/%s", machine->root, name);
}

void orr_machine_put(const struct orr_machine *machine, const char *name, const char *text) {
  char path[ORR_MACHINE_PATH];
  orr_machine_path(machine, path, name);
  for (char *slash = path + strlen(machine->root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

const char *orr_machine_get(const struct orr_machine *machine, const char *name) {
  static char text[256];
  char path[ORR_MACHINE_PATH];
  orr_machine_path(machine, path, name);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  if (!fgets(text, sizeof text, f))
    text[0] = '\0';
  fclose(f);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

void orr_machine_furnish(const struct orr_machine *machine) {
  orr_machine_put(machine, "proc/mounts", "tmpfs /tmp tmpfs rw 0 0\n");
  orr_machine_put(machine, "proc/irq/7/smp_affinity_list", "0-3\n");
  orr_machine_put(machine, "proc/irq/8/smp_affinity_list", "2\n");
  orr_machine_put(machine, "proc/irq/9/smp_affinity_list", "0-1\n");
  orr_machine_put(machine, "proc/irq/default_smp_affinity", "f\n");
  orr_machine_put(machine, "sys/devices/system/cpu/online", "0-3\n");
  orr_machine_put(machine, "proc/sys/kernel/sched_rt_runtime_us", "95\n");
}
