// What is done to MPI_File_open before it is made.
#ifndef LEADLINE_H5TUNER_INJECT_OPEN_H
#define LEADLINE_H5TUNER_INJECT_OPEN_H

#include "mpi_calls.h"

typedef struct ll_opening_mpi {
    ll_handle communicator;
    const char* name;
    int mode;
    ll_handle info;
    ll_handle* file;
    void* real;
    int* error;  // errno, as the program had it and as the real call leaves it
    int (*invoke)(const struct ll_opening_mpi*, const char* name, ll_handle info);
} ll_opening_mpi;

int ll_open_mpi(const ll_opening_mpi* opening);

#endif
