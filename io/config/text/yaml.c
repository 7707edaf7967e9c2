#include "io/config/text/yaml.h"

#include <assert.h>
#include <libfyaml.h>
#include <string.h>

#include "io/config/text/names.h"
#include "io/config/text/scalar.h"
#include "io/config/text/utf8.h"

enum { SMALL = 8 };

/* A mapping or list that has begun and not ended. A mapping's key waits in `key` for its value. */
struct open {
  struct orr_yaml *node;
  void *list; /* struct orr_yaml_item or struct orr_yaml_entry [room] */
  size_t count, room;
  uint32_t last; /* where the last item of a list stands */
  uint64_t weight;
  const struct orr_yaml *key;
  struct orr_names keys; /* of a mapping with more than SMALL entries */
  struct merge *merges, *last_merge;
};

/* A `<<` seen in a mapping: applied at its end, since own keys win wherever they stand. */
struct merge {
  struct merge *next;
  const struct orr_yaml *from;
  orr_source via; /* the alias */
};

struct builder {
  struct orr_diagnostics *diagnostics;
  struct orr_arena *arena;
  struct orr_sources *sources;
  uint32_t file;
  orr_source from; /* what includes the file, or 0 */
  const char *text;
  size_t length;
  struct open stack[ORR_YAML_DEPTH];
  size_t depth;
  struct orr_names anchors;         /* → index into `anchored` */
  const struct orr_yaml **anchored; /* [anchor_count], the latest node of each name */
  size_t anchor_count, anchor_room;
  const struct orr_yaml *root;
  size_t documents;
  uint64_t expanded; /* nodes that aliases stood for so far */
  bool failed;
};

static orr_source place(const struct builder *b, uint32_t offset, enum orr_via kind, orr_source via) {
  return orr_sources_add(b->sources,
                         (struct orr_location){.file = b->file, .offset = offset, .kind = kind, .via = via});
}

/* Where something is wrong: with what includes the file. */
static orr_source spot(const struct builder *b, uint32_t offset) { return place(b, offset, ORR_VIA_NONE, b->from); }

static struct orr_yaml *new_node(const struct builder *b, enum orr_yaml_kind kind, uint32_t offset) {
  struct orr_yaml *node = orr_arena_alloc(b->arena, 1, sizeof *node);
  node->kind = kind;
  node->file = b->file;
  node->offset = offset;
  node->weight = 1;
  return node;
}

static void fail(struct builder *b, uint32_t offset, const char *code, const char *text) {
  orr_report(b->diagnostics, ORR_ERROR, spot(b, offset), code, "%s", text);
  b->failed = true;
}

/* --- where an event stands ------------------------------------------------------------------------------------- */

/* The dash of an empty item: of the first where the list begins, of others the next one below it after the last
 * item. */
static uint32_t dash(const struct builder *b, const struct open *list) {
  size_t first = list->node->offset, indent = 0;
  if (list->count == 0)
    return list->node->offset;
  while (first > indent && b->text[first - indent - 1] != '\n')
    indent++;
  for (size_t i = list->last; i + indent + 1 < b->length; i++)
    if (b->text[i] == '\n' && b->text[i + 1 + indent] == '-' && strspn(b->text + i + 1, " ") == indent)
      return (uint32_t)(i + 1 + indent);
  return list->last;
}

/* Empty values have no mark: they stand where their key or dash does. */
static uint32_t offset_of(const struct builder *b, struct fy_event *event) {
  const struct fy_mark *mark = fy_event_start_mark(event);
  if (!mark) {
    const struct open *o = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;
    if (o && o->node->kind == ORR_YAML_SEQUENCE)
      return dash(b, o);
    return o && o->key ? o->key->offset : 0;
  }
  size_t offset = mark->input_pos < b->length ? mark->input_pos : b->length;
  char before = offset > 0 ? b->text[offset - 1] : '\0';
  if (event->type == FYET_ALIAS && before == '*')
    offset--; /* the library's mark is behind the star, and behind a quote */
  if (event->type == FYET_SCALAR && event->scalar.value && (before == '"' || before == '\'')) {
    enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
    if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
      offset--;
  }
  return (uint32_t)offset;
}

