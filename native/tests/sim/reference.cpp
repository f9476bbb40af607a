#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "reference_parts.hpp"

namespace leadline::testing_sim {
namespace {

class Reference {
public:
    Reference(const Machine& machine, const machine::Topology& topology,
              const std::vector<machine::Placement>& placements, const Program& program, std::uint64_t ties)
        : machine_(machine),
          topology_(topology),
          placements_(placements),
          program_(program),
          ties_(ties),
          chill_(machine),
          ranks_(placements.size()) {
        played_.got.resize(ranks_.size());
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            ranks_[r].requests.resize(static_cast<std::size_t>(program.requests));
            played_.got[r].assign(static_cast<std::size_t>(program.requests), {-1, -1});
            at(0, static_cast<int>(r), [this, r] { step(static_cast<int>(r)); });
        }
    }

    Played run() {
        while (!queue_.empty()) {
            const Event event = queue_.top();
            queue_.pop();
            now_ = event.time;
            event.then();
        }
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            if (ranks_[r].next < program_.of[r].size()) throw std::runtime_error("the reference is stuck");
            played_.ends.push_back(ranks_[r].clock);
        }
        return played_;
    }

private:
    struct Event {
        Time time;
        std::uint64_t tie, number;
        Then then;
        bool operator<(const Event& other) const {  // the queue's top is its largest
            return std::tie(time, tie, number) > std::tie(other.time, other.tie, other.number);
        }
    };

    // Of what happens at one instant, the doings of a rank stay in their order; those of several ranks come
    // in the order of a hash.
    void at(Time time, int rank, Then then) {
        std::uint64_t tie = ties_ * 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(rank + 1);
        tie ^= tie >> 29U;
        queue_.push({time, tie, number_++, std::move(then)});
    }

    // ---------------------------------------------------------------------------------- ranks

    void step(int r) {
        Rank& rank = ranks_[static_cast<std::size_t>(r)];
        const auto& ops = program_.of[static_cast<std::size_t>(r)];
        rank.blocked = false;
        if (rank.next == ops.size()) return;
        const Op& op = ops[rank.next];
        if (!act(r, rank, op)) {
            rank.blocked = true;  // until something is over
            return;
        }
        ++rank.next;
        at(rank.clock, r, [this, r] { step(r); });
    }

    // What an operation does at its rank's time; false where it must wait.
    bool act(int r, Rank& rank, const Op& op) {
        const auto request = [&](int number) -> Request& {
            return rank.requests[static_cast<std::size_t>(number)];
        };
        switch (op.what) {
            case Op::What::compute:
                rank.clock += op.time;
                chill_.walk(rank, op.time, op.memory);
                return true;
            case Op::What::send: send(r, rank, op); return true;
            case Op::What::receive: receive(r, rank, op); return true;
            case Op::What::wait: return end(rank, {request(op.request)});
            case Op::What::wait_all: {
                std::vector<Request> all;
                all.reserve(op.requests.size());
                for (const int each : op.requests) all.push_back(request(each));
                return end(rank, all);
            }
            case Op::What::put:
            case Op::What::get: transfer(r, rank, op); return true;
            case Op::What::flush:
                if (!end(rank, rank.transfers)) return false;
                rank.transfers.clear();
                return true;
        }
        return true;
    }

    // Charges what is over in the order in which it was; false where something is not.
    bool end(Rank& rank, std::vector<Request> requests) {
        for (const Request& each : requests)
            if (each.done > now_) return false;
        std::ranges::stable_sort(requests, {}, &Request::done);
        for (const Request& each : requests) {
            rank.clock = std::max(rank.clock, each.done) + each.cost;
            if (each.taken && !itself(*each.taken)) rank.clock += chill_.takes(rank, *each.taken);
        }
        return true;
    }

    // Something of a rank is over at `when`: it looks again at what it waits for.
    void over(int r, Request& request, Time when) {
        request.done = when;
        at(when, r, [this, r] {
            if (ranks_[static_cast<std::size_t>(r)].blocked) step(r);
        });
    }

