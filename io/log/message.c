#include "io/log/message.h"

#include <string.h>

static const struct {
  const char *name;
  size_t bytes;
} types[ORR_FIELD_TYPES] = {
    [ORR_FIELD_FLOAT64] = {"float64", 8}, [ORR_FIELD_FLOAT32] = {"float32", 4}, [ORR_FIELD_INT64] = {"int64", 8},
    [ORR_FIELD_UINT64] = {"uint64", 8},   [ORR_FIELD_INT32] = {"int32", 4},     [ORR_FIELD_UINT32] = {"uint32", 4},
    [ORR_FIELD_INT16] = {"int16", 2},     [ORR_FIELD_UINT16] = {"uint16", 2},   [ORR_FIELD_INT8] = {"int8", 1},
    [ORR_FIELD_UINT8] = {"uint8", 1},     [ORR_FIELD_BOOL] = {"bool", 1},       [ORR_FIELD_STRING] = {"string", 1},
};

/* ---- schema ------------------------------------------------------------------------------------------------------ */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static struct orr_mcap_text word_of(struct orr_mcap_text *line) {
  while (line->size && is_blank(*line->text))
    line->text++, line->size--;
  struct orr_mcap_text word = {line->text, 0};
  while (word.size < line->size && !is_blank(line->text[word.size]))
    word.size++;
  line->text += word.size;
  line->size -= word.size;
  return word;
}

static struct orr_mcap_text line_of(struct orr_mcap_text *schema) {
  const char *end = memchr(schema->text, '\n', schema->size);
  struct orr_mcap_text line = {schema->text, end ? (size_t)(end - schema->text) : schema->size};
  size_t taken = line.size + (end != NULL);
  schema->text += taken;
  schema->size -= taken;
  const char *comment = line.size ? memchr(line.text, '#', line.size) : NULL;
  if (comment)
    line.size = (size_t)(comment - line.text);
  return line;
}

/* `[3]` or `[]` behind a type. */
static bool read_array(struct orr_mcap_text text, struct orr_field *field) {
  uint64_t count = 0;
  field->count = 1;
  if (text.size == 0)
    return true;
  if (text.size < 2 || text.text[0] != '[' || text.text[text.size - 1] != ']' || text.size > 11)
    return false;
  for (size_t i = 1; i + 1 < text.size; i++) {
    if (text.text[i] < '0' || text.text[i] > '9')
      return false;
    count = count * 10 + (uint64_t)(text.text[i] - '0');
  }
  field->sequence = text.size == 2;
  field->array = !field->sequence;
  if (field->array)
    field->count = (uint32_t)count;
  return count <= INT32_MAX && (field->sequence || count > 0);
}

static bool read_type(struct orr_mcap_text word, struct orr_field *field) {
  for (int t = 0; t < ORR_FIELD_TYPES; t++) {
    size_t n = strlen(types[t].name);
    if (word.size < n || memcmp(word.text, types[t].name, n) != 0)
      continue;
    if (word.size > n && word.text[n] != '[')
      continue;
    field->type = (enum orr_field_type)t;
    return read_array((struct orr_mcap_text){word.text + n, word.size - n}, field);
  }
  return false;
}

static bool is_name(struct orr_mcap_text name) {
  for (size_t i = 0; i < name.size; i++) {
    char c = name.text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '_')))
      return false;
  }
  return name.size > 0;
}

