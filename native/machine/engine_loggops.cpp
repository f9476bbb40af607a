// Messages by the LogGOPS model (Hoefler, Schneider and Lumsdaine, LogGOPSim, HPDC 2010) and by LogP and
// LogGP, of which it is one: where a machine says so, instead of engines and ports at which messages queue.
// Of a message of s bytes
//   - its core is busy for o + (s - 1) O. It begins once the last send's g + (s - 1) G are over: the core
//   waits
//     for that, not the message in an adapter;
//   - its first byte is there after o + L, whoever else sends;
//   - the receiving core takes it up once that is so and the last receive's g + (s - 1) G are over, and is
//   busy
//     for o + (s - 1) max(G, O): the copies of both ends run beside the wire.
// L is links.base and its hops, or node.local_latency within a node; o are the overheads, g is
// node.message_gap, G is 1 over links.rate, O is 1 over send_copy and receive_copy. Requests and grants of a
// handshake are messages of no bytes.
#include <algorithm>

#include "machine/engine.hpp"

namespace leadline::machine {

void Engine::wait_for_send_gap(int rank, std::int64_t bytes) {
    Time& gap = gaps_[static_cast<std::size_t>(rank)].send;
    at(rank).clock = std::max(at(rank).clock, gap);
    gap = at(rank).clock + machine_.node.message_gap +
          transfer_time(std::max<std::int64_t>(bytes - 1, 0), machine_.links.rate);
}

void Engine::wait_for_receive_gap(int rank, const Pending& pending) {
    Time& gap = gaps_[static_cast<std::size_t>(rank)].receive;
    at(rank).clock = std::max(at(rank).clock, gap);
    const auto bytes = static_cast<std::int64_t>(pending.data.size());
    gap = at(rank).clock + machine_.node.message_gap +
          transfer_time(std::max<std::int64_t>(bytes - 1, 0), machine_.links.rate);
}

void Engine::cross(std::uint32_t id, int from, int to) {
    injected(id, now_);
    arrived(id, now_ + under_way(from, to, *messages_[id].protocol, 0));
}

}  // namespace leadline::machine
