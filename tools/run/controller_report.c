#include "tools/run/controller_report.h"

#include <stdlib.h>
#include <string.h>

/* The commands of a kind, "a.torque, b.torque", as text to be freed; NULL: none. */
static char *names_of(const struct orr_run *run, const struct orr_run_link *link, enum orr_run_effect_kind kind) {
  char *text = NULL;
  size_t size;
  bool any = false;
  FILE *out = link->effects ? open_memstream(&text, &size) : NULL;
  if (!out)
    return NULL;
  for (int i = 0; i < link->command_count; i++)
    if (link->effects[i].kind == kind) {
      fprintf(out, "%s%s", any ? ", " : "", run->table.channels[link->commands[i]].name);
      any = true;
    }
  fclose(out);
  if (any)
    return text;
  free(text);
  return NULL;
}

char *orr_controller_left(const struct orr_run *run, const struct orr_run_link *link) {
  return names_of(run, link, ORR_EFFECT_NONE);
}

static const char *when_thrusters(const struct orr_run_link *link, bool wheels) {
  if (link->wheels_span)
    return "give what is beyond the wheels' max_torque, and nothing else: no momentum is dumped";
  return wheels ? "turn what these wheels do not, or not with so much torque; no momentum is dumped" : "turn it";
}

static void print_law(const struct orr_run *run, const struct orr_run_link *link, FILE *out) {
  char *wheels = names_of(run, link, ORR_EFFECT_WHEEL), *thrusters = names_of(run, link, ORR_EFFECT_THRUSTER);
  char *left = orr_controller_left(run, link);
  if (wheels)
    fprintf(out, "      wheels %s %s\n", wheels, link->wheels_span ? "turn it" : "turn it about their axes");
  if (thrusters)
    fprintf(out, "      thrusters %s %s\n", thrusters, when_thrusters(link, wheels));
  if (left)
    fprintf(out,
            "      %s: left as the file's commands, a sequence or ctl set it, else at rest; no wheel or thruster\n",
            left);
  free(wheels);
  free(thrusters);
  free(left);
}

void orr_controller_print(const struct orr_run *run, const struct orr_run_link *link, FILE *out) {
  bool inside = link->transport == ORR_TRANSPORT_LINKED, stands_in = link->stand_in || inside;
  const char *when = inside ? "in every mode" : "with --mode batch";
  if (link->capture)
    return;
  if (link->stand_in_name)
    fprintf(out, "    %s the stand-in '%s' flies it\n", when, link->stand_in_name);
  else if (!stands_in)
    fputs("    flight software outside alone: it has no 'stand_in' and no gains for --mode batch\n", out);
  else
    fprintf(out, "    %s the linked-in controller flies it by 'stiffness' and 'damping':\n", when);
  print_law(run, link, out);
}

static json_t *list_of(const struct orr_run *run, const struct orr_run_link *link, enum orr_run_effect_kind kind) {
  json_t *list = json_array();
  for (int i = 0; link->effects && i < link->command_count; i++)
    if (link->effects[i].kind == kind)
      json_array_append_new(list, json_string(run->table.channels[link->commands[i]].name));
  return list;
}

/* {kind: stand_in | gains | none, …} */
json_t *orr_controller_json(const struct orr_run *run, const struct orr_run_link *link) {
  if (link->stand_in_name)
    return json_pack("{s:s, s:s}", "kind", "stand_in", "name", link->stand_in_name);
  if (!link->effects)
    return json_pack("{s:s}", "kind", "none");
  return json_pack("{s:s, s:o, s:b, s:o, s:o}", "kind", "gains", "wheels", list_of(run, link, ORR_EFFECT_WHEEL),
                   "wheels_span", link->wheels_span, "thrusters", list_of(run, link, ORR_EFFECT_THRUSTER), "left",
                   list_of(run, link, ORR_EFFECT_NONE));
}
