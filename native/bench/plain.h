// A ping-pong as one writes it by hand, in C over MPI alone: what the harness is held against.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Collective: makes a communicator of its own for the alignment, as the harness does.
void plain_begin(void);

// Collective. Ranks 0 and 1 meet in a barrier, then bounce `bytes` of `out` into `in` `batch` times; the time
// of one way, s: of use on rank 0.
double plain_sample(const void* out, void* in, int bytes, long batch);

void plain_end(void);

#ifdef __cplusplus
}
#endif