/* --- aliases and merges ---------------------------------------------------------------------------------------- */

static bool spend(struct builder *b, uint64_t weight, uint32_t offset) {
  b->expanded += weight;
  if (b->expanded <= ORR_YAML_EXPANSION)
    return true;
  fail(b, offset, "alias-bomb", "the aliases up to here stand for more than 2,000,000 nodes; write less by reference");
  return false;
}

static const char *token_text(const struct builder *b, struct fy_token *token) {
  size_t length = 0;
  const char *text = token ? fy_token_get_text(token, &length) : NULL;
  return orr_arena_copy(b->arena, text ? text : "", text ? length : 0);
}

static void add_anchor(struct builder *b, struct fy_token *token, const struct orr_yaml *node) {
  if (!token)
    return;
  const char *name = token_text(b, token);
  if (b->anchor_count == b->anchor_room)
    b->anchored = orr_arena_grow(b->arena, b->anchored, b->anchor_count, sizeof *b->anchored, &b->anchor_room);
  int32_t known = orr_names_find(&b->anchors, name);
  if (known == ORR_NAME_NONE) {
    orr_names_add(&b->anchors, b->arena, name, (int32_t)b->anchor_count);
    known = (int32_t)b->anchor_count++;
  }
  b->anchored[known] = node; /* YAML: the latest of that name counts */
}

static void report_unknown_anchor(struct builder *b, const char *name, uint32_t offset) {
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; i < b->anchors.slot_count; i++)
    if (b->anchors.slots[i].name)
      orr_nearest_offer(&nearest, b->anchors.slots[i].name);
  orr_source at = spot(b, offset);
  if (nearest.best)
    orr_report(b->diagnostics, ORR_ERROR, at, "unknown-anchor",
               "no anchor '&%.60s' before this, did you mean '*%.60s'?", name, nearest.best);
  else
    orr_report(b->diagnostics, ORR_ERROR, at, "unknown-anchor", "no anchor '&%.60s' before this", name);
  b->failed = true;
}

static const struct orr_yaml *resolve(struct builder *b, struct fy_event *event, uint32_t offset) {
  const char *name = token_text(b, event->alias.anchor);
  int32_t index = orr_names_find(&b->anchors, name);
  if (index == ORR_NAME_NONE) {
    report_unknown_anchor(b, name, offset);
    return NULL;
  }
  assert(b->anchored && (size_t)index < b->anchor_count);
  const struct orr_yaml *node = b->anchored[index];
  for (size_t i = 0; i < b->depth; i++)
    if (b->stack[i].node == node) {
      fail(b, offset, "alias-cycle", "this alias stands inside the very thing it names");
      return NULL;
    }
  return spend(b, node->weight, offset) ? node : NULL;
}

/* The index of a key in an open mapping. Most mappings are small: those are searched, larger ones have a table. */
static int32_t find_key(const struct open *o, const char *name) {
  if (o->count > SMALL)
    return orr_names_find(&o->keys, name);
  const struct orr_yaml_entry *entries = o->list;
  for (size_t i = 0; i < o->count; i++)
    if (strcmp(entries[i].key->text, name) == 0)
      return (int32_t)i;
  return ORR_NAME_NONE;
}

static void append_entry(struct builder *b, struct open *o, struct orr_yaml_entry entry) {
  if (o->count == o->room)
    o->list = orr_arena_grow(b->arena, o->list, o->count, sizeof entry, &o->room);
  struct orr_yaml_entry *entries = o->list;
  entries[o->count++] = entry;
  if (o->count > SMALL)
    for (size_t i = o->count == SMALL + 1 ? 0 : o->count - 1; i < o->count; i++)
      orr_names_add(&o->keys, b->arena, entries[i].key->text, (int32_t)i);
}

static void merge_mapping(struct builder *b, struct open *o, const struct merge *m) {
  for (size_t i = 0; i < m->from->count && spend(b, 1, o->node->offset); i++) {
    struct orr_yaml_entry entry = m->from->entries[i];
    if (find_key(o, entry.key->text) != ORR_NAME_NONE)
      continue;
    entry.key_via = orr_sources_join(b->sources, entry.key_via, m->via);
    entry.value_via = orr_sources_join(b->sources, entry.value_via, m->via);
    append_entry(b, o, entry);
    o->weight += entry.value->weight;
  }
}

