// What every file of this backend needs: codes that become exceptions, types, reductions, counts.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "comm/vocabulary.hpp"

namespace leadline {

// Throws std::runtime_error with the library's own words for an error code.
[[noreturn]] void fail(int code);

// All MPI calls go through here. Inline, since a call would be a tenth of what the harness adds to a message.
inline void check(int code) {
    if (code != MPI_SUCCESS) [[unlikely]]
        fail(code);
}

inline MPI_Datatype mpi_type(Type type) {
    switch (type) {
        case Type::int32: return MPI_INT32_T;
        case Type::int64: return MPI_INT64_T;
        case Type::float32: return MPI_FLOAT;
        case Type::float64: return MPI_DOUBLE;
    }
    return MPI_DATATYPE_NULL;
}

// The program's own addition for a type, made when it is first asked for; `counted_large` for calls that
// count beyond an int. Given back, all of them, before MPI ends.
MPI_Op user_addition(Type type, bool counted_large);
void free_user_additions();

inline MPI_Op mpi_reduction(Reduce reduce, Type type, bool counted_large = false) {
    switch (reduce) {
        case Reduce::sum: return MPI_SUM;
        case Reduce::product: return MPI_PROD;
        case Reduce::smallest: return MPI_MIN;
        case Reduce::user: return user_addition(type, counted_large);
    }
    return MPI_OP_NULL;
}

// Whether the calls that count with an int can say it.
constexpr bool fits(std::size_t count) {
    return count <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

// MPI 4 has each call a second time with counts of 64 bits.
inline constexpr bool counts_large = MPI_VERSION >= 4;
// Throws Unsupported for so many bytes.
[[noreturn]] void refuse_count(std::size_t bytes);

}  // namespace leadline

// A call that counts beyond an int, of so many bytes; refused where the MPI has none.
#if MPI_VERSION >= 4
#define LEADLINE_LARGE(call, bytes, ...) ::leadline::check(call##_c(__VA_ARGS__))
#else
#define LEADLINE_LARGE(call, bytes, ...) ::leadline::refuse_count(bytes)
#endif
