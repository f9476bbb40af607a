// Ranks on a grid of nodes, as many on each: with whom each deals where all move alike along the axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace leadline::collectives {

class Lattice {
public:
    // `axes`: how many nodes are along each; `cores`: how many ranks are on each node. `places`: where each
    // rank sits, cores fastest and then the last axis; every place has a rank.
    Lattice(std::vector<std::int32_t> axes, std::int32_t cores, std::vector<std::int32_t> places)
        : axes_(std::move(axes)), cores_(cores), places_(std::move(places)), ranks_(places_.size()) {
        for (std::size_t rank = 0; rank < places_.size(); ++rank)
            ranks_[static_cast<std::size_t>(places_[rank])] = static_cast<std::int32_t>(rank);
    }

    // Shift number `by`, of as many as there are ranks: as many cores on as place `by` is from the first
    // place, and as many nodes; but each core of a node looks a part of every axis farther than the one
    // before it, so that at no time all of them load the same links; and along axes of even length a node
    // whose coordinates there have an odd sum looks the other way, so that both ways of a ring are loaded.
    // In all shifts together a rank comes to everyone once.
    [[nodiscard]] std::int32_t receiver(std::int32_t rank, std::int32_t by) const {
        const std::int32_t core = places_[static_cast<std::size_t>(rank)] % cores_;
        return moved(rank, by, (core + by % cores_) % cores_, core, false);
    }
    [[nodiscard]] std::int32_t sender(std::int32_t rank, std::int32_t by) const {
        const std::int32_t core = places_[static_cast<std::size_t>(rank)] % cores_;
        const std::int32_t of_sender = (core + cores_ - by % cores_) % cores_;
        return moved(rank, by, of_sender, of_sender, true);
    }
    // How many ranks come to themselves.
    [[nodiscard]] std::int32_t resting(std::int32_t by) const {
        std::int32_t cores = 0;
        for (std::int32_t core = 0; core < cores_; ++core) {
            const std::int32_t rank = ranks_[static_cast<std::size_t>(core)];
            cores += receiver(rank, by) == rank ? 1 : 0;
        }
        return cores * (static_cast<std::int32_t>(ranks_.size()) / cores_);
    }

private:
    // The rank on that core of the node to which this one's is moved as the shift says for a core.
    [[nodiscard]] std::int32_t moved(std::int32_t rank, std::int32_t by, std::int32_t to_core,
                                     std::int32_t looks, bool back) const {
        const std::int32_t node = places_[static_cast<std::size_t>(rank)] / cores_;
        const std::int32_t vector = by / cores_;
        const auto far = [&](std::int32_t of_vector, std::int32_t length) {
            return (of_vector + static_cast<std::int32_t>(std::int64_t{length} * looks / cores_)) % length;
        };
        bool odd = false;         // the node
        bool odd_vector = false;  // then it leads to one that looks the other way
        for_each_axis(node, vector, [&](std::int32_t length, std::int32_t at, std::int32_t of_vector) {
            if (length % 2 != 0) return;
            odd = odd != (at % 2 != 0);
            odd_vector = odd_vector != (far(of_vector, length) % 2 != 0);
        });
        std::int32_t place = to_core;
        std::int32_t stride = cores_;
        for_each_axis(node, vector, [&](std::int32_t length, std::int32_t at, std::int32_t of_vector) {
            const bool other_way = length % 2 == 0 && (back ? odd != odd_vector : odd);
            const std::int32_t ahead = far(of_vector, length);
            place += (at + (back != other_way ? length - ahead : ahead)) % length * stride;
            stride *= length;
        });
        return ranks_[static_cast<std::size_t>(place)];
    }

    // The last axis first: its length, the node's coordinate there and the vector's.
    template <class Each>
    void for_each_axis(std::int32_t node, std::int32_t vector, const Each& each) const {
        for (std::size_t axis = axes_.size(); axis-- > 0;) {
            const std::int32_t length = axes_[axis];
            each(length, node % length, vector % length);
            node /= length;
            vector /= length;
        }
    }

    std::vector<std::int32_t> axes_;
    std::int32_t cores_;
    std::vector<std::int32_t> places_;
    std::vector<std::int32_t> ranks_;  // by place
};

}  // namespace leadline::collectives
