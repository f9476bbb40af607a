/* What each kind of call has to say. Sizes are asked of MPI while its datatypes live. */
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define MANY 64 /* numbers on the stack; more are allocated */

int64_t lr_bytes(int64_t count, MPI_Datatype type) {
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size == MPI_UNDEFINED ? 0 : count * (int64_t)size;
}

static atomic_bool cancels; /* whether the program ever cancels */

/* Source, tag and bytes of a message that was received: three numbers; -2 where nothing is known, -5 as the
 * source of what was cancelled. */
static void met(const MPI_Status* status, int64_t* into) {
    into[0] = into[1] = into[2] = -2;
    if (!status) return;
    int bytes = 0, cancelled = 0;
    MPI_Count many = 0;
    if (atomic_load_explicit(&cancels, memory_order_relaxed) &&
        PMPI_Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled) {
        into[0] = -5;
        return;
    }
    into[0] = status->MPI_SOURCE == MPI_PROC_NULL ? -3 : status->MPI_SOURCE;
    into[1] = status->MPI_TAG;
    if (PMPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0) into[2] = bytes;
    else if (PMPI_Get_elements_x(status, MPI_BYTE, &many) == MPI_SUCCESS && many >= 0) into[2] = many;
}

/* Ranks as the file has them: -1 any, -3 none. */
static int64_t peer_of(int rank) {
    return rank == MPI_ANY_SOURCE ? -1 : rank == MPI_PROC_NULL ? -3 : rank == MPI_ROOT ? -4 : rank;
}
static int64_t tag_of(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }

void lr_send(const struct lr_call* call, int form, int mode, int64_t bytes, int to, int tag, MPI_Comm comm,
             MPI_Request request) {
    const int64_t values[] = {lr_comm_handle(comm), peer_of(to), bytes, tag, lr_handle(request)};
    lr_note(call, LR_SEND, form, mode, values, 5);
}

void lr_recv(const struct lr_call* call, int form, int64_t bytes, int from, int tag, MPI_Comm comm,
             MPI_Request request, const MPI_Status* status) {
    int64_t values[8] = {lr_comm_handle(comm), peer_of(from), bytes, tag_of(tag), lr_handle(request)};
    met(status, values + 5);
    lr_note(call, LR_RECV, form, 0, values, 8);
}

void lr_sendrecv(const struct lr_call* call, int64_t bytes, int to, int tag, int64_t coming, int from,
                 int coming_tag, MPI_Comm comm, const MPI_Status* status) {
    int64_t values[10] = {lr_comm_handle(comm), peer_of(to), bytes, tag, peer_of(from), coming,
                          tag_of(coming_tag)};
    met(status, values + 7);
    lr_note(call, LR_SENDRECV, 0, 0, values, 10);
}

void lr_isendrecv(const struct lr_call* call, int64_t bytes, int to, int tag, int64_t coming, int from,
                  int coming_tag, MPI_Comm comm, MPI_Request request) {
    lr_recv(call, LR_NONBLOCKING, coming, from, coming_tag, comm, request, NULL);
    lr_send(call, LR_NONBLOCKING, LR_OTHER_HALF, bytes, to, tag, comm, request);
}

void lr_probed(const struct lr_call* call, int from, int tag, MPI_Comm comm, const MPI_Status* status,
               MPI_Message message) {
    int64_t values[8] = {lr_comm_handle(comm), peer_of(from), 0, tag_of(tag),
                         message == MPI_MESSAGE_NULL ? 0 : lr_message_handle(message)};
    met(status, values + 5);
    lr_note(call, LR_PROBE, 0, 0, values, 8);
}

/* A message that was probed for; its communicator is the probe's. */
void lr_take(const struct lr_call* call, int form, int64_t bytes, MPI_Message message, MPI_Request request,
             const MPI_Status* status) {
    int64_t values[8] = {lr_message_handle(message), 0, bytes, 0, lr_handle(request)};
    met(status, values + 5);
    lr_note(call, LR_RECV, form, 1, values, 8);
}

void lr_start(const struct lr_call* call, int count, const MPI_Request* requests) {
    int64_t few[MANY] = {0};
    int64_t* values = count > MANY ? malloc(8 * (size_t)count) : few;
    if (!values) return;
    for (int i = 0; i < count; ++i) values[i] = lr_handle(requests[i]);
    lr_note(call, LR_START, 0, 0, values, (size_t)count);
    if (values != few) free(values);
}

void lr_request(const struct lr_call* call, int kind, MPI_Request request) {
    const int64_t value = lr_handle(request);
    if (kind == LR_CANCEL) atomic_store(&cancels, true);
    lr_note(call, kind, 0, 0, &value, 1);
}

