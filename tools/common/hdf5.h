/* libhdf5, loaded when a table is asked for. The program is built without it and its headers, and runs without it.
 * Declared here is the part of its interface that is used; it is the same since version 1.10.
 *
 * orr_hdf5_load → its functions. [init]
 */
#ifndef ORR_TOOLS_COMMON_HDF5_H
#define ORR_TOOLS_COMMON_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t orr_hid;

struct orr_hdf5 {
  /* files and groups */
  int (*H5open)(void);
  int (*H5get_libversion)(unsigned *major, unsigned *minor, unsigned *release);
  int (*H5Eset_auto2)(orr_hid stack, void *function, void *data);
  orr_hid (*H5Fcreate)(const char *name, unsigned flags, orr_hid creation, orr_hid access);
  int (*H5Fclose)(orr_hid file);
  orr_hid (*H5Gcreate2)(orr_hid where, const char *name, orr_hid links, orr_hid creation, orr_hid access);
  int (*H5Gclose)(orr_hid group);
  /* spaces and types */
  orr_hid (*H5Screate)(int kind);
  orr_hid (*H5Screate_simple)(int rank, const uint64_t *size, const uint64_t *most);
  int (*H5Sselect_hyperslab)(orr_hid space, int how, const uint64_t *start, const uint64_t *stride,
                             const uint64_t *count, const uint64_t *block);
  int (*H5Sclose)(orr_hid space);
  orr_hid (*H5Tcopy)(orr_hid type);
  int (*H5Tset_size)(orr_hid type, size_t size);
  int (*H5Tset_cset)(orr_hid type, int set);
  int (*H5Tclose)(orr_hid type);
  /* datasets and attributes */
  orr_hid (*H5Pcreate)(orr_hid kind);
  int (*H5Pset_chunk)(orr_hid list, int rank, const uint64_t *size);
  int (*H5Pset_create_intermediate_group)(orr_hid list, unsigned yes);
  int (*H5Pclose)(orr_hid list);
  orr_hid (*H5Dcreate2)(orr_hid where, const char *name, orr_hid type, orr_hid space, orr_hid links, orr_hid creation,
                        orr_hid access);
  int (*H5Dset_extent)(orr_hid set, const uint64_t *size);
  orr_hid (*H5Dget_space)(orr_hid set);
  int (*H5Dwrite)(orr_hid set, orr_hid type, orr_hid memory, orr_hid file, orr_hid list, const void *numbers);
  int (*H5Dclose)(orr_hid set);
  orr_hid (*H5Acreate2)(orr_hid where, const char *name, orr_hid type, orr_hid space, orr_hid creation, orr_hid access);
  int (*H5Awrite)(orr_hid attribute, orr_hid type, const void *value);
  int (*H5Aclose)(orr_hid attribute);
  /* constants in its headers */
  orr_hid string, float64, float32, int64, uint64, int32, uint32, int16, uint16, int8, uint8; /* types */
  orr_hid dataset_create, link_create;                                                        /* kinds of lists */
};

enum { ORR_H5F_TRUNC = 2, ORR_H5S_SCALAR = 0, ORR_H5S_SELECT_SET = 0, ORR_H5T_CSET_UTF8 = 1 };
#define ORR_H5S_UNLIMITED UINT64_MAX
#define ORR_H5T_VARIABLE  SIZE_MAX

/* False with what is wrong in `message`: it is not installed, or its version is not known here. */
bool orr_hdf5_load(struct orr_hdf5 *hdf5, char *message, size_t size);

#endif
