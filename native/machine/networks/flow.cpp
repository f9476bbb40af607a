// Tier `flow`: messages are a fluid that flows at rates which their resources' sharing gives them, and which
// change only when a stream begins or ends.
//
// A stream is one pair of nodes and one route: its messages follow each other on the same links in the order
// in which they were sent, so only the first of them flows. Resources are the nodes' injection, reception and
// local engines and the links; on its first link a stream yields to those that come through
// (max_min_solver.hpp has the rule).
//
// What a change costs:
//   - A resource whose streams together could not fill it even if each were alone holds nobody back. A stream
//     that has no other resources flows at its own rate, the least of its route, at once.
//   - Streams that are joined by oversubscribed resources are one component. Up to Options::exact streams it
//     is solved anew with each change, once for all changes of one instant; up to Options::few once that has
//     taken Options::work.
//   - Larger components are a pool, whose rates are approached (approximate_max_min.hpp), at most once in a
//     quantum: a part, Options::tolerance, of the mean time that its messages still take. Until the next one
//     rates are stale, and new streams have what nobody has, such as what ended streams had.
//     The part is 3 % from 2,304 to 8,192 streams, grows with the root of their number, and is at most 10 %.
// How far that is from exact, for 1,000 to 3,000 messages of 0.5 to 8.5 kB between random nodes of an 8x8x8
// torus, all solved exactly and all as a pool (last message; mean of all; mean distance of each):
//     both classes alike   part 3 %: 0.1 %, 0.3 %, 0.4 %    part 10 %: 0.7 %, 1.4 %, 1.6 %
//     the same, staggered  part 3 %: 0.2 %, 0.3 %, 1.3 %    part 10 %: 1.3 %, 1.6 %, 7.8 %
//     transit first        part 3 %: 2.7 %, 1.5 %, 2.9 %    part 10 %: 5.7 %, 4.8 %, 6.8 %
// A pool is late rather than early. With transit first single messages that are starved for a while may be
// off by half of their time.
// What the tier leaves out: buffers. A stream holds its share of an engine while its next message waits for
// the message gap; messages that arrive together are set apart by the gap at their arrival.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "machine/networks/flow_network.hpp"

