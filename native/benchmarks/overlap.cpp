// How much of a message exchange can be overlapped with a computation, or with a broadcast?
//
// Pairs of ranks exchange messages by non-blocking operations, begun before a multiplication of matrices that
// takes as long, or before a broadcast of as many bytes, and ended after it; each of the two is timed alone
// beside it, and one after the other (Hofmann and Ruenger, Blue Gene/L, 6).
#include <array>
#include <cmath>
#include <span>

#include "harness/benchmark.hpp"
#include "harness/communicators.hpp"
#include "harness/multiplication.hpp"
#include "harness/overlap.hpp"

namespace leadline {
namespace {

// Of each rank with the one beside it in the communicator; one that is left over has none.
class PairExchange {
public:
    PairExchange(Run& run, Comm& comm)
        : comm_(comm),
          partner_(comm.rank() ^ 1),
          paired_(partner_ < comm.size()),
          out_(run.buffers(run["bytes"])[0]),
          in_(run.buffers(run["bytes"])[0]) {}
    [[nodiscard]] bool paired() const { return paired_; }
    void begin() {
        if (!paired_) return;
        requests_[0] = comm_.irecv(in_, partner_);
        requests_[1] = comm_.isend(out_, partner_);
    }
    auto end() { return comm_.wait_all(std::span(requests_).first(paired_ ? 2 : 0)); }

private:
    Comm& comm_;
    int partner_;
    bool paired_;
    Bytes out_;
    Bytes in_;
    std::array<Comm::Request, 2> requests_{};
};

// Rows of a product that a rank computes in a second.
Task<double> pace(Run& run, Multiplication& product) {
    constexpr std::int64_t rows = 256;
    const double begin = run.now();
    co_await product.rows(run, rows);
    const double spent = run.now() - begin;
    if (spent <= 0) Run::skip("this machine computes in no time");
    co_return static_cast<double>(rows) / spent;
}

}  // namespace

BENCHMARK(overlap, at_least(2), choice("with", {"compute", "bcast"}, "the other work"), communicators(),
          sizes("bytes", {4096, 65536, 1_MiB}, "size of a message, and of the broadcast"),
          metric("time", Unit::second, lower, largest, "time of both together on the slowest rank"),
          metric("in_turn", Unit::second, lower, largest, "time of one after the other on the slowest rank"),
          metric("messages", Unit::second, lower, largest, "time of the messages alone on the slowest rank"),
          metric("other", Unit::second, lower, largest, "time of the other work alone on the slowest rank"),
          metric("together", Unit::one, lower, Over::mean,
                 "time of both together divided by the sum of the two alone, mean over ranks"),
          metric("hidden", Unit::one, higher, Over::mean,
                 "saved share of the shorter one's time, mean over ranks")) {
    const Membership& members = leadline::members(run);
    const bool computes = run.word("with") == "compute";
    Comm comm = co_await communicator(run, members);
    const bool inside = members.of(run.rank()) != Membership::nobody;
    PairExchange exchange(run, comm);
    const Bytes data = run.buffers(run["bytes"])[0];
    Multiplication product;
    double rate = 0;
    if (computes) rate = co_await pace(run, product);
    while (co_await run.next_sample()) {
        if (!inside) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            exchange.begin();
            co_await exchange.end();
        }
        run.stop();
        const double messages = run.each();
        const auto rows = static_cast<std::int64_t>(std::ceil(messages * rate));
        const auto batch = static_cast<double>(run.batch().size);
        co_await comm.barrier();
        double begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (computes) co_await product.rows(run, rows);
            else co_await comm.bcast(data, 0);
        }
        const double other = (run.now() - begin) / batch;
        co_await comm.barrier();
        begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) {
            exchange.begin();
            co_await exchange.end();
            if (computes) co_await product.rows(run, rows);
            else co_await comm.bcast(data, 0);
        }
        const double in_turn = (run.now() - begin) / batch;
        co_await comm.barrier();
        begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) {
            exchange.begin();
            if (computes) co_await product.rows(run, rows);
            else co_await comm.bcast(data, 0);
            co_await exchange.end();
        }
        const double together = (run.now() - begin) / batch;
        run.sample("in_turn", in_turn);
        run.sample("messages", messages);
        run.sample("other", other);
        run.sample("time", together);
        if (!exchange.paired() || messages <= 0 || other <= 0) continue;
        run.sample("together", together / (messages + other));
        run.sample("hidden", hidden_share(messages, other, together));
    }
}

}  // namespace leadline
