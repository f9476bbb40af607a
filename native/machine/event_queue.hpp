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
    [[nodiscard]] Time next() const { return next_; }

    // Takes the first event; there must be one.
    Event pop() {
        return pop([](const Event&, auto) {});
    }
    // The same; `see(event, step)` is called for events whose turn comes soon, so that what they need may be
    // fetched, one piece of memory after the one that leads to it: steps 0, 1, ..., `steps` - 1, each while
    // others happen, and known when this is compiled. A hint: what is pushed for very soon may miss some.
    template <class See>
    Event pop(See see) {
        now_ = next_;
        if (front_ >= slots && buckets_[front_].head != nullptr) {
            deal(front_, see);
            front_ = static_cast<int>(picoseconds(now_) & (slots - 1));
        }
        return take(buckets_[front_]);
    }

    // Calls `see(event, step)` for events that follow the next one in its bucket, as pop() does for those in
    // other buckets.
    template <class See>
    [[gnu::always_inline]] void foresee(See see) const {
        const Bucket& from = buckets_[front_];
        if (from.head == nullptr) return;
        in_steps([&](auto step) __attribute__((always_inline)) {
            std::uint32_t at = from.read + ahead[step];
            const Block* block = from.head;
            if (at >= block_entries && block != from.tail) {
                block = block->next;
                at -= block_entries;
            }
            if (at < (block == from.tail ? from.fill : block_entries)) see(block->entries[at].event, step);
        });
    }

    static constexpr int steps = 4;
    template <int at>
    using Step = std::integral_constant<int, at>;

private:
    // Inlined always, as whatever calls `see`: GCC leaves out calls of functions that only fetch.
    template <class Do>
    [[gnu::always_inline]] static void in_steps(Do each) {
        each(Step<0>{});
        each(Step<1>{});
        each(Step<2>{});
        each(Step<3>{});
    }

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
        Bucket& to = buckets_[level * slots + slot];
        to.least = std::min(to.least, when);
        if (when < next_) {
            next_ = when;
            front_ = level * slots + slot;
        }
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

    // Spreads the first bucket over the levels below, in order.
    template <class See>
    void deal(int at, See see) {
        const int level = at / slots;
        const Bucket from = buckets_[at];
        forget(at);
        if (level == 1) look_ahead(at - slots, see);
        const auto lower = [&](const Entry& entry) __attribute__((always_inline)) {
            if (level == 2) see(entry.event, Step<0>{});
            if (level == 1) see(entry.event, Step<steps - 1>{});
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

    // The steps in between are for the buckets that come after this one of level 1, one each.
    template <class See>
    [[gnu::always_inline]] void look_ahead(int slot, See see) const {
        in_steps([&](auto step) __attribute__((always_inline)) {
            constexpr int before = steps - 2 - step;  // the nearest has its last step
            if constexpr (before > 0) see_all(slot = next_used(slot), see, Step<before>{});
        });
    }

    // The bucket of level 1 after this one that is not empty; `slots` where there is none.
    [[nodiscard]] int next_used(int slot) const {
        if (slot >= slots - 1) return slots;
        const auto& words = used_[1];
        int word = ++slot / 64;
        std::uint64_t rest = words[word] >> (slot % 64) << (slot % 64);
        while (rest == 0) {
            if (++word == slots / 64) return slots;
            rest = words[word];
        }
        return word * 64 + std::countr_zero(rest);
    }

    template <class See, class At>
    [[gnu::always_inline]] void see_all(int slot, See see, At step) const {
        if (slot == slots) return;
        const Bucket& from = buckets_[slots + slot];
        if (from.has_one) see(from.one.event, step);
        std::uint32_t at = from.read;
        for (const Block* block = from.head; block != nullptr; block = block->next, at = 0) {
            const std::uint32_t end = block == from.tail ? from.fill : block_entries;
            for (; at < end; ++at) see(block->entries[at].event, step);
            if (block == from.tail) break;
        }
    }

    // The first event of the first bucket, where all have one time.
    Event take(Bucket& from) {
        --size_;
        if (from.has_one) {
            from.has_one = false;
            now_ = from.one.when;  // no other time, but made of what this event's is
            const Event event = from.one.event;
            if (from.head == nullptr) go_on();
            return event;
        }
        Block* const block = from.head;
        now_ = block->entries[from.read].when;
        const Event event = block->entries[from.read++].event;
        if (block == from.tail && from.read == from.fill) {
            go_on();
            release(block);
        } else if (from.read == block_entries) {
            from.head = block->next;
            from.read = 0;
            release(block);
        }
        return event;
    }

    // The first bucket is empty: which is the first now?
    void go_on() {
        forget(front_);
        if (filled_ == 0) {
            next_ = never;
            return;
        }
        const int level = std::countr_zero(filled_);
        front_ = level * slots + first(level);
        next_ = buckets_[front_].least;
    }

    void forget(int at) {
        Bucket& gone = buckets_[at];
        gone.least = never;
        gone.has_one = false;
        gone.head = gone.tail = nullptr;
        const int level = at / slots, slot = at % slots;
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
    Time next_ = never;  // and the bucket of the first event
    int front_ = 0;
    std::size_t size_ = 0;
    std::uint64_t moved_ = 0;
    std::uint32_t filled_ = 0;  // levels that are not empty, a bit each
    std::array<std::array<std::uint64_t, slots / 64>, levels> used_{};
    std::unique_ptr<Bucket[]> buckets_;
    std::vector<std::unique_ptr<Block[]>> slabs_;
    Block* free_ = nullptr;  // the one given back last is used first, while it is in the cache
};

}  // namespace leadline::machine
