#include "rt/tick/counters.h"

#include <sys/resource.h>

#include "rt/tick/clock.h"

void orr_counters_read(struct orr_counters *counters) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  *counters = (struct orr_counters){
      .minor_faults = (uint64_t)usage.ru_minflt,
      .major_faults = (uint64_t)usage.ru_majflt,
      .voluntary = (uint64_t)usage.ru_nvcsw,
      .involuntary = (uint64_t)usage.ru_nivcsw,
      .cpu_ns = orr_clock_thread_cpu_ns(),
      .wall_ns = orr_clock_now_ns(),
  };
}