static void add_merge(struct builder *b, struct open *o, const struct orr_yaml *from, orr_source via, uint32_t offset) {
  if (from->kind == ORR_YAML_SEQUENCE) { /* `<<: [*a, *b]`: the earlier wins */
    for (size_t i = 0; i < from->count && !b->failed; i++) {
      const struct orr_yaml *item = from->items[i].value;
      if (item->kind == ORR_YAML_SEQUENCE)
        fail(b, item->offset, "bad-merge", "'<<' takes a mapping or a list of mappings");
      else
        add_merge(b, o, item, orr_sources_join(b->sources, from->items[i].via, via), item->offset);
    }
    return;
  }
  if (from->kind != ORR_YAML_MAPPING) {
    fail(b, offset, "bad-merge", "'<<' takes a mapping or a list of mappings");
    return;
  }
  struct merge *m = orr_arena_alloc(b->arena, 1, sizeof *m);
  *m = (struct merge){.from = from, .via = via};
  *(o->merges ? &o->last_merge->next : &o->merges) = m;
  o->last_merge = m;
}

/* --- building -------------------------------------------------------------------------------------------------- */

static bool is_merge_key(const struct orr_yaml *key) { return !key->quoted && strcmp(key->text, "<<") == 0; }

static void take_key(struct builder *b, struct open *o, const struct orr_yaml *node, uint32_t offset) {
  if (node->kind != ORR_YAML_SCALAR || node->count != strlen(node->text)) {
    fail(b, offset, "bad-key", "a key must be a plain name");
    return;
  }
  int32_t first = is_merge_key(node) ? ORR_NAME_NONE : find_key(o, node->text);
  if (first != ORR_NAME_NONE) {
    orr_report(b->diagnostics, ORR_ERROR, spot(b, node->offset), "duplicate-key",
               "'%.60s' is here for the second time; keep one of the two", node->text);
    orr_report_related(b->diagnostics, spot(b, ((struct orr_yaml_entry *)o->list)[first].key->offset),
                       "first written here");
  }
  o->key = node;
}

static void take_value(struct builder *b, struct open *o, const struct orr_yaml *node, orr_source via,
                       uint32_t offset) {
  const struct orr_yaml *key = o->key;
  o->key = NULL;
  o->weight += node->weight;
  if (is_merge_key(key))
    add_merge(b, o, node, via ? via : place(b, key->offset, ORR_VIA_MERGE, 0), offset);
  else if (find_key(o, key->text) == ORR_NAME_NONE) /* a duplicate was reported: the first stays */
    append_entry(b, o, (struct orr_yaml_entry){.key = key, .value = node, .value_via = via});
}

/* A node, complete or just opened, takes its place in the one around it. */
static void place_node(struct builder *b, const struct orr_yaml *node, bool alias, uint32_t offset) {
  if (b->depth == 0) {
    b->root = node;
    return;
  }
  struct open *o = &b->stack[b->depth - 1];
  if (o->node->kind == ORR_YAML_SEQUENCE) {
    struct orr_yaml_item item = {node, alias ? place(b, offset, ORR_VIA_ALIAS, 0) : 0};
    if (o->count == o->room)
      o->list = orr_arena_grow(b->arena, o->list, o->count, sizeof item, &o->room);
    ((struct orr_yaml_item *)o->list)[o->count++] = item;
    o->last = offset;
    o->weight += node->weight;
  } else if (!o->key) {
    take_key(b, o, node, offset);
  } else {
    enum orr_via kind = is_merge_key(o->key) ? ORR_VIA_MERGE : ORR_VIA_ALIAS;
    take_value(b, o, node, alias ? place(b, offset, kind, 0) : 0, offset);
  }
}

static bool is_null(const char *text) {
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
    if (strcmp(text, nulls[i]) == 0)
      return true;
  return false;
}

