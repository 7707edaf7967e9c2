/* The carrier `unix`: a link over a socket of this host, that has a path. Packets as messages (seqpacket), or frames in
 * a stream. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/links/packets/cable.h"
#include "io/links/packets/own_socket.h"

static const struct orr_cable_way coming = {0};

static struct sockaddr_un address_of(const struct orr_run_link *desc) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  snprintf(a.sun_path, sizeof a.sun_path, "%s", desc->path);
  return a;
}

static int kind_of(const struct orr_run_link *desc) {
  return desc->framing == ORR_FRAMING_NONE ? SOCK_SEQPACKET : SOCK_STREAM;
}

/* A folder where others may put things, and take ours away, is no place: but one of root's with the sticky bit, as
 * /tmp. Whoever owns a folder may do so, whatever its mode. */
static int judge_folder(const char *path) {
  char folder[sizeof((struct sockaddr_un *)0)->sun_path] = ".";
  const char *slash = strrchr(path, '/');
  struct stat there;
  if (slash)
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  if (lstat(folder, &there) != 0)
    return errno;
  if (S_ISLNK(there.st_mode))
    return ELOOP;
  if (!S_ISDIR(there.st_mode))
    return ENOTDIR;
  if (there.st_uid != geteuid() && there.st_uid != 0)
    return EPERM;
  return there.st_mode & 022 && !(there.st_mode & S_ISVTX) ? EPERM : 0;
}

static bool is_own_socket(const struct stat *there) { return S_ISSOCK(there->st_mode) && there->st_uid == geteuid(); }

/* What a run that was killed has left: a socket of ours, where nobody listens. Anything else stays. */
static int make_way(const struct orr_run_link *desc) {
  const struct sockaddr_un at = address_of(desc);
  struct stat there;
  if (lstat(desc->path, &there) != 0)
    return errno == ENOENT ? 0 : errno;
  if (!is_own_socket(&there))
    return EEXIST;
  int fd = socket(AF_UNIX, kind_of(desc) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool left = fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) != 0 && errno == ECONNREFUSED;
  if (fd >= 0)
    close(fd);
  if (!left)
    return EADDRINUSE;
  return unlink(desc->path) == 0 ? 0 : errno;
}

static int listen_there(const struct orr_run_link *desc) {
  const struct sockaddr_un at = address_of(desc);
  int error = judge_folder(desc->path);
  error = error ? error : make_way(desc);
  if (error)
    return -error;
  int fd = socket(AF_UNIX, kind_of(desc) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -errno;
  error = orr_own_socket_bind(fd, &at);
  if (!error && listen(fd, 4) == 0)
    return fd;
  error = error ? error : errno;
  close(fd);
  return -error;
}

static int open_socket(struct orr_carrier *c, int64_t step_ns) {
  struct orr_cable *l = orr_cable_of(c);
  int error = orr_cable_prepare(l, &coming, step_ns);
  if (error)
    return error;
  l->listener = listen_there(c->desc);
  error = l->listener < 0 ? -l->listener : 0;
  if (error)
    orr_cable_close(l);
  return error;
}

static void close_socket(struct orr_carrier *c) {
  struct orr_cable *l = orr_cable_of(c);
  struct stat there;
  if (l->listener >= 0 && lstat(c->desc->path, &there) == 0 && is_own_socket(&there))
    unlink(c->desc->path);
  orr_cable_close(l);
}

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "unix:%s", desc->path);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  if (error == EADDRINUSE)
    orr_carrier_taken(desc, "another run or program", 0, "path=PATH", "SOCKET=PATH", text, size);
  else if (error == EEXIST)
    snprintf(text, size, "there is something of that name that is no socket of this user: name another, or remove it");
  else if (error == EPERM || error == ELOOP)
    snprintf(text, size, "its folder is %s: take a folder of one's own (mode 0700)",
             error == ELOOP ? "a link" : "another user's, or one that others may write");
  else
    snprintf(text, size, "%s", strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  int said = snprintf(text, size, "Unix socket %s (%s): the flight software connects; one connection at a time. ",
                      desc->path, desc->framing == ORR_FRAMING_NONE ? "SOCK_SEQPACKET" : "SOCK_STREAM");
  if (said > 0 && (size_t)said < size)
    orr_cable_document(desc, h, text + said, size - (size_t)said);
}

const struct orr_carrier_kind orr_carrier_unix = {
    ORR_PACKETS_CALLBACKS,
    .name = "unix",
    .outside = true,
    .handover_ns = 100000,
    .first_wait_ns = 20000000,
    .bytes = sizeof(struct orr_cable),
    .lay_out = orr_cable_lay_out,
    .join = orr_cable_join,
    .losses = orr_cable_losses,
    .open = open_socket,
    .close = close_socket,
    .describe = describe,
    .explain = explain,
    .document = document,
};
