#include "io/config/environment/tables.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines and words --------------------------------------------------------------------------------------------- */

enum { WORDS = 64, WORD = 40 };

struct reading {
  struct orr_text text;
  size_t at;     /* byte of the next line */
  size_t number; /* of the present line */
  const char *line;
  size_t length;
  struct orr_text words[WORDS]; /* of it, between blanks and commas */
  size_t count;
  struct orr_table_problem *problem;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reading *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  r->problem->line = r->number;
  vsnprintf(r->problem->text, sizeof r->problem->text, format, arguments);
  va_end(arguments);
  return false;
}

static struct reading start(struct orr_text text, struct orr_table_problem *problem) {
  *problem = (struct orr_table_problem){0};
  return (struct reading){.text = text, .problem = problem};
}

static bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

/* The next line that holds a word and is no comment, in words; words beyond WORDS are left out. */
static bool next_line(struct reading *r) {
  while (r->at < r->text.length) {
    const char *line = r->text.bytes + r->at, *end = memchr(line, '\n', r->text.length - r->at);
    r->line = line;
    r->length = end ? (size_t)(end - line) : r->text.length - r->at;
    r->at += r->length + 1;
    r->number++;
    r->count = 0;
    for (size_t i = 0; i < r->length && r->count < WORDS;) {
      while (i < r->length && is_gap(line[i]))
        i++;
      size_t from = i;
      while (i < r->length && !is_gap(line[i]))
        i++;
      if (i > from)
        r->words[r->count++] = (struct orr_text){line + from, i - from};
    }
    if (r->count && r->words[0].bytes[0] != '#')
      return true;
  }
  r->number = 0;
  return false;
}

static bool is(struct orr_text word, const char *text) {
  return word.length == strlen(text) && memcmp(word.bytes, text, word.length) == 0;
}

/* A finite number, with Fortran's D for an exponent's E. */
static bool number(struct orr_text word, double *out) {
  char copy[WORD + 1], *end;
  if (word.length == 0 || word.length > WORD)
    return false;
  for (size_t i = 0; i < word.length; i++) {
    char c = word.bytes[i];
    if (!isdigit((unsigned char)c) && !strchr("+-.eEdD", c))
      return false;
    copy[i] = c == 'd' || c == 'D' ? 'e' : c;
  }
  copy[word.length] = 0;
  *out = strtod(copy, &end);
  return *end == 0 && isfinite(*out);
}

static bool whole(struct orr_text word, int most, int *out) {
  double x;
  if (!number(word, &x) || x != floor(x) || x < 0 || x > most)
    return false;
  *out = (int)x;
  return true;
}

/* ---- gravity ----------------------------------------------------------------------------------------------------- */

struct gravity {
  struct reading r;
  struct orr_gravity_table *out;
  struct orr_harmonic_term *terms;
  size_t room;
  int degree, order;
  unsigned char *seen; /* [(degree + 1)(degree + 2)/2] */
};

static bool add_term(struct gravity *g, const struct orr_text *words, struct orr_arena *arena) {
  struct orr_harmonic_term t;
  if (!whole(words[0], 100000, &t.n) || !whole(words[1], 100000, &t.m) || t.m > t.n)
    return fail(&g->r, "a line of coefficients begins with a degree and an order that is not larger");
  if (!number(words[2], &t.c) || !number(words[3], &t.s))
    return fail(&g->r, "the coefficients of degree %d and order %d are no numbers", t.n, t.m);
  if (t.n > g->degree || t.m > g->order)
    return true;
  int at = t.n * (t.n + 1) / 2 + t.m;
  if (g->seen[at])
    return fail(&g->r, "degree %d and order %d come twice", t.n, t.m);
  g->seen[at] = 1;
  if (g->out->count == g->room)
    g->terms = orr_arena_grow(arena, g->terms, g->room, sizeof *g->terms, &g->room);
  g->terms[g->out->count++] = t;
  g->out->degree = t.n > g->out->degree ? t.n : g->out->degree;
  g->out->order = t.m > g->out->order ? t.m : g->out->order;
  return true;
}

