#include "io/config/text/names.h"

#include <stdbool.h>
#include <string.h>

/* FNV-1a. A file that makes names collide only makes its own reading slow: the table is bounded by the file's size. */
static uint32_t hash_of(const char *name) {
  uint32_t h = 2166136261u;
  for (; *name; name++)
    h = (h ^ (unsigned char)*name) * 16777619u;
  return h;
}

static struct orr_name_slot *slot_of(const struct orr_names *names, const char *name, uint32_t hash) {
  size_t mask = names->slot_count - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    struct orr_name_slot *slot = &names->slots[i];
    if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0))
      return slot;
  }
}

int32_t orr_names_find(const struct orr_names *names, const char *name) {
  if (names->slot_count == 0)
    return ORR_NAME_NONE;
  const struct orr_name_slot *slot = slot_of(names, name, hash_of(name));
  return slot->name ? slot->value : ORR_NAME_NONE;
}

static void enlarge(struct orr_names *names, struct orr_arena *arena) {
  struct orr_names larger = {.slot_count = names->slot_count ? 2 * names->slot_count : 16, .used = names->used};
  larger.slots = orr_arena_alloc(arena, larger.slot_count, sizeof *larger.slots);
  for (size_t i = 0; i < names->slot_count; i++)
    if (names->slots[i].name)
      *slot_of(&larger, names->slots[i].name, names->slots[i].hash) = names->slots[i];
  *names = larger;
}

void orr_names_add(struct orr_names *names, struct orr_arena *arena, const char *name, int32_t value) {
  if (2 * (names->used + 1) > names->slot_count)
    enlarge(names, arena);
  uint32_t hash = hash_of(name);
  *slot_of(names, name, hash) = (struct orr_name_slot){name, hash, value};
  names->used++;
}

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Optimal string alignment: insertions, deletions, substitutions and swapped neighbours cost 1 each. */
static size_t edit_distance(const char *a, size_t m, const char *b, size_t n) {
  size_t row[3][LONGEST + 1] = {{0}};
  for (size_t j = 0; j <= n; j++)
    row[0][j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t *now = row[i % 3], *above = row[(i - 1) % 3], *two_above = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= n; j++) {
      now[j] = least(least(above[j], now[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], two_above[j - 2] + 1);
    }
  }
  return row[m % 3][n];
}

void orr_nearest_offer(struct orr_nearest *nearest, const char *candidate) {
  size_t m = strlen(nearest->wanted), n = strlen(candidate);
  size_t longer = m > n ? m : n, shorter = m > n ? n : m;
  size_t allowed = (longer + 3) / 4;
  if (longer > LONGEST || longer - shorter > allowed || longer == 0)
    return;
  size_t distance = edit_distance(nearest->wanted, m, candidate, n);
  if (distance > allowed || distance >= longer || (nearest->best && distance >= nearest->distance))
    return;
  nearest->best = candidate;
  nearest->distance = distance;
}
