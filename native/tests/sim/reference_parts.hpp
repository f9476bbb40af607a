// What the slow simulator keeps books of.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace leadline::testing_sim {

using machine::Machine;
using machine::never;
using machine::Protocol;
using machine::transfer_time;
using Then = std::function<void()>;

struct Request {
    Time done = never;
    Time cost = 0;                          // of the core that ends it
    const struct Message* taken = nullptr;  // that it received
};

struct Envelope {
    int part, source, tag;
};

struct Message {
    int from = 0, to = 0, number = 0;
    std::int64_t bytes = 0;
    const Protocol* way = nullptr;
    Envelope envelope{};
    int request = 0;  // of its sender
    Time reached = 0;
    Time left = -1;      // its data, from their sender
    bool there = false;  // its envelope
};

// Of data, from when until when they were under way.
struct Flight {
    Time left, came;
};

struct Posted {
    Envelope envelope{};
    int request = 0;
};

struct Rank {
    Time clock = 0;
    std::size_t next = 0;  // operation
    bool blocked = false;
    double code = 0, data = 0;  // B walked through since its last message, and not brought back since
    int sent = 0;
    std::vector<Request> requests{};
    std::vector<Request> transfers{};  // one-sided, since the last flush
    std::list<Posted> posted{};
    std::list<Message*> unexpected{};
};

// What a machine's rows for cold caches say after so much memory, on straight lines from nothing at none.
class Chill {
public:
    explicit Chill(const Machine& machine) : rows_{{}} {
        rows_.insert(rows_.end(), machine.cold.begin(), machine.cold.end());
        rows_.front().eager.copy = rows_.front().handshake.copy = machine::infinite;
    }
    void walk(Rank& rank, Time time, std::int64_t memory) const {
        const auto lasts = [](const auto& row) { return row.time; };
        const auto covers = [](const auto& row) { return row.walked; };
        for (double* each : {&rank.code, &rank.data}) {
            const double until = along(*each, &machine::Cold::walked, lasts) + machine::seconds(time);
            const double reached = along(until, &machine::Cold::time, covers);
            *each = std::max(*each, std::min(reached, static_cast<double>(memory)));
        }
    }
    Time sends(Rank& rank, const Message& message) const {
        const auto overhead = [&](const auto& row) { return row.of(message.way->handshake).overhead; };
        return machine::from_seconds(along(std::exchange(rank.code, 0), &machine::Cold::walked, overhead));
    }
    Time takes(Rank& rank, const Message& message) const {
        const auto each = [&](const auto& row) { return 1 / row.of(message.way->handshake).copy; };
        const auto bytes = static_cast<double>(message.bytes);
        const Time first = sends(rank, message);
        const double cost = along(rank.data, &machine::Cold::walked, each);
        const double anyway = along(2 * bytes, &machine::Cold::walked, each);
        const Time more = machine::from_seconds(2 * bytes < rank.data ? bytes * (cost - anyway) : 0);
        rank.data = std::max(0.0, rank.data - bytes);
        return first + more;
    }

private:
    template <class Value>
    [[nodiscard]] double along(double x, double machine::Cold::*of, Value value) const {
        std::size_t next = 1;
        while (next < rows_.size() && rows_[next].*of < x) ++next;
        const machine::Cold& from = rows_[next - 1];
        if (next == rows_.size()) return value(from);
        const machine::Cold& to = rows_[next];
        return value(from) + (value(to) - value(from)) * (x - from.*of) / (to.*of - from.*of);
    }
    std::vector<machine::Cold> rows_;
};

// A way on which one goes after the other; those that come while it is taken wait in line.
struct Port {
    Time free = 0;
    std::deque<Then> line{};
};

}  // namespace leadline::testing_sim
