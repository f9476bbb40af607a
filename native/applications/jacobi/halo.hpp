// How ranks hand their neighbours what the next sweeps read beyond their part.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/jacobi/division.hpp"
#include "harness/run.hpp"

namespace leadline::jacobi {

// Sides are numbered as a Cartesian communicator numbers neighbours: on each axis below, then above. For one
// sweep all sides go at once. For several the corners are needed as well: one axis after the other, each
// with what the axes before it brought.
class Halo {
public:
    static constexpr std::size_t sides = 6;

    // The words of the sweep `halo`.
    static const std::vector<std::string>& forms();

    Halo(Run& run, Comm& comm, const Division& division, std::string form);

    // Makes ready; of all ranks together, before the first exchange.
    Task<> open();
    // The whole halo: packed, exchanged, unpacked. `field` is null on a described machine.
    Task<> exchange(Field* field);
    // The same in two, to compute between them; only of a halo for one sweep.
    Task<> begin(Field* field, std::size_t phase = 0);
    Task<> end(Field* field, std::size_t phase = 0);
    // Lets the library work on what is under way.
    Task<> poll();
    Task<> close();

    [[nodiscard]] bool overlaps() const { return form_ == "overlapped" && together_; }
    [[nodiscard]] std::int64_t bytes() const;  // that this rank sends in an exchange

private:
    struct Side {
        int peer = nobody;
        bool itself = false;  // the neighbour is this rank
        Region out{};
        Region in{};
        Bytes leaving{};
        Bytes arriving{};
        [[nodiscard]] bool speaks() const { return peer != nobody && !itself; }
    };
    using Phase = std::vector<std::size_t>;  // the sides that go together

    void give_room();
    void make_exchange(const Phase& phase);
    void lay_out(const Phase& phase);
    Task<> open_windows();
    Task<> start(std::size_t phase);
    Task<> finish(std::size_t phase);
    Task<> begin_exchange(std::size_t phase);
    Task<> end_exchange(std::size_t phase);
    [[nodiscard]] bool speaks(const Phase& phase) const;
    Task<> shift(const Phase& phase);
    Task<> put(const Phase& phase);
    Task<> await_notices(const Phase& phase);
    void post(const Phase& phase);
    void pack(const Phase& phase, const Field& field) const;
    void unpack(const Phase& phase, Field& field) const;
    [[nodiscard]] Work moving(const Phase& phase) const;  // of packing, and of unpacking
    static std::size_t opposite(std::size_t side) { return side ^ 1U; }

    Run& run_;
    Comm& comm_;
    std::string form_;
    bool together_;  // all sides at once: a halo for one sweep
    std::array<Side, sides> all_{};
    std::vector<Phase> phases_;
    std::size_t window_ = 0;  // bytes of each, the same at all ranks: notices lie behind them
    Bytes leaving_{};
    Bytes arriving_{};
    std::vector<Comm::Request> requests_{};
    std::vector<Comm::Exchange> exchanges_{};
    std::vector<Comm::Prepared> calls_{};
    struct Layouts {
        std::vector<leadline::Part> gives{};
        std::vector<leadline::Part> takes{};
    };
    std::vector<Layouts> layouts_{};  // of the calls, which refer to them
    // A window for each side: its notices are then of one neighbour, which is at most one exchange ahead, so
    // that two places in turns are enough.
    std::array<std::optional<Comm::Window>, sides> windows_{};
    std::int64_t done_ = 0;  // exchanges that were begun
};

}  // namespace leadline::jacobi
