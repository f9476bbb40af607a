// The cluster transform of Intel's MKL, one descriptor for both directions.
#include <mkl_cdft.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft_other.h"

static DFTI_DESCRIPTOR_DM_HANDLE plan;
static struct transform* arrays;

static void check(MKL_LONG status, const char* what) {
    if (status == DFTI_NO_ERROR) return;
    fprintf(stderr, "MKL refuses to %s: %s\n", what, DftiErrorMessage(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static ptrdiff_t told(enum CDFT_CONFIG_PARAM name) {
    MKL_LONG value = 0;
    check(DftiGetValueDM(plan, name, &value), "tell how it divides the grid");
    return value;
}

void transform_open(struct transform* to, ptrdiff_t nx, ptrdiff_t ny, ptrdiff_t nz) {
    MKL_LONG lengths[3] = {nz, ny, nx};
    arrays = to;
    check(DftiCreateDescriptorDM(MPI_COMM_WORLD, &plan, DFTI_DOUBLE, DFTI_COMPLEX, 3, lengths),
          "describe the grid");
    check(DftiSetValueDM(plan, DFTI_TRANSPOSE, DFTI_ALLOW), "leave its output transposed");
    check(DftiCommitDescriptorDM(plan), "plan");
    to->local = told(CDFT_LOCAL_SIZE);
    to->planes = told(CDFT_LOCAL_NX);
    to->first = told(CDFT_LOCAL_X_START);
    to->rows = told(CDFT_LOCAL_OUT_NX);
    to->row = told(CDFT_LOCAL_OUT_X_START);
    to->z_last = 1;
    to->state = aligned_alloc(64, sizeof(double complex) * (size_t)((to->local + 3) / 4 * 4));
    to->work = aligned_alloc(64, sizeof(double complex) * (size_t)((to->local + 3) / 4 * 4));
}

void transform_there(void) { check(DftiComputeForwardDM(plan, arrays->state), "transform"); }

void transform_back(void) { check(DftiComputeBackwardDM(plan, arrays->work), "transform back"); }

void transform_close(void) { check(DftiFreeDescriptorDM(&plan), "end"); }