namespace leadline::machine {

FlowNetwork::FlowNetwork(const Machine& machine, const Topology& topology, Listener& listener,
                         Options options)
    : machine_(machine), topology_(topology), listener_(listener), options_(options) {
    const Node& node = machine.node;
    if (topology.nodes() >= 1 << node_bits)
        throw std::invalid_argument("network flow: there are less than 2^26 nodes, but got " +
                                    std::to_string(topology.nodes()));
    constexpr std::int64_t most = std::int64_t{1} << Use::number_bits;
    if (const std::int64_t all = topology.links() + 3LL * topology.nodes(); all > most)
        throw std::invalid_argument("network flow: links and engines are up to " + std::to_string(most) +
                                    ", but got " + std::to_string(all));
    for (Link l = 0; l < topology.links(); ++l) loads_.add(machine.links.rate * topology.width(l));
    for (const double engine : {node.injection, node.reception, node.local})
        for (int i = 0; i < topology.nodes(); ++i) loads_.add(engine);
    // For a stage of neighbours; memory that is not used yet costs nothing.
    const auto nodes = static_cast<std::size_t>(topology.nodes());
    streams_.reserve(8 * nodes);
    loads_.reserve(32 * nodes);
    if (node.message_gap > 0) {
        next_out_.resize(nodes);
        next_in_.resize(nodes);
        next_local_.resize(nodes);
    }
}

void FlowNetwork::send(Time now, const Transfer& transfer) {
    now_ = now;
    const int variant = choose(transfer);
    // One more than the sender, so that no key is 0.
    const std::uint64_t key = static_cast<std::uint64_t>(transfer.from + 1) << (node_bits + variant_bits) |
                              static_cast<std::uint64_t>(transfer.to) << variant_bits |
                              static_cast<std::uint64_t>(variant);
    const auto message = messages_.take();
    messages_[message] = {.wire = machine_.packets.wire(transfer.bytes), .token = transfer.token};
    StreamId& id = pairs_[key];
    if (id >= 0) {
        Stream& stream = at(id);
        messages_[stream.tail].next = message;
        stream.tail = message;
        return;
    }
    id = open(transfer, variant);
    Stream& stream = at(id);
    stream.key = key;
    stream.head = stream.tail = message;
    begin(stream);
    if (stream.since > now_) {
        stream.state = State::waiting;
        stream.due = stream.since;
        agenda_.push(stream.due, {id, ++stream.epoch});
    } else {
        join(id);
    }
}

Time FlowNetwork::next() const {
    if (!dirty_.empty() || !emptier_.empty()) return now_;
    if (free_.size() == streams_.size()) return never;  // what the agenda still has is of earlier rates
    return std::max(now_, pool_.alive() == 0 ? agenda_.next() : std::min(agenda_.next(), pool_due_));
}

// First whatever ends; changes are solved when nothing more happens at their instant.
void FlowNetwork::advance() {
    now_ = next();
    if (agenda_.next() > now_) {
        solve();
        if (agenda_.size() > 4 * streams_.size() + options_.exact) tidy();
        return;
    }
    while (agenda_.next() <= now_) {
        const Event event = agenda_.pop();
        Stream& stream = at(event.stream);
        if (event.epoch != stream.epoch || stream.state == State::free) continue;
        if (stream.state == State::waiting) join(event.stream);
        else complete(event.stream);
    }
    reports_.swap(reported_);
    for (const Report& report : reported_) {
        listener_.injected(report.token, report.injected);
        listener_.arrived(report.token, report.arrived);
    }
    reported_.clear();
}

// The variant whose fullest link has the fewest streams; of equals the first.
int FlowNetwork::choose(const Transfer& transfer) {
    if (!transfer.adaptive || transfer.from == transfer.to) return 0;
    const int variants = std::min(topology_.variants(transfer.from, transfer.to), 1 << variant_bits);
    int best = 0;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (int variant = 0; variants > 1 && variant < variants; ++variant) {
        route_.clear();
        topology_.route(transfer.from, transfer.to, variant, route_);
        std::uint32_t most = 0;
        for (const Link l : route_) most = std::max<std::uint32_t>(most, loads_[l].count);
        if (most < least) {
            least = most;
            best = variant;
        }
    }
    return best;
}

// What a message occupies: the links first, then the engines at its ends; all that is finite. Gives the hops.
int FlowNetwork::find_route(const Transfer& transfer, int variant) {
    const Link engines = topology_.links();
    const int nodes = topology_.nodes();
    route_.clear();
    int hops = 0;
    if (transfer.from == transfer.to) {
        route_.push_back(engines + 2 * nodes + topology_.place(transfer.from));
    } else {
        topology_.route(transfer.from, transfer.to, variant, route_);
        hops = static_cast<int>(route_.size());
        route_.push_back(engines + topology_.place(transfer.from));
        route_.push_back(engines + nodes + topology_.place(transfer.to));
    }
    std::erase_if(route_, [&](Link r) { return std::isinf(loads_[r].capacity); });
    return hops;
}

// A new stream, with its own rate.
FlowNetwork::StreamId FlowNetwork::open(const Transfer& transfer, int variant) {
    if (free_.empty()) {
        free_.push_back(static_cast<StreamId>(streams_.size()));
        streams_.emplace_back();
    }
    const StreamId id = free_.back();
    free_.pop_back();
    const int hops = find_route(transfer, variant);
    Stream& stream = at(id);
    // It yields on its first link, which comes first.
    const bool yields = machine_.transit_first && hops > 0 && route_.front() < topology_.links();
    fold_route(yields ? 1 : 0);
    stream = {.epoch = stream.epoch, .length = static_cast<std::int32_t>(route_.size()), .hops = hops};
    stream.uses = loads_.take(stream.length);
    for (std::int32_t i = 0; i < stream.length; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const Link r = route_[place];
        loads_.use(stream.uses + i) = {.number = static_cast<std::uint32_t>(r),
                                       .times = times_.empty() ? 1U : times_[place],
                                       .owner = 2 * id + (yields && i == 0 ? 1 : 0)};
        stream.most = std::min(stream.most, loads_[r].capacity);
    }
    return id;
}

// Where links stand for one another: each once, and how often; those before `from` by themselves.
void FlowNetwork::fold_route(std::size_t from) {
    times_.clear();
    if (!topology_.folded()) return;
    std::size_t end = 0;
    for (const Link link : route_) {
        std::size_t same = std::min(from, end);
        while (same < end && (route_[same] != link || times_[same] == Use::most_times)) ++same;
        if (same == end) {
            route_[end++] = link;
            times_.push_back(0);
        }
        ++times_[same];
    }
    route_.resize(end);
}

// The first message of the queue begins now, or when the engine's gap is over.
void FlowNetwork::begin(Stream& stream) {
    stream.since = now_;
    if (!next_out_.empty()) {
        auto& gaps = stream.hops > 0 ? next_out_ : next_local_;
        Time& free_again = gaps[static_cast<std::size_t>(topology_.place(stream.from()))];
        stream.since = std::max(now_, free_again);
        free_again = stream.since + machine_.node.message_gap;
        clear_ = std::max(clear_, free_again);
    }
    stream.left = static_cast<double>(messages_[stream.head].wire);
    stream.fresh = true;
}

void FlowNetwork::join(StreamId id) {
    Stream& stream = at(id);
    stream.state = State::flowing;
    for (std::int32_t i = 0; i < stream.length; ++i) loads_.join(stream.uses + i, stream.most);
    dirty_.push_back(id);
}

void FlowNetwork::complete(StreamId id) {
    Stream& stream = at(id);
    const auto message = stream.head;
    Time arrived = now_ + (stream.hops > 0 ? machine_.links.base + stream.hops * machine_.links.hop
                                           : machine_.node.local_latency);
    if (!next_in_.empty() && stream.hops > 0) {
        Time& free_again = next_in_[static_cast<std::size_t>(topology_.place(stream.to()))];
        arrived = std::max(arrived, free_again);
        free_again = arrived + machine_.node.message_gap;
    }
    clear_ = std::max({clear_, now_, arrived + machine_.node.message_gap});
    reports_.push_back({messages_[message].token, now_, arrived});
    stream.head = messages_[message].next;
    messages_.give_back(message);
    if (stream.head == Pool<Message>::none) {
        close(id);
    } else {
        begin(stream);
        schedule(id);
    }
}

void FlowNetwork::close(StreamId id) {
    Stream& stream = at(id);
    for (std::int32_t i = 0; i < stream.length; ++i) {
        const std::int32_t r = loads_.use(stream.uses + i).resource();
        const Resource& on = loads_[r];
        // The pool hears of it in time.
        if (on.oversubscribed() && !on.pooled) emptier_.push_back(r);
        loads_.leave(stream.uses + i, stream.most);
    }
    loads_.give_back(stream.uses, stream.length);
    pairs_.erase(stream.key);
    if (stream.pooled) pool_.remove(stream.member);
    stream.state = State::free;
    stream.pooled = false;
    ++stream.epoch;
    free_.push_back(id);
}

double FlowNetwork::fullest() {
    std::vector<double> used(loads_.size());
    for (const Stream& stream : streams_)
        for (std::int32_t i = 0; stream.state == State::flowing && i < stream.length; ++i)
            used[static_cast<std::size_t>(loads_.use(stream.uses + i).resource())] +=
                stream.rate * loads_.use(stream.uses + i).times;
    double most = 0;
    for (std::size_t r = 0; r < used.size(); ++r)
        if (used[r] > 0) most = std::max(most, used[r] / loads_[static_cast<std::int32_t>(r)].capacity);
    return most;
}

namespace {
const NetworkTier tier("flow",
                       [](const Machine& machine, const Topology& topology, Listener& listener,
                          bool) -> std::unique_ptr<Network> {
                           return std::make_unique<FlowNetwork>(machine, topology, listener,
                                                                FlowNetwork::Options{});
                       });
}  // namespace

}  // namespace leadline::machine
