// Collectives of the neighbourhood on grids, those that close and those that end.
#include <algorithm>
#include <array>

#include "words.hpp"

namespace leadline::words {
namespace {

constexpr std::byte untouched{0xEE};

std::byte byte_of(int from, int way, std::size_t i) {
    return static_cast<std::byte>(
        (static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(way) * 17 + i * 7) % 223);
}

// Who lies each way: down and up of each dimension.
std::vector<int> neighbours(const Comm& grid, int dimensions) {
    std::vector<int> found;
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        const Neighbours two = grid.shift(dimension, 1);
        found.push_back(two.down);
        found.push_back(two.up);
    }
    return found;
}

class Neighbourhood {
public:
    Neighbourhood(Comm& grid, int dimensions, std::size_t bytes, bool varying, Report& report)
        : grid_(grid),
          who_(neighbours(grid, dimensions)),
          bytes_(bytes),
          varying_(varying),
          report_(report) {}

    // What a rank gives to its neighbour `way` comes to that one from the other way.
    void alltoall() {
        const std::vector<Part> gives = lay_out([&](int way) { return length(grid_.rank(), way); });
        const std::vector<Part> takes = lay_out([&](int way) { return taken_from(way, way ^ 1); });
        std::vector<std::byte> out(room(gives), untouched);
        for (const Part& each : gives) write(out, each, grid_.rank(), each.peer);
        std::vector<std::byte> after(room(takes), untouched);
        for (const Part& each : takes)
            if (who(each.peer) != Neighbours::nobody) write(after, each, who(each.peer), each.peer ^ 1);
        check({.what = Collective::neighbor_alltoall,
               .gives = varying_ ? Layout(gives) : Layout(),
               .takes = varying_ ? Layout(takes) : Layout()},
              "neighbor_alltoall", out, after);
    }

    void allgather() {
        const std::vector<Part> takes = lay_out([&](int way) { return taken_from(way, 0); });
        std::vector<std::byte> out(length(grid_.rank(), 0));
        write(out, {0, static_cast<std::int64_t>(out.size()), 0}, grid_.rank(), 0);
        std::vector<std::byte> after(room(takes), untouched);
        for (const Part& each : takes)
            if (who(each.peer) != Neighbours::nobody) write(after, each, who(each.peer), 0);
        check({.what = Collective::neighbor_allgather, .takes = varying_ ? Layout(takes) : Layout()},
              "neighbor_allgather", out, after);
    }

private:
    [[nodiscard]] int who(int way) const { return who_.at(static_cast<std::size_t>(way)); }
    [[nodiscard]] std::size_t length(int from, int way) const {
        return varying_ ? bytes_ * static_cast<std::size_t>((from + way) % 3 + 1) : bytes_;
    }
    [[nodiscard]] std::size_t taken_from(int way, int its_way) const {
        return length(std::max(0, who(way)), its_way);
    }
    template <class Length>
    std::vector<Part> lay_out(Length length_of) {
        std::vector<Part> parts;
        std::size_t next = 0;
        for (int way = 0; way < static_cast<int>(who_.size()); ++way) {
            const std::size_t bytes = length_of(way);
            parts.push_back({way, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(next)});
            next += bytes + (varying_ ? 3 : 0);
        }
        return parts;
    }
    static std::size_t room(const std::vector<Part>& parts) {
        return static_cast<std::size_t>(parts.back().offset + parts.back().bytes);
    }
    static void write(std::vector<std::byte>& into, const Part& part, int from, int way) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(part.bytes); ++i)
            into.at(static_cast<std::size_t>(part.offset) + i) = byte_of(from, way, i);
    }
    void check(Call call, const std::string& name, std::vector<std::byte>& out,
               const std::vector<std::byte>& after) {
        const std::vector<std::byte> before(after.size(), untouched);
        std::vector<std::byte> in = before;
        call.out = out;
        call.in = in;
        check_collective(grid_,
                         {name + (varying_ ? " of varying " : " of ") + std::to_string(bytes_) + " B by " +
                              std::to_string(who_.size()) + " ways",
                          call, before, after},
                         report_);
    }

    Comm& grid_;
    std::vector<int> who_;
    std::size_t bytes_;
    bool varying_;
    Report& report_;
};

}  // namespace

void check_neighbourhoods(Comm& comm, Report& report) {
    for (const bool periodic : {false, true})
        for (const int dimensions : {1, 2}) {
            // Two ranks, or one, have the same neighbour on both sides of a closed line: libraries differ in
            // what then comes from where.
            if (periodic && (comm.size() < 3 || dimensions > 1)) continue;
            std::vector<int> lengths(static_cast<std::size_t>(dimensions), 1);
            if (dimensions == 2 && comm.size() % 2 == 0) lengths[1] = 2;
            lengths[0] = dimensions == 2 ? comm.size() / lengths[1] : comm.size();
            Comm grid = done(comm.cart(lengths, periodic));
            for (const std::size_t bytes : {37, 5000})
                for (const bool varying : {false, true}) {
                    Neighbourhood neighbourhood(grid, dimensions, bytes, varying, report);
                    neighbourhood.alltoall();
                    neighbourhood.allgather();
                }
        }
}

}  // namespace leadline::words
