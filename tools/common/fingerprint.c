#include "tools/common/fingerprint.h"

#include <elf.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math/bits.h"
#include "core/math/hash.h"
#include "tools/common/version.h"

static uint64_t add(uint64_t hash, double x) { return orr_hash_mix(hash, orr_bits_of(x)); }

/* Arguments of both signs from small ones to where a sine has to be reduced, by the golden section: no compiler knows
 * them beforehand. */
uint64_t orr_fingerprint_functions(void) {
  enum { ARGUMENTS = 512 };
  uint64_t hash = ORR_HASH_BEGIN;
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
        *hash = orr_hash_bytes(*hash, value, note.n_descsz);
      at = value + ((note.n_descsz + 3) & ~3U);
    }
  }
  return 1;
}

uint64_t orr_fingerprint_program(void) {
  uint64_t hash = ORR_HASH_BEGIN;
  const char *build = orr_version_build();
  dl_iterate_phdr(find_identity, &hash);
  return hash != ORR_HASH_BEGIN ? hash : orr_hash_bytes(hash, build, strlen(build));
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
