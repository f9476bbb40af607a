// Arrays in files, the part of one that a rank moves, and contents by which every byte can be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leadline::io {

using Length = std::uint64_t;
using Lengths = std::vector<Length>;

// An array of floats of 4 B, or of 8 B where it is wide.
struct Array {
    std::string name;
    Lengths lengths{};
    Lengths chunk{};  // empty: contiguous
    bool wide = false;
    std::size_t attributes = 0;  // of 8 B each

    [[nodiscard]] std::size_t element() const { return wide ? 8 : 4; }
};

// A box of an array; along the last axis several of them, `stride` apart.
struct Hyperslab {
    Lengths from{};
    Lengths lengths{};
    Length times = 1;
    Length stride = 0;

    [[nodiscard]] Length elements() const;
};

Length product(const Lengths& lengths);

// Writes what array number `ordinal` holds in a part, in the order of the file. All values lie in [1, 2).
void stamp(const Array& array, std::size_t ordinal, const Hyperslab& part, std::span<std::byte> bytes);
// In what `bytes` differs from that, a sentence without its end; nothing where each byte is right.
std::optional<std::string> differs(const Array& array, std::size_t ordinal, const Hyperslab& part,
                                   std::span<const std::byte> bytes);
// The same for plain bytes of a file, from `at` on; `at` and their number are multiples of 8.
void stamp(std::size_t ordinal, Length at, std::span<std::byte> bytes);
std::optional<std::string> differs(std::size_t ordinal, Length at, std::span<const std::byte> bytes);
// An attribute of an array.
double attribute(std::size_t ordinal, std::size_t which);

// What a rank has of an array of one axis that all share alike.
Hyperslab even_part(Length all, int rank, int ranks);
// Where piece `which` of `pieces` begins along an axis of `length`; uneven: up to an eighth of a piece off.
Length begin_of(Length length, Length which, Length pieces, bool uneven);

}  // namespace leadline::io