void lr_completed(const struct lr_call* call, int how, int count, const int64_t* before, int done,
                  const int* indices, const MPI_Status* statuses) {
    const size_t size = 2 + (size_t)count + 4 * (size_t)done;
    int64_t few[2 + 5 * MANY];
    int64_t* values = size > sizeof few / 8 ? malloc(8 * size) : few;
    if (!values) return;
    values[0] = count;
    memcpy(values + 1, before, 8 * (size_t)count);
    values[1 + count] = done;
    for (int i = 0; i < done; ++i) {
        int64_t* each = values + 2 + count + 4 * i;
        each[0] = indices ? indices[i] : i;
        met(statuses ? statuses + i : NULL, each + 1);
    }
    lr_note(call, LR_WAIT, 0, how, values, size);
    if (values != few) free(values);
}

static int64_t type_of(MPI_Datatype type) {
    if (type == MPI_INT || type == MPI_INT32_T || type == MPI_UNSIGNED || type == MPI_INTEGER) return 1;
    if (type == MPI_LONG || type == MPI_INT64_T || type == MPI_LONG_LONG || type == MPI_UNSIGNED_LONG)
        return 2;
    if (type == MPI_FLOAT || type == MPI_REAL) return 3;
    if (type == MPI_DOUBLE || type == MPI_DOUBLE_PRECISION) return 4;
    return 0;
}

static int64_t reduction_of(MPI_Op op) {
    if (op == MPI_SUM) return 0;
    if (op == MPI_PROD) return 1;
    if (op == MPI_MIN) return 2;
    if (op == MPI_MAX) return 3;
    if (op == MPI_LAND || op == MPI_BAND || op == MPI_LOR || op == MPI_BOR || op == MPI_LXOR ||
        op == MPI_BXOR || op == MPI_MINLOC || op == MPI_MAXLOC || op == MPI_OP_NULL)
        return 4;
    return 5;
}

void lr_collective(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t block,
                   MPI_Datatype type, MPI_Op op, MPI_Request request) {
    const int64_t values[] = {lr_comm_handle(comm), peer_of(root),      block, type_of(type),
                              reduction_of(op),     lr_handle(request), 0,     0};
    lr_note(call, kind, form, call->in_place ? LR_IN_PLACE : 0, values, 8);
}

/* How many neighbours this rank hears from and speaks to. */
void lr_degrees(MPI_Comm comm, int* takes, int* gives) {
    int topology = MPI_UNDEFINED, weighted = 0, dimensions = 0, rank = 0, in = 0, out = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (topology == MPI_CART && PMPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS) in = out = 2 * dimensions;
    if (topology == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &in);
        out = in;
    }
    if (takes) *takes = in;
    if (gives) *gives = out;
}

void lr_neighbours(const struct lr_call* call, int kind, int form, MPI_Comm comm, int64_t given,
                   int64_t taken, MPI_Request request) {
    int in = 0, out = 0;
    lr_degrees(comm, &in, &out);
    const size_t count = 8 + (size_t)out + (size_t)in;
    int64_t* values = malloc(8 * count);
    if (!values) return;
    const int64_t head[] = {lr_comm_handle(comm), 0, taken, 0, 0, lr_handle(request), 0, out};
    memcpy(values, head, sizeof head);
    for (int i = 0; i < out; ++i) values[8 + i] = given;
    for (int i = 0; i < in; ++i) values[8 + out + i] = taken;
    lr_note(call, kind, form, 0, values, count);
    free(values);
}

/* Counts as MPI has them: ints, or MPI_Count where `large`. */
struct counts {
    const void* of;
    bool large;
};
static int64_t count_at(struct counts counts, size_t i) {
    return counts.large ? (int64_t)((const MPI_Count*)counts.of)[i] : ((const int*)counts.of)[i];
}

