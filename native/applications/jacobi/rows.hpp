// Rows of numbers: what a sweep and a copy are made of, in the widest vectors that the processor has.
//
// Which they are is found when the program runs, so that one binary runs on every processor of its kind. All
// ways add in the same order, without contraction, so that each gives the same bits as the others.
#pragma once

#include <cstddef>
#include <string_view>

namespace leadline::jacobi {

// The rows that a row's update reads: its own, those before and after it, and those below and above.
struct Stencil {
    const double* own;
    const double* before;
    const double* after;
    const double* below;
    const double* above;
    const double* next;  // a row that will be read before long: fetched into the second-level cache meanwhile
};

// Rows of planes one above the other, at once: each row that a sweep reads serves up to three of them when it
// has come from memory, or from the second-level cache, once.
struct Stack {
    std::ptrdiff_t planes;
    std::ptrdiff_t row;    // numbers from a row to the next, in what is read and in what is written
    std::ptrdiff_t plane;  // from a plane to the next
};

// What an update reads in a stack, of the plane that `own` is in; nothing to be fetched.
inline Stencil stencil_at(const double* own, const Stack& stack) {
    return {own, own - stack.row, own + stack.row, own - stack.plane, own + stack.plane, own};
}

struct Rows {
    std::string_view name;
    // to[i] = mean of the six neighbours of i, for `count` numbers; `own` is read one beyond either end.
    void (*update)(double* to, const Stencil& from, std::ptrdiff_t count);
    // The same by streaming stores, which do not read what they overwrite.
    void (*stream)(double* to, const Stencil& from, std::ptrdiff_t count);
    // The same for a stack of rows, of which `to` and `from` are the lowest plane's.
    void (*stream_stack)(double* to, const double* from, const Stack& stack, std::ptrdiff_t count);
    // Copies by streaming stores.
    void (*copy)(double* to, const double* from, std::ptrdiff_t count);
};

// Of this processor.
const Rows& rows();
// Every kind that this processor can run, the plainest first.
std::size_t kinds();
const Rows& kind(std::size_t index);

}  // namespace leadline::jacobi
