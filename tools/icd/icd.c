/* `orrery icd`: the interface document of a run's links, from the one table of signals. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/carriers/carrier.h"
#include "tools/common/commands.h"
#include "tools/icd/icd.h"

enum { IDENTIFIER_SIZE = 400, MOST_SETTINGS = 100 };

static const struct orr_icd_format formats[] = {
    {.name = "markdown", .write = orr_icd_markdown, .layouts = true},
    {.name = "c", .write = orr_icd_c, .identifiers = true, .layouts = true},
    {.name = "xtce", .write = orr_icd_xtce, .identifiers = true, .packets = true},
    {.name = "cosmos", .write = orr_icd_cosmos, .identifiers = true, .packets = true, .folds = true},
    {.name = "eds", .write = orr_icd_eds, .identifiers = true, .packets = true},
    {.name = "dbc", .write = orr_icd_dbc, .identifiers = true, .layouts = true, .holds = orr_icd_dbc_holds},
    {.name = "json", .write = orr_icd_json},
    {.name = "python", .write = orr_icd_python, .blocks = true},
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery icd: %s%s%s%s\nTry 'orrery help icd'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- what the formats share -------------------------------------------------------------------------------------- */

const char *orr_icd_type(const struct orr_channel *c) {
  static const char *const names[] = {
      [ORR_CHANNEL_REAL] = "f64", [ORR_CHANNEL_WHOLE] = "i64", [ORR_CHANNEL_FLAG] = "u8"};
  return names[c->type];
}

uint32_t orr_icd_bytes(const struct orr_channel *c) { return c->type == ORR_CHANNEL_FLAG ? 1 : 8; }

size_t orr_icd_payload_at(const struct orr_icd_side *s) {
  return s->block_at + (s->bare ? 0 : (size_t)ORR_WIRE_BLOCK_HEAD);
}

size_t orr_icd_packet_bytes(const struct orr_icd_side *s, uint32_t p) {
  size_t left = s->side->bytes - p * s->piece;
  return s->bare ? s->block_at + (s->side->bytes + 7) / 8 * 8
                 : orr_wire_packet_bytes((uint16_t)(s->id + p), left < s->piece ? left : s->piece);
}

unsigned orr_icd_undetermined(const struct orr_icd *icd, const struct orr_channel *c) {
  return orr_run_undetermined_of(icd->run, icd->undetermined, (int)(c - icd->run->table.channels));
}

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
  out->header = orr_directory_header(&out->layout, run->plant.step_ns, desc->divisor);
  out->sides[0] = (struct orr_icd_side){
      .name = "telemetry", .side = &out->layout.telemetry, .id = desc->telemetry_id, .block_at = ORR_WIRE_TELEMETRY_AT};
  out->sides[1] = (struct orr_icd_side){
      .name = "commands", .side = &out->layout.commands, .id = desc->command_id, .block_at = ORR_WIRE_COMMAND_AT};
  for (int s = 0; s < 2 && orr_carrier_kind(desc->transport)->packets && !desc->layout; s++) {
    struct orr_icd_side *side = &out->sides[s];
    const struct orr_wire_cut cut = orr_wire_cut(side->id, side->side->bytes, desc->packet_max);
    side->bare = desc->form == ORR_FORM_CFE;
    side->big = side->bare && desc->big_endian;
    side->piece = side->bare ? side->side->bytes + 8 : cut.piece;
    side->pieces = side->bare ? 1 : cut.pieces;
  }
}

/* ---- names that a format cannot tell apart ----------------------------------------------------------------------- */

/* An element of a link, and what a format makes of it: fsw_gyro_rate_x. */
struct named {
  char identifier[IDENTIFIER_SIZE], name[IDENTIFIER_SIZE];
};

/* COSMOS makes capitals of all. */
static void fold(char *text) {
  for (; *text; text++)
    *text = (char)toupper((unsigned char)*text);
}

static int by_identifier(const void *a, const void *b) {
  return strcmp(((const struct named *)a)->identifier, ((const struct named *)b)->identifier);
}

static size_t name_elements(const struct orr_icd *icd, struct named *out) {
  size_t n = 0;
  for (size_t i = 0; i < icd->count; i++)
    for (int s = 0; s < 2; s++)
      for (int e = 0; e < icd->links[i].sides[s].side->count; e++) {
        const struct orr_channel *c = icd->links[i].sides[s].side->entries[e].channel;
        for (int k = 0; k < c->count; k++, n++) {
          if (!out)
            continue;
          char element[IDENTIFIER_SIZE / 2];
          orr_icd_element(c, k, element, sizeof element);
          snprintf(out[n].name, sizeof out[n].name, "%s: %s", icd->links[i].desc->name, element);
          orr_icd_identifier(out[n].name, out[n].identifier, sizeof out[n].identifier);
        }
      }
  return n;
}

