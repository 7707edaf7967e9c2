/* A socket of this host with a name, for its own user alone. [init] */
#ifndef ORR_IO_LINKS_PACKETS_OWN_SOCKET_H
#define ORR_IO_LINKS_PACKETS_OWN_SOCKET_H

#include <sys/un.h>

/* bind(2) to a path; the name has the mode 0600 from its first moment, whatever the umask. Nothing is done to what
 * somebody else puts in its place meanwhile: a chmod of the path would follow a link to another file of this user.
 * Returns 0 or an errno; EEXIST where the name is another's by then. [init] */
int orr_own_socket_bind(int fd, const struct sockaddr_un *at);

#endif
