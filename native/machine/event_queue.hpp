// A calendar of events in order of time, and of pushing among equal times: a radix queue of contiguous
// buckets.
//
// The bucket of an event is given by the highest byte in which its time differs from that of the event popped
// last, and by that byte's value. The lowest level's buckets hold one time each; a bucket of a higher level
// is dealt to the lower ones when its turn comes. So an event moves at most once a byte of the distance
// (three times for a microsecond in picoseconds) however far apart or close together the others are, and
// equal times always share a bucket, which keeps them in the order of pushing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "machine/time.hpp"

namespace leadline::machine {

template <class Event>
class EventQueue {
    static_assert(std::is_trivially_copyable_v<Event>, "events are moved by copying bytes");

public:
    EventQueue() : buckets_(std::make_unique<Bucket[]>(levels * slots)) {}

    // A time before the last popped one counts as that one. Times are not negative.
    void push(Time when, Event event) {
        append(std::max(when, now_), event);
        ++size_;
    }

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // How often an event went from one bucket to another, which is at most once a byte of its distance.
    [[nodiscard]] std::uint64_t moved() const { return moved_; }
    // The time of the event popped last; zero before.
    [[nodiscard]] Time now() const { return now_; }

    // The time of the first event; `never` when there is none.
    [[nodiscard]] Time next() const {
        if (filled_ == 0) return never;
        const int level = std::countr_zero(filled_);
        return bucket(level, first(level)).least;
    }

    // Takes the first event; there must be one.
    Event pop() {
        return pop([](const Event&, int) {});
    }
    // The same; `see(event, step)` is called for events whose turn comes soon, so that what they need may be
    // fetched, one piece of memory after the one that leads to it: steps 0, 1, ..., `steps` - 1, each while
    // others happen. A hint: what is pushed for very soon may miss some.
    template <class See>
    Event pop(See see) {
        int level = std::countr_zero(filled_);
        int slot = first(level);
        now_ = bucket(level, slot).least;
        if (level > 0 && bucket(level, slot).head != nullptr) {
            deal(level, slot, see);
            level = 0;
            slot = static_cast<int>(picoseconds(now_) & (slots - 1));
        }
        return take(level, slot);
    }

    // Calls `see(event, step)` for events that follow the next one in its bucket, as pop() does for those in
    // other buckets.
    template <class See>
    void foresee(See see) const {
        if (filled_ == 0) return;
        const int level = std::countr_zero(filled_);
        const Bucket& from = bucket(level, first(level));
        if (from.head == nullptr) return;
        for (int step = 0; step < steps; ++step) {
            std::uint32_t at = from.read + ahead[step];
            const Block* block = from.head;
            if (at >= block_entries && block != from.tail) {
                block = block->next;
                at -= block_entries;
            }
            if (at < (block == from.tail ? from.fill : block_entries)) see(block->entries[at].event, step);
        }
    }

    static constexpr int steps = 4;

private:
    static constexpr std::uint32_t ahead[steps] = {24, 16, 10, 5};
    static constexpr int bits = 8;
    static constexpr int slots = 1 << bits;
    static constexpr int levels = 64 / bits;

    struct Entry {
        Time when;
        Event event;
    };
    // About half a KiB: enough to stream, and no power of two, whose like places would share cache sets.
    static constexpr std::uint32_t block_entries = std::max<std::uint32_t>(7, 496 / sizeof(Entry));
    struct Block {
        Block* next;
        std::array<Entry, block_entries> entries;
    };
    struct alignas(64) Bucket {
        Time least = never;
        Entry one{};  // the first, where there is one only it needs no block
        Block* head = nullptr;
        Block* tail = nullptr;
        std::uint16_t read = 0;  // entries of the head that are gone
        std::uint16_t fill = 0;  // entries of the tail
        bool has_one = false;
    };

    [[nodiscard]] Bucket& bucket(int level, int slot) const { return buckets_[level * slots + slot]; }

    // The first bucket of a level that is not empty.
    [[nodiscard]] int first(int level) const {
        const auto& words = used_[level];
        int word = 0;
        while (words[word] == 0) ++word;
        return word * 64 + std::countr_zero(words[word]);
    }

