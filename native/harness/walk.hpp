// A computation that does nothing but have other memory in the caches.
#pragma once

#include "harness/run.hpp"

namespace leadline {

// One byte of each cache line: the lines of what was there before make way.
inline auto walk(Run& run, Bytes memory) {
    return run.compute({.flops = 0, .bytes = static_cast<double>(memory.size())}, [memory] {
        constexpr std::size_t line = 64;
        for (std::size_t at = 0; at < memory.size(); at += line) memory[at] ^= std::byte{1};
    });
}

}  // namespace leadline
