// The fluid tier: messages flow at rates that their resources' sharing gives them, and that change only when
// a stream begins or ends.
//
// A stream is one pair of nodes and one route: its messages follow each other on the same links in the order
// in which they were sent, so only the first of them flows. Resources are the nodes' injection, reception and
// local engines and the links; on its first link a stream yields to those that come through (fluid.hpp has
// the rule).
//
// What a change costs:
//   - A resource whose streams together could not fill it even if each were alone holds nobody back. A stream
//     that has no other resources flows at its own rate, the least of its route, at once.
//   - Streams that are joined by oversubscribed resources are one component. Up to `exact` streams it is
//   solved
//     anew with each change, once for all changes of one instant.
//   - Larger components are a pool that is solved at most once in a quantum, a part of the time that its
//   messages
//     take: rates are stale, and streams that arrive wait, for no longer than that. The part is `tolerance`,
//     and grows with the root of the pool's size, so that a run of many flows still ends.
// What the tier leaves out: buffers. A stream holds its share of an engine while its next message waits for
// the message gap; messages that arrive together are set apart by the gap at their arrival.
#include <algorithm>
#include <cmath>
#include <vector>

#include "machine/network.hpp"
#include "machine/networks/fluid.hpp"
#include "machine/networks/loads.hpp"
#include "machine/networks/pairs.hpp"
#include "machine/pool.hpp"
#include "machine/wheel.hpp"

namespace leadline::machine {
namespace {

constexpr std::size_t exact = 256;  // streams of a component
constexpr double tolerance = 0.01;  // of the mean time that messages of a pool still take

using StreamId = std::int32_t;

struct Message {
    std::int64_t wire = 0;  // B
    std::uint32_t token = 0;
    Pool<Message>::Id next = Pool<Message>::none;
};

enum class State : std::uint8_t { free, waiting, flowing };

struct Stream {
    std::uint64_t key = 0;
    double most = infinite;  // B/s, alone
    double rate = 0;         // B/s
    double left = 0;         // B of the first message at `since`
    Time since = 0;
    Time due = never;
    Time latency = 0;  // from the last byte's leaving to its arrival
    Pool<Message>::Id head = Pool<Message>::none;
    Pool<Message>::Id tail = Pool<Message>::none;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t uses = 0;  // the first of them
    std::int32_t length = 0;
    std::uint32_t epoch = 0;  // the agenda's entries of earlier ones are void
    std::uint32_t seen = 0;   // by which walk
    State state = State::free;
    bool dirty = false;
    bool pooled = false;
    bool fresh = false;  // all of the first message is left: `since` and `rate` give its end exactly
};

struct Event {
    StreamId stream;
    std::uint32_t epoch;
};

struct Report {
    std::uint32_t token;
    Time injected;
    Time arrived;
};

class Flow final : public Network {
public:
    Flow(const Machine& machine, const Topology& topology, Listener& listener)
        : machine_(machine), topology_(topology), listener_(listener) {
        const Node& node = machine.node;
        for (Link l = 0; l < topology.links(); ++l) loads_.add(machine.links.rate * topology.width(l));
        for (const double engine : {node.injection, node.reception, node.local})
            for (int i = 0; i < topology.nodes(); ++i) loads_.add(engine);
        if (node.message_gap > 0) {
            next_out_.resize(static_cast<std::size_t>(topology.nodes()));
            next_in_.resize(static_cast<std::size_t>(topology.nodes()));
        }
    }

