// Messages by the LogGOPS model (Hoefler, Schneider and Lumsdaine, LogGOPSim, HPDC 2010) and by LogP and
// LogGP, of which it is one: where a machine says so, instead of engines and ports at which messages queue.
// Of a message of s bytes
//   - its core is busy for o + (s - 1) O. It begins once the last send's g + (s - 1) G are over: the core
//   waits
//     for that, not the message in an adapter;
//   - its first byte is there after o + L, whoever else sends;
//   - the receiving core takes it up once that is so and the last receive's g + (s - 1) G are over, whether a
//     receive waits for it or not, and is busy for o + (s - 1) max(G, O): the copies of both ends run beside
//     the wire.
// A core does one thing after the other. Of what it could do at a moment, messages and what its program does
// next, it does first what was caused first, as LogGOPSim: a message when it was sent, a step of the program
// when the one before began.
// L is links.base and its hops, or node.local_latency within a node; o are the overheads, g is
// node.message_gap, G is 1 over links.rate, O is 1 over send_copy and receive_copy. Requests and grants of a
// handshake are messages of no bytes.
#include <algorithm>

#include "machine/engine.hpp"

namespace leadline::machine {

void Engine::wait_for_send_gap(int rank, std::int64_t bytes) {
    Time& gap = cores_[static_cast<std::size_t>(rank)].send;
    at(rank).clock = std::max(at(rank).clock, gap);
    gap = at(rank).clock + machine_.node.message_gap +
          transfer_time(std::max<std::int64_t>(bytes - 1, 0), machine_.links.rate);
}

void Engine::cross(std::uint32_t id, int from, int to) {
    injected(id, now_);
    arrived(id, now_ + under_way(from, to, *messages_[id].protocol, 0));
}

bool Engine::await_core(int rank, std::coroutine_handle<> handle, bool sends) {
    if (cores_.empty() || rank >= players_) return false;
    ModelCore& core = cores_[static_cast<std::size_t>(rank)];
    core.asks = true;
    core.sends = sends;
    core.turn = ++turns_;
    at(rank).handle = handle;
    settle_at(rank, sends ? std::max(at(rank).clock, core.send) : at(rank).clock);
    return true;
}

void Engine::settle_at(int rank, Time when) {
    ModelCore& core = cores_[static_cast<std::size_t>(rank)];
    when = std::max(when, now_);
    if (when >= core.settled) return;
    core.settled = when;
    events_.push(when, {Kind::soon, static_cast<std::uint32_t>(rank)});  // after all that comes then
}

void Engine::settle(int rank) {
    ModelCore& core = cores_[static_cast<std::size_t>(rank)];
    if (core.settled != now_) return;  // decided before
    core.settled = never;
    const auto before = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; };
    const auto turn = [this](std::uint32_t id) { return messages_[id].turn; };
    auto first = core.arrived.end();
    bool goes = false;
    if (at(rank).clock <= now_) {
        if (core.receive <= now_) first = std::ranges::min_element(core.arrived, before, turn);
        goes = core.asks && (!core.sends || core.send <= now_);
    }
    if (goes && (first == core.arrived.end() || before(core.turn, turn(*first)))) {
        core.asks = false;
        ready_.push_back(rank);
    } else if (first != core.arrived.end()) {
        const std::uint32_t id = *first;
        core.arrived.erase(first);
        take_up(rank, id);
    }
    if (core.asks) settle_at(rank, core.sends ? std::max(at(rank).clock, core.send) : at(rank).clock);
    if (!core.arrived.empty()) settle_at(rank, std::max(at(rank).clock, core.receive));
}

void Engine::take_up(int rank, std::uint32_t id) {
    const Message& message = messages_[id];
    Time& clock = at(rank).clock;
    clock = std::max(clock, now_);
    cores_[static_cast<std::size_t>(rank)].receive =
        clock + machine_.node.message_gap +
        transfer_time(std::max<std::int64_t>(message.bytes - 1, 0), machine_.links.rate);
    spend(rank, receive_cost(*message.protocol, message.bytes));
    take_data(id);
}

}  // namespace leadline::machine
