/* What has no bound of its own. A command that nothing bounds: whoever may give one to a wrench without a limit of its
 * own can tear a small spacecraft apart within its range. Delays, each within its bounds: many keep more than there is
 * memory. */
#include <stdio.h>
#include <string.h>

#include "io/config/run/run_draft.h"

static bool meets(const struct orr_channel *c, int first, int count) {
  return first < c->offset + c->count && c->offset < first + count;
}

/* Who in the file gives that command, beside its 'commands', in words; NULL: nobody. A controller inside the program
 * gives a wrench nothing. */
static const char *commander(const struct orr_run_draft *d, int channel) {
  const struct orr_run *run = d->run;
  const struct orr_channel *c = &run->table.channels[channel];
  struct orr_arena *arena = d->reader->arena;
  for (size_t i = 0; i < run->link_count; i++)
    for (int k = 0; run->links[i].transport != ORR_TRANSPORT_LINKED && k < run->links[i].command_count; k++)
      if (run->links[i].commands[k] == channel)
        return orr_arena_format(arena, "the link '%.60s'", run->links[i].name);
  for (int i = 0; i < run->sequence.count; i++) {
    const struct orr_run_step *s = &run->sequence.steps[i];
    if ((s->sort == ORR_STEP_SET || s->sort == ORR_STEP_RAMP) && meets(c, s->first, s->count))
      return orr_arena_format(arena, "the sequence, step %.60s,", s->name);
  }
  for (size_t i = 0; i < run->fault_count; i++) {
    const struct orr_run_fault *f = &run->faults[i];
    if (f->target == ORR_FAULT_NUMBERS && meets(c, f->first, f->count))
      return orr_arena_format(arena, "the fault '%.60s'", f->name);
  }
  return NULL;
}

void orr_run_doubt_limits(struct orr_run_draft *d) {
  for (size_t i = 0; i < d->device_count; i++) {
    const struct orr_device_desc *device = &d->devices[i];
    for (size_t k = 0; strcmp(device->kind->name, "wrench") == 0 && k < device->kind->channel_count; k++) {
      const struct orr_device_channel *c = &device->kind->channels[k];
      double low, high, none;
      char name[200];
      c->range(device->params, &low, &high);
      orr_device_command_range(HUGE_VAL, &low, &none);
      if (high != none)
        continue;
      snprintf(name, sizeof name, "%s.%s", device->name, c->name);
      const char *who = commander(d, orr_channel_find(&d->run->table, name));
      if (who)
        orr_report(d->reader->diagnostics, ORR_WARNING, device->source, "no-limit",
                   "'%.60s' has no 'max_%s', so %s can command up to %.9g %s, and what its body "
                   "cannot stand ends the run as diverged: give it a 'max_%s'",
                   device->name, c->name, who, high, c->unit, c->name);
    }
  }
}

bool orr_run_count_delayed(struct orr_run_draft *d, orr_source source, int64_t frames, int64_t width) {
  int64_t before = d->delayed;
  d->delayed += frames * width;
  if (d->delayed <= ORR_RUN_MOST_DELAYED)
    return true;
  if (before <= ORR_RUN_MOST_DELAYED)
    orr_report(d->reader->diagnostics, ORR_ERROR, source, "out-of-range",
               "the delays of sensors and faults up to here keep more than 8,000,000 numbers in all; shorten them");
  return false;
}
