/* `orrery icd`: the interface document of a run's links, from the one table of signals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/icd.h"

static const struct orr_icd_format formats[] = {
    {"markdown", orr_icd_markdown}, {"c", orr_icd_c},           {"xtce", orr_icd_xtce},
    {"json", orr_icd_json},         {"python", orr_icd_python},
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery icd: %s%s%s%s\nTry 'orrery help icd'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- what the formats share -------------------------------------------------------------------------------------------- */

const char *orr_icd_type(const struct orr_channel *c) {
  static const char *const names[] = {
      [ORR_CHANNEL_REAL] = "f64", [ORR_CHANNEL_WHOLE] = "i64", [ORR_CHANNEL_FLAG] = "u8"};
  return names[c->type];
}

uint32_t orr_icd_bytes(const struct orr_channel *c) { return c->type == ORR_CHANNEL_FLAG ? 1 : 8; }

void orr_icd_element(const struct orr_channel *c, int i, char *text, size_t size) {
  if (c->count == 1)
    snprintf(text, size, "%s", c->name);
  else if (c->elements)
    snprintf(text, size, "%s.%s", c->name, c->elements[i]);
  else
    snprintf(text, size, "%s[%d]", c->name, i);
}

void orr_icd_identifier(const char *name, char *text, size_t size) {
  size_t used = 0;
  for (; *name && used + 1 < size; name++) {
    bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9');
    if (letter || (used > 0 && text[used - 1] != '_' && name[1]))
      text[used++] = letter ? *name : '_';
  }
  text[used] = 0;
}

static void make_link(struct orr_icd_link *out, const struct orr_run *run, const struct orr_run_link *desc) {
  out->desc = desc;
  out->entries = malloc(orr_layout_size(desc->telemetry_count, desc->command_count));
  if (!out->entries)
    abort();
  orr_layout_init(&out->layout, out->entries, &run->table, desc->telemetry, desc->telemetry_count, desc->commands,
                  desc->command_count);
  out->header = orr_description_header(&out->layout, run->plant.step_ns, desc->divisor);
  out->sides[0] = (struct orr_icd_side){
      .name = "telemetry", .side = &out->layout.telemetry, .id = desc->telemetry_id, .block_at = ORR_WIRE_TELEMETRY_AT};
  out->sides[1] = (struct orr_icd_side){
      .name = "commands", .side = &out->layout.commands, .id = desc->command_id, .block_at = ORR_WIRE_COMMAND_AT};
  for (int s = 0; s < 2 && desc->transport == ORR_TRANSPORT_UDP; s++) {
    struct orr_icd_side *side = &out->sides[s];
    side->piece = orr_wire_piece_bytes(side->id, side->side->bytes, desc->packet_max);
    side->pieces = orr_wire_pieces(side->side->bytes, side->piece);
  }
}

static int write_all(const struct orr_run *run, const char *path, const struct orr_icd_format *format) {
  struct orr_icd icd = {.run = run, .path = path};
  icd.links = calloc(run->link_count + 1, sizeof *icd.links);
  if (!icd.links)
    abort();
  for (size_t i = 0; i < run->link_count; i++)
    if (run->links[i].transport != ORR_TRANSPORT_LINKED)
      make_link(&icd.links[icd.count++], run, &run->links[i]);
  if (icd.count == 0)
    fprintf(stderr, "orrery icd: %s has no link to flight software outside\n", path);
  else
    format->write(&icd);
  for (size_t i = 0; i < icd.count; i++)
    free(icd.links[i].entries);
  free(icd.links);
  return icd.count == 0 ? ORR_EXIT_BAD : fflush(stdout) != 0 ? ORR_EXIT_BAD : ORR_EXIT_OK;
}

/* ---- the command ---------------------------------------------------------------------------------------------------- */

static const struct orr_icd_format *find(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(formats[i].name, name) == 0)
      return &formats[i];
  return NULL;
}

static int run(int argc, char **argv) {
  const struct orr_icd_format *format = &formats[0];
  const char *path = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--format") == 0 && i + 1 < argc) {
      format = find(argv[++i]);
      if (!format)
        return usage("the formats are markdown, c, xtce, json and python, not", argv[i]);
    } else if (argv[i][0] == '-') {
      return usage("unknown option", argv[i]);
    } else if (path) {
      return usage("one run file, not also", argv[i]);
    } else {
      path = argv[i];
    }
  }
  if (!path)
    return usage("needs a run file", NULL);
  const struct orr_config_options options = {0};
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_config *config = orr_config_load(path, &options, d);
  const struct orr_run *file = config ? orr_run_read(config) : NULL;
  orr_diagnostics_print(d, 0, stderr, false);
  int status = file ? write_all(file, path, format) : ORR_EXIT_BAD;
  orr_diagnostics_destroy(d);
  return status;
}

const struct orr_command orr_cmd_icd = {
    .name = "icd",
    .summary = "the interface document of a run's links",
    .usage = "RUN [--format markdown | c | xtce | json | python]",
    .help = "Prints what flight software must know of the links of a run file: each channel's place in the payload, "
            "type and\n"
            "unit, the range of a command, and over UDP the packets around it. From the table that the program itself "
            "uses.\n"
            "\n"
            "  --format markdown    for readers (the default)\n"
            "  --format c           a header that compiles by itself: packed structs, message ids, the layout hash\n"
            "  --format python      a module with struct formats, and functions that take payloads and packets apart\n"
            "  --format json        the same as data\n"
            "  --format xtce        XTCE 1.2: the packets of the links over UDP, bit for bit\n"
            "\n"
            "Example:\n"
            "  orrery icd configs/cubesat.yaml --format c > cubesat_link.h\n"
            "\n"
            "Exit status: 0; 1 the file is wrong, or has no link to the outside; 2 the command line is wrong.\n",
    .run = run,
};
