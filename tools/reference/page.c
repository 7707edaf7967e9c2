#include "tools/reference/page.h"

#include <string.h>

enum { TERMINAL = 100, MARKDOWN = 120, NAME = 20 };

/* A letter of UTF-8 takes one column here; the reference has no wide ones. */
static size_t columns(const char *text, size_t bytes) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; i++)
    n += ((unsigned char)text[i] & 0xc0) != 0x80;
  return n;
}

/* Words of a text, broken before column `width`; lines after the first begin `indent` columns in. `at` is the column
 * where the text begins. Ends the line. */
static void wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width) {
  bool first = true;
  while (*text) {
    size_t bytes = strcspn(text, " "), word = columns(text, bytes);
    if (!first && at + 1 + word > width) {
      fprintf(out, "\n%*s", (int)indent, "");
      at = indent;
      first = true;
    }
    if (!first) {
      fputc(' ', out);
      at++;
    }
    fwrite(text, 1, bytes, out);
    at += word;
    first = false;
    text += bytes;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

/* Outside code, what Markdown or a table would take for its own. */
static void escape(const char *text, char *out, size_t size) {
  bool code = false;
  size_t used = 0;
  for (; *text && used + 2 < size; text++) {
    code ^= *text == '`';
    if (!code && strchr("*|<", *text))
      out[used++] = '\\';
    out[used++] = *text;
  }
  out[used] = '\0';
}

static void separate(struct orr_page *page) {
  if (page->begun)
    fputc('\n', page->out);
  page->begun = true;
}

void orr_page_heading(struct orr_page *page, int level, const char *text) {
  separate(page);
  if (page->markdown) {
    fprintf(page->out, "%.*s %s\n", level, "####", text);
    return;
  }
  fprintf(page->out, "%s\n", text);
  for (size_t i = 0; i < columns(text, strlen(text)); i++)
    fputc(level == 1 ? '=' : '-', page->out);
  fputc('\n', page->out);
}

void orr_page_paragraph(struct orr_page *page, const char *text) {
  char clean[4096];
  separate(page);
  if (page->markdown)
    escape(text, clean, sizeof clean);
  wrap(page->out, page->markdown ? clean : text, 0, 0, page->markdown ? MARKDOWN : TERMINAL);
}

void orr_page_code(struct orr_page *page, const char *language, const char *lines) {
  separate(page);
  if (page->markdown) {
    fprintf(page->out, "```%s\n%s```\n", language, lines);
    return;
  }
  while (*lines) {
    size_t n = strcspn(lines, "\n");
    fprintf(page->out, "  %.*s\n", (int)n, lines);
    lines += n + (lines[n] == '\n');
  }
}

void orr_page_titles(struct orr_page *page, const char *const titles[], int count) {
  separate(page);
  for (int i = 0; page->markdown && i < count; i++)
    fprintf(page->out, "| %s %s", titles[i], i + 1 == count ? "|\n" : "");
  for (int i = 0; page->markdown && i < count; i++)
    fprintf(page->out, "| --- %s", i + 1 == count ? "|\n" : "");
}

void orr_page_row(struct orr_page *page, const char *const cells[], int count) {
  char clean[2048];
  if (page->markdown) {
    for (int i = 0; i < count; i++) {
      escape(cells[i], clean, sizeof clean);
      fprintf(page->out, i == 0 ? "| `%s` " : "| %s ", clean);
    }
    fputs("|\n", page->out);
    return;
  }
  size_t name = columns(cells[0], strlen(cells[0]));
  fprintf(page->out, "  %s%*s", cells[0], name < NAME ? (int)(NAME - name) : 0, "");
  if (count == 2) {
    wrap(page->out, cells[1], name < NAME ? NAME + 2 : name + 2, NAME + 2, TERMINAL);
    return;
  }
  clean[0] = '\0';
  for (int i = 1; i + 1 < count; i++)
    snprintf(clean + strlen(clean), sizeof clean - strlen(clean), "%s%s", i > 1 && *cells[i] ? "; " : "", cells[i]);
  if (name >= NAME) {
    fprintf(page->out, "\n%*s", NAME + 2, "");
  }
  wrap(page->out, clean, NAME + 2, NAME + 2, TERMINAL);
  fprintf(page->out, "%*s", NAME + 2, "");
  wrap(page->out, cells[count - 1], NAME + 2, NAME + 2, TERMINAL);
}
