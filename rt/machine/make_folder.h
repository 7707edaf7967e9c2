/* Makes a folder that its own user can use, whatever the umask. [init] */
#ifndef ORR_RT_MACHINE_MAKE_FOLDER_H
#define ORR_RT_MACHINE_MAKE_FOLDER_H

#include <sys/types.h>

/* As mkdir(2): 0, or −1 with errno, EEXIST where something has that name; that is left as it is. A folder that it made
 * has `mode` less the umask, and its user's rights (0700) in any case: a umask of 0177 makes one that nobody can enter,
 * for every later run. [init] */
int orr_make_folder(const char *path, mode_t mode);

#endif
