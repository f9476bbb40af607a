// Random programs that come to their ends on every machine, the same wherever they are drawn, and how the
// simulator plays them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "reference.hpp"
#include "tiers.hpp"

namespace leadline::testing_sim {

struct Wanted {
    int ranks = 8;
    int steps = 200;
    std::uint64_t seed = 1;
    bool wildcards = true;
    Time grain = 1;  // times of compute are multiples of it: large ones have much happen at one instant
};

// Draws a program step by step: whatever a rank waits for, another one has been given before, so that by
// induction over the steps nobody waits for ever.
class Drawing {
public:
    explicit Drawing(const Wanted& wanted) : wanted_(wanted), state_(wanted.seed) {
        program_.colours = 1 + below(std::min(3, wanted.ranks));
        program_.of.resize(static_cast<std::size_t>(wanted.ranks));
        open_.resize(program_.of.size());
        requests_.resize(program_.of.size());
        for (int step = 0; step < wanted.steps; ++step) draw();
        for (int rank = 0; rank < wanted.ranks; ++rank) {
            wait_for_all(rank);
            add(rank, {.what = Op::What::flush});
        }
        program_.requests = std::ranges::max(requests_);
    }
    [[nodiscard]] const Program& program() const { return program_; }

private:
    int below(int end) {  // splitmix64
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return static_cast<int>((z ^ (z >> 31U)) % static_cast<std::uint64_t>(end));
    }
    int any_rank() { return below(wanted_.ranks); }
    std::int64_t any_bytes() {
        constexpr std::array most{8, 100, 1000, 5000, 40'000};
        return 8 + below(most[static_cast<std::size_t>(below(5))]);
    }
    // A little time before each, so that nothing happens at one instant of which the model does not say what
    // is first: a rank that takes up a request and sends at once has a grant and a message at its engine.
    void add(int rank, Op op) {
        auto& ops = program_.of[static_cast<std::size_t>(rank)];
        if (wanted_.grain == 1) ops.push_back({.time = 1 + below(10'000)});
        ops.push_back(std::move(op));
    }
    int new_request(int rank) { return requests_[static_cast<std::size_t>(rank)]++; }

    void draw() {
        const int rank = any_rank();
        switch (below(12)) {
            case 0:
            case 1:
            case 2: {
                const std::int64_t grains = (1 + below(3'000'000)) / wanted_.grain,
                                   time = grains * wanted_.grain;
                add(rank, {.time = time, .memory = grains % 2 * (time % 60'000)});
                break;
            }
            case 3:
            case 4:
            case 5:
            case 6: message(rank); break;
            case 7: wait(rank); break;
            case 8: wait_for_all(rank); break;
            case 9:
                add(rank, {.what = below(2) ? Op::What::put : Op::What::get,
                           .peer = any_rank(),
                           .bytes = any_bytes()});
                break;
            case 10: add(rank, {.what = Op::What::flush}); break;
            case 11:
                if (below(4) == 0) collective();
                break;
        }
    }

    void message(int from) {
        const int part = below(2);
        const auto size = part == 0 ? wanted_.ranks : size_of(from % program_.colours);
        const int to = below(size);
        Op op{.what = Op::What::send, .part = part, .peer = to, .tag = below(3), .bytes = any_bytes()};
        const int receiver = program_.world(op, from);
        const bool any = wanted_.wildcards && below(5) == 0;
        // A receive from anybody is waited for at once, and has tags of its own. Its message is short, so
        // that its sender never waits: another message may be taken in its place.
        if (any) {
            op.tag += 10;
            op.bytes = 8 + below(100);
        }
        op.request = new_request(from);
        open_[static_cast<std::size_t>(from)].push_back(op.request);
        add(from, op);
        const Op taken{.what = Op::What::receive,
                       .part = part,
                       .peer = any ? -1 : program_.within(part, from),
                       .tag = op.tag,
                       .bytes = 50'000,
                       .request = new_request(receiver)};
        add(receiver, taken);
        if (any)
            program_.of[static_cast<std::size_t>(receiver)].push_back(
                {.what = Op::What::wait, .request = taken.request});
        else open_[static_cast<std::size_t>(receiver)].push_back(taken.request);
    }

    void wait(int rank) {
        auto& open = open_[static_cast<std::size_t>(rank)];
        if (open.empty()) return;
        const auto which = open.begin() + below(static_cast<int>(open.size()));
        add(rank, {.what = Op::What::wait, .request = *which});
        open.erase(which);
    }

    void wait_for_all(int rank) {
        auto& open = open_[static_cast<std::size_t>(rank)];
        if (!open.empty()) add(rank, {.what = Op::What::wait_all, .requests = open});
        open.clear();
    }

    [[nodiscard]] int size_of(int colour) const {
        return (wanted_.ranks - colour + program_.colours - 1) / program_.colours;
    }

    // One done by the messages of an algorithm, by the world or by a part.
    void collective() {
        const int part = below(2);
        const int colour = below(program_.colours);
        const int size = part == 0 ? wanted_.ranks : size_of(colour);
        if (size < 2) return;
        // Those that go by axes are another's twin where no lattice is known.
        static const std::vector<collectives::Algorithm> all = [] {
            std::vector<collectives::Algorithm> found = collectives::algorithms();
            std::erase_if(found, [](const auto& each) { return each.by_axes; });
            return found;
        }();
        const auto& algorithm = all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
        const int tag = 1000 + collectives_++;
        for (const auto& stage :
             algorithm.stages({.ranks = size, .root = below(size), .bytes = any_bytes()})) {
            std::vector<int> to(static_cast<std::size_t>(size), -1), from(to);
            collectives::each_message(stage, size, [&](int a, int b) {
                to[static_cast<std::size_t>(a)] = b;
                from[static_cast<std::size_t>(b)] = a;
            });
            for (int r = 0; r < size; ++r) {
                const int world = part == 0 ? r : r * program_.colours + colour;
                exchange(world, {.part = part, .tag = tag, .bytes = stage.bytes + 8},
                         to[static_cast<std::size_t>(r)], from[static_cast<std::size_t>(r)]);
            }
        }
    }

    void exchange(int rank, Op op, int to, int from) {
        std::vector<int> both;
        if (from >= 0) {
            op.what = Op::What::receive;
            op.peer = from;
            op.request = new_request(rank);
            both.push_back(op.request);
            add(rank, op);
        }
        if (to >= 0) {
            op.what = Op::What::send;
            op.peer = to;
            op.request = new_request(rank);
            both.insert(both.begin(), op.request);
            add(rank, op);
        }
        if (!both.empty()) add(rank, {.what = Op::What::wait_all, .requests = both});
    }

    Wanted wanted_;
    std::uint64_t state_;
    Program program_;
    std::vector<std::vector<int>> open_{};  // requests of each rank that nothing waits for yet
    std::vector<int> requests_{};
    int collectives_ = 0;
};

inline Program draw(const Wanted& wanted) { return Drawing(wanted).program(); }

// What one rank of the simulator does of it.
inline Task<> act(Comm& world, Control& control, const Program& program, std::vector<std::byte>& memory,
                  std::vector<std::pair<int, int>>& got) {
    Comm part = co_await world.split(world.rank() % program.colours, 0);
    Window window = co_await world.window(50'000, Exposure::allocated);
    std::vector<Comm::Request> requests(static_cast<std::size_t>(program.requests) + 1);
    std::vector<int> received(requests.size());
    std::array<int, 2> words{world.rank(), 0};
    // Only the first bytes of a message are brought: memory may overlap beyond them.
    const auto room = [&](int request, std::int64_t bytes) {
        return Bytes(memory).subspan(16 * static_cast<std::size_t>(request), static_cast<std::size_t>(bytes));
    };
    const auto take = [&](int request) {
        if (!std::exchange(received[static_cast<std::size_t>(request)], 0)) return;
        std::array<int, 2> words{};
        std::memcpy(words.data(), room(request, 8).data(), 8);
        got[static_cast<std::size_t>(request)] = {words[0], words[1]};
    };
    for (const Op& op : program.of[static_cast<std::size_t>(world.rank())]) {
        Comm& comm = op.part == 0 ? world : part;
        auto& request = requests.at(static_cast<std::size_t>(op.request));
        switch (op.what) {
            case Op::What::compute:
                co_await control.busy(machine::seconds(op.time));
                control.walked(machine::seconds(op.time), static_cast<double>(op.memory));
                break;
            case Op::What::send:
                std::memcpy(room(op.request, 8).data(), words.data(), 8);
                ++words[1];
                request = comm.isend(room(op.request, op.bytes), op.peer, op.tag);
                break;
            case Op::What::receive:
                received[static_cast<std::size_t>(op.request)] = 1;
                if (op.peer < 0) co_await comm.recv_any(room(op.request, op.bytes), op.tag);
                else request = comm.irecv(room(op.request, op.bytes), op.peer, op.tag);
                break;
            case Op::What::wait:
                co_await world.wait(request);
                take(op.request);
                break;
            case Op::What::wait_all: {
                std::vector<Comm::Request> all;
                all.reserve(op.requests.size());
                for (const int each : op.requests)
                    all.push_back(std::exchange(requests[static_cast<std::size_t>(each)], Comm::Request{}));
                co_await world.wait_all(all);
                for (const int each : op.requests) take(each);
                break;
            }
            case Op::What::put: co_await window.put(room(0, op.bytes), op.peer, 0); break;
            case Op::What::get: co_await window.get(room(0, op.bytes), op.peer, 0); break;
            case Op::What::flush: co_await window.flush(Window::everybody); break;
        }
    }
}

inline Played simulate(const json& job, const Program& program) {
    Played played;
    played.ends.resize(program.of.size());
    played.got.assign(program.of.size(),
                      std::vector<std::pair<int, int>>(static_cast<std::size_t>(program.requests), {-1, -1}));
    play(job, [&](Comm world, Control control) -> Task<> {
        const auto me = static_cast<std::size_t>(world.rank());
        std::vector<std::byte> memory(16 * static_cast<std::size_t>(program.requests) + 60'000);
        co_await act(world, control, program, memory, played.got[me]);
        played.ends[me] = machine::from_seconds(control.now());
    });
    return played;
}

}  // namespace leadline::testing_sim
