/* Starts the links of a run for `orrery run`, and reports on them. [init] */
#ifndef ORR_TOOLS_RUN_LINKS_REPORT_H
#define ORR_TOOLS_RUN_LINKS_REPORT_H

#include <jansson.h>
#include <signal.h>

#include "io/session/session.h"

/* The signals that end a run, with its summary: SIGINT, SIGTERM, and others that end a process, but for those that are
 * ignored (nohup ignores SIGHUP). */
void orr_links_signals(sigset_t *signals);

/* Whether one of them, which orr_links_open and orr_links_batch have blocked, is pending. */
bool orr_links_interrupted(void);

/* Whether a controller inside can answer every link, as a batch run needs; prints which it cannot. Blocks the signals
 * that orr_links_interrupted looks for. */
bool orr_links_batch(const struct orr_run *run, const char *path);

/* The same without the signals, and with what to do in the words of the caller. */
bool orr_links_inside(const struct orr_run *run, const char *path, const char *todo);

/* Whether the threads of a run go into sandboxes (io/links/packets/sandbox.h) and all of it gives up rights: as default
 * where the machine has sandboxes, with a warning where not; or they must, or shall not. */
enum orr_links_sandbox { ORR_LINKS_SANDBOX_IF_ANY, ORR_LINKS_SANDBOX, ORR_LINKS_NO_SANDBOX };

/* Before any of its threads starts. Turns *sandbox into ORR_LINKS_NO_SANDBOX where the machine has none; prints that.
 * False where there has to be one. */
bool orr_links_sandbox_prepare(enum orr_links_sandbox *sandbox);

/* Opens the links, shut (orr_session_shut_links). Says what is wrong. */
bool orr_links_open(struct orr_session *session, bool lockstep, enum orr_links_sandbox sandbox);
/* Lets peers in, writes the id of this process to the file `ready` (NULL: none) and waits for the peers. Prints what is
 * wrong, and goes on without a peer. A signal during the wait sets session->end to ORR_PORT_INTERRUPTED. */
bool orr_links_wait(struct orr_session *session, const char *ready);

enum { ORR_LINKS_END_TEXT = 200 };
/* How the links ended the run, in `text`: "by link 'fsw': the flight software ended the run". NULL where they did
 * not. */
const char *orr_links_end(const struct orr_session *session, char text[ORR_LINKS_END_TEXT]);

/* Of the link whose silence ended the run: what became of its flight software before; ORR_PEER_LIVES where it spoke
 * within the silence. */
enum orr_port_peer orr_links_peer_of_silence(const struct orr_session *session);

/* A paragraph for each link outside; then, where all that happened before is told, how the run ended if it ended by
 * one. The same as JSON into `root`, where a run that no link ended did so `otherwise`. */
void orr_links_print(const struct orr_session *session);
void orr_links_print_end(const struct orr_session *session);
void orr_links_json(const struct orr_session *session, const char *otherwise, json_t *root);

/* [any] Why most of what came on a link was refused, and how much of it: what flight software must mend. What only came
 * too late, twice or too fast, or is not the link's at all, is left out. ORR_REFUSAL_NONE: nothing. O(1). */
enum orr_refusal orr_links_refusal(const struct orr_link_counts *counts, uint64_t *refused);

/* [any] Says on standard error that commands of a link are refused, why, and the first number that was, where flight
 * software must mend it: a number that is none or out of range, another layout or version; and whatever else it is
 * where commands are `missed` by it. False where there is nothing to say. */
bool orr_links_say_refused(const struct orr_port *port, bool missed);

#endif
