/* Where recording begins and ends, and what Fortran means by its constants. */
#include "frames.h"

#include <link.h>
#include <stdarg.h>
#include <string.h>

static const void* fortran(const char* name) { return dlsym(RTLD_DEFAULT, name); }

bool lr_ignored(const MPI_Fint* status) {
    static MPI_Fint *const *old, *const *new;
    if (!old) old = fortran("MPI_F_STATUS_IGNORE");
    if (!new) new = fortran("MPI_F08_STATUS_IGNORE");
    return (old && status == *old) || (new&& status == *new) || !status;
}
bool lr_all_ignored(const MPI_Fint* statuses) {
    static MPI_Fint *const *old, *const *new;
    if (!old) old = fortran("MPI_F_STATUSES_IGNORE");
    if (!new) new = fortran("MPI_F08_STATUSES_IGNORE");
    return (old && statuses == *old) || (new&& statuses == *new) || !statuses;
}

bool lr_in_place(const void* buffer) {
    if (buffer == MPI_IN_PLACE) return true;
    /* Open MPI has a common block, whose address it is; MPICH keeps the address in a variable. */
    static const char* const blocks[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place",
                                         "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i)
        if (buffer == fortran(blocks[i])) return true;
    const void* const* kept = fortran("MPIR_F_MPI_IN_PLACE");
    return kept && *kept && buffer == *kept;
}

#ifndef MPI_H_ABI
int lr_base(int* kept, int count, const int64_t* before, const MPI_Fint* requests, int done,
            const MPI_Fint* indices) {
    /* Whether indices that count from 0, and from 1, are those of requests, and of ones that are over. */
    bool are[2] = {done > 0 && before, done > 0 && before}, over[2] = {are[0], are[1]};
    for (int base = 0; base < 2; ++base)
        for (int i = 0; i < done && are[base]; ++i) {
            const int place = indices[i] - base;
            are[base] = place >= 0 && place < count && before[place];
            over[base] &= are[base] && PMPI_Request_f2c(requests[place]) == MPI_REQUEST_NULL;
        }
    if (over[0] != over[1]) *kept = over[1];
    else if (are[0] != are[1]) *kept = are[1];
    return *kept;
}

MPI_Datatype* lr_types(const MPI_Fint* types, MPI_Comm comm, bool neighbours, bool give) {
    int inter = 0, size = 0;
    if (neighbours) {
        lr_degrees(comm, give ? NULL : &size, give ? &size : NULL);
    } else {
        PMPI_Comm_test_inter(comm, &inter);
        if (inter) PMPI_Comm_remote_size(comm, &size);
        else PMPI_Comm_size(comm, &size);
    }
    MPI_Datatype* made = malloc(sizeof *made * (size_t)(size > 0 ? size : 1));
    for (int i = 0; made && i < size; ++i) made[i] = PMPI_Type_f2c(types[i]);
    return made;
}
#endif

bool lr_is(MPI_Comm comm, int root) {
    int rank = -1, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) return root == MPI_ROOT; /* others number it among the ranks of the other group */
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

void lr_started(const struct lr_call* call, int count, const int64_t* handles) {
    lr_note(call, LR_START, 0, 0, handles, (size_t)(count > 0 ? count : 0));
}

void lr_outside(const char* name) { lr_text(LR_OUTSIDE, name); }

/* Python loads MPI for one of its modules alone: then nobody else finds it, who was there before. It is made
 * known to all, without being loaded anew. */
static int make_known(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    (void)data;
    const char* name = strrchr(info->dlpi_name, '/');
    static const char* const known[] = {"/libmpi.so", "/libmpich.so", "/libmpi_abi.so"};
    bool is = false;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; ++i)
        is |= strncmp(name, known[i], strlen(known[i])) == 0;
    if (!is) return 0;
    return dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != NULL;
}
static void reach(void) {
    if (!fortran("PMPI_Init")) dl_iterate_phdr(make_known, NULL);
}
/* Whether the program's MPI has the handles and statuses of the mpi.h that this library was built with. */
static bool ours(void) {
    char version[8192] = ""; /* the longest of any MPI (MPICH's), not of the one built with */
    int length = 0;
    PMPI_Get_library_version(version, &length);
#ifdef OPEN_MPI
    /* Its objects are looked for when this library is loaded; where its own came later there are none. */
    const bool same = strstr(version, "Open MPI") && lr_comm_handle(MPI_COMM_WORLD) != 0;
#else
    Dl_info from;
    const void* init = fortran("PMPI_Init");
    const bool standard =
        init && dladdr(init, &from) && from.dli_fname && strstr(from.dli_fname, "libmpi_abi");
#ifdef MPI_H_ABI
    const bool same = standard; /* whoever made the library */
#else
    const bool same = !strstr(version, "Open MPI") && !standard;
#endif
#endif
    if (!same) lr_other(version);
    return same;
}
static void begin(int code) {
    if (code == MPI_SUCCESS && ours()) lr_begin();
}

