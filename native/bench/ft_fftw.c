// FFTW's own MPI transform.
#include "ft_other.h"

#include <fftw3-mpi.h>

static fftw_plan there, back;

void transform_open(struct transform* to, ptrdiff_t nx, ptrdiff_t ny, ptrdiff_t nz) {
    fftw_mpi_init();
    to->local = fftw_mpi_local_size_3d_transposed(nz, ny, nx, MPI_COMM_WORLD, &to->planes, &to->first,
                                                  &to->rows, &to->row);
    to->z_last = 0;
    to->state = fftw_alloc_complex((size_t)to->local);
    to->work = fftw_alloc_complex((size_t)to->local);
    there = fftw_mpi_plan_dft_3d(nz, ny, nx, to->state, to->state, MPI_COMM_WORLD, FFTW_FORWARD,
                                 FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
    back = fftw_mpi_plan_dft_3d(nz, ny, nx, to->work, to->work, MPI_COMM_WORLD, FFTW_BACKWARD,
                                FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
}

void transform_there(void) { fftw_execute(there); }

void transform_back(void) { fftw_execute(back); }

void transform_close(void) {
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
}