static void blocks(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t own,
                   struct counts gives, const MPI_Datatype* gives_types, struct counts takes,
                   const MPI_Datatype* takes_types, bool each, MPI_Op op, MPI_Request request) {
    int size = 0, inter = 0, in = 0, out = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) PMPI_Comm_remote_size(comm, &size);
    else PMPI_Comm_size(comm, &size);
    in = out = size;
    if (kind >= LR_NEIGHBOR_ALLGATHER) lr_degrees(comm, &in, &out);
    const size_t given = gives.of ? (size_t)out : 0, taken = takes.of ? (size_t)in : 0;
    const size_t count = 8 + given + taken;
    int64_t* values = malloc(8 * count);
    if (!values) return;
    const bool reduces = kind == LR_REDUCE_SCATTER;
    const int64_t head[] = {
        lr_comm_handle(comm),           peer_of(root),      own, reduces ? type_of(*takes_types) : 0,
        reduces ? reduction_of(op) : 0, lr_handle(request), 1,   (int64_t)given};
    memcpy(values, head, sizeof head);
    int64_t* at = values + 8;
    for (size_t i = 0; i < given; ++i) *at++ = lr_bytes(count_at(gives, i), gives_types[each ? i : 0]);
    for (size_t i = 0; i < taken; ++i) *at++ = lr_bytes(count_at(takes, i), takes_types[each ? i : 0]);
    int rank = 0;
    if (own == LR_FROM_BLOCKS) {
        PMPI_Comm_rank(comm, &rank);
        values[2] = !inter && (size_t)rank < given + taken ? values[8 + rank] : 0;
    }
    lr_note(call, kind, form, LR_VARIES | (call->in_place ? LR_IN_PLACE : 0), values, count);
    free(values);
}

void lr_blocks(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t own,
               const int* gives, const MPI_Datatype* gives_types, const int* takes,
               const MPI_Datatype* takes_types, bool each, MPI_Request request) {
    blocks(call, kind, form, comm, root, own, (struct counts){gives, false}, gives_types,
           (struct counts){takes, false}, takes_types, each, MPI_OP_NULL, request);
}
void lr_blocks_c(const struct lr_call* call, int kind, int form, MPI_Comm comm, int root, int64_t own,
                 const MPI_Count* gives, const MPI_Datatype* gives_types, const MPI_Count* takes,
                 const MPI_Datatype* takes_types, bool each, MPI_Request request) {
    blocks(call, kind, form, comm, root, own, (struct counts){gives, true}, gives_types,
           (struct counts){takes, true}, takes_types, each, MPI_OP_NULL, request);
}
void lr_reduce_blocks(const struct lr_call* call, int form, MPI_Comm comm, const int* takes,
                      const MPI_Datatype* type, MPI_Op op, MPI_Request request) {
    blocks(call, LR_REDUCE_SCATTER, form, comm, 0, 0, (struct counts){NULL, false}, NULL,
           (struct counts){takes, false}, type, false, op, request);
}
void lr_reduce_blocks_c(const struct lr_call* call, int form, MPI_Comm comm, const MPI_Count* takes,
                        const MPI_Datatype* type, MPI_Op op, MPI_Request request) {
    blocks(call, LR_REDUCE_SCATTER, form, comm, 0, 0, (struct counts){NULL, true}, NULL,
           (struct counts){takes, true}, type, false, op, request);
}

/* World ranks of a group; false where memory lacks. */
static bool world_ranks(MPI_Group group, int size, int64_t* into) {
    MPI_Group world;
    int* from = malloc(2 * sizeof(int) * (size_t)(size > 0 ? size : 1));
    if (!from) return false;
    int* to = from + size;
    for (int i = 0; i < size; ++i) from[i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, from, world, to);
    PMPI_Group_free(&world);
    for (int i = 0; i < size; ++i) into[i] = to[i];
    free(from);
    return true;
}

/* The neighbours of a grid or graph, in the order in which MPI counts them. */
static void neighbours(MPI_Comm comm, int in, int out, int64_t* sources, int64_t* targets) {
    int topology = MPI_UNDEFINED, rank = 0;
    PMPI_Topo_test(comm, &topology);
    PMPI_Comm_rank(comm, &rank);
    int* all = malloc(2 * sizeof(int) * (size_t)(in + out + 1));
    for (int i = 0; i < in; ++i) sources[i] = -3;
    for (int i = 0; i < out; ++i) targets[i] = -3;
    if (!all) return;
    if (topology == MPI_CART) {
        for (int dimension = 0; 2 * dimension < in; ++dimension) {
            int down = MPI_PROC_NULL, up = MPI_PROC_NULL;
            PMPI_Cart_shift(comm, dimension, 1, &down, &up);
            sources[2 * dimension] = targets[2 * dimension] = peer_of(down);
            sources[2 * dimension + 1] = targets[2 * dimension + 1] = peer_of(up);
        }
    } else if (topology == MPI_DIST_GRAPH) {
        int* weights = all + in + out;
        weights = malloc(sizeof(int) * (size_t)(in + out + 1));
        if (weights) PMPI_Dist_graph_neighbors(comm, in, all, weights, out, all + in, weights + in);
        for (int i = 0; weights && i < in; ++i) sources[i] = peer_of(all[i]);
        for (int i = 0; weights && i < out; ++i) targets[i] = peer_of(all[in + i]);
        free(weights);
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors(comm, rank, in, all);
        for (int i = 0; i < in; ++i) sources[i] = targets[i] = peer_of(all[i]);
    }
    free(all);
}