    // ---------------------------------------------------------------------------------- messages

    void send(int r, Rank& rank, const Op& op) {
        const int to = program_.world(op, r);
        const Protocol& way = machine_.protocol(op.bytes, reach(r, to));
        messages_.push_back({.from = r,
                             .to = to,
                             .number = rank.sent++,
                             .bytes = op.bytes,
                             .way = &way,
                             .envelope = {op.part, program_.within(op.part, r), op.tag},
                             .request = op.request});
        Message* const message = &messages_.back();
        if (!itself(*message)) rank.clock += chill_.sends(rank, *message);
        rank.clock += way.handshake ? way.handshake_overhead : send_cost(*message);
        if (!way.waits) rank.requests[static_cast<std::size_t>(op.request)].done = rank.clock;
        line_[{r, to}].push_back(message);
        at(rank.clock, r, [this, message, &way] {
            if (!way.handshake) fly(*message);
            carry(
                message->from, message->to, (way.handshake ? 0 : message->bytes) + way.header,
                [this, message, &way] {
                    if (!way.handshake) left(*message);
                },
                [this, message] { land(message, [this, message] { come(message); }); });
        });
    }

    void receive(int r, Rank& rank, const Op& op) {
        const Posted posted{{op.part, op.peer, op.tag}, op.request};
        const auto found = std::ranges::find_if(
            rank.unexpected, [&](const Message* each) { return fits(posted.envelope, each->envelope); });
        if (found == rank.unexpected.end()) {
            rank.posted.push_back(posted);
            return;
        }
        Message* const message = *found;
        rank.unexpected.erase(found);
        meet(message, r, op.request);
    }

    // Data cross others that are under way with them for more than an instant, and come the later for it.
    void fly(Message& message) {
        message.left = now_;
        flights_[{message.from, message.to}].push_back({now_, never});
    }
    void land(Message* message, const Then& then) {
        if (message->left < 0 || message->from == message->to) return then();
        auto& mine = flights_[{message->from, message->to}];
        std::ranges::find_if(mine, [&](const auto& each) {
            return each.left == message->left && each.came == never;
        })->came = now_;
        const bool crosses =
            std::ranges::any_of(flights_[{message->to, message->from}], [&](const auto& other) {
                return other.left < now_ && other.came > message->left && other.came > other.left;
            });
        if (crosses) at(now_ + message->way->crossing_latency, message->from, then);
        else then();
    }

    // What is there first may have been sent last: it knocks when all before it have.
    void come(Message* message) {
        message->there = true;
        auto& line = line_[{message->from, message->to}];
        for (; !line.empty() && line.front()->there; line.pop_front()) come_in(line.front());
    }

    void come_in(Message* message) {
        Rank& rank = ranks_[static_cast<std::size_t>(message->to)];
        message->reached = now_;
        const auto found = std::ranges::find_if(
            rank.posted, [&](const Posted& each) { return fits(each.envelope, message->envelope); });
        if (found == rank.posted.end()) {
            rank.unexpected.push_back(message);
            return;
        }
        const int request = found->request;
        rank.posted.erase(found);
        meet(message, message->to, request);
    }

    void meet(Message* message, int r, int number) {
        Request& request = ranks_[static_cast<std::size_t>(r)].requests[static_cast<std::size_t>(number)];
        played_.got[static_cast<std::size_t>(r)][static_cast<std::size_t>(number)] = {message->from,
                                                                                      message->number};
        const Protocol& way = *message->way;
        request.taken = message;
        request.cost =
            way.receive_overhead + way.receive_packet + transfer_time(message->bytes, way.receive_copy);
        if (!way.handshake) {
            over(r, request, message->reached);
            return;
        }
        // A grant, then the data; neither takes time of a rank that does something else meanwhile.
        at(now_ + way.handshake_overhead, r, [this, message, r, &request] { grant(message, r, request); });
    }

