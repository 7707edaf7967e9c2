/* Which forces in closed loops a run can know, and expectations of others, which are refused. */
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/spacecraft/build.h"

/* The loop whose moments or forces a channel has, with the place of its first number among the loop's; or −1. */
static int loop_of(const struct orr_description *spacecraft, const char *channel, int *first) {
  static const char prefix[] = "loops.";
  if (strncmp(channel, prefix, sizeof prefix - 1) != 0)
    return -1;
  channel += sizeof prefix - 1;
  for (size_t i = 0; i < spacecraft->loop_count; i++) {
    const char *name = spacecraft->loops[i].name;
    size_t n = strlen(name);
    if (strncmp(channel, name, n) != 0 || channel[n] != '.')
      continue;
    bool force = strcmp(channel + n + 1, "force") == 0;
    *first = force ? orr_truth_loop_numbers(spacecraft, (int)i).moments : 0;
    return force || strcmp(channel + n + 1, "moment") == 0 ? (int)i : -1;
  }
  return -1;
}

bool orr_run_undetermined(const struct orr_run *run, bool (*out)[ORR_LOOP_MAX_ROWS]) {
  struct orr_build build;
  size_t bytes = sizeof *out * run->spacecraft.loop_count;
  memset(out, 0, bytes);
  orr_build_create(&build, &run->spacecraft, ORR_MODEL_DEFAULT);
  orr_build_plant(&build, &run->plant, run->initial);
  bool known = build.closed && build.start == ORR_OK;
  if (known)
    memcpy(out, build.closed->undetermined, bytes);
  orr_build_destroy(&build);
  return known;
}

unsigned orr_run_undetermined_of(const struct orr_run *run, bool (*undetermined)[ORR_LOOP_MAX_ROWS], int channel) {
  const struct orr_channel *c = &run->table.channels[channel];
  int first, loop = loop_of(&run->spacecraft, c->name, &first);
  unsigned open = 0;
  for (int k = 0; loop >= 0 && k < c->count; k++)
    open |= (unsigned)undetermined[loop][first + k] << k;
  return open;
}

static void refuse(struct orr_run_draft *d, const struct orr_run_expect *e, unsigned open) {
  const struct orr_channel *c = &d->run->table.channels[e->channel];
  const char *name = c->name, *which = NULL, *instead = "";
  for (int k = 0; k < c->count && e->element < 0 && c->count > 1; k++)
    if (open >> k & 1)
      which = which ? orr_arena_format(d->reader->arena, "%s, %s", which, c->elements[k]) : c->elements[k];
  for (int k = 0; k < c->count && !*instead && c->count > 1; k++)
    if (!(open >> k & 1))
      instead = orr_arena_format(d->reader->arena, "; expect a number that is, such as '%s.%s'", name, c->elements[k]);
  orr_report(d->reader->diagnostics, ORR_ERROR, e->source, "undetermined",
             "'%.80s' cannot be expected: equations of the loops that follow from others leave %s undetermined%s",
             e->subject, which ? which : "it", instead);
}

void orr_run_judge_loop_forces(struct orr_run_draft *d) {
  bool any = false;
  int first;
  for (size_t i = 0; i < d->run->expect_count; i++) {
    const struct orr_run_expect *e = &d->run->expects[i];
    any =
        any || (e->channel >= 0 && loop_of(&d->run->spacecraft, d->run->table.channels[e->channel].name, &first) >= 0);
  }
  if (!any)
    return;
  bool(*undetermined)[ORR_LOOP_MAX_ROWS] =
      orr_arena_alloc(d->reader->arena, d->run->spacecraft.loop_count, sizeof *undetermined);
  if (!orr_run_undetermined(d->run, undetermined))
    return; /* the run cannot start, and that is reported when it is flown */
  for (size_t i = 0; i < d->run->expect_count; i++) {
    const struct orr_run_expect *e = &d->run->expects[i];
    unsigned open = e->channel >= 0 ? orr_run_undetermined_of(d->run, undetermined, e->channel) : 0;
    if (e->element >= 0 ? open >> e->element & 1 : open != 0)
      refuse(d, e, open);
  }
}
