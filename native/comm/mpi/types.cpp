#include "comm/mpi/types.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace leadline {
namespace {

template <class Number>
void add(const void* from, void* to, std::int64_t count) {
    const auto* more = static_cast<const Number*>(from);
    auto* sum = static_cast<Number*>(to);
    for (std::int64_t i = 0; i < count; ++i) sum[i] += more[i];
}

// As MPI calls it, which wants all of these pointers as they are.
// NOLINTBEGIN(readability-non-const-parameter)
template <class Number>
void addition(void* from, void* to, int* count, MPI_Datatype*) {
    add<Number>(from, to, *count);
}
// NOLINTEND(readability-non-const-parameter)

constexpr std::array<MPI_User_function*, 4> additions{addition<std::int32_t>, addition<std::int64_t>,
                                                      addition<float>, addition<double>};
std::array<MPI_Op, 4> made{MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL};

#if MPI_VERSION >= 4
// NOLINTBEGIN(readability-non-const-parameter)
template <class Number>
void large_addition(void* from, void* to, MPI_Count* count, MPI_Datatype*) {
    add<Number>(from, to, *count);
}
// NOLINTEND(readability-non-const-parameter)

constexpr std::array<MPI_User_function_c*, 4> large_additions{large_addition<std::int32_t>,
                                                              large_addition<std::int64_t>,
                                                              large_addition<float>, large_addition<double>};
std::array<MPI_Op, 4> large_made{MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL};
#endif

void free_all(std::array<MPI_Op, 4>& operations) {
    for (MPI_Op& each : operations)
        if (each != MPI_OP_NULL) MPI_Op_free(&each);
}

}  // namespace

void fail(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error(std::string(text.data(), static_cast<std::size_t>(length)));
}

void refuse_count(std::size_t bytes) {
    throw Unsupported(std::to_string(bytes) + " B is more than this MPI's calls can count (" +
                      std::to_string(std::numeric_limits<int>::max()) +
                      " elements); those of MPI 4 count further");
}

MPI_Op user_addition(Type type, [[maybe_unused]] bool counted_large) {
    const auto which = static_cast<std::size_t>(type);
    constexpr int commutes = 1;
#if MPI_VERSION >= 4
    if (counted_large) {
        if (large_made[which] == MPI_OP_NULL)
            check(MPI_Op_create_c(large_additions[which], commutes, &large_made[which]));
        return large_made[which];
    }
#endif
    if (made[which] == MPI_OP_NULL) check(MPI_Op_create(additions[which], commutes, &made[which]));
    return made[which];
}

void free_user_additions() {
    free_all(made);
#if MPI_VERSION >= 4
    free_all(large_made);
#endif
}

}  // namespace leadline
