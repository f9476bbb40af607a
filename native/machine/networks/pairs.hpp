// Which stream carries a pair of nodes: a hash table without order, so that nobody can depend on one.
#pragma once

#include <cstdint>
#include <vector>

namespace leadline::machine {

// Open addressing, linear probing, at most half full, then four times as large. A key is never 0.
class Pairs {
public:
    // The place of a key's value, which is negative when the key is new. True until the next call.
    std::int32_t& operator[](std::uint64_t key) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[find(key)];
        if (slot.key == 0) {
            slot = {key, -1};
            ++size_;
        }
        return slot.value;
    }

    // Forgets a key that is there; what stood behind it in its row moves up.
    void erase(std::uint64_t key) {
        std::size_t hole = find(key);
        --size_;
        for (std::size_t at = next(hole); slots_[at].key != 0; at = next(at)) {
            const std::size_t home = place(slots_[at].key);
            if (((at - home) & mask()) < ((at - hole) & mask())) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole] = {};
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::int32_t value = -1;
    };

    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
    // Fibonacci hashing: the upper half of the product, where every bit of the key has its say.
    [[nodiscard]] std::size_t place(std::uint64_t key) const {
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 32U) & mask();
    }
    [[nodiscard]] std::size_t find(std::uint64_t key) const {
        std::size_t at = place(key);
        while (slots_[at].key != 0 && slots_[at].key != key) at = next(at);
        return at;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : 4 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key != 0) slots_[find(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace leadline::machine
