#include "io/config/text/utf8.h"

#include <stdint.h>

size_t orr_utf8_length(const char *text, size_t left) {
  const unsigned char *p = (const unsigned char *)text;
  if (p[0] < 0x80)
    return 1;
  size_t n = p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : p[0] >= 0xE0 && p[0] < 0xF0 ? 3 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : 0;
  if (n == 0 || n > left)
    return 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xC0) != 0x80)
      return 0;
  bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
  bool beyond = (p[0] == 0xED && p[1] >= 0xA0) || (p[0] == 0xF4 && p[1] >= 0x90);
  return overlong || beyond ? 0 : n;
}

static uint32_t code_point(const char *text) {
  const unsigned char *p = (const unsigned char *)text;
  if (p[0] < 0x80)
    return p[0];
  size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
  uint32_t code = p[0] & (0x7Fu >> n);
  for (size_t i = 1; i < n; i++)
    code = code << 6 | (p[i] & 0x3Fu);
  return code;
}

bool orr_utf8_is_control(const char *p) {
  uint32_t code = code_point(p);
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/* The C library's wcwidth asks the locale, and a program that reads numbers leaves that alone. */
int orr_utf8_columns(const char *p) {
  static const struct {
    uint32_t first, last;
    int columns;
  } ranges[] = {
      {0x0300, 0x036F, 0}, {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},
      {0x20D0, 0x20FF, 0}, {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
      {0xFE00, 0xFE0F, 0}, {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFEFF, 0xFEFF, 0},   {0xFF00, 0xFF60, 2},
      {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
  };
  uint32_t code = code_point(p);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (code >= ranges[i].first && code <= ranges[i].last)
      return ranges[i].columns;
  return 1;
}
