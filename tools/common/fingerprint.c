#include "tools/common/fingerprint.h"

#include <elf.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/version.h"

static uint64_t add(uint64_t hash, double x) {
  uint64_t word;
  memcpy(&word, &x, sizeof word);
  return (hash ^ word) * UINT64_C(0x100000001b3);
}

/* Arguments of both signs from small ones to where a sine has to be reduced, by the golden section: no compiler knows
 * them beforehand. */
uint64_t orr_fingerprint_functions(void) {
  enum { ARGUMENTS = 512 };
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  volatile double golden = 0.6180339887498949;
  for (int i = 1; i <= ARGUMENTS; i++) {
    double part = i * golden - floor(i * golden), size = exp2(24 * part - 12), x = i % 2 ? size : -size,
           unit = 2 * part - 1;
    const double results[] = {sin(x),          cos(x),      tan(x),         asin(unit),
                              acos(unit),      atan(x),     atan2(x, unit), exp(fmod(x, 700)),
                              expm1(unit),     log(size),   log1p(part),    log10(size),
                              pow(size, unit), exp2(unit),  sinh(unit),     cosh(unit),
                              tanh(x),         cbrt(x),     hypot(x, unit), erf(unit),
                              erfc(x),         lgamma(size)};
    for (size_t k = 0; k < sizeof results / sizeof *results; k++)
      hash = add(hash, results[k]);
  }
  return hash;
}

static uint64_t add_bytes(uint64_t hash, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Of the program itself, which comes first. */
static int find_identity(struct dl_phdr_info *info, size_t size, void *out) {
  uint64_t *hash = out;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE)
      continue;
    const unsigned char *at = (const unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                        *end = at + info->dlpi_phdr[i].p_memsz;
    while (end - at > (long)sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      memcpy(&note, at, sizeof note);
      const unsigned char *name = at + sizeof note, *value = name + ((note.n_namesz + 3) & ~3U);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
        *hash = add_bytes(*hash, value, note.n_descsz);
      at = value + ((note.n_descsz + 3) & ~3U);
    }
  }
  return 1;
}

uint64_t orr_fingerprint_program(void) {
  const uint64_t none = UINT64_C(0xcbf29ce484222325);
  uint64_t hash = none;
  const char *build = orr_version_build();
  dl_iterate_phdr(find_identity, &hash);
  return hash != none ? hash : add_bytes(hash, (const unsigned char *)build, strlen(build));
}

const char *orr_fingerprint(char text[ORR_FINGERPRINT_TEXT]) {
  snprintf(text, ORR_FINGERPRINT_TEXT, "%016llx-%016llx", (unsigned long long)orr_fingerprint_program(),
           (unsigned long long)orr_fingerprint_functions());
  return text;
}

const char *orr_fingerprint_differs(const char *a, const char *b) {
  enum { PROGRAM = 16 };
  bool functions = strlen(a) != strlen(b) || strlen(a) <= PROGRAM || strcmp(a + PROGRAM, b + PROGRAM) != 0;
  if (strncmp(a, b, PROGRAM) != 0)
    return functions ? "another build, and another variant of the elementary functions of the C library"
                     : "another build";
  return functions ? "another variant of the elementary functions of the C library (another processor, or "
                     "GLIBC_TUNABLES)"
                   : NULL;
}
