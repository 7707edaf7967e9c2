#include "io/log/topics.h"

#include <stdio.h>
#include <string.h>

/* ---- topics of the run ------------------------------------------------------------------------------------------- */

#define FRAME "# of the simulation\nint64 frame\n"

static const char *const names[ORR_LOG_ENTITIES] = {
    [ORR_LOG_COMMANDS] = "commands", [ORR_LOG_TIMING] = "timing",         [ORR_LOG_OVERRUN] = "overrun",
    [ORR_LOG_LOST] = "lost",         [ORR_LOG_CHECKPOINT] = "checkpoint", [ORR_LOG_EVENT] = "event",
    [ORR_LOG_LINK] = "link",
};

static const char *const schemas[ORR_LOG_ENTITIES] = {
    [ORR_LOG_TIMING] = FRAME "# ns on CLOCK_MONOTONIC\nint64 tick\n"
                             "# ns from the tick\nint64 entry\nint64 asked\nint64 woke\nint64 start\nint64 end\n"
                             "int64[16] stage\nint64 lost\nint64 gap\nint64 previous_end\n"
                             "uint32 minor_faults\nuint32 major_faults\nuint32 involuntary\nuint32 voluntary\n"
                             "uint32 slept\nuint32 cause\nuint32 late_stage\nuint32 overran\n",
    [ORR_LOG_OVERRUN] = FRAME "# ns from its tick\nint64 start\nint64 end\nstring cause\nstring stage\n",
    [ORR_LOG_LOST] = "# of the simulation, both ends counted\nint64 first\nint64 last\nstring why\n",
    [ORR_LOG_CHECKPOINT] = FRAME "# head, state and sum: io/log/state_record.h\nuint64[] record\n",
    [ORR_LOG_EVENT] = FRAME "# what: fault\nstring kind\nstring name\nstring text\n",
    [ORR_LOG_LINK] = FRAME "# the frame that the command applied last answered, -1: none yet\nint64 answers\n"
                           "# what happened: applied, late, missed, timeout, refused, peer\nstring event\n"
                           "uint64 published\nuint64 answered\nuint64 applied\nuint64 late\nuint64 missed\n"
                           "uint64 timeouts\nuint64[13] refused\nuint64 peers\n",
};

static struct orr_mcap_text text_of(struct orr_arena *arena, const char *text) {
  size_t n = strlen(text);
  return (struct orr_mcap_text){orr_arena_copy(arena, text, n), n};
}

static struct orr_mcap_text fixed(const char *text) { return (struct orr_mcap_text){text, strlen(text)}; }

static void name_topic(struct orr_arena *arena, struct orr_log_topic *t, uint16_t id, uint16_t schema,
                       const char *topic) {
  t->schema.id = schema;
  t->schema.encoding = fixed("ros2msg");
  t->channel =
      (struct orr_mcap_channel){.id = id, .schema = schema, .topic = text_of(arena, topic), .encoding = fixed("cdr")};
}

static void add_pair(struct orr_arena *arena, struct orr_log_topic *t, const char *field, const char *what,
                     const char *value) {
  t->pairs[t->pair_count++] =
      (struct orr_mcap_pair){text_of(arena, orr_arena_format(arena, "%s.%s", field, what)), text_of(arena, value)};
}

/* What the numbers of the topic of all commands are: names and units, one for each, parted by commas. */
static void describe_commands(struct orr_arena *arena, const struct orr_channel_table *table, struct orr_log_topic *t) {
  const char *channels = "", *units = "";
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    for (int k = 0; k < c->count && c->direction == ORR_CHANNEL_COMMAND; k++) {
      const char *comma = *channels ? "," : "";
      channels = c->count == 1 ? orr_arena_format(arena, "%s%s%s", channels, comma, c->name)
                 : c->elements ? orr_arena_format(arena, "%s%s%s.%s", channels, comma, c->name, c->elements[k])
                               : orr_arena_format(arena, "%s%s%s[%d]", channels, comma, c->name, k);
      units = orr_arena_format(arena, "%s%s%s", units, comma, c->unit);
    }
  }
  t->pairs = orr_arena_alloc(arena, 2, sizeof *t->pairs);
  add_pair(arena, t, "values", "channels", channels);
  add_pair(arena, t, "values", "units", units);
}

