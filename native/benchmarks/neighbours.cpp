// How much data can a node exchange with its nearest neighbours, by each method that MPI has?
//
// Rank 0 and the first ranks of the nodes next to its own, two along each axis of the machine; an empty
// answer ends each operation, so that its time covers what arrives (Hofmann and Ruenger, Blue Gene/L, 6).
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/nodes.hpp"

namespace leadline {
namespace {

constexpr Part none{};  // so that a layout of nothing is not equal blocks

// What one rank does in an operation: the middle with all around it, those with the middle, others nothing.
class Round {
public:
    Round(Run& run, const std::vector<int>& around)
        : world_(run.world()),
          middle_(world_.rank() == 0),
          gives_(run.word("operation") != (middle_ ? "receive" : "send")),
          gets_(run.word("operation") != (middle_ ? "send" : "receive")),
          bytes_(static_cast<std::size_t>(run["bytes"])) {
        if (middle_) peers_ = around;
        else if (std::ranges::count(around, world_.rank())) peers_ = {0};
        for (const int peer : peers_)
            parts_.push_back({peer, run["bytes"], run["bytes"] * std::ssize(parts_)});
        out_ = run.buffers(run["bytes"] * std::ssize(peers_))[0];
        in_ = run.buffers(run["bytes"] * std::ssize(peers_))[0];
    }

    [[nodiscard]] bool takes_part() const { return !peers_.empty(); }

    // In turn; the middle sends first where it does both.
    Task<> blocking() {
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            if (middle_ && gives_) co_await world_.send(out(i), peers_[i]);
            if (gets_) co_await world_.recv(in(i), peers_[i]);
            if (!middle_ && gives_) co_await world_.send(out(i), peers_[i]);
        }
    }
    Task<> sendrecv() {
        for (std::size_t i = 0; i < peers_.size(); ++i)
            co_await world_.sendrecv(out(i), peers_[i], in(i), peers_[i]);
    }
    Task<> nonblocking() {
        requests_.clear();
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            if (gets_) requests_.push_back(world_.irecv(in(i), peers_[i]));
            if (gives_) requests_.push_back(world_.isend(out(i), peers_[i]));
        }
        co_await world_.wait_all(requests_);
    }
    // Of all ranks, of which most give and get nothing.
    [[nodiscard]] Call call(const std::string& operation) const {
        const Layout all = parts_.empty() ? Layout(&none, 0) : Layout(parts_);
        if (operation == "exchange")
            return {.what = Collective::alltoall, .out = out_, .in = in_, .gives = all, .takes = all};
        const Layout at_root = middle_ ? all : Layout();
        if (operation == "send") {
            const Bytes in = middle_ ? Bytes() : in_;
            return {.what = Collective::scatter,
                    .out = middle_ ? out_ : Bytes(),
                    .in = in,
                    .gives = at_root,
                    .varies = true};
        }
        const Bytes out = middle_ ? Bytes() : out_;
        return {.what = Collective::gather,
                .out = out,
                .in = middle_ ? in_ : Bytes(),
                .takes = at_root,
                .varies = true};
    }
    Task<> answers() {
        for (const int peer : peers_) {
            if (middle_) co_await world_.recv({}, peer, answer);
            else co_await world_.send({}, peer, answer);
        }
    }
    // What went through the rank, over the time of an operation.
    void give(Run& run) const {
        const double ways = (gives_ ? 1 : 0) + (gets_ ? 1 : 0);
        if (takes_part()) run.sample("bandwidth", ways * static_cast<double>(out_.size()) / run.each());
    }

private:
    static constexpr int answer = 1;
    [[nodiscard]] Bytes out(std::size_t i) const { return out_.subspan(i * bytes_, bytes_); }
    [[nodiscard]] Bytes in(std::size_t i) const { return in_.subspan(i * bytes_, bytes_); }

    Comm& world_;
    bool middle_;
    bool gives_;
    bool gets_;
    std::size_t bytes_;
    std::vector<int> peers_;
    std::vector<Part> parts_;
    Bytes out_;
    Bytes in_;
    std::vector<Comm::Request> requests_;
};

Task<> by_messages(Run& run, Round& round) {
    const std::string& way = run.word("way");
    while (co_await run.next_sample()) {
        if (!round.takes_part()) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (way == "blocking") co_await round.blocking();
            else if (way == "sendrecv") co_await round.sendrecv();
            else co_await round.nonblocking();
            co_await round.answers();
        }
        run.stop();
        round.give(run);
    }
}

Task<> by_collective(Run& run, Round& round) {
    const Call call = round.call(run.word("operation"));
    auto operation = co_await run.world().prepare(call, Form::blocking);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await operation.end();
            co_await round.answers();
        }
        run.stop();
        round.give(run);
    }
    co_await operation.free();
}

}  // namespace

BENCHMARK(
    neighbours, at_least(2),
    choice("operation", {"send", "receive", "exchange"}, "what rank 0 does with its neighbours"),
    choice("way", {"blocking", "nonblocking", "sendrecv", "collective"},
           "one after the other; all at once; both ways with each in turn; scatterv, gatherv, alltoallv"),
    sizes("bytes", {65536, 1_MiB}, "message size"),
    metric("bandwidth", Unit::bytes_per_second, higher, root, "bytes a second through rank 0")) {
    if (run.word("way") == "sendrecv" && run.word("operation") != "exchange")
        Run::skip("sendrecv is a way to exchange: it both sends and receives");
    const auto& around = run.once([&] { return next_to_root(whereabouts(run.world())); });
    if (around.empty()) Run::skip("rank 0 has no neighbour on another node");
    Round round(run, around);
    if (run.word("way") == "collective") co_await by_collective(run, round);
    else co_await by_messages(run, round);
}

}  // namespace leadline
