// OpenSHMEM as a carrier of windows, where the MPI has it. Started when the first window asks for it, since
// starting it costs memory and time that no other point should pay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leadline::shmem {

bool available();                        // was this program built with OpenSHMEM?
std::byte* allocate(std::size_t bytes);  // symmetric memory; collective; null when there is not enough
void release(std::byte* memory);         // collective
void put(std::byte* remote, const std::byte* data, std::size_t bytes, int target);
void get(std::byte* data, const std::byte* remote, std::size_t bytes, int target);
void quiet();
void count_up(std::byte* counter, int target);          // one more, at the target, atomically
void wait_for(std::byte* counter, std::int64_t count);  // until the own counter has come so far
void finish();                                          // collective; ends OpenSHMEM if it was started

}  // namespace leadline::shmem
