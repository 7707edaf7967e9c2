#include "rt/machine/cpulist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* One number below CPU_SETSIZE at *text, which moves behind it; −1 when there is none. */
static int number(const char **text) {
  char *end;
  if (!isdigit((unsigned char)**text))
    return -1;
  long value = strtol(*text, &end, 10);
  *text = end;
  return value < CPU_SETSIZE ? (int)value : -1;
}

static bool range(const char **text, cpu_set_t *set) {
  int first = number(text), last = first;
  if (first >= 0 && **text == '-') {
    (*text)++;
    last = number(text);
  }
  for (int cpu = first; first >= 0 && cpu <= last; cpu++)
    CPU_SET((size_t)cpu, set);
  return first >= 0 && last >= first;
}

bool orr_cpulist_parse(const char *text, cpu_set_t *set) {
  CPU_ZERO(set);
  while (isspace((unsigned char)*text))
    text++;
  bool more = *text != '\0';
  while (more) {
    if (!range(&text, set)) {
      CPU_ZERO(set);
      return false;
    }
    more = *text == ',';
    text += more;
  }
  while (isspace((unsigned char)*text))
    text++;
  if (*text != '\0')
    CPU_ZERO(set);
  return *text == '\0';
}

bool orr_cpulist_format(const cpu_set_t *set, char *text, size_t size) {
  size_t used = 0;
  if (size == 0)
    return false;
  text[0] = '\0';
  for (int first = 0; first < CPU_SETSIZE; first++) {
    if (!CPU_ISSET((size_t)first, set))
      continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, set))
      last++;
    const char *comma = used ? "," : "";
    int n = last > first ? snprintf(text + used, size - used, "%s%d-%d", comma, first, last)
                         : snprintf(text + used, size - used, "%s%d", comma, first);
    if (n < 0 || (size_t)n >= size - used)
      return false;
    used += (size_t)n;
    first = last;
  }
  return true;
}
