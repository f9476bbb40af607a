// Objects under small numbers, in chunks that never move: no allocation an object, and references stay good.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace leadline::machine {

template <class T>
class Pool {
public:
    using Id = std::uint32_t;
    static constexpr Id none = ~Id{0};

    // A number for a new object, whose content is whatever was left there.
    Id take() {
        if (free_ != none) {
            const Id id = free_;
            free_ = links_[id];
            ++used_;
            return id;
        }
        const Id id = size_++;
        if ((id & mask) == 0) chunks_.push_back(std::make_unique<T[]>(mask + 1));
        links_.push_back(none);
        ++used_;
        return id;
    }
    void give_back(Id id) {
        links_[id] = free_;
        free_ = id;
        --used_;
    }
    T& operator[](Id id) { return chunks_[id >> shift][id & mask]; }
    const T& operator[](Id id) const { return chunks_[id >> shift][id & mask]; }
    // Numbers given out so far are below this.
    [[nodiscard]] Id size() const { return size_; }
    [[nodiscard]] std::size_t used() const { return used_; }
    [[nodiscard]] std::size_t bytes() const { return chunks_.size() * (mask + 1) * (sizeof(T) + sizeof(Id)); }

private:
    static constexpr unsigned shift = 12;
    static constexpr Id mask = (Id{1} << shift) - 1;
    std::vector<std::unique_ptr<T[]>> chunks_;
    std::vector<Id> links_;
    Id free_ = none;
    Id size_ = 0;
    std::size_t used_ = 0;
};

}  // namespace leadline::machine