/* The text between the marks of a token, which are inside the quotes. False after reporting. */
static bool decode(struct builder *b, struct fy_token *token, struct orr_yaml *node) {
  const struct fy_mark *from = fy_token_start_mark(token), *to = fy_token_end_mark(token);
  if (!from || !to || to->input_pos < from->input_pos || to->input_pos > b->length)
    return true; /* an empty value: nothing is written */
  enum fy_scalar_style style = fy_token_scalar_style(token);
  size_t length = to->input_pos - from->input_pos, written = 0, at = 0;
  if (style == FYSS_LITERAL || style == FYSS_FOLDED) {
    fail(b, node->offset, "block-text", "a block of text (| or >) has no place here; write the value on one line");
    return false;
  }
  char *text = orr_arena_alloc(b->arena, length + 1, 1);
  node->quoted = style != FYSS_PLAIN;
  node->text = text;
  enum orr_scalar_style ours = style == FYSS_PLAIN           ? ORR_SCALAR_PLAIN
                               : style == FYSS_SINGLE_QUOTED ? ORR_SCALAR_SINGLE_QUOTED
                                                             : ORR_SCALAR_DOUBLE_QUOTED;
  if (!orr_scalar_decode(ours, b->text + from->input_pos, length, text, &written, &at)) {
    fail(b, (uint32_t)(from->input_pos + at), "bad-escape", "this escape means nothing here; those of JSON do");
    return false;
  }
  node->count = (uint32_t)written;
  return true;
}

static void take_scalar(struct builder *b, struct fy_event *event, uint32_t offset) {
  struct orr_yaml *node = new_node(b, ORR_YAML_SCALAR, offset);
  node->text = "";
  if (event->scalar.value && !decode(b, event->scalar.value, node))
    return;
  if (!node->quoted && is_null(node->text) && strlen(node->text) == node->count) {
    node->kind = ORR_YAML_NULL;
    node->count = 0; /* so that it passes for an empty mapping or list */
  }
  add_anchor(b, event->scalar.anchor, node);
  place_node(b, node, false, offset);
}

static void begin(struct builder *b, enum orr_yaml_kind kind, struct fy_token *anchor, uint32_t offset) {
  if (b->depth == ORR_YAML_DEPTH) {
    fail(b, offset, "too-deep", "nested more than 64 deep");
    return;
  }
  struct orr_yaml *node = new_node(b, kind, offset);
  add_anchor(b, anchor, node);
  b->stack[b->depth++] = (struct open){.node = node, .weight = 1};
}

static void end(struct builder *b) {
  assert(b->depth > 0); /* the scanner's events are balanced, and none is looked at after a failure */
  struct open *o = &b->stack[b->depth - 1];
  for (const struct merge *m = o->merges; m && !b->failed; m = m->next)
    merge_mapping(b, o, m);
  o->node->count = (uint32_t)o->count;
  o->node->weight = o->weight < UINT32_MAX ? (uint32_t)o->weight : UINT32_MAX;
  if (o->node->kind == ORR_YAML_SEQUENCE)
    o->node->items = o->list;
  else
    o->node->entries = o->list;
  b->depth--;
  place_node(b, o->node, false, o->node->offset);
}

static void refuse_tag(struct builder *b, struct fy_event *event, uint32_t offset) {
  if (fy_event_get_tag_token(event))
    fail(b, offset, "tag", "tags such as !!str mean nothing here; leave it out");
}

/* What a value costs in memory is some hundred times what it may cost in bytes of text. */
static bool count_value(struct builder *b, const struct fy_event *event, uint32_t offset) {
  bool value = event->type == FYET_SCALAR || event->type == FYET_SEQUENCE_START || event->type == FYET_MAPPING_START;
  if (!value || orr_sources_count_value(b->sources) <= ORR_YAML_VALUES)
    return true;
  fail(b, offset, "too-many",
       "more than 8,000,000 values up to here, in all files together; a table of numbers belongs in a file of its own "
       "kind");
  return false;
}

