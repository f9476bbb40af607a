#include "program/left.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace leadline::program {
namespace {

// Calls each(step, times) for every message's step that a sequence executes, persistent ones where they are
// started.
template <class Each>
void each_message(const Sequence& sequence, Each each) {
    // Which operation a slot has made ready may change from turn to turn.
    const bool unfolds =
        std::ranges::any_of(sequence.steps, [](const Step& step) { return step.kind == Kind::start; });
    struct Loop {
        std::size_t begin;
        std::int64_t left;
    };
    std::vector<Loop> loops;
    std::vector<const Step*> ready(static_cast<std::size_t>(sequence.requests) + 1);
    std::int64_t times = 1;
    for (std::size_t at = 0;; ++at) {
        const Step& step = sequence.steps[at];
        if (step.kind == Kind::loop) {
            if (step.bytes == 0) {
                at = step.leaf;
                continue;
            }
            loops.push_back({at, unfolds ? step.bytes : 1});
            if (!unfolds) times *= step.bytes;
        } else if (step.kind == Kind::end) {
            if (loops.empty()) return;
            if (--loops.back().left > 0) {
                at = loops.back().begin;
                continue;
            }
            if (!unfolds) times /= sequence.steps[loops.back().begin].bytes;
            loops.pop_back();
        } else if (step.kind == Kind::start) {
            for (const std::int64_t slot : sequence.list(step.gives))
                if (const Step* const made = ready[static_cast<std::size_t>(slot)]) each(*made, times);
        } else if (step.kind == Kind::send || step.kind == Kind::recv || step.kind == Kind::sendrecv) {
            if (step.form == persistent) ready[static_cast<std::size_t>(step.request)] = &step;
            else each(step, times);
        } else if (step.form == persistent) {
            ready[static_cast<std::size_t>(step.request)] = nullptr;
        }
    }
}

}  // namespace

std::vector<std::vector<Membership>> memberships(const Program& program) {
    std::vector<std::vector<Membership>> of(static_cast<std::size_t>(program.ranks));
    for (std::size_t i = 1; i < program.communicators.size(); ++i) {
        int place = 0;
        for (const std::int32_t rank : program.communicators[i].members)
            of[static_cast<std::size_t>(rank)].push_back({i, place++});
    }
    return of;
}

Left left_by(const Program& program) {
    if (!program.recorded) return {};
    using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>;  // comm, to, tag, from
    struct Counts {
        std::int64_t sent = 0;
        std::int64_t received = 0;
    };
    std::map<Key, Counts> counts;
    std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> unknown;
    const auto all = memberships(program);
    for (int rank = 0; rank < program.ranks; ++rank) {
        const auto& own = all[static_cast<std::size_t>(rank)];
        const Sequence& sequence = program.of(rank);
        each_message(sequence, [&](const Step& step, std::int64_t times) {
            const auto comm = static_cast<std::size_t>(step.comm);
            const auto found = std::ranges::lower_bound(own, comm, {}, &Membership::communicator);
            if (comm > 0 && (found == own.end() || found->communicator != comm)) return;
            const std::int32_t mine = comm == 0 ? rank : found->place;
            const std::int64_t size = std::ssize(program.communicators[comm].members);
            const auto place = [&](std::int32_t peer) {
                return static_cast<std::int32_t>(sequence.relative ? (std::int64_t{peer} + mine) % size
                                                                   : peer);
            };
            const auto receives = [&](std::int32_t source, std::int32_t tag) {
                if (source < 0) unknown.insert({step.comm, mine, tag});
                else counts[{step.comm, mine, tag, place(source)}].received += times;
            };
            if (step.kind == Kind::recv) {
                receives(step.peer, step.tag);
                return;
            }
            if (step.peer >= 0) counts[{step.comm, place(step.peer), step.tag, mine}].sent += times;
            if (step.kind == Kind::sendrecv) {
                const Received received = sequence.received(step);
                receives(received.source, received.tag);
            }
        });
    }
    Left left;
    for (const auto& [key, count] : counts) {
        const auto& [comm, to, tag, from] = key;
        const auto& members = program.communicators[static_cast<std::size_t>(comm)].members;
        if (count.sent <= count.received || to >= std::ssize(members) || unknown.contains({comm, to, tag}))
            continue;
        left.by.resize(static_cast<std::size_t>(program.ranks));
        left.to.resize(static_cast<std::size_t>(program.ranks));
        const LeftMessages made{.comm = comm,
                                .from = from,
                                .to = to,
                                .tag = tag,
                                .received = count.received,
                                .count = count.sent - count.received};
        const auto world = [&](std::int32_t place) {
            return static_cast<std::size_t>(members[static_cast<std::size_t>(place)]);
        };
        left.by[world(from)].push_back(made);
        left.to[world(to)].push_back(made);
    }
    return left;
}

}  // namespace leadline::program