    void grant(Message* message, int r, Request& request) {
        const int a = message->from, b = message->to;
        if (message->way->one_way && granted_[{b, a}] > 0)
            return (void)waiting_[{b, a}].emplace_back([=, this, &request] { grant(message, r, request); });
        granted_[{a, b}] += message->way->one_way ? 1 : 0;
        const auto come = [=, this, &request] {
            if (message->way->one_way && --granted_[{a, b}] == 0)
                for (const Then& next : std::exchange(waiting_[{a, b}], {})) at(now_, a, next);
            over(r, request, now_);
        };
        const auto gone = [=, this] { left(*message); };
        const auto go = [=, this] {
            fly(*message);
            carry(a, b, message->bytes + message->way->header, gone, [=, this] { land(message, come); });
        };
        const auto granted = [=, this] { at(now_ + send_cost(*message), a, go); };
        carry(b, a, message->way->header, Then([] {}), granted);
    }

    void left(const Message& message) {
        if (!message.way->waits) return;
        Rank& sender = ranks_[static_cast<std::size_t>(message.from)];
        over(message.from, sender.requests[static_cast<std::size_t>(message.request)], now_);
    }

    void transfer(int r, Rank& rank, const Op& op) {
        const int to = program_.world(op, r);
        const bool puts = op.what == Op::What::put;
        const Protocol& way = machine_.protocol(op.bytes, reach(r, to));
        rank.clock += machine_.node.put_overhead < 0 ? way.send_overhead : machine_.node.put_overhead;
        if (by_memory(r, to))
            rank.clock += transfer_time(op.bytes, std::min(way.send_copy, way.receive_copy));
        const std::size_t which = rank.transfers.size();
        rank.transfers.push_back({});
        const auto ends = [this, r, which](Time when) {
            over(r, ranks_[static_cast<std::size_t>(r)].transfers[which], when);
        };
        const std::int64_t whole = op.bytes + way.header;
        const Time back =
            local(r, to) ? latency_within(r, to) : machine_.links.base + hops(r, to) * machine_.links.hop;
        at(rank.clock, r, [=, this, &way] {
            if (puts)
                carry(
                    r, to, whole, [] {}, [=, this] { ends(now_ + back); });
            else
                carry(
                    r, to, way.header, [] {},
                    [=, this] {
                        carry(
                            to, r, whole, [] {}, [=, this] { ends(now_); });
                    });
        });
    }

    // ---------------------------------------------------------------------------------- the network

    // Takes bytes from one rank to another: `gone` when the last has left, `there` when it has come.
    void carry(int a, int b, std::int64_t bytes, Then gone, Then there) {
        const int from = node_of(a);
        const int to = node_of(b);
        const machine::Node& node = machine_.node;
        if (by_memory(a, b)) {
            const Time across = socket(a) == socket(b) ? 0 : node.socket_latency;
            at(now_, a, std::move(gone));
            at(now_ + latency_within(a, b) + across, a, std::move(there));
            return;
        }
        const Time gap = node.message_gap;
        if (from == to) {
            Time& engine = local_[from];
            const Time lasts = transfer_time(bytes, node.local);
            const Time start = std::max(now_, engine);
            engine = start + std::max(lasts, gap);
            at(start + lasts, a, std::move(gone));
            at(start + lasts + node.local_latency, a, std::move(there));
            return;
        }
        std::vector<machine::Link> route;
        topology_.route(from, to, 0, route);
        const Time link = transfer_time(bytes, machine_.links.rate);
        const Time lasts =
            transfer_time(bytes, std::min({node.injection, machine_.links.rate, node.reception}));
        const Time way = machine_.links.base + static_cast<Time>(route.size()) * machine_.links.hop;
        Port& out = out_[route.front()];
        const auto leave = [=, this, &out] {
            const Time start = std::max(now_, injection_[from]);
            injection_[from] = start + std::max(transfer_time(bytes, node.injection), gap);
            out.free = start + link;
            at(start + lasts, a, gone);
            at(start + way, a, [=, this] {
                Time begin = std::max(now_, reception_[to]);
                if (route.size() > 1) {
                    begin = std::max(begin, in_[route.back()]);
                    in_[route.back()] = begin + link;
                }
                reception_[to] = begin + std::max(transfer_time(bytes, node.reception), gap);
                at(begin + lasts, a, there);
            });
        };
        if (out.line.empty() && out.free <= now_) return leave();
        out.line.emplace_back(leave);
        if (out.line.size() == 1) at(out.free, a, [this, &out, a] { serve(out, a); });
    }

