/* Describes a run that diverged, for people: which body spins, and how far off it points. [init] */
#ifndef ORR_TOOLS_RUN_DIVERGED_H
#define ORR_TOOLS_RUN_DIVERGED_H

#include "io/session/session.h"

enum { ORR_DIVERGED_TEXT = 400 };

/* Whether the run diverged. A model that fails at its first frame, or a loop in a singular posture, is no
 * divergence. */
bool orr_diverged(const struct orr_session *session);

/* "diverged at 12.31 s: bus rate 41 rad/s, pointing error 170 deg". It changes the workspace, so the session cannot fly
 * on. */
void orr_diverged_words(const struct orr_session *session, char text[ORR_DIVERGED_TEXT]);

/* The inner reason: "frame 1231: body 'bus': …". */
void orr_diverged_reason(const struct orr_session *session, char text[ORR_DIVERGED_TEXT]);

#endif
