// Which receive takes which message: by communicator, source and tag, the earliest first, as MPI has it.
//
// A line a rank, of receives that wait for a message or of messages that wait for a receive. Lines are short
// in most programs and are searched from their head; one that grows long is searched by a hash table from
// then on, so that a fan-in of a hundred thousand, or a million receives that nobody meets, costs no more an
// entry. The first to come into an empty queue stays in the queue's own record, beside which nothing is
// touched.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/pool.hpp"

namespace leadline::machine {

inline constexpr std::int32_t any_source = -1;

struct Envelope {
    std::int32_t context = 0;  // the communicator
    std::int32_t source = 0;   // rank in it, or any_source
    std::int32_t tag = 0;
    bool operator==(const Envelope&) const = default;
};

class MatchQueues {
public:
    using Id = std::uint32_t;
    static constexpr Id none = ~Id{0};

    // What a search found, and how many entries it passed by to get there.
    struct Found {
        Id id = none;
        std::int32_t passed = 0;
    };

    // What stands in line: receives, some of them from any source, searched for a message; or messages,
    // searched for a receive. `walk`: always search from the head, since somebody charges for what is passed
    // by.
    enum class Of { receives, messages };
    MatchQueues(Of of, std::size_t ranks, bool walk) : ranks_(ranks), of_(of), walk_(walk) {}

    void append(int rank, const Envelope& envelope, Id id);
    // Takes out the earliest entry that fits: either side may be from any_source.
    Found take(int rank, const Envelope& envelope);
    [[nodiscard]] std::uint32_t length(int rank) const {
        return lines_.empty() ? 0 : lines_[static_cast<std::size_t>(rank)].count;
    }
    // Entries of all lines.
    [[nodiscard]] std::size_t entries() const { return entries_.used() + inside_; }
    // How many entries were ever put elsewhere than into their queue's record.
    [[nodiscard]] std::uint64_t spilled() const { return order_ / 2; }
    // Calls `see(rank, envelope, id)` for each, rank by rank in order.
    template <class See>
    void each(See see) const {
        for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
            if (lines_[rank].id != none) see(static_cast<int>(rank), lines_[rank].envelope, lines_[rank].id);
            for (std::uint32_t at = lines_[rank].head; at != none; at = entries_[at].next)
                see(static_cast<int>(rank), entries_[at].envelope, entries_[at].id);
        }
    }
    // What a search of a rank's queue needs: the queue, and what its first entry is the number of.
    void fetch(int rank) const {
        if (!lines_.empty()) __builtin_prefetch(&lines_[static_cast<std::size_t>(rank)]);
    }
    void fetch_first(int rank) const {
        if (lines_.empty()) return;
        if (const MatchQueue& line = lines_[static_cast<std::size_t>(rank)];
            line.id == none && line.head != none)
            __builtin_prefetch(&entries_[line.head]);
    }
    [[nodiscard]] Id first_id(int rank) const {
        if (lines_.empty()) return none;
        const MatchQueue& line = lines_[static_cast<std::size_t>(rank)];
        if (line.id != none) return line.id;
        return line.head == none ? none : entries_[line.head].id;
    }
    // The envelope and number of the first entry of a rank's line; Found::id none where there is none.
    [[nodiscard]] const Envelope* first(int rank) const;

private:
    static constexpr std::uint32_t long_line = 24;  // entries; a walk past so many costs about one look-up

    struct Entry {
        Envelope envelope;
        Id id = none;
        std::uint64_t order = 0;  // 0: taken out
        std::uint32_t next = none;
        std::uint32_t previous = none;
    };
    struct Hash {
        std::size_t operator()(const Envelope& key) const;
    };
    struct Mark {
        std::uint32_t entry;
        std::uint64_t order;
    };
    using Index = std::unordered_map<Envelope, std::deque<Mark>, Hash>;
    // Half a line of the cache. What is in it is earlier than all others and in no index.
    struct alignas(32) MatchQueue {
        Envelope envelope;
        Id id = none;  // of the entry that is in it; none: there is none
        std::uint32_t head = none;
        std::uint32_t tail = none;
        std::uint32_t count = 0;  // with that one
        std::uint32_t index = none;
    };

    void enter(Index& index, std::uint32_t entry);
    std::uint32_t look_up(Index& index, const Envelope& envelope);
    void unlink(MatchQueue& line, std::uint32_t entry);
    void make_index(MatchQueue& line);

    std::size_t ranks_;
    std::vector<MatchQueue> lines_;  // of the ranks, once anything has stood in one
    Pool<Entry> entries_;
    std::vector<std::unique_ptr<Index>> indices_;
    std::vector<std::uint32_t> free_indices_;
    std::uint64_t order_ = 0;  // twice that of the latest entry: between two there is room for one
    std::size_t inside_ = 0;   // entries that are in their queues' records
    Of of_;
    bool walk_;
};

}  // namespace leadline::machine