LR_SEEN int MPI_Init(int* argc, char*** argv) {
    reach();
    const int code = PMPI_Init(argc, argv);
    begin(code);
    return code;
}
LR_SEEN int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    reach();
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    begin(code);
    return code;
}
LR_SEEN int MPI_Finalize(void) {
    LR_CALL(call);
    if (lr_enter(&call, __builtin_return_address(0))) {
        call.leave = call.enter;
        lr_finish(&call);
        lr_end();
    }
    return PMPI_Finalize();
}
LR_SEEN int MPI_Pcontrol(const int level, ...) {
    LR_CALL(call);
    if (lr_enter(&call, __builtin_return_address(0))) {
        const int64_t value = level;
        call.leave = call.enter;
        lr_note(&call, LR_REGION, 0, 0, &value, 1);
        lr_end();
    }
    return PMPI_Pcontrol(level);
}

/* The same by Fortran's names. */
#define ONE_ARGUMENT(symbol, first, last)                      \
    LR_SEEN void symbol(MPI_Fint* error) {                     \
        static void (*real)(MPI_Fint*);                        \
        if (!real) *(void**)&real = dlsym(RTLD_NEXT, #symbol); \
        first;                                                 \
        real(error);                                           \
        last;                                                  \
    }
static void finish(const void* site, const void* frame) {
    struct lr_call call = {.frame = frame};
    if (!lr_enter(&call, site)) return;
    call.leave = call.enter;
    lr_finish(&call);
    lr_end();
}
#define INIT(symbol) ONE_ARGUMENT(symbol, (void)0, begin(MPI_SUCCESS))
#define FINALIZE(symbol) \
    ONE_ARGUMENT(symbol, finish(__builtin_return_address(0), __builtin_frame_address(0)), (void)0)
INIT(mpi_init_)
INIT(mpi_init_f08_)
FINALIZE(mpi_finalize_)
FINALIZE(mpi_finalize_f08_)
#define INIT_THREAD(symbol)                                                        \
    LR_SEEN void symbol(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) { \
        static void (*real)(MPI_Fint*, MPI_Fint*, MPI_Fint*);                      \
        if (!real) *(void**)&real = dlsym(RTLD_NEXT, #symbol);                     \
        real(required, provided, error);                                           \
        begin(MPI_SUCCESS);                                                        \
    }
INIT_THREAD(mpi_init_thread_)
INIT_THREAD(mpi_init_thread_f08_)
#define PCONTROL(symbol)                                       \
    LR_SEEN void symbol(MPI_Fint* level) {                     \
        static void (*real)(MPI_Fint*);                        \
        if (!real) *(void**)&real = dlsym(RTLD_NEXT, #symbol); \
        LR_CALL(call);                                         \
        if (lr_enter(&call, __builtin_return_address(0))) {    \
            const int64_t value = *level;                      \
            call.leave = call.enter;                           \
            lr_note(&call, LR_REGION, 0, 0, &value, 1);        \
            lr_end();                                          \
        }                                                      \
        real(level);                                           \
    }
PCONTROL(mpi_pcontrol_)
PCONTROL(mpi_pcontrol_f08_)
