#include "core/model/topology.h"

size_t orr_topology_size(size_t body_count) { return (3 * body_count + 1) * sizeof(int); }

struct orr_topology orr_topology_find(const struct orr_description *d, void *memory) {
  size_t n = d->body_count;
  struct orr_topology t = {.order = memory};
  t.first_child = t.order + n;
  t.next_sibling = t.first_child + n + 1;
  for (size_t i = 0; i <= n; i++)
    t.first_child[i] = -1;
  for (size_t i = n; i-- > 0;) { /* backwards, so that siblings keep the order of the file */
    int *first = &t.first_child[d->bodies[i].hinge.parent + 1];
    t.next_sibling[i] = *first;
    *first = (int)i;
  }
  for (int i = t.first_child[0]; i >= 0; i = t.next_sibling[i])
    t.order[t.count++] = i;
  for (size_t k = 0; k < t.count; k++)
    for (int i = t.first_child[t.order[k] + 1]; i >= 0; i = t.next_sibling[i])
      t.order[t.count++] = i;
  return t;
}
