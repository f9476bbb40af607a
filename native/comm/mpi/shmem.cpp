#include "comm/mpi/shmem.hpp"

#ifdef LEADLINE_SHMEM

#include <shmem.h>

#include <algorithm>
#include <utility>

namespace leadline::shmem {
namespace {
bool started = false;
}

bool available() { return true; }

std::byte* allocate(std::size_t bytes) {
    if (!std::exchange(started, true)) shmem_init();
    return static_cast<std::byte*>(shmem_malloc(std::max<std::size_t>(bytes, 64)));
}

void release(std::byte* memory) { shmem_free(memory); }

void put(std::byte* remote, const std::byte* data, std::size_t bytes, int target) {
    shmem_putmem_nbi(remote, data, bytes, target);
}

void get(std::byte* data, const std::byte* remote, std::size_t bytes, int target) {
    shmem_getmem_nbi(data, remote, bytes, target);
}

void quiet() { shmem_quiet(); }

void count_up(std::byte* counter, int target) {
    shmem_longlong_atomic_inc(reinterpret_cast<long long*>(counter), target);
}

void wait_for(std::byte* counter, std::int64_t count) {
    shmem_longlong_wait_until(reinterpret_cast<long long*>(counter), SHMEM_CMP_GE, count);
}

void finish() {
    if (std::exchange(started, false)) shmem_finalize();
}

}  // namespace leadline::shmem

#else

namespace leadline::shmem {

bool available() { return false; }
std::byte* allocate(std::size_t) { return nullptr; }
void release(std::byte*) {}
void put(std::byte*, const std::byte*, std::size_t, int) {}
void get(std::byte*, const std::byte*, std::size_t, int) {}
void quiet() {}
void count_up(std::byte*, int) {}
void wait_for(std::byte*, std::int64_t) {}
void finish() {}

}  // namespace leadline::shmem

#endif
