#include "tools/campaign/campaign_columns.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/files.h"
#include "tools/common/hdf5.h"
#include "tools/common/json_file.h"

static void *must(void *memory) {
  if (!memory)
    abort();
  return memory;
}

static struct orr_column *column_of(struct orr_columns *t, const char *name, bool is_input) {
  for (size_t i = 0; i < t->column_count; i++)
    if (t->columns[i].is_input == is_input && strcmp(t->columns[i].name, name) == 0)
      return &t->columns[i];
  if (t->column_count == ORR_COLUMNS_MOST) {
    t->left_out = true;
    return NULL;
  }
  struct orr_column *c = &t->columns[t->column_count++];
  *c = (struct orr_column){must(strdup(name)), is_input, must(calloc(t->room, sizeof(double)))};
  for (size_t i = 0; i < t->room; i++)
    c->x[i] = nan("");
  return c;
}

static void put(struct orr_columns *t, const char *name, bool is_input, const json_t *value) {
  struct orr_column *c = json_is_number(value) ? column_of(t, name, is_input) : NULL;
  if (c)
    c->x[t->rows] = json_number_value(value);
}

static void grow(struct orr_columns *t) {
  size_t room = 2 * t->room + 256;
  t->flights = must(realloc(t->flights, room * sizeof *t->flights));
  t->verdicts = must(realloc(t->verdicts, room * sizeof *t->verdicts));
  for (size_t i = 0; i < t->column_count; i++) {
    t->columns[i].x = must(realloc(t->columns[i].x, room * sizeof(double)));
    for (size_t k = t->room; k < room; k++)
      t->columns[i].x[k] = nan("");
  }
  t->room = room;
}

static void take_row(struct orr_columns *t, json_t *row) {
  const char *name, *verdict = json_string_value(json_object_get(row, "verdict"));
  json_t *value, *one;
  char label[260];
  size_t i;
  if (t->rows == t->room)
    grow(t);
  t->flights[t->rows] = json_number_value(json_object_get(row, "flight"));
  snprintf(t->verdicts[t->rows], sizeof *t->verdicts, "%s", verdict ? verdict : "");
  json_object_foreach(json_object_get(row, "values"), name, value) put(t, name, true, value);
  json_array_foreach(json_object_get(row, "expect"), i, one) {
    const char *of = json_string_value(json_object_get(one, "name"));
    snprintf(label, sizeof label, "margin of %.240s", of ? of : "");
    put(t, label, false, json_object_get(one, "margin"));
  }
  json_object_foreach(json_object_get(row, "measures"), name, value) put(t, name, false, value);
  t->rows++;
}

bool orr_columns_each_line(const char *folder, const char *name, void *to, void (*take)(void *to, json_t *row)) {
  char path[PATH_MAX];
  struct orr_json_line line = {0};
  snprintf(path, sizeof path, "%.3900s/%s", folder, name);
  FILE *in = orr_text_open(path);
  if (!in)
    return false;
  while (orr_json_next(&line, in) != ORR_JSON_NONE) {
    json_t *row = orr_json_row(&line);
    if (row)
      take(to, row);
    json_decref(row);
  }
  free(line.text);
  fclose(in);
  return true;
}

static void take_row_of(void *to, json_t *row) { take_row(to, row); }

bool orr_columns_read(struct orr_columns *t, const char *folder) {
  return orr_columns_each_line(folder, "table.jsonl", t, take_row_of);
}

void orr_columns_free(struct orr_columns *t) {
  for (size_t i = 0; i < t->column_count; i++) {
    free(t->columns[i].name);
    free(t->columns[i].x);
  }
  free(t->flights);
  free(t->verdicts);
}

/* ---- HDF5 -------------------------------------------------------------------------------------------------------- */

struct hdf5 {
  struct orr_hdf5 lib;
  orr_hid file, parents, space;
  bool bad;
};

static void put_set(struct hdf5 *h, const char *name, orr_hid type, const void *numbers) {
  orr_hid set = h->lib.H5Dcreate2(h->file, name, type, h->space, h->parents, 0, 0);
  h->bad |= set < 0 || h->lib.H5Dwrite(set, type, 0, 0, 0, numbers) < 0;
  if (set >= 0)
    h->lib.H5Dclose(set);
}

static void put_column(struct hdf5 *h, const struct orr_column *c) {
  char name[320];
  size_t head = (size_t)snprintf(name, sizeof name, "%s/", c->is_input ? "values" : "outcomes");
  snprintf(name + head, sizeof name - head, "%s", c->name);
  for (char *slash = name + head; *slash; slash++)
    *slash = *slash == '/' ? '|' : *slash;
  put_set(h, name, h->lib.float64, c->x);
}

static void put_verdicts(struct hdf5 *h, const struct orr_columns *t) {
  orr_hid text = h->lib.H5Tcopy(h->lib.string);
  const char **list = must(calloc(t->rows + 1, sizeof *list));
  for (size_t i = 0; i < t->rows; i++)
    list[i] = t->verdicts[i];
  h->lib.H5Tset_size(text, ORR_H5T_VARIABLE);
  h->lib.H5Tset_cset(text, ORR_H5T_CSET_UTF8);
  put_set(h, "verdict", text, list);
  h->lib.H5Tclose(text);
  free(list);
}

static bool write_hdf5(const struct orr_columns *t, const char *path) {
  struct hdf5 h = {.bad = false};
  char message[200];
  uint64_t rows = t->rows;
  if (!orr_hdf5_load(&h.lib, message, sizeof message)) {
    fprintf(stderr, "orrery campaign: cannot write '%s': %s\n", path, message);
    return false;
  }
  h.file = h.lib.H5Fcreate(path, ORR_H5F_TRUNC, 0, 0);
  if (h.file >= 0) {
    h.parents = h.lib.H5Pcreate(h.lib.link_create);
    h.lib.H5Pset_create_intermediate_group(h.parents, 1);
    h.space = h.lib.H5Screate_simple(1, &rows, NULL);
    put_set(&h, "flight", h.lib.float64, t->flights);
    put_verdicts(&h, t);
    for (size_t i = 0; i < t->column_count; i++)
      put_column(&h, &t->columns[i]);
    h.lib.H5Sclose(h.space);
    h.lib.H5Pclose(h.parents);
  }
  if (h.file < 0 || h.lib.H5Fclose(h.file) < 0 || h.bad) {
    fprintf(stderr, "orrery campaign: cannot write '%s': libhdf5 cannot make all of that file\n", path);
    return false;
  }
  return true;
}

bool orr_columns_hdf5(const char *folder, const char *path) {
  struct orr_columns *t = must(calloc(1, sizeof *t));
  bool good = orr_columns_read(t, folder);
  if (!good)
    fprintf(stderr, "orrery campaign: '%s' has no table of a campaign: 'orrery campaign run' writes it\n", folder);
  good = good && write_hdf5(t, path);
  orr_columns_free(t);
  free(t);
  return good;
}
