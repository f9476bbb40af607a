// What the slow simulator keeps books of.
#pragma once

#include <deque>
#include <functional>
#include <list>
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
    Time cost = 0;  // of the core that ends it
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
    int sent = 0;
    std::vector<Request> requests{};
    std::vector<Request> transfers{};  // one-sided, since the last flush
    std::list<Posted> posted{};
    std::list<Message*> unexpected{};
};

// A way on which one goes after the other; those that come while it is taken wait in line.
struct Port {
    Time free = 0;
    std::deque<Then> line{};
};

}  // namespace leadline::testing_sim
