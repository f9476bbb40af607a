// The resources of a network and who is on each: rows of uses in one flat array, linked both ways, so that to
// come and to go costs no more than the route is long. 32 B a resource, 16 B a use.
#pragma once

#include <cstdint>
#include <vector>

namespace leadline::machine {

// One resource of one stream's route.
struct Use {
    static constexpr unsigned number_bits = 28;
    static constexpr unsigned most_times = 15;

    std::uint32_t number : number_bits = 0;
    std::uint32_t times : 4 = 1;  // more than once where links stand for one another
    std::int32_t owner = 0;       // stream * 2, and 1 more where it yields to those that do not
    std::int32_t next = -1;       // on the same resource
    std::int32_t before = -1;

    [[nodiscard]] std::int32_t resource() const { return static_cast<std::int32_t>(number); }
    [[nodiscard]] std::int32_t stream() const { return owner >> 1; }
    [[nodiscard]] bool yields() const { return (owner & 1) != 0; }
};

struct Resource {
    double capacity = 0;     // B/s
    double demand = 0;       // B/s that the streams on it would have if they were alone
    std::int32_t head = -1;  // of the row of uses
    std::uint32_t count : 31 = 0;
    std::uint32_t pooled : 1 = 0;  // all that are here are in the pool, and whoever comes will be
    std::uint32_t seen = 0;        // by which walk
    std::int32_t number = 0;       // what that walk called it

    // Only then does it matter to anybody. The margin is for sums that were added and subtracted in any
    // order.
    [[nodiscard]] bool oversubscribed() const { return demand > capacity * (1 + 1e-9); }
};

class Loads {
public:
    void add(double capacity) { resources_.push_back({.capacity = capacity}); }
    Resource& operator[](std::int32_t i) { return resources_[static_cast<std::size_t>(i)]; }
    void reserve(std::size_t uses) { uses_.reserve(uses); }
    [[nodiscard]] std::size_t size() const { return resources_.size(); }
    Use& use(std::int32_t i) { return uses_[static_cast<std::size_t>(i)]; }

    // A run of `length` uses that nobody has.
    std::int32_t take(std::int32_t length) {
        const auto row = static_cast<std::size_t>(length);
        if (row >= free_.size()) free_.resize(row + 1);
        if (!free_[row].empty()) {
            const std::int32_t first = free_[row].back();
            free_[row].pop_back();
            return first;
        }
        uses_.resize(uses_.size() + row);
        return static_cast<std::int32_t>(uses_.size() - row);
    }
    void give_back(std::int32_t first, std::int32_t length) {
        free_[static_cast<std::size_t>(length)].push_back(first);
    }

    void join(std::int32_t i, double rate) {
        Use& mine = use(i);
        Resource& on = (*this)[mine.resource()];
        mine.before = -1;
        mine.next = on.head;
        if (on.head >= 0) use(on.head).before = i;
        on.head = i;
        on.demand += rate * mine.times;
        on.count += mine.times;
    }
    void leave(std::int32_t i, double rate) {
        const Use& mine = use(i);
        Resource& on = (*this)[mine.resource()];
        if (mine.before >= 0) use(mine.before).next = mine.next;
        else on.head = mine.next;
        if (mine.next >= 0) use(mine.next).before = mine.before;
        on.demand -= rate * mine.times;
        on.count -= mine.times;
        if (on.count != 0) return;
        on.demand = 0;
        on.pooled = 0;
    }

private:
    std::vector<Resource> resources_;
    std::vector<Use> uses_;
    std::vector<std::vector<std::int32_t>> free_;  // runs of each length
};

}  // namespace leadline::machine
