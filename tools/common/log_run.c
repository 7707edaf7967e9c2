#include "tools/common/log_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool equals(struct orr_mcap_text text, const char *word) {
  return text.size == strlen(word) && (text.size == 0 || memcmp(text.text, word, text.size) == 0);
}

bool orr_log_is_topic(const struct orr_log_open *log, uint16_t channel, const char *topic) {
  return equals(log->tables->channels[channel].topic, topic);
}

int64_t orr_log_number(struct orr_mcap_text pairs, const char *key, int64_t otherwise) {
  struct orr_mcap_text value = orr_walk_find(pairs, key);
  char text[24], *end;
  if (!value.text || value.size == 0 || value.size >= sizeof text)
    return otherwise;
  memcpy(text, value.text, value.size);
  text[value.size] = '\0';
  long long number = strtoll(text, &end, 10);
  return *end ? otherwise : number;
}

/* A copy that ends with a NUL. */
static char *keep(struct orr_log_run *run, struct orr_mcap_text text) {
  char *copy = malloc(text.size + 1);
  void **owned = realloc(run->owned, (run->owned_count + 1) * sizeof *owned);
  if (!copy || !owned)
    abort();
  run->owned = owned;
  run->owned[run->owned_count++] = copy;
  if (text.size)
    memcpy(copy, text.text, text.size);
  copy[text.size] = '\0';
  return copy;
}

/* frame, count of words, gap, record: io/log/topics. */
bool orr_log_checkpoint_read(const struct orr_mcap_message *m, struct orr_log_checkpoint *out) {
  static const char fields[] = "int64 frame\nuint64[] record\n";
  struct orr_mcap_text schema = {fields, sizeof fields - 1};
  struct orr_field field;
  struct orr_value frame, first;
  struct orr_cdr cdr;
  uint32_t count = 0;
  bool good = orr_cdr_start(&cdr, m->data, m->size);
  good = good && orr_schema_next(&schema, &field, &good) && orr_cdr_value(&cdr, &field, &frame);
  good = good && orr_schema_next(&schema, &field, &good) && orr_cdr_count(&cdr, &field, &count) && count > 0 &&
         orr_cdr_value(&cdr, &field, &first) && (cdr.size - cdr.at) / 8 >= count - 1;
  if (!good)
    return false;
  *out = (struct orr_log_checkpoint){.frame = frame.whole};
  out->fault = orr_state_record_open(cdr.bytes + cdr.at - 8, 8 * (size_t)count, &out->state);
  return true;
}

const char *orr_log_checkpoint_wrong(const struct orr_log_run *run, const struct orr_log_checkpoint *at) {
  if (at->fault != ORR_STATE_GOOD)
    return orr_state_fault_text(at->fault);
  if (at->state.head.frame != at->frame)
    return "its message is of another frame";
  return at->state.head.step_ns != run->step_ns ? "its step is not the one that the log says" : NULL;
}

static void take_file(struct orr_log_run *run, const struct orr_mcap_attachment *a) {
  struct orr_text_file *files = realloc(run->files, (run->file_count + 1) * sizeof *files);
  if (!files)
    abort();
  run->files = files;
  run->files[run->file_count++] = (struct orr_text_file){keep(run, a->name), keep(run, a->data), a->data.size};
}

/* Of the message, which may not last, a copy. */
static void take_checkpoint(struct orr_log_run *run, const struct orr_log_checkpoint *at) {
  size_t bytes = at->fault == ORR_STATE_GOOD ? 8 * at->state.state_words : 0;
  uint8_t *words = realloc(run->words, bytes + 1);
  if (!words)
    abort();
  if (bytes)
    memcpy(words, at->state.state, bytes);
  run->words = words;
  run->checkpoint = *at;
  run->checkpoint.state.state = words;
}

static void take_metadata(struct orr_log_run *run, const struct orr_mcap_metadata *m) {
  char key[16];
  if (equals(m->name, "end"))
    run->end = m->pairs;
  if (!equals(m->name, "orrery") || run->facts.size)
    return;
  run->facts = m->pairs;
  run->step_ns = orr_log_number(m->pairs, "step_ns", 0);
  struct orr_mcap_text path = orr_walk_find(m->pairs, "run");
  if (path.text)
    run->path = keep(run, path);
  for (size_t i = 0; i < ORR_LOG_RUN_SETTINGS; i++) {
    snprintf(key, sizeof key, "set.%zu", i);
    struct orr_mcap_text setting = orr_walk_find(m->pairs, key);
    if (!setting.text)
      break;
    run->settings[run->setting_count++] = keep(run, setting);
  }
}

bool orr_log_run_read(struct orr_log_run *run, struct orr_log_open *log, uint64_t from_ns) {
  struct orr_walk_item item;
  struct orr_log_checkpoint at;
  *run = (struct orr_log_run){.checkpoint = {.frame = -1}};
  while (orr_walk_next(&log->walk, &item)) {
    if (item.kind == ORR_WALK_ATTACHMENT)
      take_file(run, &item.attachment);
    else if (item.kind == ORR_WALK_METADATA)
      take_metadata(run, &item.metadata);
    else if (orr_log_is_topic(log, item.message.channel, "/orrery/checkpoint") &&
             orr_log_checkpoint_read(&item.message, &at) &&
             (run->checkpoint.frame < 0 || item.message.log_ns <= from_ns))
      take_checkpoint(run, &at);
  }
  const char *missing = !run->path || run->step_ns <= 0 ? "what was flown"
                        : !run->file_count              ? "the files of the run"
                        : run->checkpoint.frame < 0     ? "a checkpoint, so there is no state to begin with"
                                                        : NULL;
  if (missing)
    fprintf(stderr, "%s: '%s' does not hold %s\n", log->who, log->path, missing);
  return !missing;
}

void orr_log_run_free(struct orr_log_run *run) {
  for (size_t i = 0; i < run->owned_count; i++)
    free(run->owned[i]);
  free(run->owned);
  free(run->words);
  free(run->files);
}
