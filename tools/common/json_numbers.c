#include "tools/common/json_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In place of a number that is not finite. No name may have a space, so it is no text of a result. */
static const char NOT_FINITE[] = "not finite";

json_t *orr_json_number(double x) { return isfinite(x) ? json_real(x) : json_string(NOT_FINITE); }

json_t *orr_json_numbers(const double *x, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, orr_json_number(x[i]));
  return list;
}

static size_t grown(size_t used, int more, size_t size) {
  size_t sum = used + (size_t)more;
  return sum < size ? sum : size - 1;
}

static bool is_finite(json_t *value, char *path, size_t size, size_t used) {
  const char *name;
  json_t *child;
  size_t index;
  json_object_foreach(value, name, child) {
    int more = snprintf(path + used, size - used, "%s%s", used ? "." : "", name);
    if (!is_finite(child, path, size, grown(used, more, size)))
      return false;
  }
  json_array_foreach(value, index, child) {
    int more = snprintf(path + used, size - used, "[%zu]", index);
    if (!is_finite(child, path, size, grown(used, more, size)))
      return false;
  }
  return !json_is_string(value) || strcmp(json_string_value(value), NOT_FINITE) != 0;
}

bool orr_json_is_finite(json_t *result, char *path, size_t size) {
  path[0] = '\0';
  return is_finite(result, path, size, 0);
}
