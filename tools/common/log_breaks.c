#include "tools/common/log_breaks.h"

#include <string.h>

#include "io/log/message.h"

static bool is(struct orr_mcap_text text, const char *word) {
  return text.size == strlen(word) && memcmp(text.text, word, text.size) == 0;
}

/* kind, name and text, which stand behind the frame. */
static bool read_texts(const struct orr_mcap_message *m, struct orr_mcap_text out[3]) {
  static const struct orr_field frame = {.type = ORR_FIELD_INT64, .count = 1},
                                text = {.type = ORR_FIELD_STRING, .count = 1};
  struct orr_cdr cdr;
  struct orr_value value;
  if (!orr_cdr_start(&cdr, m->data, m->size) || !orr_cdr_value(&cdr, &frame, &value))
    return false;
  for (int i = 0; i < 3; i++) {
    if (!orr_cdr_value(&cdr, &text, &value))
      return false;
    out[i] = value.string;
  }
  return true;
}

bool orr_log_break_read(const struct orr_mcap_message *m, const struct orr_run *run, struct orr_log_break *out) {
  struct orr_mcap_text texts[3];
  if (!read_texts(m, texts) || !is(texts[0], "ctl"))
    return false;
  out->begins = is(texts[1], orr_control_verbs[ORR_CONTROL_FAULT]);
  if (!out->begins && !is(texts[1], orr_control_verbs[ORR_CONTROL_CLEAR]))
    return false;
  for (size_t i = 0; i < run->fault_count; i++)
    if (is(texts[2], run->faults[i].name)) {
      out->fault = (int)i;
      return true;
    }
  out->fault = -1;
  return !out->begins && is(texts[2], "all");
}

bool orr_log_breaks_add(struct orr_log_breaks *b, const struct orr_log_break *one, int64_t frame) {
  if (b->frame != frame)
    *b = (struct orr_log_breaks){.frame = frame};
  if (b->count == ORR_CONTROL_SLOTS)
    return false;
  b->all[b->count++] = *one;
  return true;
}

void orr_log_breaks_apply(struct orr_log_breaks *b, struct orr_session *s) {
  for (int i = 0; i < b->count && b->frame == orr_plant_frame(s->plant); i++)
    orr_control_break(s->procedure, b->all[i].fault, b->all[i].begins);
}
