// A three-dimensional transform of a library, over all ranks, as ft_other.c has it take part in NAS FT.
//
// Each library is a file of its own. A rank holds `planes` planes of z from `first` on before a transform
// there, in the order [z][y][x], and `rows` rows of y from `row` on after it, in the order [y][z][x] or
// [y][x][z]: the output stays transposed, so that neither direction pays for a second exchange.
#pragma once

#include <complex.h>
#include <stddef.h>

struct transform {
    ptrdiff_t local;  // numbers that a rank's array holds at least
    ptrdiff_t planes, first;
    ptrdiff_t rows, row;
    int z_last;             // whether the transposed order is [y][x][z]
    double complex* state;  // what `there` transforms in place, `local` numbers
    double complex* work;   // what `back` transforms in place, as many
};

// Plans the transforms and allocates their arrays; ends the program with a sentence where the library
// refuses.
void transform_open(struct transform* to, ptrdiff_t nx, ptrdiff_t ny, ptrdiff_t nz);
void transform_there(void);  // forward, not scaled
void transform_back(void);   // backward, not scaled
void transform_close(void);
