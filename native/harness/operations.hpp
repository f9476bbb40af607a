// One-sided and two-sided ways of moving the same bytes, under the names that points use for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

// "put" and "get" use memory that the library allocated, "-created" memory that the program brought, "-shmem"
// OpenSHMEM's symmetric heap.
inline const std::vector<std::string> one_sided_operations{"put",         "get",       "put-created",
                                                           "get-created", "put-shmem", "get-shmem"};

struct Operation {
    bool one_sided = false;
    bool put = false;
    bool blocking = false;
    Exposure exposure = Exposure::allocated;
};

inline Operation parse_operation(const std::string& name) {
    Operation operation;
    operation.one_sided = name.starts_with("put") || name.starts_with("get");
    operation.put = name.starts_with("put");
    operation.blocking = name == "send";
    if (name.ends_with("-created")) operation.exposure = Exposure::created;
    if (name.ends_with("-shmem")) operation.exposure = Exposure::shmem;
    return operation;
}

}  // namespace leadline
