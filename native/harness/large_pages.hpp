// Memory in pages as large as the system has, and the end of stores that go past the caches.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace leadline {

struct FreeLargePages {
    void operator()(std::byte* memory) const { std::free(memory); }
};
using LargePages = std::unique_ptr<std::byte, FreeLargePages>;

// So many bytes at least, cleared, and so touched, by who asks. Throws std::runtime_error where there is no
// memory.
LargePages large_pages(std::size_t bytes);

// What was streamed before has been written when it returns, in the order in which others see it.
void drain_stores();

}  // namespace leadline