void lr_comm(const struct lr_call* call, int constructor, MPI_Comm parent, MPI_Comm made) {
    if (made == MPI_COMM_NULL) {
        const int64_t values[] = {lr_comm_handle(parent), 0, 0, 0, 0, 0, 0};
        lr_note(call, LR_COMM, 0, constructor, values, 7);
        return;
    }
    int size = 0, rank = 0, inter = 0, remote = 0, in = 0, out = 0;
    PMPI_Comm_size(made, &size);
    PMPI_Comm_rank(made, &rank);
    PMPI_Comm_test_inter(made, &inter);
    if (inter) PMPI_Comm_remote_size(made, &remote);
    else lr_degrees(made, &in, &out);
    const size_t count = 7 + (size_t)size + (size_t)remote + (size_t)in + (size_t)out;
    int64_t* values = malloc(8 * count);
    if (!values) return;
    const int64_t head[] = {lr_comm_handle(parent), lr_comm_handle(made), size, rank, remote, in, out};
    memcpy(values, head, sizeof head);
    MPI_Group group;
    PMPI_Comm_group(made, &group);
    bool known = world_ranks(group, size, values + 7);
    PMPI_Group_free(&group);
    if (inter && known) {
        PMPI_Comm_remote_group(made, &group);
        known = world_ranks(group, remote, values + 7 + size);
        PMPI_Group_free(&group);
    }
    if (in + out > 0) neighbours(made, in, out, values + 7 + size + remote, values + 7 + size + remote + in);
    if (known) lr_note(call, LR_COMM, 0, constructor, values, count);
    free(values);
}

/* Its members are the parent's: it may itself not be asked before its request is over. */
void lr_idup(const struct lr_call* call, MPI_Comm parent, MPI_Comm made, MPI_Request request) {
    int size = 0, rank = 0, inter = 0;
    PMPI_Comm_test_inter(parent, &inter);
    if (inter || made == MPI_COMM_NULL) {
        lr_text(LR_OUTSIDE, "MPI_Comm_idup");
        return;
    }
    PMPI_Comm_size(parent, &size);
    PMPI_Comm_rank(parent, &rank);
    int64_t* values = malloc(8 * (8 + (size_t)size));
    if (!values) return;
    const int64_t head[] = {lr_comm_handle(parent), lr_comm_handle(made), size, rank, 0, 0, 0};
    memcpy(values, head, sizeof head);
    MPI_Group group;
    PMPI_Comm_group(parent, &group);
    if (world_ranks(group, size, values + 7)) {
        values[7 + size] = lr_handle(request);
        lr_note(call, LR_COMM, LR_NONBLOCKING, LR_DUP, values, 8 + (size_t)size);
    }
    PMPI_Group_free(&group);
    free(values);
}

void lr_comm_free(const struct lr_call* call, int64_t comm) { lr_note(call, LR_COMM_FREE, 0, 0, &comm, 1); }

void lr_win(const struct lr_call* call, MPI_Comm comm, MPI_Win window, int64_t bytes) {
    const int64_t values[] = {lr_comm_handle(comm), lr_win_handle(window), bytes};
    lr_note(call, LR_WIN, 0, 0, values, 3);
}

void lr_access(const struct lr_call* call, int kind, MPI_Win window, int target, int64_t bytes,
               MPI_Request request) {
    const int64_t values[] = {lr_win_handle(window), peer_of(target), bytes, lr_handle(request)};
    lr_note(call, kind, request == MPI_REQUEST_NULL ? LR_BLOCKING : LR_NONBLOCKING, 0, values, 4);
}

void lr_epoch(const struct lr_call* call, int kind, int64_t window, int target, int mode, MPI_Group group) {
    int size = 0;
    if (group != MPI_GROUP_NULL) PMPI_Group_size(group, &size);
    int64_t* values = malloc(8 * (3 + (size_t)size));
    if (!values) return;
    values[0] = window;
    values[1] = target < 0 ? -1 : target;
    values[2] = size;
    if (size == 0 || world_ranks(group, size, values + 3))
        lr_note(call, kind, 0, mode, values, 3 + (size_t)size);
    free(values);
}

void lr_file(const struct lr_call* call, int form, int what, int64_t bytes, MPI_Request request) {
    const int64_t values[] = {bytes, lr_handle(request)};
    lr_note(call, LR_FILE, form, what, values, 2);
}
