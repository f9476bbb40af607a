// The functions of a loaded HDF5 that are used, by their binary interface, which 1.10 to 2.x share: no header
// of HDF5's is read, so that one library of ours serves every one of them.
#ifndef LEADLINE_H5TUNER_HDF5_H
#define LEADLINE_H5TUNER_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ll_hid;  // hid_t since 1.10; 1.8 had 32 bits and is left alone
typedef int ll_herr;
typedef unsigned long long ll_hsize;
// hbool_t is one byte or four: written as four, zeroed before it is read, of which the first byte decides.
typedef unsigned ll_hbool;

enum {
    LL_H5_DEFAULT = 0,
    LL_H5_TRUNC = 2,
    LL_H5_EXCL = 4,
    LL_H5_LAYOUT_CONTIGUOUS = 1,
    LL_H5_LAYOUT_CHUNKED = 2,
    LL_H5_FILL_USER_DEFINED = 2,
    LL_H5_FILL_NEVER = 1,
    LL_H5_PATH = 1024
};

// X(whether it may be missing, result, name, arguments)
#define LL_HDF5_FUNCTIONS(X)                                                        \
    X(0, ll_herr, H5open, (void))                                                   \
    X(0, ll_herr, H5get_libversion, (unsigned*, unsigned*, unsigned*))              \
    X(0, ll_hid, H5Pcopy, (ll_hid))                                                 \
    X(0, ll_herr, H5Pclose, (ll_hid))                                               \
    X(0, ll_herr, H5Eauto_is_v2, (ll_hid, unsigned*))                               \
    X(1, ll_herr, H5Eget_auto1, (void**, void**))                                   \
    X(1, ll_herr, H5Eset_auto1, (void*, void*))                                     \
    X(0, ll_herr, H5Eget_auto2, (ll_hid, void**, void**))                           \
    X(0, ll_herr, H5Eset_auto2, (ll_hid, void*, void*))                             \
    X(0, ll_hid, H5Eget_current_stack, (void))                                      \
    X(0, ll_herr, H5Eset_current_stack, (ll_hid))                                   \
    X(0, ptrdiff_t, H5Iget_name, (ll_hid, char*, size_t))                           \
    X(0, int, H5Iget_type, (ll_hid))                                                \
    X(0, ptrdiff_t, H5Fget_name, (ll_hid, char*, size_t))                           \
    X(0, ll_hid, H5Iget_file_id, (ll_hid))                                          \
    X(0, ll_herr, H5Fclose, (ll_hid))                                               \
    X(0, ll_hid, H5Fget_access_plist, (ll_hid))                                     \
    X(0, ll_hid, H5Fget_create_plist, (ll_hid))                                     \
    X(0, ll_hid, H5Dget_create_plist, (ll_hid))                                     \
    X(0, ll_hid, H5Dget_access_plist, (ll_hid))                                     \
    X(0, int, H5Sget_simple_extent_ndims, (ll_hid))                                 \
    X(0, int, H5Sget_simple_extent_dims, (ll_hid, ll_hsize*, ll_hsize*))            \
    X(0, ll_herr, H5Pset_alignment, (ll_hid, ll_hsize, ll_hsize))                   \
    X(0, ll_herr, H5Pget_alignment, (ll_hid, ll_hsize*, ll_hsize*))                 \
    X(0, ll_herr, H5Pset_meta_block_size, (ll_hid, ll_hsize))                       \
    X(0, ll_herr, H5Pget_meta_block_size, (ll_hid, ll_hsize*))                      \
    X(0, ll_herr, H5Pset_small_data_block_size, (ll_hid, ll_hsize))                 \
    X(0, ll_herr, H5Pget_small_data_block_size, (ll_hid, ll_hsize*))                \
    X(0, ll_herr, H5Pset_sieve_buf_size, (ll_hid, size_t))                          \
    X(0, ll_herr, H5Pget_sieve_buf_size, (ll_hid, size_t*))                         \
    X(0, ll_herr, H5Pset_cache, (ll_hid, int, size_t, size_t, double))              \
    X(0, ll_herr, H5Pget_cache, (ll_hid, int*, size_t*, size_t*, double*))          \
    X(0, ll_herr, H5Pset_libver_bounds, (ll_hid, int, int))                         \
    X(0, ll_herr, H5Pget_libver_bounds, (ll_hid, int*, int*))                       \
    X(1, ll_herr, H5Pset_all_coll_metadata_ops, (ll_hid, ll_hbool))                 \
    X(1, ll_herr, H5Pget_all_coll_metadata_ops, (ll_hid, ll_hbool*))                \
    X(1, ll_herr, H5Pset_coll_metadata_write, (ll_hid, ll_hbool))                   \
    X(1, ll_herr, H5Pget_coll_metadata_write, (ll_hid, ll_hbool*))                  \
    X(1, ll_herr, H5Pset_page_buffer_size, (ll_hid, size_t, unsigned, unsigned))    \
    X(1, ll_herr, H5Pget_page_buffer_size, (ll_hid, size_t*, unsigned*, unsigned*)) \
    X(1, ll_herr, H5Pset_file_space_strategy, (ll_hid, int, ll_hbool, ll_hsize))    \
    X(1, ll_herr, H5Pget_file_space_strategy, (ll_hid, int*, ll_hbool*, ll_hsize*)) \
    X(1, ll_herr, H5Pset_file_space_page_size, (ll_hid, ll_hsize))                  \
    X(1, ll_herr, H5Pget_file_space_page_size, (ll_hid, ll_hsize*))                 \
    X(0, int, H5Pget_layout, (ll_hid))                                              \
    X(0, int, H5Pget_external_count, (ll_hid))                                      \
    X(0, int, H5Pget_nfilters, (ll_hid))                                            \
    X(0, ll_herr, H5Pset_chunk, (ll_hid, int, const ll_hsize*))                     \
    X(0, int, H5Pget_chunk, (ll_hid, int, ll_hsize*))                               \
    X(0, ll_herr, H5Pset_chunk_cache, (ll_hid, size_t, size_t, double))             \
    X(0, ll_herr, H5Pget_chunk_cache, (ll_hid, size_t*, size_t*, double*))          \
    X(0, ll_herr, H5Pset_fill_time, (ll_hid, int))                                  \
    X(0, ll_herr, H5Pget_fill_time, (ll_hid, int*))                                 \
    X(0, ll_herr, H5Pfill_value_defined, (ll_hid, int*))                            \
    X(0, ll_herr, H5Pset_alloc_time, (ll_hid, int))                                 \
    X(0, ll_herr, H5Pget_alloc_time, (ll_hid, int*))                                \
    X(0, ll_hid, H5Pget_driver, (ll_hid))                                           \
    X(0, ll_herr, H5Pset_fapl_core, (ll_hid, size_t, ll_hbool))                     \
    X(0, ll_hid, H5Fcreate, (const char*, unsigned, ll_hid, ll_hid))                \
    X(1, ll_herr, H5Pget_vol_id, (ll_hid, ll_hid*))                                 \
    X(1, ll_herr, H5VLclose, (ll_hid))                                              \
    X(1, ll_herr, H5Pget_fapl_mpio, (ll_hid, void*, void*))                         \
    X(1, ll_herr, H5Fget_mpi_atomicity, (ll_hid, ll_hbool*))                        \
    X(1, ll_herr, H5Pset_dxpl_mpio, (ll_hid, int))                                  \
    X(1, ll_herr, H5Pget_dxpl_mpio, (ll_hid, int*))                                 \
    X(1, ll_herr, H5Pset_dxpl_mpio_collective_opt, (ll_hid, int))                   \
    X(1, ll_herr, H5Pget_mpi_params, (ll_hid, void*, void*))                        \
    X(1, ll_herr, H5Pset_fapl_subfiling, (ll_hid, const void*))