bool orr_schema_next(struct orr_mcap_text *schema, struct orr_field *field, bool *good) {
  *good = true;
  while (schema->size) {
    struct orr_mcap_text line = line_of(schema), type = word_of(&line);
    *field = (struct orr_field){.name = word_of(&line)};
    if (type.size == 0)
      continue;
    const char *is = memchr(field->name.text, '=', (size_t)(line.text + line.size - field->name.text));
    if (is)
      continue; /* a constant */
    *good = read_type(type, field) && is_name(field->name);
    return *good;
  }
  return false;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static uint8_t *room(struct orr_cdr_out *out, size_t align, size_t size) {
  size_t behind = out->used - ORR_CDR_HEAD_BYTES, gap = (align - behind % align) % align;
  if (out->bytes)
    memset(out->bytes + out->used, 0, gap);
  uint8_t *at = out->bytes ? out->bytes + out->used + gap : NULL;
  out->used += gap + size;
  return at;
}

static void put(struct orr_cdr_out *out, size_t align, const void *bytes, size_t size) {
  uint8_t *at = size ? room(out, align, size) : NULL;
  if (at)
    memcpy(at, bytes, size);
}

void orr_cdr_begin(struct orr_cdr_out *out, uint8_t *bytes) {
  static const uint8_t head[ORR_CDR_HEAD_BYTES] = {0, 1, 0, 0};
  *out = (struct orr_cdr_out){bytes, ORR_CDR_HEAD_BYTES};
  if (bytes)
    memcpy(bytes, head, sizeof head);
}

void orr_cdr_put64(struct orr_cdr_out *out, const void *numbers, size_t count, bool sequence) {
  uint32_t n = (uint32_t)count;
  if (sequence)
    put(out, 4, &n, 4);
  put(out, 8, numbers, 8 * count);
}

void orr_cdr_put32(struct orr_cdr_out *out, const void *numbers, size_t count) { put(out, 4, numbers, 4 * count); }

void orr_cdr_put_string(struct orr_cdr_out *out, const char *text) {
  uint32_t n = (uint32_t)strlen(text) + 1;
  put(out, 4, &n, 4);
  put(out, 1, text, n);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static const uint8_t *take(struct orr_cdr *cdr, size_t align, size_t size) {
  size_t gap = (align - cdr->at % align) % align, left = cdr->size - cdr->at;
  if (gap > left || size > left - gap)
    return NULL;
  cdr->at += gap + size;
  return cdr->bytes + cdr->at - size;
}

bool orr_cdr_start(struct orr_cdr *cdr, const uint8_t *message, size_t size) {
  if (size < ORR_CDR_HEAD_BYTES || message[0] != 0 || message[1] != 1)
    return false;
  *cdr = (struct orr_cdr){.bytes = message + ORR_CDR_HEAD_BYTES, .size = size - ORR_CDR_HEAD_BYTES};
  return true;
}

static bool read32(struct orr_cdr *cdr, uint32_t *number) {
  const uint8_t *at = take(cdr, 4, 4);
  if (at)
    memcpy(number, at, 4);
  return at != NULL;
}

bool orr_cdr_count(struct orr_cdr *cdr, const struct orr_field *field, uint32_t *count) {
  *count = field->count;
  if (field->sequence && !read32(cdr, count))
    return false;
  return *count <= (cdr->size - cdr->at) / types[field->type].bytes; /* what is promised is there */
}

static void interpret(enum orr_field_type type, struct orr_value *value) {
  float single;
  uint32_t low = (uint32_t)value->bits;
  switch (type) {
  case ORR_FIELD_FLOAT64:
    memcpy(&value->real, &value->bits, 8);
    return;
  case ORR_FIELD_FLOAT32:
    memcpy(&single, &low, 4);
    value->real = (double)single;
    return;
  case ORR_FIELD_INT32:
    value->whole = (int32_t)low;
    break;
  case ORR_FIELD_INT16:
    value->whole = (int16_t)low;
    break;
  case ORR_FIELD_INT8:
    value->whole = (int64_t)(low & 255) - (low & 128 ? 256 : 0);
    break;
  default:
    value->whole = (int64_t)value->bits;
  }
  value->real = type == ORR_FIELD_UINT64 ? (double)value->bits : (double)value->whole;
}

bool orr_cdr_value(struct orr_cdr *cdr, const struct orr_field *field, struct orr_value *value) {
  *value = (struct orr_value){.string = {"", 0}};
  if (field->type == ORR_FIELD_STRING) {
    uint32_t n;
    const uint8_t *text;
    if (!read32(cdr, &n) || n == 0 || !(text = take(cdr, 1, n)) || text[n - 1] != 0)
      return false;
    value->string = (struct orr_mcap_text){(const char *)text, n - 1};
    return true;
  }
  size_t bytes = types[field->type].bytes;
  const uint8_t *at = take(cdr, bytes, bytes);
  if (!at)
    return false;
  memcpy(&value->bits, at, bytes);
  interpret(field->type, value);
  return true;
}
