#include "harness/large_pages.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace leadline {
namespace {

constexpr std::size_t large = std::size_t{1} << 21U;  // B, of a huge page of x86; nothing else depends on it

}  // namespace

LargePages large_pages(std::size_t bytes) {
    const std::size_t room = std::max<std::size_t>((bytes + large - 1) / large, 1) * large;
    LargePages memory(static_cast<std::byte*>(std::aligned_alloc(large, room)));
    if (!memory) throw std::runtime_error("there is no memory for " + std::to_string(bytes) + " B");
#ifdef __linux__
    madvise(memory.get(), room, MADV_HUGEPAGE);  // what comes of it is no matter
#endif
    std::fill_n(memory.get(), room, std::byte{});
    return memory;
}

void drain_stores() {
#ifdef __x86_64__
    _mm_sfence();
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace leadline