    void send(Time now, const Transfer& transfer) override {
        now_ = now;
        const int variant = choose(transfer);
        const std::uint64_t key =
            (static_cast<std::uint64_t>(transfer.from) << 36U |
             static_cast<std::uint64_t>(transfer.to) << 8U | static_cast<std::uint64_t>(variant)) +
            1;
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

    [[nodiscard]] Time next() const override {
        if (!dirty_.empty() || !emptier_.empty()) return now_;
        return std::max(now_, pool_.empty() ? agenda_.next() : std::min(agenda_.next(), pool_due_));
    }

    // First whatever ends; changes are solved when nothing more happens at their instant.
    void advance() override {
        now_ = next();
        if (agenda_.next() > now_) {
            solve();
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

private:
    Stream& at(StreamId id) { return streams_[static_cast<std::size_t>(id)]; }

    // The variant whose fullest link has the fewest streams; of equals the first.
    int choose(const Transfer& transfer) {
        if (!transfer.adaptive || transfer.from == transfer.to) return 0;
        const int variants = topology_.variants(transfer.from, transfer.to);
        int best = 0;
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        for (int variant = 0; variants > 1 && variant < variants; ++variant) {
            route_.clear();
            topology_.route(transfer.from, transfer.to, variant, route_);
            std::int32_t most = 0;
            for (const Link l : route_) most = std::max(most, loads_[l].count);
            if (most < least) {
                least = most;
                best = variant;
            }
        }
        return best;
    }

    // A new stream: its resources, as far as they are finite, its own rate and its latency.
    StreamId open(const Transfer& transfer, int variant) {
        if (free_.empty()) {
            free_.push_back(static_cast<StreamId>(streams_.size()));
            streams_.emplace_back();
        }
        const StreamId id = free_.back();
        free_.pop_back();
        route_.clear();
        if (transfer.from != transfer.to) topology_.route(transfer.from, transfer.to, variant, route_);
        Stream& stream = at(id);
        stream = {.from = transfer.from, .to = transfer.to, .epoch = stream.epoch};
        const auto hops = static_cast<Time>(route_.size());
        const std::int32_t nodes = topology_.nodes();
        const std::int32_t engines = topology_.links();
        // The first link, where it is that which yields.
        const Link own = machine_.transit_first && !route_.empty() ? route_.front() : -1;
        if (transfer.from == transfer.to) {
            stream.latency = machine_.node.local_latency;
            route_.push_back(engines + 2 * nodes + transfer.from);
        } else {
            stream.latency = machine_.links.base + hops * machine_.links.hop;
            route_.push_back(engines + transfer.from);
            route_.push_back(engines + nodes + transfer.to);
        }
        std::erase_if(route_, [&](Link r) { return std::isinf(loads_[r].capacity); });
        stream.length = static_cast<std::int32_t>(route_.size());
        stream.uses = loads_.take(stream.length);
        for (std::int32_t i = 0; i < stream.length; ++i) {
            const Link r = route_[static_cast<std::size_t>(i)];
            loads_.use(stream.uses + i) = {.resource = r, .owner = 2 * id + (r == own ? 1 : 0)};
            stream.most = std::min(stream.most, loads_[r].capacity);
        }
        return id;
    }

    // The first message of the queue begins now, or when the engine's gap is over.
    void begin(Stream& stream) {
        stream.since = now_;
        if (!next_out_.empty() && stream.from != stream.to) {
            Time& gate = next_out_[static_cast<std::size_t>(stream.from)];
            stream.since = std::max(now_, gate);
            gate = stream.since + machine_.node.message_gap;
        }
        stream.left = static_cast<double>(messages_[stream.head].wire);
        stream.fresh = true;
    }

    void join(StreamId id) {
        Stream& stream = at(id);
        stream.state = State::flowing;
        for (std::int32_t i = 0; i < stream.length; ++i) loads_.join(stream.uses + i, stream.most);
        stream.dirty = true;
        dirty_.push_back(id);
    }

    void complete(StreamId id) {
        Stream& stream = at(id);
        const auto message = stream.head;
        Time arrived = now_ + stream.latency;
        if (!next_in_.empty() && stream.from != stream.to) {
            Time& gate = next_in_[static_cast<std::size_t>(stream.to)];
            arrived = std::max(arrived, gate);
            gate = arrived + machine_.node.message_gap;
        }
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

    void close(StreamId id) {
        Stream& stream = at(id);
        for (std::int32_t i = 0; i < stream.length; ++i) {
            const std::int32_t r = loads_.use(stream.uses + i).resource;
            if (loads_[r].oversubscribed()) emptier_.push_back(r);
            loads_.leave(stream.uses + i, stream.most);
        }
        loads_.give_back(stream.uses, stream.length);
        pairs_.erase(stream.key);
        stream.state = State::free;
        stream.pooled = false;
        ++stream.epoch;
        free_.push_back(id);
    }

    // When the first message ends if nothing changes.
    static Time end(const Stream& stream) {
        if (stream.rate <= 0) return never;
        // A part of a picosecond that sums of rates left over is no picosecond.
        const double rest = stream.left * (1e12 / stream.rate) - (stream.fresh ? 0 : 1e-3);
        if (rest > 4e18) return never;
        return stream.since + static_cast<Time>(std::ceil(std::max(0.0, rest)));
    }

    // Enters that end. A pool's streams that end after it is solved again need no entry yet.
    void schedule(StreamId id) {
        Stream& stream = at(id);
        ++stream.epoch;
        stream.due = end(stream);
        if (entered(stream)) agenda_.push(stream.due, {id, stream.epoch});
    }
    [[nodiscard]] bool entered(const Stream& stream) const {
        return stream.due != never && (!stream.pooled || stream.due <= pool_due_);
    }

    // Whether the end of the first message moves.
    bool set_rate(StreamId id, double rate) {
        Stream& stream = at(id);
        if (rate == stream.rate) return stream.due == never;
        if (now_ > stream.since) {
            if (stream.rate > 0) {
                stream.left = std::max(0.0, stream.left - stream.rate * seconds(now_ - stream.since));
                stream.fresh = false;
            }
            stream.since = now_;
        }
        stream.rate = rate;
        return true;
    }

    void solve() {
        ++walk_;
        seeds_.clear();
        seeds_.swap(dirty_);
        for (const std::int32_t r : emptier_)
            for (std::int32_t u = loads_[r].head; u >= 0; u = loads_.use(u).next) {
                const StreamId id = loads_.use(u).stream();
                if (at(id).pooled) break;
                seeds_.push_back(id);
            }
        emptier_.clear();
        for (const StreamId id : seeds_) {
            Stream& stream = at(id);
            stream.dirty = false;
            if (stream.state != State::flowing || stream.pooled || stream.seen == walk_) continue;
            component_.clear();
            if (gather(id)) share();
            else
                for (const StreamId member : component_) put_into_pool(member);
        }
        if (!pool_.empty() && now_ >= pool_due_) solve_pool();
        if (agenda_.size() > 4 * streams_.size() + exact) tidy();
    }

    void put_into_pool(StreamId id) {
        if (at(id).pooled) return;
        if (pool_.empty()) pool_due_ = now_;
        at(id).pooled = true;
        pool_.push_back(id);
    }

    // Gathers the component of a stream into component_; ends with `false` where it is too large or meets the
    // pool.
    bool gather(StreamId seed) {
        component_.clear();
        component_.push_back(seed);
        at(seed).seen = walk_;
        for (std::size_t done = 0; done < component_.size(); ++done) {
            const Stream& stream = at(component_[done]);
            for (std::int32_t i = 0; i < stream.length; ++i) {
                Resource& on = loads_[loads_.use(stream.uses + i).resource];
                if (on.seen == walk_ || !on.oversubscribed()) continue;
                if (at(loads_.use(on.head).stream()).pooled) return false;
                on.seen = walk_;
                on.number = -1;
                for (std::int32_t u = on.head; u >= 0; u = loads_.use(u).next) {
                    Stream& other = at(loads_.use(u).stream());
                    if (other.seen == walk_) continue;
                    other.seen = walk_;
                    component_.push_back(loads_.use(u).stream());
                }
                if (component_.size() > exact) return false;
            }
        }
        return true;
    }

    // New rates of a whole component.
    void share() {
        if (component_.size() == 1) {
            if (set_rate(component_.front(), at(component_.front()).most)) schedule(component_.front());
            return;
        }
        fill_fluid(false);
        // More rounds where they cost nothing.
        if (component_.size() > 64) fluid_.solve({.straight = 6, .rounds = 18});
        else fluid_.solve({});
        for (std::size_t i = 0; i < component_.size(); ++i)
            if (set_rate(component_[i], fluid_.rate(static_cast<std::int32_t>(i)))) schedule(component_[i]);
    }

    // Hands component_ to the solver, whose oversubscribed resources the last walk has seen.
    void fill_fluid(bool warm) {
        fluid_.clear();
        for (const StreamId id : component_) {
            const Stream& stream = at(id);
            fluid_.add_flow(stream.most);
            for (std::int32_t i = 0; i < stream.length; ++i) {
                const Use& use = loads_.use(stream.uses + i);
                Resource& on = loads_[use.resource];
                if (!on.oversubscribed()) continue;
                if (on.number < 0) on.number = fluid_.add_resource(on.capacity, warm ? on.first : -1);
                fluid_.add_use(on.number, use.yields());
            }
        }
    }

    // Marks the resources that hold a stream back; whether there is one that is marked already.
    bool mark(const Stream& stream, bool all) {
        bool met = false;
        for (std::int32_t i = 0; i < stream.length; ++i) {
            Resource& on = loads_[loads_.use(stream.uses + i).resource];
            if (!on.oversubscribed()) continue;
            met = met || on.seen == walk_;
            if (!all) continue;
            on.seen = walk_;
            on.number = -1;
        }
        return met;
    }

    // Gathers the pool and all that hangs on it. In the order of memory, time after time until nothing is
    // new, since to follow the rows of a million uses costs a cache miss each.
    void gather_pool() {
        ++walk_;
        for (Stream& stream : streams_)
            if (stream.pooled) mark(stream, true);
        for (bool grown = true; grown;) {
            grown = false;
            for (Stream& stream : streams_) {
                if (stream.pooled || stream.state != State::flowing || !mark(stream, false)) continue;
                mark(stream, true);
                stream.pooled = grown = true;
            }
        }
        component_.clear();
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (streams_[i].pooled) component_.push_back(static_cast<StreamId>(i));
    }

    // The pool's new rates; what has become small leaves.
    void solve_pool() {
        gather_pool();
        const bool stays = component_.size() > exact;
        for (const StreamId id : component_) at(id).pooled = stays;
        pool_.clear();
        if (stays) pool_ = component_;
        fill_fluid(stays);
        // A pool goes on from where it was, so one round does; the first has a few.
        fluid_.solve(stays ? Fluid::Effort{.straight = 2, .rounds = warm_ ? 1 : 4} : Fluid::Effort{});
        warm_ = stays;
        if (stays) keep_first();
        double left = 0;
        double rate = 0;
        Time first = never;
        for (std::size_t i = 0; i < component_.size(); ++i) {
            set_rate(component_[i], fluid_.rate(static_cast<std::int32_t>(i)));
            const Stream& stream = at(component_[i]);
            left += stream.left;
            rate += stream.rate;
            first = std::min(first, end(stream));
        }
        const double part = tolerance * std::sqrt(static_cast<double>(pool_.size()) / exact);
        pool_due_ = std::max(first, now_ + (rate > 0 ? from_seconds(part * left / rate) : 0));
        for (const StreamId id : component_) schedule(id);
    }

    // Remembers how much went first where, from which the next solution begins.
    void keep_first() {
        for (const StreamId id : component_) {
            const Stream& stream = at(id);
            for (std::int32_t i = 0; i < stream.length; ++i) {
                Resource& on = loads_[loads_.use(stream.uses + i).resource];
                if (on.number < 0 || on.seen != walk_) continue;
                on.first = fluid_.first(on.number);
                on.number = -1;
            }
        }
    }

    // Throws away the entries of earlier rates.
    void tidy() {
        Wheel<Event> agenda;
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (streams_[i].state != State::free && entered(streams_[i]))
                agenda.push(streams_[i].due, {static_cast<StreamId>(i), streams_[i].epoch});
        agenda_ = std::move(agenda);
    }

    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    Time now_ = 0;
    Loads loads_;
    Fluid fluid_;
    Pairs pairs_;
    std::vector<Stream> streams_;
    std::vector<StreamId> free_;
    Pool<Message> messages_;
    Wheel<Event> agenda_;
    std::vector<Time> next_out_, next_in_;  // of nodes, where there is a gap
    std::vector<StreamId> dirty_;           // streams that joined and are not solved yet
    std::vector<std::int32_t> emptier_;     // oversubscribed resources that somebody left
    std::vector<StreamId> pool_;
    Time pool_due_ = 0;
    bool warm_ = false;
    std::uint32_t walk_ = 0;
    std::vector<StreamId> seeds_, component_;
    std::vector<Link> route_;
    std::vector<Report> reports_, reported_;
};

}  // namespace

std::unique_ptr<Network> make_flow(const Machine& machine, const Topology& topology, Listener& listener) {
    return std::make_unique<Flow>(machine, topology, listener);
}

}  // namespace leadline::machine