#define LL_HDF5_LISTS(X) \
    X(FILE_CREATE)       \
    X(FILE_ACCESS)       \
    X(DATASET_CREATE)    \
    X(DATASET_ACCESS)    \
    X(DATASET_XFER)

typedef struct {
    const void* address;  // where the library is loaded
    unsigned version[3];
    char problem[160];  // why it cannot be used; empty: it can
#define LL_FIELD(optional, result, name, arguments) result(*name) arguments;
    LL_HDF5_FUNCTIONS(LL_FIELD)
#undef LL_FIELD
    // The default lists: identifiers, as the library's data hold them once it is open.
#define LL_FIELD(name) const ll_hid* name;
    LL_HDF5_LISTS(LL_FIELD)
#undef LL_FIELD
} ll_hdf5;

// The library that holds `function`, which may have a problem; null where there is no memory.
const ll_hdf5* ll_hdf5_of(const void* function);

// The program's way of being told of errors, put aside while we try what may fail, and its stack of errors.
typedef struct {
    bool second;
    void *tell, *data;
} ll_telling;
ll_telling ll_silence(const ll_hdf5* h);
void ll_tell_again(const ll_hdf5* h, ll_telling was);

// A copy of `list`, or of the default where it is H5P_DEFAULT; negative where it cannot be had.
ll_hid ll_copy(const ll_hdf5* h, ll_hid list, const ll_hid* standard);

#endif
