#include "io/session/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void orr_samples_init(struct orr_samples *s, struct orr_plant *plant) {
  *s = (struct orr_samples){.plant = plant, .divisor = 1};
}

void orr_samples_destroy(struct orr_samples *s) {
  free(s->values);
  free(s->time_ns);
  *s = (struct orr_samples){0};
}

int orr_samples_add(struct orr_samples *s, int channel, int element) {
  assert(!s->room);
  if (s->series_count == ORR_SAMPLES_SERIES_MAX)
    return -1;
  s->offset[s->series_count] = s->plant->table.channels[channel].offset + element;
  orr_plant_ask(s->plant, channel);
  return s->series_count++;
}

void orr_samples_reserve(struct orr_samples *s, int64_t frames) {
  s->divisor = (int)(frames / ORR_SAMPLES_ROWS_MAX) + 1;
  s->room = (int)(frames / s->divisor) + 2;
  size_t rows = (size_t)s->room, width = (size_t)s->series_count;
  s->time_ns = malloc(rows * sizeof *s->time_ns);
  s->values = malloc((rows * width + 1) * sizeof *s->values);
  if (!s->time_ns || !s->values) {
    fprintf(stderr, "orrery: no memory for %zu samples of %zu numbers\n", rows, width);
    abort();
  }
  memset(s->time_ns, 1, rows * sizeof *s->time_ns);
  memset(s->values, 1, (rows * width + 1) * sizeof *s->values);
}

void orr_samples_take(struct orr_samples *s) {
  if (s->rows == s->room || orr_plant_frame(s->plant) % s->divisor)
    return;
  double *row = s->values + (size_t)s->rows * (size_t)s->series_count;
  s->time_ns[s->rows++] = orr_plant_time_ns(s->plant);
  for (int i = 0; i < s->series_count; i++)
    row[i] = s->plant->values[s->offset[i]];
}
