/* The record of a saved state. A checkpoint of a log holds one; a file of `--save-state` is one.
 *
 * It is a list of words of 64 bits, little-endian:
 *
 *   head     magic and form, how many words the record has, frame, step, layout, how many words of state are of the
 *            plant, of the controllers inside links, and of closed loops; and the build that wrote it, as text
 *   state    the words of orr_session_state_get, in that order
 *   sum      FNV-1a over all words before it (core/math/hash): each step is one-to-one, so one damaged word
 *            always changes the sum
 *
 * Writing: orr_state_record_words → the state goes to record + ORR_STATE_HEAD_WORDS → orr_state_record_seal.
 * Reading: orr_state_record_open on any bytes; then io/session/saved_state puts it into a session. No heap, no file;
 * any thread. O(words).
 */
#ifndef ORR_IO_LOG_STATE_RECORD_H
#define ORR_IO_LOG_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ORR_STATE_FORM = 2,   /* of the record; 1 was a JSON file */
  ORR_STATE_BUILD = 96, /* bytes of the build's name, with its NUL */
  ORR_STATE_HEAD_WORDS = 9 + ORR_STATE_BUILD / 8,
};

struct orr_state_head {
  int64_t frame, step_ns;
  uint64_t layout; /* orr_plant_layout_hash */
  uint64_t plant_words, link_words, loop_words;
  char build[ORR_STATE_BUILD]; /* cut where it is longer */
};

/* A record that is whole. */
struct orr_state_record {
  struct orr_state_head head;
  const unsigned char *state; /* [state_words] of 8 bytes, not aligned, in the given bytes */
  size_t state_words;
};

enum orr_state_fault {
  ORR_STATE_GOOD,
  ORR_STATE_ALIEN,   /* not a saved state */
  ORR_STATE_OLD,     /* one of another form: an older or a newer Orrery wrote it */
  ORR_STATE_CUT,     /* shorter or longer than it says */
  ORR_STATE_DAMAGED, /* the sum does not fit */
};

/* [any] Words of a record with this head, head and sum included. */
size_t orr_state_record_words(const struct orr_state_head *head);

/* [any] Writes head and sum around a state that is in its place already. O(words). */
void orr_state_record_seal(uint64_t *record, const struct orr_state_head *head);

/* [any] Judges any bytes; *out is set where they are good. O(size). */
enum orr_state_fault orr_state_record_open(const void *bytes, size_t size, struct orr_state_record *out);

/* [any] What is wrong, as a clause: "it is damaged: …". */
const char *orr_state_fault_text(enum orr_state_fault fault);

#endif
