// Loops as one writes them by hand, in C over MPI alone: what the harness is held against.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Collective: makes a communicator of its own for the alignment, as the harness does.
void plain_begin(void);

// Collective. Ranks 0 and 1 meet in a barrier, then bounce `bytes` of `out` into `in` `batch` times; the time
// of one way, s: of use on rank 0.
double plain_pingpong(const void* out, void* in, int bytes, long batch);

// Collective. All ranks meet in a barrier, then do the operation `batch` times, back to back; the time of
// one, s, on this rank. A sum is of doubles; a broadcast is of `in`, from rank 0.
double plain_barrier(const void* out, void* in, int bytes, long batch);
double plain_bcast(const void* out, void* in, int bytes, long batch);
double plain_allreduce(const void* out, void* in, int bytes, long batch);

// The largest of all ranks' values, at rank 0.
double plain_slowest(double value);

void plain_end(void);

#ifdef __cplusplus
}
#endif
