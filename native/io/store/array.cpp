#include "io/store/array.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace leadline::io {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbours get words that share nothing.
std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27U)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31U);
}

std::uint64_t word_of(std::size_t ordinal, Length index) {
    return mixed(index + static_cast<std::uint64_t>(ordinal) * 0x9E3779B97F4A7C15U);
}

// Mantissas are free, exponents those of [1, 2): any tool can show and compare such numbers.
std::uint64_t wide_bits(std::uint64_t word) { return (word >> 12U) | 0x3FF0000000000000U; }
std::uint32_t narrow_bits(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 41U) | 0x3F800000U;
}

// Calls `visit(index of its first element in the array, elements)` for each row of the part, in order.
template <class Visit>
void each_row(const Array& array, const Hyperslab& part, Visit visit) {
    const std::size_t axes = array.lengths.size();
    if (part.elements() == 0) return;
    Lengths at = part.from;
    const auto end = [&](std::size_t axis) { return part.from[axis] + part.lengths[axis]; };
    for (;;) {
        Length row = 0;
        for (std::size_t axis = 0; axis < axes; ++axis) row = row * array.lengths[axis] + at[axis];
        for (Length box = 0; box < part.times; ++box) visit(row + box * part.stride, part.lengths.back());
        std::size_t axis = axes - 1;
        while (axis > 0 && ++at[axis - 1] == end(axis - 1)) {
            at[axis - 1] = part.from[axis - 1];
            --axis;
        }
        if (axis == 0) return;
    }
}

template <class Bits>
void write_row(std::size_t ordinal, Length first, Length count, std::byte* to, Bits bits) {
    for (Length i = 0; i < count; ++i) {
        const auto value = bits(word_of(ordinal, first + i));
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

}  // namespace

Length product(const Lengths& lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), Length{1}, std::multiplies<>());
}

Length Hyperslab::elements() const { return product(lengths) * times; }

void stamp(const Array& array, std::size_t ordinal, const Hyperslab& part, std::span<std::byte> bytes) {
    std::byte* to = bytes.data();
    each_row(array, part, [&](Length first, Length count) {
        if (array.wide) write_row(ordinal, first, count, to, wide_bits);
        else write_row(ordinal, first, count, to, narrow_bits);
        to += count * array.element();
    });
}

std::optional<std::string> differs(const Array& array, std::size_t ordinal, const Hyperslab& part,
                                   std::span<const std::byte> bytes) {
    std::vector<std::byte> row;
    std::optional<std::string> wrong;
    const std::byte* from = bytes.data();
    each_row(array, part, [&](Length first, Length count) {
        row.resize(count * array.element());
        if (array.wide) write_row(ordinal, first, count, row.data(), wide_bits);
        else write_row(ordinal, first, count, row.data(), narrow_bits);
        if (!wrong && !std::equal(row.begin(), row.end(), from)) {
            const auto at =
                static_cast<Length>(std::mismatch(row.begin(), row.end(), from).first - row.begin());
            wrong = "element " + std::to_string(first + at / array.element()) + " of " + array.name +
                    " is not what was written there";
        }
        from += row.size();
    });
    return wrong;
}

void stamp(std::size_t ordinal, Length at, std::span<std::byte> bytes) {
    write_row(ordinal, at / 8, bytes.size() / 8, bytes.data(), [](std::uint64_t word) { return word; });
}

std::optional<std::string> differs(std::size_t ordinal, Length at, std::span<const std::byte> bytes) {
    std::vector<std::byte> right(bytes.size());
    stamp(ordinal, at, right);
    const auto [wanted, found] = std::ranges::mismatch(right, bytes);
    if (wanted == right.end()) return std::nullopt;
    return "byte " + std::to_string(at + static_cast<Length>(wanted - right.begin())) +
           " of the file is not what was written there";
}

double attribute(std::size_t ordinal, std::size_t which) {
    return std::bit_cast<double>(wide_bits(word_of(ordinal, ~static_cast<Length>(which))));
}

Length begin_of(Length length, Length which, Length pieces, bool uneven) {
    if (which == 0 || which >= pieces) return which == 0 ? 0 : length;
    const Length even = length * which / pieces;
    const Length most = length / pieces / 8;
    if (!uneven || most == 0) return even;
    return even - most + word_of(pieces, which) % (2 * most + 1);
}

Hyperslab even_part(Length all, int rank, int ranks) {
    const auto which = static_cast<Length>(rank);
    const auto pieces = static_cast<Length>(ranks);
    const Length from = begin_of(all, which, pieces, false);
    return {.from = {from}, .lengths = {begin_of(all, which + 1, pieces, false) - from}};
}

}  // namespace leadline::io