static void make_system(struct orr_arena *arena, struct orr_log_topics *topics) {
  for (int i = ORR_LOG_COMMANDS; i < ORR_LOG_ENTITIES; i++) {
    struct orr_log_topic *t = &topics->system[i];
    name_topic(arena, t, (uint16_t)i, (uint16_t)i, orr_arena_format(arena, "/orrery/%s", names[i]));
    t->schema.name = text_of(arena, orr_arena_format(arena, "orrery/msg/%c%s", names[i][0] - 'a' + 'A', names[i] + 1));
    if (schemas[i])
      t->schema.data = fixed(schemas[i]);
    else if (topics->command_count)
      t->schema.data =
          text_of(arena, orr_arena_format(arena, FRAME "# in the order of the table of signals\nfloat64[%d] values\n",
                                          topics->command_count));
    else
      t->schema.data = fixed(FRAME);
    if (i == ORR_LOG_COMMANDS && topics->command_count)
      describe_commands(arena, topics->table, t);
  }
}

static void make_links(struct orr_arena *arena, struct orr_log_topics *topics, const char *const *links, int count,
                       uint16_t first) {
  topics->links = orr_arena_alloc(arena, (size_t)count, sizeof *topics->links);
  topics->link_count = count;
  for (int i = 0; i < count; i++) {
    name_topic(arena, &topics->links[i], (uint16_t)(first + i), ORR_LOG_LINK,
               orr_arena_format(arena, "/orrery/link/%s", links[i]));
    topics->links[i].schema = topics->system[ORR_LOG_LINK].schema;
  }
}

/* ---- topics of devices and bodies -------------------------------------------------------------------------------- */

static size_t entity_length(const char *name) { return strcspn(name, "."); }

/* Lower-case letters, digits and single underscores, a letter first: what ros2msg takes for a name of a field. */
static char *field_name(struct orr_arena *arena, const char *quantity) {
  size_t n = strlen(quantity), used = 0;
  char *name = orr_arena_alloc(arena, n + 2, 1);
  for (size_t i = 0; i < n; i++) {
    char c = quantity[i];
    c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (used == 0 && !letter)
      name[used++] = 'n';
    if (letter || digit || name[used - 1] != '_')
      name[used++] = letter || digit ? c : '_';
  }
  while (used > 0 && name[used - 1] == '_')
    used--;
  name[used] = '\0';
  return name;
}

static char *message_name(struct orr_arena *arena, const char *entity, size_t n) {
  char *name = orr_arena_format(arena, "orrery/msg/%.*s", (int)n, entity);
  for (char *c = name + strlen("orrery/msg/"); *c; c++) {
    bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    if (!good)
      *c = '_';
  }
  return name;
}

static bool is_used(const char *name, const char *const *fields, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(fields[i], name) == 0)
      return true;
  return false;
}

static const char *elements_of(struct orr_arena *arena, const struct orr_channel *c) {
  const char *text = "";
  for (int i = 0; i < c->count; i++)
    text = orr_arena_format(arena, "%s%s%s", text, i ? " " : "", c->elements[i]);
  return text;
}

