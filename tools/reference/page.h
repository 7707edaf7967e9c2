/* A page of the reference, laid out for a terminal of 100 columns or as Markdown. [init] */
#ifndef ORR_TOOLS_REFERENCE_PAGE_H
#define ORR_TOOLS_REFERENCE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct orr_page {
  FILE *out;
  bool markdown;
  bool begun; /* a block was printed: an empty line comes before the next one */
};

/* Blocks. The level of a heading is 1 for the page's own. Text between backticks is code. */
void orr_page_heading(struct orr_page *page, int level, const char *text);
void orr_page_paragraph(struct orr_page *page, const char *text);
void orr_page_code(struct orr_page *page, const char *language, const char *lines);

/* A table: its titles, then rows of as many cells: name, and one or two facts, and last the meaning. On a terminal name
 * and facts stand in a line and the meaning below it. */
enum { ORR_PAGE_CELLS = 4 };
void orr_page_titles(struct orr_page *page, const char *const titles[], int count);
void orr_page_row(struct orr_page *page, const char *const cells[], int count);

#endif
