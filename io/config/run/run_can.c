/* What a link on a CAN bus says beyond the keys of all links. */
#include <string.h>

#include "io/config/run/run_draft.h"

bool orr_run_read_can(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_can_keys *keys,
                      struct orr_run_link *out) {
  enum { LONGEST = 15 }; /* of a name of an interface */
  if (out->transport != ORR_TRANSPORT_CAN)
    return true;
  out->interface = keys->interface;
  out->can_fd = keys->fd == 1;
  if (!keys->interface) {
    orr_read_error(d->reader, link->key, "missing-key", "a link on CAN says on which bus: 'interface: can0'");
    return false;
  }
  if (strlen(keys->interface) > LONGEST || !*keys->interface || strchr(keys->interface, '/')) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, "interface"), "link-name",
                   "an interface has a name of 1 to %d letters, such as can0", LONGEST);
    return false;
  }
  bool laid_out = orr_yaml_find(link->place.node, "layout") < orr_place_count(link->place);
  if (!keys->dbc && (keys->signals.node || keys->answers)) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, keys->answers ? "answers" : "signals"), "link-key",
                   "'signals' and 'answers' are of a file of 'dbc'");
    return false;
  }
  if (laid_out != !!keys->dbc)
    return true;
  orr_read_error(d->reader, link->key, laid_out ? "link-key" : "missing-key",
                 "a link on CAN says by a 'layout' or by a file of 'dbc' which frames hold which numbers%s",
                 laid_out ? ", and not by both" : "");
  return false;
}

bool orr_run_judge_bus(struct orr_run_draft *d, const struct orr_thing *thing, const struct orr_run_link *link,
                       const struct orr_run_link *other) {
  for (int i = 0; i < link->layout->count; i++)
    for (int k = 0; k < other->layout->count; k++) {
      if (link->layout->telegrams[i].id != other->layout->telegrams[k].id)
        continue;
      orr_read_error(d->reader, thing->key, "link-shared",
                     "'%.60s' has the identifier of '%.60s' in the link '%.60s' on the same bus",
                     link->layout->telegrams[i].name, other->layout->telegrams[k].name, other->name);
      return false;
    }
  return true;
}