/* Schema and metadata of the fields. */
static void describe(struct orr_arena *arena, const struct orr_channel_table *table, struct orr_log_topic *t,
                     size_t entity) {
  const char **fields = orr_arena_alloc(arena, (size_t)t->field_count, sizeof *fields);
  const char *schema = "";
  t->pairs = orr_arena_alloc(arena, 4 * (size_t)t->field_count, sizeof *t->pairs);
  t->bytes = ORR_CDR_HEAD_BYTES;
  for (int i = 0; i < t->field_count; i++) {
    const struct orr_channel *c = &table->channels[t->fields[i]];
    const char *name = field_name(arena, c->name + entity + 1);
    for (int k = 2; is_used(name, fields, i); k++)
      name = orr_arena_format(arena, "%s_%d", field_name(arena, c->name + entity + 1), k);
    fields[i] = name;
    schema = c->count > 1 ? orr_arena_format(arena, "%s# %s\nfloat64[%d] %s\n", schema, c->unit, c->count, name)
                          : orr_arena_format(arena, "%s# %s\nfloat64 %s\n", schema, c->unit, name);
    add_pair(arena, t, name, "channel", c->name);
    add_pair(arena, t, name, "unit", c->unit);
    add_pair(arena, t, name, "direction", c->direction == ORR_CHANNEL_COMMAND ? "command" : "output");
    if (c->elements)
      add_pair(arena, t, name, "elements", elements_of(arena, c));
    t->bytes += 8 * (size_t)c->count;
  }
  t->schema.data = fixed(schema);
}

static bool same_entity(const char *a, const char *b) {
  size_t n = entity_length(a);
  return entity_length(b) == n && memcmp(a, b, n) == 0;
}

static void make_entity(struct orr_arena *arena, struct orr_log_topics *topics, const bool *chosen, bool *done,
                        int first, uint16_t id) {
  const struct orr_channel_table *table = topics->table;
  const char *name = table->channels[first].name;
  struct orr_log_topic *t = &topics->entities[topics->entity_count++];
  int *fields = orr_arena_alloc(arena, (size_t)table->count, sizeof *fields);
  for (int i = first; i < table->count; i++)
    if (chosen[i] && same_entity(name, table->channels[i].name)) {
      fields[t->field_count++] = i;
      done[i] = true;
    }
  t->fields = fields;
  size_t n = entity_length(name);
  name_topic(arena, t, id, id, orr_arena_format(arena, "/%.*s", (int)n, name));
  t->schema.name = fixed(message_name(arena, name, n));
  describe(arena, table, t, n);
}

const struct orr_log_topics *orr_log_topics_create(struct orr_arena *arena, const struct orr_channel_table *table,
                                                   const bool *chosen, const char *const *links, int link_count) {
  struct orr_log_topics *topics = orr_arena_alloc(arena, 1, sizeof *topics);
  bool *done = orr_arena_alloc(arena, (size_t)table->count, sizeof *done);
  int entities = 0;
  topics->table = table;
  topics->command_count = table->value_count - table->output_values;
  make_system(arena, topics);
  for (int i = 0; i < table->count; i++)
    entities += chosen[i];
  topics->entities = orr_arena_alloc(arena, (size_t)entities, sizeof *topics->entities);
  for (int i = 0; i < table->count; i++)
    if (chosen[i] && !done[i])
      make_entity(arena, topics, chosen, done, i, (uint16_t)(ORR_LOG_ENTITIES + topics->entity_count));
  make_links(arena, topics, links, link_count, (uint16_t)(ORR_LOG_ENTITIES + topics->entity_count));
  return topics;
}

void orr_log_topic_write(const struct orr_log_topics *topics, const struct orr_log_topic *t, const double *values,
                         uint8_t *message) {
  struct orr_cdr_out out;
  orr_cdr_begin(&out, message);
  for (int i = 0; i < t->field_count; i++) {
    const struct orr_channel *c = &topics->table->channels[t->fields[i]];
    orr_cdr_put64(&out, values + c->offset, (size_t)c->count, false);
  }
}

bool orr_log_topic_is_due(const struct orr_log_topics *topics, const struct orr_log_topic *t, int64_t frame) {
  for (int i = 0; i < t->field_count; i++) {
    const struct orr_channel *c = &topics->table->channels[t->fields[i]];
    if (c->direction == ORR_CHANNEL_OUTPUT &&
        (c->divisor <= 1 || (frame >= c->phase && (frame - c->phase) % c->divisor == 0)))
      return true;
  }
  return false;
}
