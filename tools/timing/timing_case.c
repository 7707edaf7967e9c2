#include "tools/timing/timing_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math/hash.h"
#include "io/config/text/files.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

struct case_keys {
  int64_t version, slices, slice, warm_up;
  const char *run, *peer;
  struct orr_place set, load;
};

struct load_keys {
  int kind;
  int64_t workers;
  const char *stress;
  struct orr_place cores;
};

static const struct orr_range version_range = {1, 1, false};
static const struct orr_range slices_range = {1, 10000, false};
static const struct orr_range slice_range = {0.001, 86400, false};
static const struct orr_range warm_up_range = {0, 3600, false};
static const struct orr_range workers_range = {1, 4, false};
static const struct orr_range core_range = {0, CPU_SETSIZE - 1, false};
static const char *const loads[] = {[ORR_TIMING_LOAD_AUTO] = "auto",
                                    [ORR_TIMING_LOAD_STRESS_NG] = "stress-ng",
                                    [ORR_TIMING_LOAD_BURNER] = "burner",
                                    [3] = NULL};

static const struct orr_key load_table[] = {
    {.name = "cores",
     .doc = "the cores that are kept busy",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBERS(0, NULL),
     .offset = offsetof(struct load_keys, cores)},
    {.name = "workers",
     .doc = "processes on each of them",
     .type = ORR_KEY_WHOLE,
     .range = &workers_range,
     .fallback = "1",
     .offset = offsetof(struct load_keys, workers)},
    {.name = "kind",
     .doc = "stress-ng; burner, a process of our own that moves memory and enters the kernel; or auto, stress-ng where "
            "it is installed",
     .type = ORR_KEY_CHOICE,
     .choices = loads,
     .fallback = "auto",
     .offset = offsetof(struct load_keys, kind)},
    {.name = "stress",
     .doc = "what each stress-ng is told to do",
     .type = ORR_KEY_TEXT,
     .fallback = "--cpu 1 --vm 1 --vm-bytes 64M --switch 1",
     .offset = offsetof(struct load_keys, stress)},
};

static const struct orr_mapping load_mapping = {
    .name = "timing.load", .doc = "What the machine does beside the run.", ORR_KEYS(load_table)};

static const struct orr_key case_table[] = {
    {.name = "timing",
     .doc = "version of this language",
     .type = ORR_KEY_WHOLE,
     .required = true,
     .range = &version_range,
     .offset = offsetof(struct case_keys, version)},
    {.name = "run",
     .doc = "the run file, beside this one",
     .type = ORR_KEY_TEXT,
     .required = true,
     .offset = offsetof(struct case_keys, run)},
    {.name = "set",
     .doc = "values laid over it, PATH=VALUE as `orrery run --set` takes them",
     .type = ORR_KEY_PLACE,
     .absent = "the run as it is",
     .shape = ORR_LIST(ORR_TEXT("PATH=VALUE")),
     .offset = offsetof(struct case_keys, set)},
    {.name = "slices",
     .doc = "how many flights",
     .type = ORR_KEY_WHOLE,
     .range = &slices_range,
     .fallback = "20",
     .offset = offsetof(struct case_keys, slices)},
    {.name = "slice",
     .doc = "how long each is measured",
     .type = ORR_KEY_TIME,
     .range = &slice_range,
     .fallback = "5 s",
     .offset = offsetof(struct case_keys, slice)},
    {.name = "warm_up",
     .doc = "how long each is flown before that",
     .type = ORR_KEY_TIME,
     .range = &warm_up_range,
     .fallback = "1 s",
     .offset = offsetof(struct case_keys, warm_up)},
    {.name = "load",
     .doc = "what the machine does beside the run",
     .type = ORR_KEY_PLACE,
     .absent = "nothing of ours",
     .shape = ORR_MAPPING(load_mapping),
     .offset = offsetof(struct case_keys, load)},
    {.name = "peer",
     .doc =
         "who answers the links that lead outside: echo, which answers each frame at once and sees when it came; none; "
         "or a command for the shell",
     .type = ORR_KEY_TEXT,
     .fallback = "echo",
     .offset = offsetof(struct case_keys, peer)},
};

