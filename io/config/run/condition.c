/* Conditions from text. */
#include "io/config/run/condition.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/config/text/names.h"
#include "io/config/text/unit.h"

struct parse {
  const char *text, *at;
  const struct orr_channel_table *table;
  struct orr_arena *arena;
  struct orr_condition_error *error;
  struct orr_condition_node nodes[ORR_CONDITION_NODES];
  int channels[ORR_CONDITION_NODES];
  int count, words, channel_count, depth;
  bool failed;
};

static const char *const joints[] = {"and", "or", "for", NULL};
static const char *const relations[] = {"above", "below", "is", "between", "at least", "at most", NULL};

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The first mistake counts. Returns −1, which is no node. */
__attribute__((format(printf, 5, 6))) static int fail(struct parse *p, const char *at, size_t length, const char *code,
                                                      const char *format, ...) {
  va_list arguments;
  if (p->failed)
    return -1;
  p->failed = true;
  *p->error = (struct orr_condition_error){.at = (size_t)(at - p->text), .length = length ? length : 1, .code = code};
  va_start(arguments, format);
  vsnprintf(p->error->text, sizeof p->error->text, format, arguments);
  va_end(arguments);
  return -1;
}

static void skip(struct parse *p) {
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
    p->at++;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* Letters, digits and what names of channels have besides; 0 where something else stands. */
static size_t word_length(const char *at) {
  size_t n = 0;
  if (!is_letter(*at))
    return 0;
  while (is_letter(at[n]) || is_digit(at[n]) || at[n] == '.' || at[n] == '-')
    n++;
  if (at[n] == '[') {
    n++;
    while (is_digit(at[n]))
      n++;
    n += at[n] == ']';
  }
  return n;
}

static bool is_word(const char *at, const char *word) {
  size_t n = strlen(word);
  return word_length(at) == n && strncmp(at, word, n) == 0;
}

static bool take_word(struct parse *p, const char *word) {
  skip(p);
  if (!is_word(p->at, word))
    return false;
  p->at += strlen(word);
  return true;
}

static bool take_sign(struct parse *p, const char *sign) {
  skip(p);
  size_t n = strlen(sign);
  if (strncmp(p->at, sign, n) != 0)
    return false;
  p->at += n;
  return true;
}

static bool is_joint(const char *at) {
  for (size_t i = 0; joints[i]; i++)
    if (is_word(at, joints[i]))
      return true;
  return false;
}

/* The word that stands here, for a message. */
static const char *shown(const struct parse *p, size_t length) {
  return orr_arena_copy(p->arena, p->at, length < 60 ? length : 60);
}

static size_t stray_length(const char *at) {
  size_t n = word_length(at);
  return n ? n : *at ? 1 : 0;
}

static const char *nearest(const struct parse *p, const char *wanted, const char *const *words) {
  struct orr_nearest found = {.wanted = wanted};
  (void)p;
  for (size_t i = 0; words[i]; i++)
    orr_nearest_offer(&found, words[i]);
  return found.best;
}

static int add(struct parse *p, struct orr_condition_node node) {
  if (p->failed)
    return -1;
  if (p->count == ORR_CONDITION_NODES)
    return fail(p, p->at, 1, "condition",
                "a condition has at most %d comparisons and words between them; this one has more",
                ORR_CONDITION_NODES);
  node.memory = node.sort == ORR_CONDITION_RISING || node.sort == ORR_CONDITION_FOR ? p->words++ : -1;
  p->nodes[p->count] = node;
  return p->count++;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A number with its unit, up to the next word of the language or the parenthesis that closes: "1 deg/sqrt(h)". */
static char *take_value_text(struct parse *p) {
  skip(p);
  const char *end = p->at;
  int open = 0;
  for (; *end; end++) {
    if (open == 0 && (*end == ')' || ((end == p->at || is_blank(end[-1])) && is_joint(end))))
      break;
    open += *end == '(';
    open -= *end == ')';
  }
  while (end > p->at && is_blank(end[-1]))
    end--;
  return orr_arena_copy(p->arena, p->at, (size_t)(end - p->at));
}

/* A name that is no unit, `from` in the text of a value: it may be a word of the language, misspelt. */
static int unit_unknown(struct parse *p, const char *text, size_t from, const char *wanted) {
  from = from < strlen(text) ? from : 0;
  size_t length = word_length(text + from) ? word_length(text + from) : strlen(text + from);
  const char *word = orr_arena_copy(p->arena, text + from, length), *joint = nearest(p, word, joints);
  struct orr_nearest near = {.wanted = word};
  for (size_t i = 0; orr_unit_name(i) && !joint; i++)
    orr_nearest_offer(&near, orr_unit_name(i));
  if (joint || near.best)
    return fail(p, p->at + from, length, "unit", "'%.60s' is no unit, did you mean '%.20s'?", word,
                joint ? joint : near.best);
  return fail(p, p->at + from, length, "unit", "'%.60s' is no unit; %.80s is wanted here", word, wanted);
}

static int unit_wrong(struct parse *p, enum orr_quantity_status status, const char *text, const char *wanted,
                      const struct orr_quantity *q) {
  size_t n = strlen(text);
  struct orr_unit unit = {1, 1, {0}};
  const char *at = "", *name = NULL;
  if (*wanted && orr_unit_parse(wanted, &unit, &at) == ORR_QUANTITY_OK)
    name = orr_unit_describe(&unit);
  name = name ? name : *wanted ? wanted : "a plain number";
  switch (status) {
  case ORR_QUANTITY_NOT_A_NUMBER:
    return n ? fail(p, p->at, n, "condition", "a number is wanted here, not '%.60s'", text)
             : fail(p, p->at, 0, "condition", "a number is missing here");
  case ORR_QUANTITY_NOT_FINITE:
    return fail(p, p->at, n, "condition", "'%.60s' is no finite number", text);
  case ORR_QUANTITY_NOT_WHOLE_NS:
    return fail(p, p->at, n, "condition", "'%.60s' is no whole number of nanoseconds", text);
  case ORR_QUANTITY_WRONG_UNIT:
    return fail(p, p->at, n, "wrong-unit", "%.80s is wanted here, and '%.60s' is something else", name, text);
  default:
    return unit_unknown(p, text, q->at && q->at > text ? (size_t)(q->at - text) : 0, name);
  }
}

static bool take_number(struct parse *p, const char *unit, double *out) {
  struct orr_quantity q;
  const char *text = take_value_text(p);
  enum orr_quantity_status status = orr_quantity_parse(text, unit, &q);
  if (status != ORR_QUANTITY_OK) {
    unit_wrong(p, status, text, unit, &q);
    return false;
  }
  *out = q.value;
  p->at += strlen(text);
  return true;
}

static bool take_span(struct parse *p, int64_t *out) {
  struct orr_quantity q;
  const char *text = take_value_text(p);
  enum orr_quantity_status status = orr_quantity_parse_time(text, &q);
  if (status == ORR_QUANTITY_OK && q.ns < 0) {
    fail(p, p->at, strlen(text), "condition", "a span of time is not negative");
    return false;
  }
  if (status != ORR_QUANTITY_OK) {
    unit_wrong(p, status, text, "s", &q);
    return false;
  }
  *out = q.ns;
  p->at += strlen(text);
  return true;
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* Those of a direction (-1: of both) whose names begin with the first n letters of a name. */
static const char *list_names(struct orr_arena *arena, const struct orr_channel_table *table, const char *name,
                              size_t n, int direction, int most, int *count) {
  const char *all = "";
  *count = 0;
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    if ((direction >= 0 && (int)c->direction != direction) || strncmp(c->name, name, n) != 0)
      continue;
    if ((*count)++ < most)
      all = orr_arena_format(arena, "%s%s%.120s", all, *all ? ", " : "", c->name);
  }
  if (*count > most)
    return orr_arena_format(arena, "%s and %d more ('orrery check --channels' has them)", all, *count - most);
  return all;
}

const char *orr_channels_in_place_of(struct orr_arena *arena, const struct orr_channel_table *table, const char *name,
                                     int direction, int most) {
  const char *all;
  int count;
  for (size_t n = strlen(name); n > 1; n--) {
    if (name[n - 1] != '.')
      continue;
    all = list_names(arena, table, name, n, direction, most, &count);
    if (count > 0)
      return orr_arena_format(arena, "'%.*s' has %s", (int)(n - 1 < 80 ? n - 1 : 80), name, all);
  }
  all = list_names(arena, table, name, 0, direction, most, &count);
  return orr_arena_format(arena, "there are %s", count ? all : "none");
}

enum { MOST_TOLD = 4 };

static void unknown_channel(struct parse *p, const char *name, size_t length) {
  struct orr_nearest found = {.wanted = name};
  if (p->at[strlen(name)] == '(') {
    fail(p, p->at, strlen(name), "condition", "'%.80s' is no function of a channel, did you mean 'norm'?", name);
    return;
  }
  for (int i = 0; i < p->table->count; i++) {
    const struct orr_channel *c = &p->table->channels[i];
    orr_nearest_offer(&found, c->name);
    for (int k = 0; c->elements && k < c->count; k++)
      orr_nearest_offer(&found, orr_arena_format(p->arena, "%s.%s", c->name, c->elements[k]));
  }
  if (found.best)
    fail(p, p->at, length, "unknown-channel", "there is no channel '%.80s', did you mean '%.80s'?", name, found.best);
  else
    fail(p, p->at, length, "unknown-channel", "there is no channel '%.80s'; %s", name,
         orr_channels_in_place_of(p->arena, p->table, name, -1, MOST_TOLD));
}

static void note_channel(struct parse *p, int channel) {
  for (int i = 0; i < p->channel_count; i++)
    if (p->channels[i] == channel)
      return;
  if (p->channel_count < ORR_CONDITION_NODES)
    p->channels[p->channel_count++] = channel;
}

/* A channel, one number of it, or `time`; NULL after a mistake. The node gets its numbers. */
static const struct orr_channel *take_channel(struct parse *p, struct orr_condition_node *node) {
  static const struct orr_channel time = {.name = "time", .unit = "s", .count = 1};
  int element;
  skip(p);
  size_t length = word_length(p->at);
  if (!length) {
    size_t stray = stray_length(p->at);
    if (stray)
      fail(p, p->at, stray, "condition", "the name of a channel is wanted here, not '%s'", shown(p, stray));
    else
      fail(p, p->at, 0, "condition", "the condition breaks off where a channel should stand");
    return NULL;
  }
  const char *name = shown(p, length);
  if (strcmp(name, "time") == 0) {
    p->at += length;
    node->first = -1;
    node->count = 1;
    return &time;
  }
  int index = length < 60 ? orr_channel_find_element(p->table, name, &element) : -1;
  if (index < 0 && length >= 60) {
    name = orr_arena_copy(p->arena, p->at, length);
    index = orr_channel_find_element(p->table, name, &element);
  }
  if (index < 0) {
    unknown_channel(p, name, length);
    return NULL;
  }
  const struct orr_channel *c = &p->table->channels[index];
  note_channel(p, index);
  node->first = c->offset + (element >= 0 ? element : 0);
  node->count = element >= 0 ? 1 : c->count;
  if (node->count > 1 && !node->norm) {
    fail(p, p->at, length, "condition", "'%.80s' has %d numbers: say which, as in %.80s%s%s, or norm(%.80s)", c->name,
         c->count, c->name, c->elements ? "." : "[0]", c->elements ? c->elements[0] : "", c->name);
    return NULL;
  }
  p->at += length;
  return c;
}

static bool take_relation(struct parse *p, enum orr_condition_relation *out) {
  static const struct {
    const char *word;
    enum orr_condition_relation relation;
  } words[] = {{"above", ORR_CONDITION_ABOVE}, {"below", ORR_CONDITION_BELOW}, {"between", ORR_CONDITION_BETWEEN}},
    signs[] = {{">=", ORR_CONDITION_AT_LEAST}, {"<=", ORR_CONDITION_AT_MOST}, {"==", ORR_CONDITION_IS},
               {"!=", ORR_CONDITION_IS_NOT},   {">", ORR_CONDITION_ABOVE},    {"<", ORR_CONDITION_BELOW}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (take_word(p, words[i].word))
      return *out = words[i].relation, true;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (take_sign(p, signs[i].word))
      return *out = signs[i].relation, true;
  if (take_word(p, "is"))
    return *out = take_word(p, "not") ? ORR_CONDITION_IS_NOT : ORR_CONDITION_IS, true;
  const char *before = p->at;
  if (take_word(p, "at")) {
    if (take_word(p, "least"))
      return *out = ORR_CONDITION_AT_LEAST, true;
    if (take_word(p, "most"))
      return *out = ORR_CONDITION_AT_MOST, true;
    p->at = before;
  }
  return false;
}

/* `name` is the signal as it was written. */
static int relation_missing(struct parse *p, const char *unit, const char *name) {
  size_t stray = stray_length(p->at);
  const char *word = shown(p, stray), *best = stray ? nearest(p, word, relations) : NULL;
  if (best)
    return fail(p, p->at, stray, "condition", "'%s' is no comparison, did you mean '%s'?", word, best);
  if (stray)
    return fail(p, p->at, stray, "condition",
                "a comparison is wanted here (above, below, is, between, at least, at "
                "most, or a sign such as >=), not '%s'",
                word);
  return fail(p, p->at, 0, "condition", "'%.80s' is no flag: say what it is compared with, as in %.80s above 0%s%s",
              name, name, *unit ? " " : "", unit);
}

/* Where a comparison may end: nothing, a word that joins, a parenthesis. */
static bool ends_here(struct parse *p) {
  skip(p);
  return !*p->at || *p->at == ')' || is_joint(p->at);
}

static int take_comparison(struct parse *p) {
  struct orr_condition_node node = {.sort = ORR_CONDITION_BOUND, .left = -1, .right = -1};
  skip(p);
  const char *begin = p->at;
  if (is_word(p->at, "norm")) {
    p->at += strlen("norm");
    node.norm = true;
    if (!take_sign(p, "("))
      return fail(p, begin, strlen("norm"), "condition",
                  "'norm' takes a channel in parentheses, as in norm(gyro.rate)");
  }
  const struct orr_channel *c = take_channel(p, &node);
  if (!c)
    return -1;
  if (node.norm && !take_sign(p, ")"))
    return fail(p, p->at, stray_length(p->at), "condition", "the ')' of 'norm' is missing");
  const char *name = orr_arena_copy(p->arena, begin, (size_t)(p->at - begin));
  const char *unit = orr_channel_unit(c, node.count == 1 && c->count > 1 ? node.first - c->offset : -1);
  if (c->type == ORR_CHANNEL_FLAG && !node.norm && ends_here(p)) {
    node.relation = ORR_CONDITION_IS_NOT;
    return add(p, node);
  }
  skip(p);
  if (!take_relation(p, &node.relation))
    return relation_missing(p, unit, name);
  skip(p);
  const char *bound = p->at;
  if (!take_number(p, unit, &node.low))
    return -1;
  node.high = node.low;
  if (node.relation != ORR_CONDITION_BETWEEN)
    return add(p, node);
  if (!take_word(p, "and"))
    return fail(p, p->at, stray_length(p->at), "condition", "'between' takes two bounds, as in between 1 and 2");
  if (!take_number(p, unit, &node.high))
    return -1;
  if (node.low < node.high)
    return add(p, node);
  return fail(p, bound, (size_t)(p->at - bound), "condition",
              "'between' takes the lower bound first, and here it is not below the other");
}

/* ---- grammar ----------------------------------------------------------------------------------------------------- */

static int take_or(struct parse *p);

static int take_timed(struct parse *p) {
  int whole;
  skip(p);
  const char *open = p->at;
  if (take_sign(p, "(")) {
    whole = take_or(p);
    if (whole >= 0 && !take_sign(p, ")"))
      return fail(p, open, 1, "condition", "this '(' has no ')'");
  } else {
    whole = take_comparison(p);
  }
  int64_t span_ns;
  if (whole < 0 || !take_word(p, "for"))
    return whole;
  if (!take_span(p, &span_ns))
    return -1;
  return add(p, (struct orr_condition_node){.sort = ORR_CONDITION_FOR, .left = whole, .right = -1, .span_ns = span_ns});
}

static int take_unary(struct parse *p) {
  bool is_not = take_word(p, "not"), rises = !is_not && take_word(p, "rising");
  if (++p->depth > ORR_CONDITION_DEPTH)
    return fail(p, p->at, 1, "condition", "a condition is nested at most %d deep", ORR_CONDITION_DEPTH);
  int inner = is_not || rises ? take_unary(p) : take_timed(p);
  p->depth--;
  if (inner < 0 || !(is_not || rises))
    return inner;
  return add(p, (struct orr_condition_node){
                    .sort = is_not ? ORR_CONDITION_NOT : ORR_CONDITION_RISING, .left = inner, .right = -1});
}

static int take_and(struct parse *p) {
  int left = take_unary(p);
  while (left >= 0 && take_word(p, "and")) {
    int right = take_unary(p);
    left =
        right < 0 ? -1 : add(p, (struct orr_condition_node){.sort = ORR_CONDITION_AND, .left = left, .right = right});
  }
  return left;
}

static int take_or(struct parse *p) {
  int left = take_and(p);
  while (left >= 0 && take_word(p, "or")) {
    int right = take_and(p);
    left = right < 0 ? -1 : add(p, (struct orr_condition_node){.sort = ORR_CONDITION_OR, .left = left, .right = right});
  }
  return left;
}

static void must_end(struct parse *p) {
  skip(p);
  size_t stray = stray_length(p->at);
  if (!stray)
    return;
  const char *word = shown(p, stray), *best = nearest(p, word, joints);
  if (best)
    fail(p, p->at, stray, "condition", "'%s' does not go on a condition, did you mean '%s'?", word, best);
  else
    fail(p, p->at, stray, "condition", "the condition is whole before '%s'; 'and' or 'or' would go on", word);
}

const struct orr_condition *orr_condition_parse(const char *text, const struct orr_channel_table *table,
                                                struct orr_arena *arena, struct orr_condition_error *error) {
  struct parse p = {.text = text, .at = text, .table = table, .arena = arena, .error = error};
  if (take_or(&p) >= 0)
    must_end(&p);
  if (p.failed)
    return NULL;
  struct orr_condition *out = orr_arena_alloc(arena, 1, sizeof *out);
  struct orr_condition_node *nodes = orr_arena_alloc(arena, (size_t)p.count, sizeof *nodes);
  int *channels = orr_arena_alloc(arena, (size_t)p.channel_count, sizeof *channels);
  memcpy(nodes, p.nodes, sizeof *nodes * (size_t)p.count);
  memcpy(channels, p.channels, sizeof *channels * (size_t)p.channel_count);
  *out = (struct orr_condition){.text = orr_arena_copy(arena, text, strlen(text)),
                                .count = p.count,
                                .words = p.words,
                                .channels = channels,
                                .channel_count = p.channel_count,
                                .nodes = nodes};
  return out;
}
