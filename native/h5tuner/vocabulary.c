// The vocabulary: every word that a settings file may say, with what it takes.
//
// HDF5's words are named as the functions that set them (H5Pset_WORD), those of MPI-IO as ROMIO's users'
// guide names its hints; H5Tuner's own files (papers/io.toml) use the same names.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "settings.h"

#define NONE 0, 0
#define MIB (1ll << 20)
#define GIB (1ll << 30)
#define ONE \
    { 1, 1 }
#define SWITCH "enable|disable|automatic"

#define NUMBER(name, layers, safety, least, most, meaning) \
    { name, layers, LL_INTEGER, safety, least, most, ONE, NULL, meaning }
#define BYTES(name, layers, safety, most, meaning) NUMBER(name, layers, safety, 0, most, meaning)
#define YES_NO(name, layers, safety, meaning) \
    { name, layers, LL_YES_NO, safety, NONE, ONE, NULL, meaning }
#define CHOICE(name, layers, safety, choices, meaning) \
    { name, layers, LL_CHOICE, safety, NONE, ONE, choices, meaning }
#define TEXT(name, layers, meaning) \
    { name, layers, LL_TEXT, LL_HINT, NONE, ONE, NULL, meaning }
#define HINTS (LL_MPI_IO | LL_FILE_SYSTEM)
#define CLEAR LL_HINT

