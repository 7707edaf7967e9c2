/* Makes a record (io/log/state_record) of a session's state, and puts a record into a session.
 *
 *   orr_saved_state_head → orr_saved_state_take              a record that can be written as it is
 *   orr_state_record_open → orr_saved_state_put              a session goes on from it
 *
 * A record is checked before it is used: one with a right sum may still have been made to do harm. [init]
 */
#ifndef ORR_IO_SAVED_STATE_H
#define ORR_IO_SAVED_STATE_H

#include "io/log/state_record.h"
#include "io/session/session.h"

/* The head of a record of this session now. `build` is the name of the program. */
struct orr_state_head orr_saved_state_head(const struct orr_session *session, const char *build);

/* The record of the state as it is now: orr_state_record_words(head) words, sealed. O(state). */
void orr_saved_state_take(const struct orr_session *session, const struct orr_state_head *head, uint64_t *record);

/* NULL, or why the record is not of a session like this one: another layout, step or number of words. The build is not
 * compared: a caller who needs the same bits compares head.build. */
const char *orr_saved_state_unfit(const struct orr_session *session, const struct orr_state_record *record);

/* Puts the state into a session that has started. NULL, or what is wrong: it is unfit, cannot be a state of this
 * session, or the solver fails at it. After a failure destroy the session. O(state). */
const char *orr_saved_state_put(struct orr_session *session, const struct orr_state_record *record);

/* The same for a session with other links and faults: these start as at frame 0. Of the record's last part the first
 * `loop_words` are of closed loops, as orr_saved_state_loop_words says of the session that it was taken from. */
const char *orr_saved_state_put_motion(struct orr_session *session, const struct orr_state_record *record,
                                       size_t loop_words);
size_t orr_saved_state_loop_words(const struct orr_session *session);

#endif
