/* What the recorder's wrappers share: when a call was entered and left, and where that is kept.
 *
 * Everything a rank asks of MPI becomes an entry of a file of its own, in memory that the file is mapped to:
 * what was written is there whatever happens to the process. Nothing here sends a message, changes an
 * argument's meaning or ends the process; where memory or disk lacks, the rank stops recording and its file
 * says so.
 */
#pragma once

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "polls.h"
#include "weak.h" /* generated, after mpi.h */

/* Of an operation, as docs/program-format.md numbers them; below 10 what only the recorder says. */
enum lr_kind {
    LR_META = 1, /* text: facts of the process */
    LR_FINALIZE = 3,
    LR_OUTSIDE = 5, /* text: a call that cannot be executed again */
    LR_STOPPED = 6, /* text: why nothing more was recorded */
    LR_REGION = 7,  /* MPI_Pcontrol: its level */
    LR_SEND = 10,
    LR_RECV = 11,
    LR_SENDRECV = 12,
    LR_PROBE = 13,
    LR_START = 14,
    LR_WAIT = 15,
    LR_FREE = 16,
    LR_CANCEL = 17,
    LR_BARRIER = 20,
    LR_BCAST = 21,
    LR_REDUCE = 22,
    LR_ALLREDUCE = 23,
    LR_GATHER = 24,
    LR_SCATTER = 25,
    LR_ALLGATHER = 26,
    LR_ALLTOALL = 27,
    LR_REDUCE_SCATTER = 28,
    LR_SCAN = 29,
    LR_EXSCAN = 30,
    LR_NEIGHBOR_ALLGATHER = 31,
    LR_NEIGHBOR_ALLTOALL = 32,
    LR_COMM = 40,
    LR_COMM_FREE = 41,
    LR_WIN = 50,
    LR_WIN_FREE = 51,
    LR_PUT = 52,
    LR_GET = 53,
    LR_ACCUMULATE = 54,
    LR_FENCE = 55,
    LR_LOCK = 56,
    LR_UNLOCK = 57,
    LR_FLUSH = 58,
    LR_POST = 59,
    LR_START_EPOCH = 60,
    LR_COMPLETE = 61,
    LR_WAIT_EPOCH = 62,
    LR_FILE = 80
};
enum lr_file_call { LR_FILE_OPEN, LR_FILE_CLOSE, LR_FILE_READ, LR_FILE_WRITE, LR_FILE_OTHER };
enum { LR_VARIES = 1, LR_IN_PLACE = 2 }; /* bits of the mode of a collective */
enum lr_form { LR_BLOCKING, LR_NONBLOCKING, LR_PERSISTENT };
enum lr_completion { LR_ONE, LR_ALL, LR_ANY, LR_SOME, LR_TEST, LR_TESTALL, LR_TESTANY, LR_TESTSOME };
enum lr_constructor { LR_DUP, LR_SPLIT, LR_CREATE, LR_CREATE_GROUP, LR_CART, LR_GRAPH, LR_INTER, LR_MERGE };

/* A call that is under way: times of CLOCK_MONOTONIC in ns, the address that it returns to, its frame. */
struct lr_call {
    int64_t enter;
    int64_t leave;
    const void* site;
    const char* frame;
    bool in_place; /* whether a buffer of a collective is MPI_IN_PLACE */
};
#define LR_CALL(name) struct lr_call name = {.frame = (const char*)__builtin_frame_address(0)}

/* Of a thread: the frame of the recorded call that it is in, its number from 1, and what it polled. */
struct lr_thread {
    const char* frame;
    int number;
    struct lr_polls polls;
};
extern _Thread_local struct lr_thread lr_own __attribute__((tls_model("initial-exec")));
extern atomic_bool lr_on;
int64_t lr_ticks(void); /* of the cheapest clock there is */

/* Says that a call was left by a jump (an error handler's longjmp, an exception of C++). */
void lr_jumped(void);
/* Whether this call is recorded: not what MPI calls of itself, nor what comes before or after. What MPI calls
 * lies deeper in the stack; a call that does not has come after a jump out of the one before. */
static inline bool lr_begins(struct lr_call* call, const void* site) {
    if (lr_own.frame && call->frame < lr_own.frame) return false;
    if (!atomic_load_explicit(&lr_on, memory_order_relaxed)) return false;
    if (lr_own.frame) lr_jumped();
    lr_own.frame = call->frame;
    call->site = site;
    return true;
}
bool lr_enter(struct lr_call* call, const void* site);
/* The same of a test or probe, which mostly finds nothing: `enter` is in ticks, or 0 where it is not read,
 * `leave` 0, to be taken when it is needed. */
static inline bool lr_enter_poll(struct lr_call* call, const void* site) {
    if (!lr_begins(call, site)) return false;
    call->enter = lr_polls_read(&lr_own.polls) ? lr_ticks() : 0;
    call->leave = 0;
    return true;
}
void lr_leave(struct lr_call* call);
static inline void lr_end(void) { lr_own.frame = NULL; } /* after lr_enter said yes */

/* An entry of `count` numbers. */
void lr_note(const struct lr_call* call, int kind, int form, int mode, const int64_t* values, size_t count);
void lr_text(int kind, const char* text);
/* A test or probe that found nothing: its time is waiting of whatever succeeds next. */
void lr_read_poll(const struct lr_call* call);
static inline void lr_polled(const struct lr_call* call) {
    if (call->enter) lr_read_poll(call);
    else lr_polls_skip(&lr_own.polls);
}