static bool icgem_head(struct gravity *g, bool *normalised) {
  struct reading *r = &g->r;
  *normalised = true;
  do {
    if (is(r->words[0], "end_of_head"))
      return true;
    bool mu = is(r->words[0], "earth_gravity_constant") || is(r->words[0], "gravity_constant");
    if (r->count < 2)
      continue;
    if (mu && !number(r->words[1], &g->out->mu))
      return fail(r, "the gravity constant is no number");
    if (is(r->words[0], "radius") && !number(r->words[1], &g->out->radius))
      return fail(r, "the radius is no number");
    if (is(r->words[0], "norm"))
      *normalised = is(r->words[1], "fully_normalized");
  } while (next_line(r));
  return fail(r, "the head of the file has no end_of_head");
}

static bool read_icgem(struct gravity *g, struct orr_arena *arena) {
  bool normalised;
  if (!icgem_head(g, &normalised))
    return false;
  if (!normalised)
    return fail(&g->r, "the coefficients are not fully normalised, and no others are read");
  while (next_line(&g->r)) {
    const struct orr_text *w = g->r.words;
    if (!is(w[0], "gfc"))
      return fail(&g->r, "a line '%.*s': only static coefficients, gfc, are read",
                  (int)(w[0].length > 16 ? 16 : w[0].length), w[0].bytes);
    if (g->r.count < 5)
      return fail(&g->r, "a line gfc needs degree, order, C and S");
    if (!add_term(g, w + 1, arena))
      return false;
  }
  return true;
}

static bool read_plain_gravity(struct gravity *g, struct orr_arena *arena) {
  struct reading *r = &g->r;
  double normalised = 0;
  if (r->count < 6 || !number(r->words[0], &g->out->radius) || !number(r->words[1], &g->out->mu) ||
      !number(r->words[5], &normalised))
    return fail(r, "neither an ICGEM head nor a line of radius, GM, rotation, degree, order and normalised");
  if (normalised != 1)
    return fail(r, "the coefficients are not fully normalised, and no others are read");
  while (next_line(r)) {
    if (r->count < 4)
      return fail(r, "a line of coefficients needs degree, order, C and S");
    if (!add_term(g, r->words, arena))
      return false;
  }
  return true;
}

bool orr_gravity_table_read(struct orr_text text, int degree, int order, struct orr_arena *arena,
                            struct orr_gravity_table *out, struct orr_table_problem *problem) {
  struct gravity g = {.r = start(text, problem), .out = out, .degree = degree, .order = order};
  *out = (struct orr_gravity_table){0};
  g.seen = orr_arena_alloc(arena, (size_t)(degree + 1) * (size_t)(degree + 2) / 2, 1);
  if (!next_line(&g.r))
    return fail(&g.r, "the file is empty");
  double first;
  bool good = number(g.r.words[0], &first) ? read_plain_gravity(&g, arena) : read_icgem(&g, arena);
  if (!good)
    return false;
  g.r.number = 0;
  out->terms = g.terms;
  if (!(out->mu > 0) || !(out->radius > 0))
    return fail(&g.r, "the gravity constant and the radius must be positive");
  if (out->degree < degree)
    return fail(&g.r, "the file ends at degree %d, and degree %d is asked for", out->degree, degree);
  return true;
}

/* ---- magnetism --------------------------------------------------------------------------------------------------- */

struct field {
  struct reading r;
  struct orr_magnetic_desc *out;
  struct orr_gauss *gauss;
  double to; /* the last year covered */
};

static bool read_pair(struct field *f, const struct orr_text *words, struct orr_gauss **out) {
  int n, m;
  if (!whole(words[0], ORR_MAGNETIC_DEGREE, &n) || !whole(words[1], n, &m) || n < 1)
    return fail(&f->r, "a line begins with a degree of 1 to %d and an order that is not larger", ORR_MAGNETIC_DEGREE);
  if (n > f->out->degree)
    f->out->degree = n;
  *out = &f->gauss[orr_gauss_index(n, m)];
  return true;
}

