#include "io/config/text/scalar.h"

#include <stdint.h>
#include <string.h>

struct decoding {
  const char *p, *end;
  char *out;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_break(char c) { return c == '\n' || c == '\r'; }

/* A line break with the blanks around it is a space; each empty line after it is a newline. */
static void fold(struct decoding *d, const char *begin) {
  while (d->out > begin && is_blank(d->out[-1]))
    d->out--;
  size_t breaks = 0;
  for (; d->p < d->end && (is_blank(*d->p) || is_break(*d->p)); d->p++)
    breaks += *d->p == '\n' || (*d->p == '\r' && !(d->p + 1 < d->end && d->p[1] == '\n'));
  if (breaks <= 1)
    *d->out++ = ' ';
  for (size_t i = 1; i < breaks; i++)
    *d->out++ = '\n';
}

static bool hex(struct decoding *d, size_t digits, uint32_t *value) {
  *value = 0;
  for (size_t i = 0; i < digits; i++, d->p++) {
    static const char all[] = "0123456789abcdef";
    char c = d->p < d->end ? *d->p : '?';
    const char *found = strchr(all, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (!found || !*found)
      return false;
    *value = 16 * *value + (uint32_t)(found - all);
  }
  return true;
}

/* UTF-8 of a character, which is never longer than the escape that wrote it. */
static void put(struct decoding *d, uint32_t c) {
  if (c < 0x80) {
    *d->out++ = (char)c;
  } else if (c < 0x800) {
    *d->out++ = (char)(0xC0 | c >> 6);
    *d->out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *d->out++ = (char)(0xE0 | c >> 12);
    *d->out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *d->out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *d->out++ = (char)(0xF0 | c >> 18);
    *d->out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *d->out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *d->out++ = (char)(0x80 | (c & 0x3F));
  }
}

/* \uXXXX, and two of them for what JSON writes as a surrogate pair. */
static bool unicode(struct decoding *d) {
  uint32_t c, low;
  if (!hex(d, 4, &c))
    return false;
  if (c >= 0xD800 && c < 0xDC00) {
    if (d->end - d->p < 6 || d->p[0] != '\\' || d->p[1] != 'u')
      return false;
    d->p += 2;
    if (!hex(d, 4, &low) || low < 0xDC00 || low >= 0xE000)
      return false;
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  } else if (c >= 0xDC00 && c < 0xE000) {
    return false;
  }
  put(d, c);
  return true;
}

/* After the backslash. */
static bool escape(struct decoding *d) {
  static const char names[] = "0bfnrt\"\\/ ", values[] = "\0\b\f\n\r\t\"\\/ ";
  uint32_t c;
  if (d->p == d->end)
    return false;
  char name = *d->p++;
  const char *found = memchr(names, name, sizeof names - 1);
  if (found) {
    *d->out++ = values[found - names];
    return true;
  }
  if (name == 'u')
    return unicode(d);
  if (name != 'x' || !hex(d, 2, &c))
    return false;
  put(d, c);
  return true;
}

bool orr_scalar_decode(enum orr_scalar_style style, const char *raw, size_t length, char *out, size_t *written,
                       size_t *at) {
  struct decoding d = {raw, raw + length, out};
  const char *kept = out; /* blanks before this were escaped, and folding leaves them */
  while (d.p < d.end) {
    if (is_break(*d.p)) {
      fold(&d, kept);
    } else if (style == ORR_SCALAR_SINGLE_QUOTED && *d.p == '\'') {
      *d.out++ = '\'';
      d.p += d.p + 1 < d.end ? 2 : 1;
    } else if (style == ORR_SCALAR_DOUBLE_QUOTED && *d.p == '\\') {
      *at = (size_t)(d.p - raw);
      d.p++;
      if (!escape(&d))
        return false;
      kept = d.out;
    } else {
      *d.out++ = *d.p++;
    }
  }
  *written = (size_t)(d.out - out);
  out[*written] = '\0';
  return true;
}