/* After MPI_Init, before MPI_Finalize. */
void lr_begin(void);
/* Instead, where the program's MPI is another than the recorder's: its name is kept, no call is recorded. */
void lr_other(const char* version);
void lr_finish(const struct lr_call* call);

/* ---- what each kind of call has to say; all handles are C's, taken before MPI sets them to null */
int64_t lr_bytes(int64_t count, MPI_Datatype type);
void lr_send(const struct lr_call* call, int form, int mode, int64_t bytes, int to, int tag, MPI_Comm comm,
             MPI_Request request);
void lr_recv(const struct lr_call* call, int form, int64_t bytes, int from, int tag, MPI_Comm comm,
             MPI_Request request, const MPI_Status* status);
void lr_sendrecv(const struct lr_call* call, int64_t bytes, int to, int tag, int64_t coming, int from,
                 int coming_tag, MPI_Comm comm, const MPI_Status* status);
void lr_probed(const struct lr_call* call, int from, int tag, MPI_Comm comm, const MPI_Status* status,
               MPI_Message message);
static inline void lr_probe(const struct lr_call* call, bool found, int from, int tag, MPI_Comm comm,
                            const MPI_Status* status, MPI_Message message) {
    if (found) lr_probed(call, from, tag, comm, status, message);
    else lr_polled(call);
}
void lr_take(const struct lr_call* call, int form, int64_t bytes, MPI_Message message, MPI_Request request,
             const MPI_Status* status);
void lr_start(const struct lr_call* call, int count, const MPI_Request* requests);
void lr_request(const struct lr_call* call, int kind, MPI_Request request);
/* `indices` null: all in order. `done` operations were completed; none is a test that found nothing. */
void lr_completed(const struct lr_call* call, int how, int count, const int64_t* before, int done,
                  const int* indices, const MPI_Status* statuses);
static inline void lr_wait(const struct lr_call* call, int how, int count, const int64_t* before, int done,
                           const int* indices, const MPI_Status* statuses) {
    if (done == 0 && how >= LR_TEST) lr_polled(call);
    else lr_completed(call, how, count, before, done, indices, statuses);
}
/* A handle as a number: some libraries have pointers, some integers. */
#define LR_AS_NUMBER(name, type)                                         \
    static inline int64_t name(type handle) {                            \
        int64_t number = 0;                                              \
        memcpy(&number, &handle, sizeof handle < 8 ? sizeof handle : 8); \
        return number;                                                   \
    }
LR_AS_NUMBER(lr_request_handle, MPI_Request)
LR_AS_NUMBER(lr_comm_handle, MPI_Comm)
LR_AS_NUMBER(lr_win_handle, MPI_Win)
LR_AS_NUMBER(lr_message_handle, MPI_Message)
static inline int64_t lr_handle(MPI_Request request) {
    return request == MPI_REQUEST_NULL ? 0 : lr_request_handle(request);
}
/* One request for both: the receive's, and the send is noted as its other half. */
enum { LR_OTHER_HALF = 8 };
void lr_isendrecv(const struct lr_call* call, int64_t bytes, int to, int tag, int64_t coming, int from,
                  int coming_tag, MPI_Comm comm, MPI_Request request);
/* `block`: the bytes of one block that goes or comes. */
void lr_collective(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t block,
                   MPI_Datatype type, MPI_Op op, MPI_Request request);
/* How many neighbours this rank hears from and speaks to. */
void lr_degrees(MPI_Comm comm, int* takes, int* gives);
void lr_neighbours(const struct lr_call* call, int kind, int form, MPI_Comm comm, int64_t given,
                   int64_t taken, MPI_Request request);
enum {
    LR_FROM_BLOCKS = -1
}; /* instead of the bytes of this rank's own block: one of those that vary says them */
/* Where blocks vary: counts of the blocks that go and come, null for none; `types` where each has its own. */
void lr_blocks(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t own,
               const int* gives, const MPI_Datatype* gives_types, const int* takes,
               const MPI_Datatype* takes_types, bool each, MPI_Request request);
void lr_blocks_c(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t own,
                 const MPI_Count* gives, const MPI_Datatype* gives_types, const MPI_Count* takes,
                 const MPI_Datatype* takes_types, bool each, MPI_Request request);
/* Where what is combined goes to all in blocks that vary. */
void lr_reduce_blocks(const struct lr_call* call, int form, MPI_Comm comm, const int* takes,
                      const MPI_Datatype* type, MPI_Op op, MPI_Request request);
void lr_reduce_blocks_c(const struct lr_call* call, int form, MPI_Comm comm, const MPI_Count* takes,
                        const MPI_Datatype* type, MPI_Op op, MPI_Request request);
void lr_comm(const struct lr_call* call, int constructor, MPI_Comm parent, MPI_Comm made);
void lr_idup(const struct lr_call* call, MPI_Comm parent, MPI_Comm made, MPI_Request request);
void lr_comm_free(const struct lr_call* call, int64_t comm);
void lr_win(const struct lr_call* call, MPI_Comm comm, MPI_Win window, int64_t bytes);
void lr_access(const struct lr_call* call, int kind, MPI_Win window, int target, int64_t bytes,
               MPI_Request request);
void lr_file(const struct lr_call* call, int form, int what, int64_t bytes, MPI_Request request);
void lr_epoch(const struct lr_call* call, int kind, int64_t window, int target, int mode, MPI_Group group);
