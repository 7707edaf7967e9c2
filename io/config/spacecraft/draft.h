/* A spacecraft while it is being read: the description so far, and the names that are not resolved yet. For the readers
 * of this folder only (spacecraft.c, read_body.c, read_hinge.c, read_loop.c).
 */
#ifndef ORR_IO_CONFIG_SPACECRAFT_DRAFT_H
#define ORR_IO_CONFIG_SPACECRAFT_DRAFT_H

#include "core/model/description.h"
#include "io/config/text/names.h"
#include "io/config/text/reader.h"

/* The names of one file: the spacecraft's own, or those of a part with its prefix. */
struct orr_scope {
  const struct orr_scope *outer; /* NULL for the spacecraft's own */
  const char *prefix;            /* of everything named inside, outer prefixes included */
  const char *part;              /* name of the part; NULL for the spacecraft's own */
  struct orr_place key;          /* of the part */
  struct orr_place mount;        /* what `to: mount` means, in the names of `outer` */
  double mirror[3];              /* T of mirror.c, outer parts included */
  double turn[4];                /* of the mount, in the axes of the node that it hangs on; unit quaternion */
  int32_t mounted;               /* how many hinges are written `to: mount` */
  bool doubtful;                 /* something was reported, so there may be more hinges than were read */
  struct orr_scope *next;        /* of the draft's parts */
};

struct orr_draft_body {
  struct orr_scope *scope;
  struct orr_place key, value; /* in the file */
  const char *local;           /* name without the prefix */
  struct orr_place hinge, hinge_key;
  struct orr_node_desc *nodes; /* those of the description, while they can be written */
  struct orr_names node_names; /* of many nodes only */
};

/* What a loop's name is made from once all are read. */
struct orr_draft_loop {
  const struct orr_scope *scope;
  size_t index;          /* in the list of its file */
  struct orr_place name; /* as the file gives it; without a node: it gives none */
};

struct orr_draft {
  struct orr_reader *reader;
  size_t errors_before;          /* what had been reported when its reading began: not of the spacecraft */
  struct orr_names names;        /* bodies → index */
  struct orr_body_desc *bodies;  /* [body_count] */
  struct orr_draft_body *drafts; /* [body_count] */
  unsigned char *broken;         /* [body_count]: something about it was reported, so it is not judged further */
  size_t body_count;
  struct orr_scope own;               /* of the spacecraft itself */
  struct orr_scope *parts;            /* the last one first */
  struct orr_loop_desc *loops;        /* [loop_count], of loop_room */
  struct orr_draft_loop *loop_drafts; /* [loop_count] */
  size_t loop_count, loop_room;
  bool state_follows; /* as in orr_config_options */
};

/* [init] Reads body `index` but for its hinge, which waits in the draft. */
void orr_draft_read_body(struct orr_draft *draft, size_t index);

/* [init] Reads the hinge of body `index`; every body has been read. */
void orr_draft_read_hinge(struct orr_draft *draft, size_t index);

/* [init] Reads the loops of a scope; every hinge has been read. */
void orr_draft_read_loops(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place loops);

/* [init] Reads one `motion:` whose places have this unit, rad or m. False after reporting. */
bool orr_draft_read_motion(struct orr_reader *reader, struct orr_place place, struct orr_place key, const char *unit,
                           bool of_loop, struct orr_motion_desc *out);

/* [init] Names every loop; all have been read. */
void orr_draft_name_loops(struct orr_draft *draft);

/* [init] The body that a name means in a scope, or -1 after reporting that there is none. */
int orr_draft_find_body(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place,
                        const char *name);

/* [init] The index of a node of a body, or -1; reports nothing. */
int orr_draft_find_node(const struct orr_draft *draft, int body, const char *name);

/* [init] Reads `body.node`. False after reporting. */
bool orr_draft_read_reference(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place,
                              const char *key, int *body, int *node);

/* [any] What a name begins that is a word of the channels themselves, "of closed loops"; NULL for any other name. No
 * body and no device may have it. */
const char *orr_name_reserved_for(const char *name);

/* [init] Has core judge the physics of what was read and reports what it finds (problems.c). */
void orr_draft_judge(struct orr_draft *draft, const struct orr_description *description);

/* [init] Has core put the closed loops together and reports those that do not close, and redundant equations
 * (closure.c). The description has passed orr_draft_judge. */
void orr_draft_judge_loops(struct orr_draft *draft, const struct orr_description *description);

/* [init] Apply a part's mirror and rotation to what was read (mirror.c). O(numbers). */
bool orr_scope_is_mirrored(const struct orr_scope *scope);
void orr_mirror_body(struct orr_draft *draft, struct orr_body_desc *body, struct orr_node_desc *nodes,
                     const double mirror[3]);
void orr_mirror_hinge(struct orr_draft *draft, struct orr_hinge_desc *hinge, const double mirror[3]);
void orr_mirror_loop(struct orr_loop_desc *loop, const double mirror[3]);
void orr_turn_hinge(struct orr_hinge_desc *hinge, const double turn[4]);

struct orr_config;
struct orr_config_options;

/* [init] As orr_config_load, but never NULL, so that the sections of a run can be judged beside a spacecraft that is
 * wrong; the messages are not sorted. */
struct orr_config *orr_config_read(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics);

/* [init] A file of expectations, without a spacecraft: its section `expect` and no other. */
const struct orr_config *orr_config_read_rules(const struct orr_text_file *file, struct orr_diagnostics *diagnostics);

/* [any] Whether the spacecraft is there and right, so that what refers to it can be judged. */
bool orr_config_spacecraft_is_good(const struct orr_config *config);

/* [any] The draft that a model was read into. Readers of what refers to it need it: cases, and the devices of a run. */
struct orr_draft *orr_config_draft(struct orr_config *config);

/* [init] The path of a file that the run file names, relative to it. */
const char *orr_config_beside(struct orr_config *config, const char *path);
/* [init] The bytes of a file that the run file names, relative to it; false after reporting at `from`. */
bool orr_config_text(struct orr_config *config, const char *path, orr_source from, const char **text, size_t *length);

#endif
