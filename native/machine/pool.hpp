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
        ++used_;
        if (!free_.empty()) {
            const Id id = free_.back();
            free_.pop_back();
            return id;
        }
        const Id id = size_++;
        if ((id & mask) == 0) chunks_.push_back(std::make_unique<T[]>(mask + 1));
        return id;
    }
    void give_back(Id id) {
        free_.push_back(id);
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
    std::vector<Id> free_;  // the one given back last is used first; a stack, whose top stays in the cache
    Id size_ = 0;
    std::size_t used_ = 0;
};

}  // namespace leadline::machine
