/* The form of a link's packets: how a payload (io/wire/wire.h) becomes packets, and packets a payload.
 * io/links/packets/packets is its only user; what carries the packets it does not know.
 *
 * A form is one file here with a const struct orr_form, and a line in orr_form_of. make [init] → read and write on the
 * io thread → unmake [init]. It may keep state between packets (counters, a frame that is put together); none of it is
 * the rt thread's. What `read` gets is any bytes from anywhere.
 *
 * A form that echoes has Orrery's block in each packet: the sender's generation, the frame that a command answers, the
 * function codes of wire.h. One that does not is somebody else's packet, and says nothing but its payload. Then a
 * command answers the newest frame that went out (in lockstep the oldest that has no answer, so that they are answered
 * in turn), whoever may send is the peer (another one after it was silent), no frame is ever repeated, and no reply,
 * description or farewell is sent.
 */
#ifndef ORR_IO_LINKS_FORM_H
#define ORR_IO_LINKS_FORM_H

#include "io/config/run/run_file.h"
#include "io/links/terms/layout.h"

/* In the flags of a frame, beside those that go out: it goes out broken, and nobody may answer it. */
#define ORR_FORM_SPOILT (UINT64_C(1) << 62)

/* What a packet said. */
struct orr_form_word {
  bool asks;            /* wants piece `frame` of the description; nothing else stands in it then */
  bool kept;            /* it is right, and no command comes of it (yet) */
  uint8_t function;     /* enum orr_wire_function */
  uint32_t index;       /* of the piece of a command */
  uint64_t frame;       /* generation, tag and count, as in wire.h: only of a form that echoes */
  uint64_t answered;    /* the frame that it answers; of a form without an echo it is known when it is accepted, */
  bool open;            /* and that this frame has no answer yet; false where no frame is out */
  const uint8_t *piece; /* of the payload: in the packet, or in the form's own state, until the next call */
  size_t piece_bytes;   /* for a command as in_cut says, else 0 */
  size_t reply_bytes;   /* what the form has put into `reply`, to go to the sender at once; 0: nothing */
};

/* Numbers that did not fit the bits that a packet has for them, and the first of them. */
struct orr_form_clipped {
  uint64_t count;
  const char *packet, *channel; /* with the count 0 the rest says nothing */
  int element;
  double value; /* SI */
};

/* A form at work on one link: the struct of its state begins with it. */
struct orr_form_state {
  const struct orr_form *form;
  const struct orr_run_link *desc;
  const struct orr_layout *layout;
  struct orr_wire_cut out_cut, in_cut; /* how payloads are cut into pieces; one piece where nothing is cut */
};

struct orr_form {
  const char *name;
  bool echoes; /* see above */
  bool sums;   /* a sum in each packet finds wrong bits; a stream adds its own where the form has none */

  /* [init] 0 with the state, or an errno: EMSGSIZE when a payload takes more than ORR_WIRE_PIECES_MAX packets. */
  int (*make)(const struct orr_run_link *desc, const struct orr_layout *layout, struct orr_form_state **state);
  void (*unmake)(struct orr_form_state *state);
  /* [any] io thread. A packet of any bytes, without a seal. Why it is refused, or ORR_REFUSAL_NONE with what it says.
   * `reply` has room for ORR_WIRE_PACKET_MAX bytes. O(bytes). */
  enum orr_refusal (*read)(struct orr_form_state *state, const uint8_t *bytes, size_t count, struct orr_form_word *word,
                           uint8_t *reply);
  /* [any] io thread. After a read without a refusal: the sender is the peer. Until then the form keeps nothing of what
   * it read. Returns the bytes of a reply in `reply`, as word->reply_bytes. NULL: it keeps nothing. O(bytes). */
  size_t (*accept)(struct orr_form_state *state, const struct orr_form_word *word, uint8_t *reply);
  /* [any] io thread. Piece `piece` of a frame (head and payload, as io/wire/wire.h has them in a slot) as a packet, in
   * memory of ORR_WIRE_PACKET_MAX bytes. Returns its length; 0: nothing goes out for this piece. O(bytes). */
  size_t (*write)(struct orr_form_state *state, const uint64_t *slot, uint32_t piece, uint8_t *packet);
  /* [any] io thread. In a stream without framing: how many of these bytes belong to no packet (*skip), and the length
   * of the packet that begins behind them; 0 while it is not whole yet. Both together are at most `count`, and more
   * than 0 where `count` is ORR_WIRE_PACKET_MAX. NULL: it cannot tell where a packet begins. O(bytes). */
  size_t (*find)(struct orr_form_state *state, const uint8_t *bytes, size_t count, size_t *skip);
  /* [any] Numbers that did not fit so far. NULL: all fit. O(1). */
  struct orr_form_clipped (*clipped)(const struct orr_form_state *state);
  /* [init] How a peer without our client reads and writes them, for `orrery icd`: sentences that end with a new line.
   * `unit` is what carries one packet: "datagram". */
  void (*document)(const struct orr_run_link *desc, const struct orr_wire_header *header, const char *unit, char *text,
                   size_t size);
};

/* [any] The form of a link's packets. Const. */
const struct orr_form *orr_form_of(const struct orr_run_link *desc);
extern const struct orr_form orr_form_orrery, orr_form_telegram, orr_form_cfe;

#endif