/* Rows `n m g h` with or without rates; those of nines end a WMM file. */
static bool read_rows(struct field *f, size_t numbers) {
  while (next_line(&f->r)) {
    const struct orr_text *w = f->r.words;
    if (w[0].length > 8 && w[0].bytes[0] == '9')
      break;
    struct orr_gauss *k = f->gauss;
    if (f->r.count < 2 + numbers)
      return fail(&f->r, "a line of coefficients needs %zu numbers behind degree and order", numbers);
    if (!read_pair(f, w, &k))
      return false;
    if (!number(w[2], &k->g) || !number(w[3], &k->h) ||
        (numbers > 2 && (!number(w[4], &k->g_rate) || !number(w[5], &k->h_rate))))
      return fail(&f->r, "a coefficient is no number");
  }
  return true;
}

/* `c/s deg ord` or `g/h n m`, epochs, and the last column a rate: `2020-25`. Returns the column of the year, or 0. */
static size_t epoch_column(struct field *f, double year) {
  struct reading *r = &f->r;
  double last = 0, epoch = 0;
  for (size_t i = 3; i + 1 < r->count; i++) {
    if (!number(r->words[i], &epoch) || (i > 3 && epoch <= last)) {
      fail(r, "the epochs of the columns do not rise");
      return 0;
    }
    last = epoch;
  }
  if (r->count < 5 || !number(r->words[3], &epoch)) {
    fail(r, "the line of the columns names no epochs");
    return 0;
  }
  if (year < epoch || year > last + 5) {
    fail(r, "the file covers %.0f to %.0f, and not %.2f", epoch, last + 5, year);
    return 0;
  }
  size_t column = 3;
  for (size_t i = 3; i + 1 < r->count; i++)
    if (number(r->words[i], &epoch) && epoch <= year)
      column = i;
  number(r->words[column], &f->out->epoch);
  f->to = last + 5;
  if (column + 2 < r->count)
    number(r->words[column + 1], &f->to);
  return column;
}

static bool read_igrf(struct field *f, double year) {
  size_t column = epoch_column(f, year), columns = f->r.count;
  if (!column)
    return false;
  double span = f->to - f->out->epoch;
  while (next_line(&f->r)) {
    const struct orr_text *w = f->r.words;
    struct orr_gauss *k = f->gauss;
    double a, b;
    bool sine = is(w[0], "h");
    if (f->r.count != columns || (!sine && !is(w[0], "g")))
      return fail(&f->r, "a row is g or h, degree, order and as many numbers as there are epochs");
    if (!read_pair(f, w + 1, &k))
      return false;
    if (!number(w[column], &a) || !number(w[column + 1], &b))
      return fail(&f->r, "a coefficient is no number");
    double rate = column + 2 < columns ? (b - a) / span : b;
    *(sine ? &k->h : &k->g) = a;
    *(sine ? &k->h_rate : &k->g_rate) = rate;
  }
  return true;
}

static bool read_field(struct field *f, double year) {
  struct reading *r = &f->r;
  double epoch = 0, radius = 0;
  int degree;
  f->out->radius = 6371200;
  if (!next_line(r))
    return fail(r, "the file is empty");
  if (is(r->words[0], "c/s") || is(r->words[0], "g/h")) {
    while (is(r->words[0], "c/s"))
      if (!next_line(r))
        return fail(r, "the file ends in its head");
    return read_igrf(f, year);
  }
  if (r->count >= 3 && number(r->words[0], &epoch)) {
    f->out->epoch = epoch;
    f->to = epoch + 5;
    return read_rows(f, 4);
  }
  if (!next_line(r) || r->count < 3 || !whole(r->words[0], ORR_MAGNETIC_DEGREE, &degree) ||
      !number(r->words[1], &radius) || !number(r->words[2], &f->out->epoch) || !(radius > 0))
    return fail(r, "neither WMM.COF, nor igrfNNcoeffs.txt, nor a table that begins with its degree, radius and epoch");
  f->out->radius = 1000 * radius;
  f->to = f->out->epoch;
  return read_rows(f, 2);
}

