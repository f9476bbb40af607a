#include "comm/mpi/settings.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>

namespace leadline {
namespace {

std::string variable_value(MPI_T_cvar_handle handle, MPI_Datatype type, int count) {
    if (type == MPI_CHAR) {
        std::string text(static_cast<std::size_t>(std::max(count, 1)), '\0');
        MPI_T_cvar_read(handle, text.data());
        return text.substr(0, text.find('\0'));
    }
    // Every other type that a library may use here is a number of at most eight bytes.
    union {
        int as_int;
        unsigned as_unsigned;
        unsigned long as_long;
        unsigned long long as_long_long;
        double as_double;
    } value{};
    if (count != 1) return "";
    MPI_T_cvar_read(handle, &value);
    if (type == MPI_INT) return std::to_string(value.as_int);
    if (type == MPI_UNSIGNED) return std::to_string(value.as_unsigned);
    if (type == MPI_UNSIGNED_LONG) return std::to_string(value.as_long);
    if (type == MPI_UNSIGNED_LONG_LONG) return std::to_string(value.as_long_long);
    if (type == MPI_DOUBLE) return std::to_string(value.as_double);
    return "";
}

}  // namespace

std::map<std::string, std::string> settings_named(const std::vector<std::string>& words) {
    std::map<std::string, std::string> found;
    int provided = 0;
    int count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return found;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> name{};
        int name_length = name.size();
        int description_length = 0;
        int verbosity = 0;
        int binding = 0;
        int scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum values = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, name.data(), &name_length, &verbosity, &type, &values, nullptr,
                                &description_length, &binding, &scope) != MPI_SUCCESS)
            continue;
        const std::string known(name.data());
        const auto named = [&](const std::string& word) { return known.find(word) != std::string::npos; };
        if (binding != MPI_T_BIND_NO_OBJECT || std::ranges::none_of(words, named)) continue;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        int elements = 0;
        if (MPI_T_cvar_handle_alloc(i, nullptr, &handle, &elements) != MPI_SUCCESS) continue;
        found[known] = variable_value(handle, type, elements);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return found;
}

}  // namespace leadline
