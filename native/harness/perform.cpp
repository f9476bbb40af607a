#include "harness/perform.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "harness/perform_memory.hpp"

namespace leadline {
namespace {

using collectives::Stage;
using perform::Block;
using perform::Sight;

// Messages of an algorithm meet no other's: a benchmark's tags are small.
constexpr int own_tag = 32'019;
constexpr int nobody = -1;

// As many ranks as each node has, ranks of a node following one another.
std::int32_t ranks_a_node(const Comm& comm) {
    std::int32_t first = 1;
    while (first < comm.size() && comm.placement(first).node == comm.placement(0).node) ++first;
    for (std::int32_t rank = 1; rank < comm.size(); ++rank) {
        const bool same = comm.placement(rank).node == comm.placement(rank - 1).node;
        if (same != (rank % first != 0))
            throw Unsupported("a hierarchical collective wants the ranks of a node one after another, " +
                              std::to_string(first) + " on each");
    }
    return first;
}

// Of what a message, or a copy, is made.
struct Piece {
    std::byte* at;
    std::size_t bytes;
};

struct Range {
    std::size_t from = 0;
    std::size_t to = 0;
};

// What a rank does in a stage: it packs, sends, receives, unpacks or combines, each where there is anything.
struct Step {
    int to = nobody;
    int from = nobody;
    Bytes out{};
    Bytes in{};
    Range packs{};    // pieces that `out` is put together from
    Range unpacks{};  // pieces that `in` is taken apart to
    bool combines = false;
};

}  // namespace

struct P2PCollective::State {
    State(Comm comm, const Call& call)
        : comm(std::move(comm)), combine(perform::combining(call.type, call.reduce)) {}

    Comm comm;
    perform::Combine combine;
    struct Copy {
        std::byte* to;
        const std::byte* from;
        std::size_t bytes;
    };
    std::vector<Copy> copies{};  // of what a rank brings, to where the algorithm has it
    std::vector<Step> steps{};
    std::vector<Piece> pieces{};
    std::vector<std::byte> memory{};

    // The program that runs it, once each time that it is set off again; its caller, where it could not go
    // through without waiting.
    std::optional<Task<>> worker{};
    std::coroutine_handle<> caller{};
    bool over = false;
    std::exception_ptr error{};
};

namespace {

using State = P2PCollective::State;

struct Over {
    State& state;
    static constexpr bool await_ready() noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        state.over = true;
        const auto caller = std::exchange(state.caller, {});
        return caller ? caller : std::noop_coroutine();
    }
    static constexpr void await_resume() noexcept {}
};

void pack(const State& state, const Step& step) {
    std::byte* to = step.out.data();
    for (std::size_t i = step.packs.from; i < step.packs.to; ++i) {
        const Piece& piece = state.pieces[i];
        std::memcpy(to, piece.at, piece.bytes);
        to += piece.bytes;
    }
}

void unpack(const State& state, const Step& step) {
    const std::byte* from = step.in.data();
    for (std::size_t i = step.unpacks.from; i < step.unpacks.to; ++i) {
        const Piece& piece = state.pieces[i];
        if (step.combines) state.combine(piece.at, from, piece.bytes);
        else std::memmove(piece.at, from, piece.bytes);
        from += piece.bytes;
    }
}

Task<> work(State& state) {
    for (;;) {
        try {
            for (const auto& copy : state.copies) std::memmove(copy.to, copy.from, copy.bytes);
            for (const Step& step : state.steps) {
                pack(state, step);
                if (step.to != nobody && step.from != nobody)
                    co_await state.comm.sendrecv(step.out, step.to, step.in, step.from, own_tag);
                else if (step.to != nobody) co_await state.comm.send(step.out, step.to, own_tag);
                else if (step.from != nobody) co_await state.comm.recv(step.in, step.from, own_tag);
                unpack(state, step);
            }
        } catch (...) {
            state.error = std::current_exception();
        }
        co_await Over{state};
    }
}

// Puts together one rank's steps.
class Making {
public:
    Making(State& state, const Sight& sight, std::vector<Block> blocks)
        : state_(state), sight_(sight), blocks_(std::move(blocks)) {}