/* False, with the two names, when two elements would have one identifier. */
static bool names_apart(const struct orr_icd *icd, const struct orr_icd_format *format) {
  size_t n = name_elements(icd, NULL);
  struct named *all = calloc(n + 1, sizeof *all);
  if (!all)
    abort();
  name_elements(icd, all);
  for (size_t i = 0; format->folds && i < n; i++)
    fold(all[i].identifier);
  qsort(all, n, sizeof *all, by_identifier);
  bool apart = true;
  for (size_t i = 1; apart && i < n; i++)
    if (strcmp(all[i - 1].identifier, all[i].identifier) == 0) {
      fprintf(stderr, "orrery icd: %s: '%s' and '%s' would both be %s in the format %s: give one another name\n",
              icd->path, all[i - 1].name, all[i].name, all[i].identifier, format->name);
      apart = false;
    }
  free(all);
  return apart;
}

/* False, with the two names, when two links would have one identifier, though none of their elements. */
static bool links_apart(const struct orr_icd *icd, const struct orr_icd_format *format) {
  char a[IDENTIFIER_SIZE], b[IDENTIFIER_SIZE];
  for (size_t i = 0; i < icd->count; i++)
    for (size_t k = 0; k < i; k++) {
      orr_icd_identifier(icd->links[k].desc->name, a, sizeof a);
      orr_icd_identifier(icd->links[i].desc->name, b, sizeof b);
      if (format->folds) {
        fold(a);
        fold(b);
      }
      if (strcmp(a, b) != 0)
        continue;
      fprintf(stderr,
              "orrery icd: %s: the links '%s' and '%s' would both be %s in the format %s: give one another name\n",
              icd->path, icd->links[k].desc->name, icd->links[i].desc->name, a, format->name);
      return false;
    }
  return true;
}

/* Packets differ by their message id alone, whatever the port: false when two links send the same id. */
static bool ids_apart(const struct orr_icd *icd, const char *format) {
  for (size_t i = 0; i < icd->count; i++)
    for (size_t k = 0; k < i; k++) {
      const struct orr_icd_side *a = &icd->links[k].sides[0], *b = &icd->links[i].sides[0];
      if (a->id >= b->id + b->pieces || b->id >= a->id + a->pieces || !a->pieces || !b->pieces)
        continue;
      fprintf(
          stderr,
          "orrery icd: %s: the links '%s' and '%s' both send the message id 0x%04x, and the format %s cannot tell them "
          "apart: give one other 'message_ids'\n",
          icd->path, icd->links[k].desc->name, icd->links[i].desc->name, a->id > b->id ? a->id : b->id, format);
      return false;
    }
  return true;
}

static bool has_packets(const struct orr_icd *icd, const char *format) {
  for (size_t i = 0; i < icd->count; i++)
    if (orr_carrier_kind(icd->links[i].desc->transport)->packets)
      return true;
  fprintf(stderr,
          "orrery icd: %s has no link over UDP, and the format %s describes packets: markdown, c, json and python "
          "describe shared memory\n",
          icd->path, format);
  return false;
}

static bool knows_layouts(const struct orr_icd *icd, const struct orr_icd_format *format) {
  for (size_t i = 0; i < icd->count && !format->layouts; i++)
    if (icd->links[i].desc->layout) {
      fprintf(
          stderr,
          "orrery icd: %s: the link '%s' has a 'layout' of its own, which the format %s does not describe: markdown "
          "and c do\n",
          icd->path, icd->links[i].desc->name, format->name);
      return false;
    }
  return true;
}

/* Messages of cFE are their owner's to describe; here they are structs, tables and data. */
static bool has_blocks(const struct orr_icd *icd, const char *format) {
  for (size_t i = 0; i < icd->count; i++)
    if (icd->links[i].sides[0].bare) {
      fprintf(stderr,
              "orrery icd: %s: the link '%s' has 'framing: cfe', which the formats markdown, c and json describe, and "
              "not %s\n",
              icd->path, icd->links[i].desc->name, format);
      return false;
    }
  return true;
}