static const struct orr_mapping case_mapping = {
    .name = "timing", .doc = "A run whose timing is measured, slice by slice.", ORR_KEYS(case_table)};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void read_cores(struct orr_reader *reader, struct orr_place place, struct orr_timing_case *out) {
  if (!place.node || !orr_expect_sequence(reader, place, "cores"))
    return;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_place item = orr_place_item(reader->diagnostics, place, i);
    double core = 0;
    if (out->core_count == ORR_TIMING_CORES_MAX) {
      orr_read_error(reader, item, "too-many", "at most %d cores", ORR_TIMING_CORES_MAX);
      return;
    }
    if (!orr_read_number(reader, item, "cores", "", &core_range, &core))
      continue;
    if (core != floor(core))
      orr_read_error(reader, item, "not-whole", "'cores' takes the numbers of cores");
    out->core[out->core_count++] = (int)core;
  }
  if (out->core_count == 0)
    orr_read_error(reader, place, "empty", "'cores' names none; leave 'load' out for no load");
}

static void read_load(struct orr_reader *reader, struct orr_place place, struct orr_timing_case *out) {
  struct load_keys keys = {.kind = 0};
  const struct orr_thing thing = {.what = "load", .place = place};
  uint64_t present = 0;
  if (!place.node)
    return;
  orr_read_mapping(reader, &thing, &load_mapping, &keys, &present);
  out->load = (enum orr_timing_load)keys.kind;
  out->workers = keys.workers;
  out->stress = keys.stress;
  read_cores(reader, keys.cores, out);
}

static void add_setting(struct orr_reader *reader, struct orr_place place, const char *setting,
                        struct orr_timing_case *out) {
  if (out->setting_count == ORR_TIMING_SETTINGS_MAX)
    orr_read_error(reader, place, "too-many", "at most %d settings", ORR_TIMING_SETTINGS_MAX);
  else if (setting[0] == '@')
    orr_read_error(reader, place, "wrong-type", "write a setting as PATH.TO.KEY=VALUE, not '%.60s'", setting);
  else
    out->settings[out->setting_count++] = setting;
}

static void read_settings(struct orr_reader *reader, struct orr_place place, struct orr_timing_case *out) {
  if (!place.node || !orr_expect_sequence(reader, place, "set"))
    return;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_place item = orr_place_item(reader->diagnostics, place, i);
    const char *text = NULL;
    if (orr_read_text(reader, item, "set", &text))
      add_setting(reader, item, text, out);
  }
}

/* The run file's path as seen from where the case stands. */
static const char *beside(struct orr_arena *arena, const char *path, const char *run) {
  const char *slash = strrchr(path, '/');
  return run[0] == '/' || !slash ? run : orr_arena_format(arena, "%.*s/%s", (int)(slash - path), path, run);
}

/* A text with its length. */
static uint64_t mixed(uint64_t hash, const char *bytes, size_t count) {
  return orr_hash_mix(orr_hash_bytes(hash, bytes, count), count);
}

static void identify(struct orr_timing_case *out, struct orr_diagnostics *d) {
  struct orr_sources *sources = orr_diagnostics_sources(d);
  uint64_t hash = ORR_HASH_BEGIN;
  for (size_t i = 0; i < orr_sources_file_count(sources); i++) {
    struct orr_text_file file = orr_sources_file(sources, i);
    hash = mixed(hash, file.text, file.length);
  }
  for (size_t i = 0; i < out->setting_count; i++)
    hash = mixed(hash, out->settings[i], strlen(out->settings[i]));
  snprintf(out->identity, sizeof out->identity, "%016" PRIx64, hash);
}

bool orr_timing_case_load(const char *path, const char *const *settings, size_t setting_count,
                          struct orr_diagnostics *diagnostics, struct orr_timing_case *out) {
  struct orr_reader reader = {diagnostics, orr_diagnostics_arena(diagnostics)};
  struct orr_files files = {.reader = &reader};
  struct case_keys keys = {.version = 0};
  uint64_t present = 0;
  *out = (struct orr_timing_case){.path = path};
  const struct orr_file *file = orr_files_open(&files, path, NULL, 0);
  const struct orr_thing thing = {.what = "a timing case", .place = {.node = file->root}};
  if (!file->root || !orr_expect_mapping(&reader, thing.place, "a timing case"))
    return false;
  orr_read_mapping(&reader, &thing, &case_mapping, &keys, &present);
  out->slices = keys.slices;
  out->slice_ns = keys.slice;
  out->warm_up_ns = keys.warm_up;
  out->peer = keys.peer;
  read_settings(&reader, keys.set, out);
  read_load(&reader, keys.load, out);
  for (size_t i = 0; i < setting_count; i++)
    add_setting(&reader, thing.place, settings[i], out);
  if (orr_diagnostics_errors(diagnostics) > 0)
    return false;
  const struct orr_config_options options = {.settings = out->settings, .setting_count = out->setting_count};
  out->run_path = beside(reader.arena, path, keys.run);
  out->run = orr_run_load(out->run_path, &options, diagnostics);
  identify(out, diagnostics);
  return out->run != NULL;
}
