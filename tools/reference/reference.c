#include "tools/reference/reference.h"

#include <string.h>

const struct orr_topic orr_topics[] = {
    {"devices", "[KIND] [--example]", "sensors and actuators: equation, keys, channels, an example",
     orr_reference_devices},
    {"channels", "", "every signal there is, with unit and direction", orr_reference_channels},
    {"conditions", "", "what faults, sequences and expectations may ask of channels", orr_reference_conditions},
    {"units", "", "how numbers, units and times are written", orr_reference_units},
    {"run-file", "[SECTION] [--example]", "every key of a model and run file, with unit, range and default",
     orr_reference_run_file},
    {"campaign-file", "[--example]", "every key of a campaign file: what varies, what is kept, what must hold",
     orr_reference_campaign_file},
    {0},
};

enum orr_exit orr_topic_help(const struct orr_topic *topic, int argc, char **argv) {
  struct orr_page page = {.out = stdout};
  const char *what = NULL;
  bool example = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--markdown") == 0) {
      page.markdown = true;
    } else if (strcmp(argv[i], "--example") == 0 && strstr(topic->usage, "--example")) {
      example = true;
    } else if (argv[i][0] != '-' && !what && strchr(topic->usage, '[')) {
      what = argv[i];
    } else {
      fprintf(stderr, "orrery help %s: unexpected argument '%s'\nusage: orrery help %s %s\n", topic->name, argv[i],
              topic->name, topic->usage);
      return ORR_EXIT_USAGE;
    }
  }
  return topic->print(&page, what, example);
}