const ll_word ll_vocabulary[] = {
    // Of a file, through its access list.
    {"alignment",
     LL_HDF5,
     LL_INTEGERS,
     LL_LAYOUT,
     0,
     256 * MIB,  // each object may leave a gap as long as the boundary
     {2, 2},
     NULL,
     "threshold, boundary in bytes: objects of the threshold's size or more begin at multiples of the "
     "boundary"},
    // HDF5 takes more of all of these, and then cannot write, or has no memory: they are for whole programs.
    BYTES("meta_block_size", LL_HDF5, LL_LAYOUT, GIB, "bytes of metadata allocated at once"),
    BYTES("small_data_block_size", LL_HDF5, LL_LAYOUT, GIB, "bytes for small raw data allocated at once"),
    BYTES("sieve_buf_size", LL_HDF5, CLEAR, GIB, "bytes of the sieve buffer of contiguous datasets"),
    BYTES("chunk_cache_bytes", LL_HDF5, CLEAR, 64 * GIB, "bytes of each dataset's chunk cache"),
    // HDF5 multiplies them by a pointer's size without looking for overflow, and allocates that a dataset.
    NUMBER("chunk_cache_slots", LL_HDF5, CLEAR, 1, 1 << 24,
           "slots of each dataset's chunk cache; a prime is best"),
    {"chunk_cache_w0", LL_HDF5, LL_REAL, CLEAR, 0, 1, ONE, NULL,
     "0 to 1: how soon whole chunks leave the cache"},
    {"libver_bounds",
     LL_HDF5,
     LL_CHOICE,
     LL_LAYOUT,
     NONE,
     {2, 2},
     "earliest|v18|v110|v112|v114|latest",
     "oldest, newest form of the file's objects"},
    YES_NO("coll_metadata_ops", LL_HDF5, LL_SEMANTICS, "all ranks read metadata together"),
    YES_NO("coll_metadata_write", LL_HDF5, CLEAR, "all ranks write metadata together"),
    BYTES("page_buffer_size", LL_HDF5, CLEAR, 64 * GIB,
          "bytes of the page buffer; wants file_space_strategy page, or override for a file that is there"),
    // Of a file, when it is created.
    CHOICE("file_space_strategy", LL_HDF5, LL_LAYOUT, "fsm_aggr|page|aggr|none",
           "how space in the file is given"),
    NUMBER("file_space_page_size", LL_HDF5, LL_LAYOUT, 512, 1 << 30, "bytes of a page of the file's space"),
    NUMBER("subfiling_stripe_size", LL_HDF5, LL_LAYOUT, 1, 1024 * GIB,
           "bytes of a stripe of the subfiling driver"),
    NUMBER("subfiling_ioc_per_node", LL_HDF5, LL_LAYOUT, 1, 1 << 20,
           "subfiling: I/O concentrators of a node"),
    // Of a dataset.
    {"chunk",
     LL_HDF5,
     LL_INTEGERS,
     LL_LAYOUT,
     1,
     UINT32_MAX,
     {1, LL_NUMBERS},
     NULL,
     "elements of a chunk, by dimension"},
    CHOICE("fill_time", LL_HDF5, LL_SEMANTICS, "alloc|never|ifset", "when fill values are written"),
    CHOICE("alloc_time", LL_HDF5, LL_LAYOUT, "default|early|late|incr",
           "when space in the file is allocated"),
    CHOICE("transfer", LL_HDF5, LL_SEMANTICS, "independent|collective", "how ranks read and write"),
    CHOICE("collective_opt", LL_HDF5, CLEAR, "collective|individual",
           "what MPI-IO calls a collective transfer makes"),
    // ROMIO's hints.
    // Buffers are allocated whole; an MPI ends the program that has no memory for them.
    NUMBER("cb_buffer_size", HINTS, CLEAR, 1, GIB, "bytes of an aggregator's buffer"),
    NUMBER("cb_nodes", HINTS, CLEAR, 1, INT32_MAX, "aggregators"),
    NUMBER("cb_block_size", HINTS, CLEAR, 1, INT32_MAX, "bytes of a block of collective buffering"),
    TEXT("cb_config_list", HINTS, "aggregators by host, as '*:1'"),
    YES_NO("collective_buffering", HINTS, CLEAR, "aggregate collective accesses"),
    CHOICE("romio_cb_read", HINTS, CLEAR, SWITCH, "aggregate collective reads"),
    CHOICE("romio_cb_write", HINTS, CLEAR, SWITCH, "aggregate collective writes"),
    CHOICE("romio_ds_read", HINTS, CLEAR, SWITCH, "data sieving of independent reads"),
    CHOICE("romio_ds_write", HINTS, CLEAR, SWITCH, "data sieving of independent writes"),
    CHOICE("romio_cb_pfr", HINTS, CLEAR, "enable|disable", "persistent file realms"),
    CHOICE("romio_cb_alltoall", HINTS, CLEAR, SWITCH, "exchange by alltoall"),
    TEXT("romio_cb_fr_type", HINTS, "how file realms are chosen"),
    TEXT("romio_cb_fr_types", HINTS, "how file realms are chosen"),
    NUMBER("romio_cb_fr_alignment", HINTS, CLEAR, 1, INT32_MAX,
           "bytes to whose multiples file realms are aligned"),
    NUMBER("romio_cb_ds_threshold", HINTS, CLEAR, 0, INT32_MAX,
           "bytes of a gap up to which aggregators sieve"),
    NUMBER("romio_min_fdomain_size", HINTS, CLEAR, 1, INT32_MAX,
           "least bytes of an aggregator's part of the file"),
    TEXT("romio_aggregator_list", HINTS, "ranks that aggregate"),
    TEXT("romio_filesystem_type", HINTS, "the driver of the file system"),
    {"romio_no_indep_rw", HINTS, LL_YES_NO, LL_SEMANTICS, NONE, ONE, NULL, "only aggregators open the file"},
    CHOICE("romio_synchronized_flush", HINTS, CLEAR, "enable|disable", "flush with a barrier"),
    CHOICE("romio_visibility_immediate", HINTS, LL_SEMANTICS, "enable|disable", "writes are seen at once"),
    NUMBER("ind_rd_buffer_size", HINTS, CLEAR, 1, GIB, "bytes of the sieve of independent reads"),
    NUMBER("ind_wr_buffer_size", HINTS, CLEAR, 1, GIB, "bytes of the sieve of independent writes"),
    NUMBER("romio_lustre_co_ratio", HINTS, CLEAR, 1, INT32_MAX, "clients of one target"),
    NUMBER("romio_lustre_coll_threshold", HINTS, CLEAR, 0, INT32_MAX,
           "bytes from which accesses are aggregated"),
    CHOICE("romio_lustre_ds_in_coll", HINTS, CLEAR, "enable|disable", "sieve in aggregated accesses"),
    NUMBER("romio_lustre_start_iodevice", HINTS, CLEAR, -1, INT32_MAX, "the first target"),
    YES_NO("direct_read", HINTS, CLEAR, "read past the page cache"),
    YES_NO("direct_write", HINTS, CLEAR, "write past the page cache"),
    TEXT("access_style", HINTS, "how the file will be used"),
    NUMBER("nb_proc", HINTS, CLEAR, 1, INT32_MAX, "ranks that will use the file"),
    // The file system's.
    NUMBER("striping_factor", HINTS, CLEAR, -1, INT32_MAX, "targets that a new file is spread over; -1: all"),
    NUMBER("striping_unit", HINTS, CLEAR, 1, INT32_MAX, "bytes of a stripe of a new file"),
    NUMBER("start_iodevice", HINTS, CLEAR, -1, INT32_MAX, "the first target of a new file"),
    YES_NO("IBM_largeblock_io", HINTS, CLEAR, "GPFS: accesses are large"),
    {"IBM_lockless_io", HINTS, LL_YES_NO, LL_SEMANTICS, NONE, ONE, NULL,
     "Blue Gene: open with the prefix bglockless:"},
    {.name = NULL},
};

const ll_word* ll_find_word(int layer, const char* name) {
    for (const ll_word* word = ll_vocabulary; word->name != NULL; ++word)
        if ((word->layers & layer) != 0 && strcmp(word->name, name) == 0) return word;
    return NULL;
}

bool ll_vendor_hint(const char* name) {
    static const char* const begins[] = {"cray_",  "mpich_", "IBM_",   "bgl_", "panfs_",
                                         "pvfs2_", "nfs_",   "intel_", "e10_"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; ++i)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

const char* ll_layer_name(int layer) {
    return layer == LL_HDF5 ? "hdf5" : layer == LL_MPI_IO ? "mpi-io" : "file-system";
}
