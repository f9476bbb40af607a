// One-sided and two-sided ways of moving the same bytes, under the names that points use for them.
#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

// "put" and "get" use memory that the library allocated, "-created" memory that the program brought,
// "-shared" memory of the node, "-shmem" OpenSHMEM's symmetric heap. "store" and "load" are the processor's
// own copies to and from the memory of the node.
inline const std::vector<std::string> one_sided_operations{
    "put", "get", "put-created", "get-created", "put-shared", "store", "load", "put-shmem", "get-shmem"};

struct Operation {
    bool one_sided = false;
    bool put = false;
    bool blocking = false;
    bool direct = false;  // no call of the library at all
    Exposure exposure = Exposure::allocated;
};

inline Operation parse_operation(const std::string& name) {
    Operation operation;
    operation.direct = name == "store" || name == "load";
    operation.one_sided = operation.direct || name.starts_with("put") || name.starts_with("get");
    operation.put = name == "store" || name.starts_with("put");
    operation.blocking = name == "send";
    if (name.ends_with("-created")) operation.exposure = Exposure::created;
    if (operation.direct || name.ends_with("-shared")) operation.exposure = Exposure::shared;
    if (name.ends_with("-shmem")) operation.exposure = Exposure::shmem;
    return operation;
}

// One copy of an operation that is direct, to or from what `there` is of the other's memory. It has been done
// when the fence is passed: what was stored is then seen by all.
inline void copy_directly(const Operation& operation, Bytes own, Bytes there) {
    const Bytes to = operation.put ? there : own;
    const Bytes from = operation.put ? own : there;
    if (!to.empty()) std::memcpy(to.data(), from.data(), own.size());
}
// What such a copy moves: each byte is read and written.
inline Work copying(Bytes own) { return {.flops = 0, .bytes = 2.0 * static_cast<double>(own.size())}; }
inline void fence_directly() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace leadline
