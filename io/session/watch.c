#include "io/session/watch.h"

#include <string.h>

void orr_watch_init(struct orr_watch *w, struct orr_plant *plant) {
  memset(w, 0, sizeof *w);
  w->plant = plant;
}

int orr_watch_add(struct orr_watch *w, int channel, int element) {
  if (w->count == ORR_WATCH_MAX)
    return -1;
  w->offset[w->count] = w->plant->table.channels[channel].offset + element;
  orr_plant_ask(w->plant, channel);
  return w->count++;
}

void orr_watch_put(struct orr_watch *w) {
  for (int i = 0; i < w->count; i++) {
    uint64_t bits;
    memcpy(&bits, &w->plant->values[w->offset[i]], sizeof bits);
    atomic_store_explicit(&w->numbers[i], bits, memory_order_relaxed);
  }
  atomic_store_explicit(&w->time_ns, orr_plant_time_ns(w->plant), memory_order_relaxed);
}

void orr_watch_put_link(struct orr_watch *w, const struct orr_link_counts *c, bool first) {
  const uint64_t counts[ORR_WATCH_LINK_COUNTS] = {c->published, c->applied, c->late, c->missed, c->peers};
  for (int i = 0; i < ORR_WATCH_LINK_COUNTS; i++) {
    uint64_t before = first ? 0 : atomic_load_explicit(&w->links[i], memory_order_relaxed);
    atomic_store_explicit(&w->links[i], before + counts[i], memory_order_relaxed);
  }
}

double orr_watch_get(const struct orr_watch *w, int index) {
  uint64_t bits = atomic_load_explicit(&w->numbers[index], memory_order_relaxed);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