    void serve(Port& port, int a) {
        const Then leave = std::move(port.line.front());
        port.line.pop_front();
        leave();
        if (!port.line.empty()) at(port.free, a, [this, &port, a] { serve(port, a); });
    }

    // ---------------------------------------------------------------------------------- facts

    static bool fits(const Envelope& wanted, const Envelope& brought) {
        return wanted.part == brought.part && wanted.tag == brought.tag &&
               (wanted.source < 0 || wanted.source == brought.source);
    }
    [[nodiscard]] bool itself(const Message& of) const {
        return reach(of.from, of.to) == machine::Reach::own;
    }
    [[nodiscard]] static Time send_cost(const Message& of) {
        return of.way->send_overhead + of.way->send_packet + transfer_time(of.bytes, of.way->send_copy);
    }
    [[nodiscard]] int node_of(int r) const { return placements_[static_cast<std::size_t>(r)].node; }
    [[nodiscard]] bool local(int a, int b) const { return node_of(a) == node_of(b); }
    [[nodiscard]] bool by_memory(int a, int b) const {
        return reach(a, b) == machine::Reach::own || (local(a, b) && !machine_.node.local_by_network);
    }
    [[nodiscard]] machine::Reach reach(int a, int b) const {
        if (a == b && !machine_.own_protocols.empty()) return machine::Reach::own;
        return local(a, b) ? machine::Reach::node : machine::Reach::nodes;
    }
    [[nodiscard]] Time latency_within(int a, int b) const {
        return reach(a, b) == machine::Reach::own ? 0 : machine_.node.local_latency;
    }
    [[nodiscard]] int hops(int a, int b) const { return topology_.hops(node_of(a), node_of(b)); }
    [[nodiscard]] int socket(int r) const {
        const machine::Node& node = machine_.node;
        return placements_[static_cast<std::size_t>(r)].core /
               std::max(1, (node.ranks + node.sockets - 1) / node.sockets);
    }

    const Machine& machine_;
    const machine::Topology& topology_;
    const std::vector<machine::Placement>& placements_;
    const Program& program_;
    std::uint64_t ties_;
    Chill chill_;
    std::vector<Rank> ranks_;
    std::list<Message> messages_;                                 // for ever: their addresses are kept
    std::map<std::pair<int, int>, std::deque<Message*>> line_;    // sent, until they come in
    std::map<std::pair<int, int>, std::vector<Flight>> flights_;  // of all data
    std::map<std::pair<int, int>, int> granted_;                  // whose data have not come, by their ends
    std::map<std::pair<int, int>, std::vector<Then>> waiting_;    // grants, until they have
    std::map<int, Time> local_, injection_, reception_;
    std::map<machine::Link, Time> in_;
    std::map<machine::Link, Port> out_;
    std::priority_queue<Event> queue_;
    std::uint64_t number_ = 0;
    Time now_ = 0;
    Played played_;
};

}  // namespace

Played reference(const Machine& machine, const machine::Topology& topology,
                 const std::vector<machine::Placement>& placements, const Program& program,
                 std::uint64_t ties) {
    return Reference(machine, topology, placements, program, ties).run();
}

}  // namespace leadline::testing_sim