    void make(const std::vector<Stage>& stages) {
        for (const Stage& stage : stages) take(stage);
        settle();
        for (const StageRole& each : asked_) add(each);
        copy();
    }

private:
    // What a stage asks of this rank.
    struct StageRole {
        int to = nobody;
        int from = nobody;
        bool combines = false;
        collectives::Blocks carries{};
        collectives::Blocks lands{};
    };

    [[nodiscard]] Block& block(std::int32_t number) { return blocks_.at(static_cast<std::size_t>(number)); }

    void take(const Stage& stage) {
        StageRole asked{.combines = stage.combines};
        if (stage.pattern == Stage::Pattern::local) {
            asked.carries = stage.carries(sight_.rank);
            asked.lands = stage.lands ? stage.lands(sight_.rank) : asked.carries;
        } else {
            collectives::each_message(stage, sight_.ranks, [&](std::int32_t from, std::int32_t to) {
                if (from == sight_.rank) asked.to = to;
                if (to == sight_.rank) asked.from = from;
            });
            if (asked.to != nobody && stage.carries) asked.carries = stage.carries(sight_.rank);
            if (asked.from != nobody && stage.lands) asked.lands = stage.lands(sight_.rank);
            else if (asked.from != nobody && stage.carries) asked.lands = stage.carries(asked.from);
            if (asked.to == nobody && asked.from == nobody) return;
        }
        for (const std::int32_t number : asked.carries) block(number).used = true;
        for (const std::int32_t number : asked.lands) block(number).used = block(number).written = true;
        asked_.push_back(std::move(asked));
    }

    // Gives every block its home, and the steps a place to pack and unpack.
    void settle() {
        std::size_t own = 0;
        const auto room = [](std::int64_t bytes) {
            return (static_cast<std::size_t>(bytes) + alignof(std::max_align_t) - 1) &
                   ~(alignof(std::max_align_t) - 1);
        };
        const auto needs_room = [](const Block& each) {
            return each.used && !each.taken && (!each.given || each.written);
        };
        for (const Block& each : blocks_)
            if (needs_room(each)) own += static_cast<std::size_t>(each.bytes);
        std::int64_t most_out = 0;
        std::int64_t most_in = 0;
        for (const StageRole& each : asked_) {
            most_out = std::max(most_out, bytes_of(each.carries));
            most_in = std::max(most_in, bytes_of(each.lands));
        }
        const std::size_t packed = room(static_cast<std::int64_t>(own));
        const std::size_t unpacked = packed + room(most_out);
        state_.memory.resize(unpacked + room(most_in));
        pack_ = state_.memory.data() + packed;
        unpack_ = state_.memory.data() + unpacked;
        std::byte* at = state_.memory.data();
        for (Block& each : blocks_) {
            each.home = each.taken ? each.taken : each.given;
            if (!needs_room(each)) continue;
            each.home = at;
            at += each.bytes;
        }
    }

