#include "tools/common/hdf5.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Debian's serial build under its names of several releases, then whatever stands under the plain name. */
static const char *const libraries[] = {"libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103",
                                        "libhdf5.so.310",        "libhdf5_serial.so",     "libhdf5.so"};

struct symbol {
  const char *name;
  void *to;
};

static bool take_functions(struct orr_hdf5 *h, void *library) {
#define FUNCTION(name)                                                                                                 \
  { #name, &h->name }
  const struct symbol functions[] = {
      FUNCTION(H5open),           FUNCTION(H5get_libversion),
      FUNCTION(H5Eset_auto2),     FUNCTION(H5Fcreate),
      FUNCTION(H5Fclose),         FUNCTION(H5Gcreate2),
      FUNCTION(H5Gclose),         FUNCTION(H5Screate),
      FUNCTION(H5Screate_simple), FUNCTION(H5Sselect_hyperslab),
      FUNCTION(H5Sclose),         FUNCTION(H5Tcopy),
      FUNCTION(H5Tset_size),      FUNCTION(H5Tset_cset),
      FUNCTION(H5Tclose),         FUNCTION(H5Pcreate),
      FUNCTION(H5Pset_chunk),     FUNCTION(H5Pset_create_intermediate_group),
      FUNCTION(H5Pclose),         FUNCTION(H5Dcreate2),
      FUNCTION(H5Dset_extent),    FUNCTION(H5Dget_space),
      FUNCTION(H5Dwrite),         FUNCTION(H5Dclose),
      FUNCTION(H5Acreate2),       FUNCTION(H5Awrite),
      FUNCTION(H5Aclose),
  };
#undef FUNCTION
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(library, functions[i].name);
    if (!found)
      return false;
    memcpy(functions[i].to, &found, sizeof found);
  }
  return true;
}

/* They have their values once the library is open. */
static bool take_constants(struct orr_hdf5 *h, void *library) {
  const struct symbol constants[] = {
      {"H5T_C_S1_g", &h->string},
      {"H5T_IEEE_F64LE_g", &h->float64},
      {"H5T_IEEE_F32LE_g", &h->float32},
      {"H5T_STD_I64LE_g", &h->int64},
      {"H5T_STD_U64LE_g", &h->uint64},
      {"H5T_STD_I32LE_g", &h->int32},
      {"H5T_STD_U32LE_g", &h->uint32},
      {"H5T_STD_I16LE_g", &h->int16},
      {"H5T_STD_U16LE_g", &h->uint16},
      {"H5T_STD_I8LE_g", &h->int8},
      {"H5T_STD_U8LE_g", &h->uint8},
      {"H5P_CLS_DATASET_CREATE_ID_g", &h->dataset_create},
      {"H5P_CLS_LINK_CREATE_ID_g", &h->link_create},
  };
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    const orr_hid *found = dlsym(library, constants[i].name);
    if (!found)
      return false;
    memcpy(constants[i].to, found, sizeof *found);
  }
  return true;
}

bool orr_hdf5_load(struct orr_hdf5 *h, char *message, size_t size) {
  unsigned major = 0, minor = 0, release = 0;
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, size, "it needs libhdf5, which is not installed: apt-get install hdf5-tools");
    return false;
  }
  bool good = take_functions(h, library) && h->H5open() >= 0 && take_constants(h, library) &&
              h->H5get_libversion(&major, &minor, &release) >= 0;
  /* before 1.10 its handles were of 32 bits */
  good = good && (major > 1 || minor >= 10);
  if (!good)
    snprintf(message, size, "the libhdf5 here (%u.%u.%u) is not one that is known: 1.10 or later is wanted", major,
             minor, release);
  else
    h->H5Eset_auto2(0, NULL, NULL); /* failures are reported here */
  return good;
}