static void take_event(struct builder *b, struct fy_event *event) {
  uint32_t offset = offset_of(b, event);
  if (!count_value(b, event, offset))
    return;
  switch (event->type) {
  case FYET_DOCUMENT_START:
    if (b->documents++ == 1)
      fail(b, offset, "second-document", "a second document begins here; a file holds one");
    break;
  case FYET_SCALAR:
    refuse_tag(b, event, offset);
    take_scalar(b, event, offset);
    break;
  case FYET_ALIAS: {
    const struct orr_yaml *node = resolve(b, event, offset);
    if (node)
      place_node(b, node, true, offset);
    break;
  }
  case FYET_SEQUENCE_START:
    refuse_tag(b, event, offset);
    begin(b, ORR_YAML_SEQUENCE, event->sequence_start.anchor, offset);
    break;
  case FYET_MAPPING_START:
    refuse_tag(b, event, offset);
    begin(b, ORR_YAML_MAPPING, event->mapping_start.anchor, offset);
    break;
  case FYET_SEQUENCE_END:
  case FYET_MAPPING_END:
    end(b);
    break;
  default:
    break;
  }
}

static void report_syntax(struct builder *b, struct fy_diag *diag) {
  void *iterator = NULL;
  const struct fy_diag_error *e = fy_diag_errors_iterate(diag, &iterator);
  uint32_t offset = 0;
  if (e && e->line > 0)
    offset = orr_sources_offset(b->sources, b->file, (size_t)e->line, e->column > 0 ? (size_t)e->column : 1);
  orr_report(b->diagnostics, ORR_ERROR, spot(b, offset), "syntax", "bad YAML: %.200s%s",
             e ? e->msg : "the text cannot be read",
             e && strncmp(e->msg, "tab character", 13) == 0 ? "; use spaces" : "");
  b->failed = true;
}

static void run_parser(struct builder *b, struct fy_parser *parser, struct fy_diag *diag) {
  if (fy_parser_set_string(parser, b->text, b->length) != 0) {
    report_syntax(b, diag);
    return;
  }
  struct fy_event *event;
  while (!b->failed && (event = fy_parser_parse(parser))) {
    take_event(b, event);
    fy_parser_event_free(parser, event);
  }
  if (!b->failed && fy_parser_get_stream_error(parser))
    report_syntax(b, diag);
}

/* --- before parsing -------------------------------------------------------------------------------------------- */

static bool is_text(struct builder *b) {
  if (b->length > ORR_YAML_LONGEST) {
    fail(b, 0, "too-long", "the file is longer than 128 MiB");
    return false;
  }
  for (size_t i = 0; i < b->length;) {
    unsigned char byte = (unsigned char)b->text[i];
    bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    size_t n = control ? 0 : orr_utf8_length(b->text + i, b->length - i);
    if (n == 0) {
      orr_report(b->diagnostics, ORR_ERROR, spot(b, (uint32_t)i), "not-text",
                 "byte 0x%02x is not text; a file is YAML or JSON in UTF-8", byte);
      b->failed = true;
      return false;
    }
    i += n;
  }
  return true;
}

static void parse(struct builder *b) {
  struct fy_diag_cfg diag_cfg;
  fy_diag_cfg_default(&diag_cfg);
  diag_cfg.fp = NULL;
  struct fy_diag *diag = fy_diag_create(&diag_cfg);
  fy_diag_set_collect_errors(diag, true);
  struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE, .diag = diag};
  struct fy_parser *parser = fy_parser_create(&cfg);
  if (parser)
    run_parser(b, parser, diag);
  else
    report_syntax(b, diag);
  fy_parser_destroy(parser);
  fy_diag_destroy(diag);
}

const struct orr_yaml *orr_yaml_parse(struct orr_diagnostics *diagnostics, uint32_t file, orr_source from,
                                      const char *text, size_t length) {
  struct orr_arena *arena = orr_diagnostics_arena(diagnostics);
  struct builder *b = orr_arena_alloc(arena, 1, sizeof *b);
  *b = (struct builder){.diagnostics = diagnostics,
                        .arena = arena,
                        .sources = orr_diagnostics_sources(diagnostics),
                        .file = file,
                        .from = from,
                        .text = text,
                        .length = length};
  if (is_text(b))
    parse(b);
  if (!b->failed && (!b->root || b->root->kind == ORR_YAML_NULL))
    fail(b, 0, "empty", "the file holds nothing");
  return b->failed ? NULL : b->root;
}