    void append(Time when, const Event& event) {
        const auto distance = static_cast<std::uint64_t>(picoseconds(when) ^ picoseconds(now_));
        const int level = (63 - std::countl_zero(distance | 1)) / bits;
        const int slot = static_cast<int>(picoseconds(when) >> (level * bits)) & (slots - 1);
        Bucket& to = bucket(level, slot);
        to.least = std::min(to.least, when);
        if (to.head != nullptr) {
            if (to.fill == block_entries) {
                to.tail = to.tail->next = fresh();
                to.fill = 0;
            }
        } else if (to.has_one) {
            to.head = to.tail = fresh();
            to.read = to.fill = 0;
        } else {
            to.one = {when, event};
            to.has_one = true;
            used_[level][slot / 64] |= std::uint64_t{1} << (slot % 64);
            filled_ |= 1U << level;
            return;
        }
        to.tail->entries[to.fill++] = {when, event};
    }

    // Spreads a bucket over the levels below, in order.
    template <class See>
    void deal(int level, int slot, See see) {
        const Bucket from = bucket(level, slot);
        forget(level, slot);
        if (level == 1) look_ahead(slot, see);
        const auto lower = [&](const Entry& entry) {
            if (level == 2) see(entry.event, 0);
            if (level == 1) see(entry.event, steps - 1);
            append(entry.when, entry.event);
            ++moved_;
        };
        if (from.has_one) lower(from.one);
        for (Block* block = from.head;;) {
            const std::uint32_t end = block == from.tail ? from.fill : block_entries;
            for (std::uint32_t at = 0; at < end; ++at) lower(block->entries[at]);
            Block* const next = block->next;
            release(block);
            if (block == from.tail) return;
            block = next;
        }
    }

    // The steps in between are for the two buckets that come after this one of level 1.
    template <class See>
    void look_ahead(int slot, See see) const {
        const auto& words = used_[1];
        for (int step = steps - 2; step > 0; --step) {
            if (++slot == slots) return;
            int word = slot / 64;
            std::uint64_t rest = words[word] >> (slot % 64) << (slot % 64);
            while (rest == 0) {
                if (++word == slots / 64) return;
                rest = words[word];
            }
            slot = word * 64 + std::countr_zero(rest);
            const Bucket& from = bucket(1, slot);
            if (from.has_one) see(from.one.event, step);
            std::uint32_t at = from.read;
            for (const Block* block = from.head; block != nullptr; block = block->next, at = 0) {
                const std::uint32_t end = block == from.tail ? from.fill : block_entries;
                for (; at < end; ++at) see(block->entries[at].event, step);
                if (block == from.tail) break;
            }
        }
    }

    Event take(int level, int slot) {
        Bucket& from = bucket(level, slot);
        --size_;
        if (from.has_one) {
            from.has_one = false;
            now_ = from.one.when;  // no other time, but made of what this event's is
            const Event event = from.one.event;
            if (from.head == nullptr) forget(level, slot);
            return event;
        }
        Block* const block = from.head;
        now_ = block->entries[from.read].when;
        const Event event = block->entries[from.read++].event;
        if (block == from.tail && from.read == from.fill) {
            forget(level, slot);
            release(block);
        } else if (from.read == block_entries) {
            from.head = block->next;
            from.read = 0;
            release(block);
        }
        return event;
    }

    void forget(int level, int slot) {
        Bucket& gone = bucket(level, slot);
        gone.least = never;
        gone.has_one = false;
        gone.head = gone.tail = nullptr;
        auto& words = used_[level];
        words[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        if ((words[0] | words[1] | words[2] | words[3]) == 0) filled_ &= ~(1U << level);
    }

    Block* fresh() {
        if (free_ == nullptr) {
            constexpr std::size_t slab = 64;
            slabs_.push_back(std::make_unique_for_overwrite<Block[]>(slab));
            for (std::size_t each = 0; each < slab; ++each) release(&slabs_.back()[each]);
        }
        Block* const block = free_;
        free_ = block->next;
        return block;
    }
    void release(Block* block) {
        block->next = free_;
        free_ = block;
    }

    Time now_ = 0;
    std::size_t size_ = 0;
    std::uint64_t moved_ = 0;
    std::uint32_t filled_ = 0;  // levels that are not empty, a bit each
    std::array<std::array<std::uint64_t, slots / 64>, levels> used_{};
    std::unique_ptr<Bucket[]> buckets_;
    std::vector<std::unique_ptr<Block[]>> slabs_;
    Block* free_ = nullptr;  // the one given back last is used first, while it is in the cache
};

}  // namespace leadline::machine
