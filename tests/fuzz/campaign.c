/* Reads a campaign file of any bytes beside a run file and a table that are right. Whatever is read without an error
 * has numbers that can be drawn: of every flight, inside what the laws allow, and never anything but a finite
 * number. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/campaign/draw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char run[] = "orrery: 1\n"
                          "spacecraft:\n"
                          "  bodies:\n"
                          "    bus: {mass: 4, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: "
                          "inertial}, nodes: {n: {at: "
                          "[0, 0, 0]}}}\n"
                          "sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 10 Hz}}\n"
                          "simulation: {step: 100 ms, duration: 1 s}\n"
                          "expect: [{channel: bus.rate, below: 1 deg/s, name: slow}]\n";
static const char table[] = "simulation.seed, spacecraft.bodies.bus.mass\n1, 4 kg\n2, 4100 g\n";

static void must(bool good) {
  if (!good)
    abort();
}

static void draw(const struct orr_campaign *c) {
  const int64_t flights[] = {0, c->flights / 2, c->flights - 1};
  must(c->flights >= 1 && c->flights <= ORR_CAMPAIGN_FLIGHTS);
  for (int f = 0; f < 3; f++) {
    double values[ORR_CAMPAIGN_VARIED];
    char text[ORR_CAMPAIGN_VALUE];
    orr_draw_flight(c, flights[f], values);
    for (int i = 0; i < c->vary_count; i++) {
      const struct orr_campaign_vary *v = &c->varies[i];
      must(isfinite(values[i]));
      must(v->law != ORR_LAW_ONE_OF || (values[i] >= 0 && values[i] < v->text_count));
      must(v->law != ORR_LAW_NORMAL || v->is_time || (values[i] >= v->low && values[i] <= v->high));
      orr_campaign_value(v, values[i], text);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  must(text != NULL);
  if (size)
    memcpy(text, data, size);
  const struct orr_text_file files[] = {
      {"campaign.yaml", text, size}, {"run.yaml", run, sizeof run - 1}, {"rows.csv", table, sizeof table - 1}};
  const struct orr_config_options options = {.files = files, .file_count = 3};
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_campaign *c = orr_campaign_load("campaign.yaml", &options, d);
  must(!c == (orr_diagnostics_errors(d) > 0));
  if (c)
    draw(c);
  orr_diagnostics_destroy(d);
  free(text);
  return 0;
}
