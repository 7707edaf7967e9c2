#include "tools/common/text.h"

#include <string.h>

#include "io/config/text/utf8.h"

const char *orr_text_clean(const char *text, const char *others, char *clean, size_t size) {
  size_t used = 0, left = strlen(text);
  while (left > 0) {
    size_t bytes = orr_utf8_length(text, left), taken = bytes ? bytes : 1;
    bool good = bytes && !orr_utf8_is_control(text) && !(bytes == 1 && strchr(others, *text));
    if (used + taken >= size)
      break;
    memcpy(clean + used, good ? text : "?", good ? bytes : 1);
    used += good ? bytes : 1;
    text += taken;
    left -= taken;
  }
  clean[used] = 0;
  return clean;
}

size_t orr_text_print(FILE *out, const char *text, size_t size) {
  size_t printed = 0;
  for (size_t taken; size > 0; text += taken, size -= taken) {
    size_t bytes = orr_utf8_length(text, size);
    bool good = bytes && !orr_utf8_is_control(text);
    taken = bytes ? bytes : 1;
    printed += fwrite(good ? text : "?", 1, good ? bytes : 1, out);
  }
  return printed;
}

json_t *orr_json_text(const char *text) {
  char clean[ORR_TEXT_MAX];
  json_t *whole = json_string(text); /* control characters are escaped */
  return whole ? whole : json_string(orr_text_clean(text, "", clean, sizeof clean));
}
