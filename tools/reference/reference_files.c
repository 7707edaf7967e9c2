/* `orrery help run-file` and `orrery help units`. */
#include <math.h>
#include <string.h>

#include "io/config/campaign/campaign_file.h"
#include "io/config/text/names.h"
#include "io/config/text/unit.h"
#include "tools/reference/language.h"
#include "tools/reference/reference.h"

void orr_reference_keys(struct orr_page *page, const struct orr_key *keys, size_t count) {
  static const char *const titles[] = {"key", "takes", "without it", "what it means"};
  static const char without[] = "without it: "; /* which the title of the column says already */
  orr_page_titles(page, titles, 4);
  for (size_t i = 0; i < count; i++) {
    char takes[ORR_LANGUAGE_TEXT], absence[ORR_LANGUAGE_TEXT];
    orr_language_describe(&keys[i], takes);
    orr_language_absence(&keys[i], absence);
    size_t said = page->markdown && strncmp(absence, without, strlen(without)) == 0 ? strlen(without) : 0;
    const char *const cells[] = {keys[i].name, takes, absence + said, keys[i].doc};
    orr_page_row(page, cells, 4);
  }
}

/* ---- run-file ---------------------------------------------------------------------------------------------------- */

static void print_mapping(struct orr_page *page, const struct orr_mapping *m) {
  orr_page_heading(page, page->markdown ? strchr(m->name, '.') ? 3 : 2 : 1, m->name);
  orr_page_paragraph(page, m->doc);
  orr_reference_keys(page, m->keys, m->key_count);
  if (m->example)
    orr_page_code(page, "yaml", m->example);
}

static void print_files(struct orr_page *page) {
  static const struct orr_mapping *const files[] = {&orr_file_mapping, &orr_part_file_mapping, &orr_case_mapping};
  const struct orr_mapping *all[3 * ORR_LANGUAGE_MOST], *list[ORR_LANGUAGE_MOST];
  size_t count = 0;
  for (size_t f = 0; f < 3; f++) {
    size_t n = orr_language_list(files[f], list);
    for (size_t i = 0; i < n; i++) {
      bool known = false;
      for (size_t k = 0; k < count; k++)
        known |= all[k] == list[i];
      if (known)
        continue;
      print_mapping(page, list[i]);
      all[count++] = list[i];
    }
  }
}

static void print_markdown(struct orr_page *page) {
  orr_page_heading(page, 1, "Every key of a model and run file");
  orr_page_paragraph(page,
                     "Printed by `orrery help run-file --markdown` from the tables that the reader reads by; "
                     "`make reference` writes it again. Frames, signs and what the sections do together stand in "
                     "[conventions.md](conventions.md), devices in [devices.md](devices.md). A unit after a type is "
                     "what a bare number means; `orrery help units` has all that may be written. `orrery help "
                     "run-file --example` prints a run file of these examples that flies.");
  print_files(page);
}