    [[nodiscard]] std::int64_t bytes_of(const collectives::Blocks& numbers) {
        return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0},
                               [&](std::int64_t sum, std::int32_t each) { return sum + block(each).bytes; });
    }

    // The blocks' memory, neighbours in one piece. They are added behind the others.
    Range pieces(const collectives::Blocks& numbers) {
        auto& all = state_.pieces;
        const std::size_t from = all.size();
        for (const std::int32_t number : numbers) {
            const Block& each = block(number);
            if (each.bytes == 0) continue;
            if (all.size() > from && all.back().at + all.back().bytes == each.home)
                all.back().bytes += static_cast<std::size_t>(each.bytes);
            else all.push_back({.at = each.home, .bytes = static_cast<std::size_t>(each.bytes)});
        }
        return {.from = from, .to = all.size()};
    }

    static Bytes bytes_of(const Piece& piece) { return {piece.at, piece.bytes}; }

    [[nodiscard]] bool overlap(const Range& a, const Range& b) const {
        for (std::size_t i = a.from; i < a.to; ++i)
            for (std::size_t j = b.from; j < b.to; ++j) {
                const Piece& one = state_.pieces[i];
                const Piece& other = state_.pieces[j];
                if (std::less<>()(one.at, other.at + other.bytes) &&
                    std::less<>()(other.at, one.at + one.bytes))
                    return true;
            }
        return false;
    }

    void add(const StageRole& asked) {
        Step step{.to = asked.to, .from = asked.from, .combines = asked.combines};
        const Range sent = pieces(asked.carries);
        const Range landed = pieces(asked.lands);
        const bool apart = !overlap(sent, landed);
        // One piece is sent from where it is, and received where it goes.
        if (sent.to - sent.from == 1 && (apart || asked.to != nobody)) {
            step.out = bytes_of(state_.pieces[sent.from]);
        } else {
            step.out = {pack_, static_cast<std::size_t>(bytes_of(asked.carries))};
            step.packs = sent;
        }
        if (asked.to == nobody && asked.from == nobody) {
            step.in = step.out;
            step.unpacks = landed;
        } else if (landed.to - landed.from == 1 && !asked.combines && apart) {
            step.in = bytes_of(state_.pieces[landed.from]);
        } else {
            step.in = {unpack_, static_cast<std::size_t>(bytes_of(asked.lands))};
            step.unpacks = landed;
        }
        state_.steps.push_back(step);
    }

    void copy() {
        for (const Block& each : blocks_)
            if (each.given && each.home && each.home != each.given && each.bytes > 0)
                state_.copies.push_back(
                    {.to = each.home, .from = each.given, .bytes = static_cast<std::size_t>(each.bytes)});
    }

    State& state_;
    const Sight& sight_;
    std::vector<Block> blocks_;
    std::vector<StageRole> asked_{};
    std::byte* pack_ = nullptr;
    std::byte* unpack_ = nullptr;
};

}  // namespace

Task<P2PCollective> P2PCollective::prepare(Comm comm, Call call) {
    const std::string operation(name_of(call.what));
    const Sight sight{.call = call, .rank = comm.rank(), .ranks = comm.size()};
    std::vector<std::int64_t> sizes = perform::sizes_known(sight);
    if (perform::root_tells(sight)) {
        const Bytes told = std::as_writable_bytes(std::span(sizes));
        co_await comm.bcast(told, call.root);
    }
    const bool varies = !call.gives.empty() || !call.takes.empty();
    collectives::AlgorithmArguments asked{.ranks = sight.ranks, .root = call.root};
    if (sight.by_parts()) asked.bytes = static_cast<std::int64_t>(perform::message_of(sight).size());
    else asked.bytes = *std::ranges::max_element(sizes);

    std::string name(call.algorithm);
    if (name.empty()) name = collectives::usual(operation, asked);
    if (name == "bruck" && operation == "alltoall" && varies) {
        if (!call.algorithm.empty())
            throw Unsupported("an alltoall by bruck needs blocks that are all of one size");
        name = "pairwise";
    }
    if (name.empty()) throw Unsupported("there is no algorithm for " + operation);
    const auto* algorithm = collectives::find(operation, name);
    if (!algorithm) throw Unsupported("there is no algorithm '" + name + "' for " + operation);
    if (name.starts_with("hierarchical")) asked.per_node = ranks_a_node(comm);

    auto state = std::make_shared<State>(comm, call);
    const std::int32_t parts = algorithm->blocks ? algorithm->blocks(asked) : 1;
    Making(*state, sight, perform::blocks_of(sight, sizes, parts)).make(algorithm->stages(asked));
    state->worker.emplace(work(*state));
    co_return P2PCollective(std::move(state));
}

bool P2PCollective::Begin::await_suspend(std::coroutine_handle<> caller) {
    state.over = false;
    state.worker->handle().resume();
    if (state.over) return false;
    state.caller = caller;
    return true;
}

void P2PCollective::Begin::await_resume() {
    if (state.error) std::rethrow_exception(std::exchange(state.error, {}));
}

P2PCollective::Needs P2PCollective::needs() const {
    Needs needs{.memory = state_->memory.size()};
    for (const Step& step : state_->steps)
        if (step.to != nobody) {
            ++needs.messages;
            needs.sent += static_cast<std::int64_t>(step.out.size());
        }
    return needs;
}

}  // namespace leadline
