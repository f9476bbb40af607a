// How long does it take to pass two messages of every rank once around all ranks?
//
// Every rank sends one message off to its left and one to its right, tagged with ten times its number. What a
// rank gets it passes on, its own number added to what goes right and taken from what goes left, until its
// own are home again: 2 N messages, which end as plus and minus the sum of all ranks (ORFEO report, section 1
// A).
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

constexpr int tag_step = 10;         // a message's tag over the number of the rank that sent it off
constexpr std::size_t carried = 16;  // B; longer messages of a described machine bring no content

// The messages that go one way, as one rank sees them: the one that it holds, and room for the next.
class Way {
public:
    // `sign` is +1 for the way to the right, where a rank's number is added, and -1 for that to the left.
    Way(const Comm& world, int sign, Bytes held, Bytes room)
        : sign_(sign), rank_(world.rank()), ranks_(world.size()), held_(held), room_(room) {}

    void set_off() {
        step_ = 0;
        put(sign_ * static_cast<std::int64_t>(rank_));
    }
    // Begins to take the next one, and to pass on the one that is held.
    Comm::Request take(Comm& world) { return world.irecv(room_, at(-sign_), tag_step * origin(step_ + 1)); }
    Comm::Request pass(Comm& world) { return world.isend(held_, at(sign_), tag_step * origin(step_)); }
    // Once both are done: this rank's number goes into what came, unless it is its own.
    void arrived() {
        std::swap(held_, room_);
        if (++step_ < ranks_) put(number() + sign_ * static_cast<std::int64_t>(rank_));
    }
    [[nodiscard]] std::int64_t number() const {
        std::int64_t number = 0;
        std::memcpy(&number, held_.data(), sizeof number);
        return number;
    }

private:
    void put(std::int64_t number) { std::memcpy(held_.data(), &number, sizeof number); }
    [[nodiscard]] int at(int distance) const { return (rank_ + distance + ranks_) % ranks_; }
    // Whose message this rank holds before a step.
    [[nodiscard]] int origin(int step) const { return at(-sign_ * (step % ranks_)); }

    int sign_;
    int rank_;
    int ranks_;
    int step_ = 0;
    Bytes held_;
    Bytes room_;
};

std::string told(std::int64_t messages, const Way& left, const Way& right, std::int64_t sum) {
    return "received " + std::to_string(messages) + " messages, its own came home with " +
           std::to_string(left.number()) + " and " + std::to_string(right.number()) + ", not " +
           std::to_string(-sum) + " and " + std::to_string(sum);
}

}  // namespace

BENCHMARK(ring, at_least(2), sizes("bytes", {8, 1024, 65536}, "message size"),
          choice("way", {"at-once", "in-turn"},
                 "of a step's two messages: both under way at once; the right one when the left one is over",
                 {"at-once"}),
          metric("time", Unit::second, lower, largest, "time until every rank's own messages have returned"),
          metric("messages", Unit::one, lower, smallest, "messages that a rank receives in one turn"),
          metric("sum", Unit::one, higher, smallest, "sum over all ranks carried by a rank's message")) {
    Comm& world = run.world();
    const auto bytes = static_cast<std::size_t>(run["bytes"]);
    if (bytes < sizeof(std::int64_t)) Run::skip("a message of the ring is a number of 8 B at least");
    const bool together = run.word("way") == "at-once";
    const Buffers buffers = run.buffers(run["bytes"], 4);
    std::array<std::array<std::byte, carried>, 4> small{};  // simulated ranks share their buffers
    const auto room = [&](std::size_t i) {
        return bytes <= carried ? Bytes(small[i]).first(bytes) : buffers[i];
    };
    Way left(world, -1, room(0), room(1));
    Way right(world, 1, room(2), room(3));
    const std::int64_t sum = static_cast<std::int64_t>(run.ranks()) * (run.ranks() - 1) / 2;
    std::array<Comm::Request, 4> requests{};
    const std::span all(requests);
    while (co_await run.next_sample()) {
        std::int64_t messages = 0;
        bool home = true;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            left.set_off();
            right.set_off();
            messages = 0;
            for (int step = 0; step < run.ranks(); ++step) {
                requests[0] = left.take(world);
                requests[1] = left.pass(world);
                if (!together) co_await world.wait_all(all.first(2));
                requests[2] = right.take(world);
                requests[3] = right.pass(world);
                co_await world.wait_all(together ? all : all.last(2));
                left.arrived();
                right.arrived();
                messages += 2;
            }
            home &= left.number() == -sum && right.number() == sum;
        }
        run.stop();
        run.verify(home && messages == 2 * static_cast<std::int64_t>(run.ranks()),
                   told(messages, left, right, sum));
        run.sample("time", run.each());
        run.sample("messages", static_cast<double>(messages));
        if (run.verifies() || bytes <= carried) run.sample("sum", static_cast<double>(right.number()));
    }
}

}  // namespace leadline