static bool can_write(const struct orr_icd *icd, const struct orr_icd_format *format) {
  if (icd->count == 0) {
    fprintf(stderr, "orrery icd: %s has no link to flight software outside\n", icd->path);
    return false;
  }
  return knows_layouts(icd, format) && (!format->blocks || has_blocks(icd, format->name)) &&
         (!format->packets ||
          (has_packets(icd, format->name) && has_blocks(icd, format->name) && ids_apart(icd, format->name))) &&
         (!format->holds || format->holds(icd)) &&
         (!format->identifiers || (links_apart(icd, format) && names_apart(icd, format)));
}

static int write_all(const struct orr_run *run, const char *path, const struct orr_icd_format *format) {
  struct orr_icd icd = {.run = run, .path = path};
  icd.links = calloc(run->link_count + 1, sizeof *icd.links);
  if (!icd.links)
    abort();
  for (size_t i = 0; i < run->link_count; i++)
    if (orr_carrier_kind(run->links[i].transport)->outside)
      make_link(&icd.links[icd.count++], run, &run->links[i]);
  bool good = can_write(&icd, format);
  icd.undetermined = calloc(run->spacecraft.loop_count + 1, sizeof *icd.undetermined);
  if (!icd.undetermined)
    abort();
  if (good && run->spacecraft.loop_count)
    (void)orr_run_undetermined(run, icd.undetermined); /* where the run cannot start, nothing is known */
  if (good)
    format->write(&icd);
  free(icd.undetermined);
  for (size_t i = 0; i < icd.count; i++)
    free(icd.links[i].entries);
  free(icd.links);
  return good && fflush(stdout) == 0 ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const struct orr_icd_format *find(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(formats[i].name, name) == 0)
      return &formats[i];
  return NULL;
}

static int run(int argc, char **argv) {
  const struct orr_icd_format *format = &formats[0];
  const char *path = NULL, *settings[MOST_SETTINGS];
  size_t setting_count = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--format") == 0 && i + 1 < argc) {
      format = find(argv[++i]);
      if (!format)
        return usage("the formats are markdown, c, xtce, cosmos, eds, dbc, json and python, not", argv[i]);
    } else if (strcmp(argv[i], "--set") == 0 && i + 1 < argc) {
      if (setting_count == MOST_SETTINGS)
        return usage("too many settings", NULL);
      settings[setting_count++] = argv[++i];
    } else if (argv[i][0] == '-') {
      return usage(strcmp(argv[i], "--format") != 0 && strcmp(argv[i], "--set") != 0 ? "unknown option"
                                                                                     : "a value is missing after",
                   argv[i]);
    } else if (path) {
      return usage("one run file, not also", argv[i]);
    } else {
      path = argv[i];
    }
  }
  if (!path)
    return usage("needs a run file", NULL);
  const struct orr_config_options options = {.settings = settings, .setting_count = setting_count};
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
    .usage = "RUN [--format markdown | c | xtce | cosmos | eds | dbc | json | python] [--set PATH=VALUE]...",
    .help = "Prints what flight software must know of the links of a run file: each channel's place in the\n"
            "payload, type and unit, the range of a command, and over UDP the packets around it. From the table\n"
            "that the program itself uses.\n"
            "\n"
            "  --format markdown    for readers (the default)\n"
            "  --format c           a header that compiles by itself: structs of payloads and packets, message\n"
            "                       ids, the CRC, the layout hash\n"
            "  --format python      a module with struct formats, and functions that take payloads and packets\n"
            "                       apart\n"
            "  --format json        the same as data\n"
            "  --format xtce        XTCE 1.2: the packets of the links over UDP, bit for bit\n"
            "  --format cosmos      the same as command and telemetry definitions of COSMOS\n"
            "  --format eds         the same as an electronic data sheet (CCSDS 876.0, SEDS)\n"
            "  --format dbc         a CAN database: the frames of links on CAN; of others each number in a frame\n"
            "                       of its own, for a run file that says 'transport: can' and 'dbc'\n"
            "  --set PATH=VALUE     any value of the file, as for 'orrery run'\n"
            "\n"
            "Example:\n"
            "  orrery icd configs/cubesat.yaml --format c > cubesat_link.h\n"
            "\n"
            "Exit status: 0 the document is whole; 1 the file is wrong, or has no link to the outside (xtce,\n"
            "cosmos, eds: over UDP), or has names (of those three: or message ids) that the format cannot tell\n"
            "apart; 2 the command line is wrong.\n",
    .run = run,
};