bool orr_magnetic_table_read(struct orr_text text, double year, struct orr_arena *arena, struct orr_magnetic_desc *out,
                             struct orr_table_problem *problem) {
  struct field f = {.r = start(text, problem), .out = out};
  *out = (struct orr_magnetic_desc){0};
  f.gauss = orr_arena_alloc(arena, (size_t)orr_gauss_index(ORR_MAGNETIC_DEGREE + 1, 0), sizeof *f.gauss);
  out->gauss = f.gauss;
  if (!read_field(&f, year))
    return false;
  f.r.number = 0;
  if (out->degree < 1)
    return fail(&f.r, "the file holds no coefficients");
  bool single = f.to <= out->epoch;
  if (!single && (year < out->epoch || year > f.to))
    return fail(&f.r, "the file covers %.1f to %.1f, and not %.2f", out->epoch, f.to, year);
  return true;
}

bool orr_magnetic_tables_join(const struct orr_magnetic_desc *first, const struct orr_magnetic_desc *second,
                              double year, struct orr_arena *arena, struct orr_magnetic_desc *out,
                              struct orr_table_problem *problem) {
  struct reading r = start((struct orr_text){0}, problem);
  if (first->degree != second->degree || first->radius != second->radius || first->epoch >= second->epoch)
    return fail(&r, "the two tables differ in degree or radius, or the second is not the later one");
  if (year < first->epoch || year > second->epoch)
    return fail(&r, "the tables cover %.1f to %.1f, and not %.2f", first->epoch, second->epoch, year);
  int pairs = orr_gauss_index(first->degree + 1, 0);
  struct orr_gauss *gauss = orr_arena_alloc(arena, (size_t)pairs, sizeof *gauss);
  double span = second->epoch - first->epoch;
  for (int i = 0; i < pairs; i++) {
    const struct orr_gauss *a = &first->gauss[i], *b = &second->gauss[i];
    gauss[i] = (struct orr_gauss){a->g, a->h, (b->g - a->g) / span, (b->h - a->h) / span};
  }
  *out = *first;
  out->gauss = gauss;
  return true;
}

/* ---- orientation ------------------------------------------------------------------------------------------------- */

/* The number in columns from … to, counted from 1; false where they are blank. */
static bool column(const struct reading *r, size_t from, size_t to, double *out) {
  if (r->length < to)
    return false;
  struct orr_text word = {r->line + from - 1, to - from + 1};
  while (word.length && is_gap(word.bytes[0])) {
    word.bytes++;
    word.length--;
  }
  while (word.length && is_gap(word.bytes[word.length - 1]))
    word.length--;
  return number(word, out);
}

bool orr_eop_table_read(struct orr_text text, struct orr_arena *arena, const struct orr_eop **out, size_t *count,
                        struct orr_table_problem *problem) {
  const double arcsecond = 4.848136811095359935899141e-6;
  struct reading r = start(text, problem);
  struct orr_eop *days = NULL, day;
  size_t room = 0;
  *count = 0;
  while (next_line(&r)) {
    if (!column(&r, 8, 15, &day.mjd))
      return fail(&r, "a line of finals has a modified Julian date in columns 8 to 15");
    if (!column(&r, 19, 27, &day.x) || !column(&r, 38, 46, &day.y) || !column(&r, 59, 68, &day.ut1_utc))
      continue; /* beyond what is predicted */
    if (fabs(day.x) > 5 || fabs(day.y) > 5 || fabs(day.ut1_utc) > 1)
      return fail(&r, "the pole is within 5 arcsec and UT1 within a second of UTC");
    if (*count && day.mjd <= days[*count - 1].mjd)
      return fail(&r, "the days do not rise");
    day.x *= arcsecond;
    day.y *= arcsecond;
    if (*count == room)
      days = orr_arena_grow(arena, days, room, sizeof *days, &room);
    days[(*count)++] = day;
  }
  *out = days;
  return *count > 0 || fail(&r, "the file holds no day with the pole and UT1");
}