static bool is_below(const char *name, const char *section) {
  size_t n = strlen(section);
  return strncmp(name, section, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

/* "links.timeout" is found by that name and by `timeout`; `initial` and the like by the key that leads there. */
static const struct orr_mapping *find(const char *section, struct orr_nearest *nearest) {
  static const struct orr_mapping *const files[] = {&orr_file_mapping, &orr_part_file_mapping, &orr_case_mapping};
  const struct orr_mapping *list[ORR_LANGUAGE_MOST], *by_last = NULL;
  for (size_t f = 0; f < 3; f++) {
    size_t n = orr_language_list(files[f], list);
    for (size_t i = 0; i < n; i++) {
      const char *dot = strrchr(list[i]->name, '.');
      if (strcmp(list[i]->name, section) == 0)
        return list[i];
      if (dot && strcmp(dot + 1, section) == 0 && !by_last)
        by_last = list[i];
      orr_nearest_offer(nearest, list[i]->name);
    }
  }
  return by_last;
}

static enum orr_exit print_section(struct orr_page *page, const char *section) {
  struct orr_nearest nearest = {.wanted = section};
  const struct orr_mapping *list[ORR_LANGUAGE_MOST], *found = NULL;
  if (strcmp(section, "actuators") == 0 || strcmp(section, "sensors") == 0)
    return orr_reference_devices(page, NULL, false);
  found = find(strcmp(section, "initial") == 0 ? "state" : section, &nearest);
  if (!found) {
    fprintf(stderr, "orrery help run-file: no section '%s'", section);
    if (nearest.best)
      fprintf(stderr, ", did you mean '%s'?", nearest.best);
    fputs("\n'orrery help run-file' lists them.\n", stderr);
    return ORR_EXIT_USAGE;
  }
  print_mapping(page, found);
  size_t n = orr_language_list(found, list);
  for (size_t i = 1; i < n; i++)
    if (is_below(list[i]->name, found->name))
      print_mapping(page, list[i]);
  return ORR_EXIT_OK;
}

/* Whether the example of a section stands in the file of all of them: but for those that are a spacecraft of their own,
 * and those of the world, which flies with the example of all devices. */
static bool is_of_example(const struct orr_mapping *m) {
  return m->example && !strchr(m->name, '.') && m != &orr_environment_mapping && m != &orr_orbit_mapping &&
         strncmp(m->example, "spacecraft:", strlen("spacecraft:")) != 0;
}

/* A file that flies, of the examples in the order of their sections. */
static void print_example(FILE *out) {
  const struct orr_mapping *list[ORR_LANGUAGE_MOST];
  size_t n = orr_language_list(&orr_file_mapping, list);
  fprintf(out, "orrery: 1\n%s", orr_body_mapping.example);
  for (size_t i = 0; i < n; i++)
    if (is_of_example(list[i]))
      fputs(list[i]->example, out);
}

enum orr_exit orr_reference_run_file(struct orr_page *page, const char *section, bool example) {
  const struct orr_mapping *list[ORR_LANGUAGE_MOST];
  if (example) {
    print_example(page->out);
    return ORR_EXIT_OK;
  }
  if (page->markdown) {
    print_markdown(page);
    return ORR_EXIT_OK;
  }
  if (section)
    return print_section(page, section);
  print_mapping(page, &orr_file_mapping);
  orr_page_heading(page, 2, "orrery help run-file SECTION");
  size_t n = orr_language_list(&orr_file_mapping, list);
  for (size_t i = 1; i < n; i++)
    fprintf(page->out, "  %-28s%.*s\n", list[i]->name, (int)strcspn(list[i]->doc, ":.,"), list[i]->doc);
  fprintf(page->out, "\n  'orrery help run-file part file' and 'case' are the other files there are;\n"
                     "  'orrery help run-file --example' prints a run file that flies.\n");
  return ORR_EXIT_OK;
}

/* ---- campaign-file ----------------------------------------------------------------------------------------------- */

enum orr_exit orr_reference_campaign_file(struct orr_page *page, const char *nothing, bool example) {
  const struct orr_mapping *list[ORR_LANGUAGE_MOST];
  size_t n = orr_language_list(&orr_campaign_file_mapping, list);
  (void)nothing;
  if (example) {
    fprintf(page->out, "orrery: 1\n%s", list[1]->example);
    return ORR_EXIT_OK;
  }
  if (page->markdown) {
    orr_page_heading(page, 1, "Every key of a campaign file");
    orr_page_paragraph(page, "Printed by `orrery help campaign-file --markdown` from the tables that the reader reads "
                             "by; `make reference` writes it again. "
                             "[campaigns/wings-slew.yaml](campaigns/wings-slew.yaml) is one that flies.");
  }
  for (size_t i = 0; i < n; i++)
    print_mapping(page, list[i]);
  return ORR_EXIT_OK;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

enum orr_exit orr_reference_conditions(struct orr_page *page, const char *nothing, bool example) {
  (void)nothing;
  (void)example;
  orr_page_heading(page, 1, "Conditions");
  orr_page_paragraph(page, "What `when` of a fault, `until`, `expect` and `if` of a sequence, and `always` and "
                           "`eventually` of an expectation ask of a frame.");
  orr_page_code(page, "",
                "bus.rate.z above 1 deg/s for 2 s and not star.valid\n"
                "norm(gyro.rate) below 0.1 deg/s for 10 s\n"
                "rising wheel_x.speed >= 5000 rpm or time above 60 s\n"
                "bus.pointing_error between 0 and 1 deg\n");
  orr_page_paragraph(page, "A comparison is a signal, a relation and a number. A signal is a channel of one number "
                           "(wheel_x.speed), one number of a channel (bus.rate.z, bus.eta[0]), `norm(CHANNEL)`, or "
                           "`time` in s. A number has the unit of its signal, or none for SI. A flag may stand alone: "
                           "it holds when it is not 0.");
  orr_page_paragraph(page, "Relations: above or >, below or <, at least or >=, at most or <=, is or ==, is not or !=, "
                           "and between A and B, to which both ends belong. What is not a number fulfils none.");
  orr_page_paragraph(page, "`and` binds stronger than `or`; `not` and `rising` stand in front, and parentheses group. "
                           "`for TIME` behind a comparison or parentheses: it held in every frame of the last TIME. "
                           "`rising`: it holds, and did not in the frame before.");
  orr_page_code(page, "",
                "condition  = and { \"or\" and }\n"
                "and        = unary { \"and\" unary }\n"
                "unary      = ( \"not\" | \"rising\" ) unary | timed\n"
                "timed      = ( comparison | \"(\" condition \")\" ) [ \"for\" TIME ]\n"
                "comparison = signal relation NUMBER | signal \"between\" NUMBER \"and\" NUMBER | FLAG\n"
                "signal     = CHANNEL | CHANNEL.ELEMENT | CHANNEL[I] | \"norm(\" CHANNEL \")\" | \"time\"\n");
  return ORR_EXIT_OK;
}

enum orr_exit orr_reference_units(struct orr_page *page, const char *nothing, bool example) {
  (void)nothing;
  (void)example;
  static const char *const titles[] = {"unit", "in SI"}, *const prefixes[] = {"prefix", "factor"};
  orr_page_heading(page, 1, "Numbers, units and times");
  orr_page_paragraph(page,
                     "Everything inside is SI: m, kg, s, rad, N. A number in a file may carry a unit (30 deg, 1 kHz, "
                     "5 ms, 1200 rpm); a bare number is SI. The unit must be one of the quantity that the key sets. "
                     "Angle is a quantity of its own: Hz and rad/s do not mix.");
  orr_page_paragraph(page,
                     "A unit is names with an optional prefix, joined by a space, `*`, `.` or `/` (which takes the "
                     "next name only), with whole powers `^2`, `^-1` and `sqrt(...)`: N m/rad, kg m^2, deg/sqrt(h), "
                     "W/m^2. Times are exact: `1 ms` is 1,000,000 ns, and a time that is no whole number of "
                     "nanoseconds is refused.");
  orr_page_titles(page, titles, 2);
  struct orr_unit unit;
  bool prefixed;
  const char *name;
  for (size_t i = 0; (name = orr_unit_named(i, &unit, &prefixed)); i++) {
    char si[160];
    const char *what = orr_unit_describe(&unit);
    snprintf(si, sizeof si, "%.9g, %s%s", unit.numerator / unit.denominator, what ? what : "of SI's base units",
             prefixed ? "; takes prefixes" : "");
    const char *const cells[] = {name, si};
    orr_page_row(page, cells, 2);
  }
  double factor;
  orr_page_titles(page, prefixes, 2);
  for (size_t i = 0; (name = orr_unit_prefix(i, &factor)); i++) {
    char text[40];
    snprintf(text, sizeof text, "%g", factor);
    const char *const cells[] = {name, text};
    orr_page_row(page, cells, 2);
  }
  orr_page_paragraph(page, "Quantities that messages know by name, with their SI unit:");
  orr_page_titles(page, (const char *const[]){"quantity", ""}, 1);
  for (size_t i = 0; (name = orr_unit_quantity(i)); i++)
    fprintf(page->out, page->markdown ? "| %s |\n" : "  %s\n", name);
  return ORR_EXIT_OK;
}
