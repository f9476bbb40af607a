// Tier `loggp`: a message books the engines and ports at its two ends, first come first served; between them
// it is alone. LogGP's g and G with the node's parts told apart: injection engine, output port, input port,
// reception engine, each busy for the message's bytes over its own rate.
//
// With its gate on it also adds up by how much each message is late for others: on links between, where this
// tier lets them pass one another, and at engines and ports that messages of several packets share, where
// other tiers have them take turns. Where that is nothing, this tier is the truth. Messages that follow one
// another out of a port of their node do so in every tier.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/network.hpp"
#include "machine/pool.hpp"

namespace leadline::machine {
namespace {

class LogGp final : public Network {
public:
    LogGp(const Machine& machine, const Topology& topology, Listener& listener, bool track_contention)
        : machine_(machine), topology_(topology), listener_(listener), tracks_(track_contention) {}

    void send(Time now, const Transfer& transfer) override {
        if (engines_.empty()) [[unlikely]]
            make_room();
        const std::int64_t wire = machine_.packets.wire(transfer.bytes);
        Engines& from = engines(transfer.from);
        if (transfer.from == transfer.to) {
            const Time lasts = transfer_time(wire, machine_.node.local);
            const Time start = std::max(now, from.local);
            waited_ = waited_ || start > now;
            from.local = start + std::max(lasts, machine_.node.message_gap);
            clear_ = std::max(clear_, from.local);
            listener_.injected(transfer.token, start + lasts);
            listener_.arrived(transfer.token, start + lasts + machine_.node.local_latency);
            return;
        }
        const Id id = coming_.take();
        InFlight& coming = coming_[id];
        coming = {
            .handed = now, .wire = wire, .token = transfer.token, .from = transfer.from, .to = transfer.to};
        double narrowest = 1;
        Topology::RouteEnds ends;
        if (widths_.empty() && !tracks_) {
            ends = ends_of(transfer.from, transfer.to);
        } else {
            route_.clear();
            topology_.route(transfer.from, transfer.to, 0, route_);
            ends = {route_.front(), route_.back(), static_cast<std::int32_t>(route_.size())};
            narrowest = width(route_.front());
            for (const Link link : route_) narrowest = std::min(narrowest, width(link));
        }
        const Node& node = machine_.node;
        coming.lasts =
            narrowest == 1
                ? times(wire).lasts
                : transfer_time(wire,
                                std::min({node.injection, machine_.links.rate * narrowest, node.reception}));
        coming.out = ends.first;
        coming.in = ends.hops > 1 ? ends.last : none;
        coming.hops = ends.hops;
        Port& port = ports_[static_cast<std::size_t>(coming.out)];
        if (port.first == nobody && port.out <= now) {
            leave(id, now);
        } else {
            // Behind others at its port: they go first, and meanwhile the engine serves other ports.
            if (port.first == nobody) {
                port.first = id;
                events_.push(port.out, {id, Kind::leaves});
            } else {
                coming_[port.last].next = id;
            }
            port.last = id;
        }
    }

    void expect(int from, int to) const override {
        if (from == to || engines_.empty()) return;
        __builtin_prefetch(&engines_[static_cast<std::size_t>(from)]);
        if (!tracks_) __builtin_prefetch(&ports_[static_cast<std::size_t>(ends_of(from, to).first)]);
    }

    [[nodiscard]] Time next() const override { return events_.next(); }

    void advance() override {
        const auto see = [this](const Event& each, auto step) __attribute__((always_inline)) {
            fetch<step>(each);
        };
        events_.foresee(see);
        const Event event = events_.pop(see);
        const Id id = event.message;
        if (event.kind == Kind::arrives) {
            arrive(id, events_.now());
            return;
        }
        Port& port = ports_[static_cast<std::size_t>(coming_[id].out)];
        port.first = coming_[id].next;
        leave(id, events_.now());
        if (port.first != nobody) events_.push(port.out, {port.first, Kind::leaves});
    }

    [[nodiscard]] Time clear() const override { return clear_; }
    [[nodiscard]] double contention() const override { return contention_; }
    [[nodiscard]] bool waited() const override { return !tracks_ || waited_; }

private:
    using Id = Pool<int>::Id;
    static constexpr Id nobody = Pool<int>::none;
    static constexpr Link none = -1;
    static constexpr std::size_t most_bookings = 64;  // of a link that are told apart
    struct Engines {
        Time injection = 0, reception = 0, local = 0;  // when each is free
        bool taken_by_long = false;                    // the reception engine, by messages of several packets
        bool given_to_long = false;                    // the injection engine
    };
    struct Port {
        Time out = 0, in = 0;              // when each way is free
        bool taken_by_long = false;        // the way in
        Id first = nobody, last = nobody;  // messages that wait for the way out
    };
    struct Booking {
        Time from = 0, until = 0;
        bool ends = false;  // by a message whose last link it is
    };
    // Of a link. What is over before any message can come that is still to be sent is forgotten.
    struct Bookings {
        Booking one{};                   // mostly there is no other that is not over
        std::vector<Booking> several{};  // else all, by when they begin
        Time first = never;              // when the link was ever booked first, and until when last
        Time last = 0;
    };
    // A message from its handing over until its head is at its receiver's node.
    struct alignas(64) InFlight {
        Time handed = 0;
        Time lasts = 0;
        Time late = 0;  // for others, so far
        std::int64_t wire = 0;
        std::uint32_t token = 0;
        Id next = nobody;  // behind it at its port
        Link out = none;
        Link in = none;  // none where it is the output port as well
        std::int32_t hops = 0;
        std::int32_t from = 0;
        std::int32_t to = 0;
    };
    enum class Kind : std::uint32_t { leaves, arrives };
    struct Event {
        Id message;
        Kind kind;
    };

    // Has what an event needs fetched while others happen. Inlined always: GCC leaves out calls of functions
    // that only fetch.
    template <int step>
    [[gnu::always_inline]] void fetch(const Event& event) const {
        const InFlight& coming = coming_[event.message];
        if constexpr (step == 0) __builtin_prefetch(&coming);
        const bool arrives = event.kind == Kind::arrives;
        if constexpr (step != 1) return;
        __builtin_prefetch(&engines_[static_cast<std::size_t>(arrives ? coming.to : coming.from)]);
        if (const Link port = arrives ? coming.in : coming.out; port != none)
            __builtin_prefetch(&ports_[static_cast<std::size_t>(port)]);
    }

    // With the first message: collectives that are computed at once use none of it, whatever the machine's
    // size.
    void make_room() {
        engines_.resize(static_cast<std::size_t>(topology_.nodes()));
        ports_.resize(static_cast<std::size_t>(topology_.links()));
        if (tracks_) bookings_.resize(ports_.size());
        // Asked of the topology once: most have links of one width only, and then nothing is kept.
        if (!topology_.uniform()) {
            widths_.resize(ports_.size(), 1);
            for (Link link = 0; link < topology_.links(); ++link)
                widths_[static_cast<std::size_t>(link)] = topology_.width(link);
        }
        for (int node = 0; node < topology_.nodes(); ++node) {
            const int place = topology_.place(node);
            if (place == node && places_.empty()) continue;
            if (places_.empty()) {
                places_.resize(engines_.size());
                std::iota(places_.begin(), places_.end(), 0);
            }
            places_[static_cast<std::size_t>(node)] = place;
        }
    }

    Engines& engines(int node) {
        return engines_[static_cast<std::size_t>(places_.empty() ? node
                                                                 : places_[static_cast<std::size_t>(node)])];
    }

    // The port is free: the message takes the engine and goes.
    void leave(Id id, Time now) {
        InFlight& coming = coming_[id];
        Engines& from = engines(coming.from);
        const Time start = std::max(now, from.injection);
        waited_ = waited_ || start > now;
        if (shares_turns(from.given_to_long, coming, start > now)) coming.late += start - now;
        from.injection = start + times(coming.wire).injection;
        ports_[static_cast<std::size_t>(coming.out)].out = start + port_time(coming.wire, coming.out);
        clear_ = std::max({clear_, from.injection, ports_[static_cast<std::size_t>(coming.out)].out});
        if (tracks_) note(coming, now, start);
        listener_.injected(coming.token, start + coming.lasts);
        events_.push(start + machine_.links.base + coming.hops * machine_.links.hop, {id, Kind::arrives});
    }

    void arrive(Id id, Time now) {
        const InFlight coming = coming_[id];
        coming_.give_back(id);
        Engines& to = engines(coming.to);
        Time& engine = to.reception;
        Time start = std::max(now, engine);
        bool turns = shares_turns(to.taken_by_long, coming, engine > now);
        if (coming.in != none) {
            Port& port = ports_[static_cast<std::size_t>(coming.in)];
            turns = shares_turns(port.taken_by_long, coming, port.in > now) || turns;
            start = std::max(start, port.in);
            port.in = start + port_time(coming.wire, coming.in);
            clear_ = std::max(clear_, port.in);
        }
        if (tracks_) weigh(coming, turns ? start - now : 0);
        engine = start + times(coming.wire).reception;
        clear_ = std::max(clear_, engine);
        waited_ = waited_ || start > now;
        listener_.arrived(coming.token, start + coming.lasts);
    }

    // The ends of a route: those of a message that is expected are kept until it is sent.
    struct KnownEnds {
        int from = -1, to = -1;
        Topology::RouteEnds ends{};
    };
    const Topology::RouteEnds& ends_of(int from, int to) const {
        const auto place = static_cast<unsigned>(from) * 5 + static_cast<unsigned>(to);
        KnownEnds& known = ends_[place % ends_.size()];
        if (known.from != from || known.to != to) known = {from, to, topology_.route_ends(from, to)};
        return known.ends;
    }

    // What a message of a length takes of everything that it uses; most have the length of the one before.
    struct Times {
        std::int64_t wire = -1;
        Time lasts = 0, injection = 0, reception = 0, port = 0;
    };
    const Times& times(std::int64_t wire) const {
        Times& known = times_[static_cast<std::size_t>(wire) / 8 % times_.size()];
        if (known.wire == wire) return known;
        const Node& node = machine_.node;
        const Rate rate = machine_.links.rate;
        known = {.wire = wire,
                 .lasts = transfer_time(wire, std::min({node.injection, rate, node.reception})),
                 .injection = std::max(transfer_time(wire, node.injection), node.message_gap),
                 .reception = std::max(transfer_time(wire, node.reception), node.message_gap),
                 .port = transfer_time(wire, rate)};
        return known;
    }
    [[nodiscard]] Time port_time(std::int64_t wire, Link link) const {
        return widths_.empty() ? times(wire).port : transfer_time(wire, machine_.links.rate * width(link));
    }
    [[nodiscard]] double width(Link link) const {
        return widths_.empty() ? 1 : widths_[static_cast<std::size_t>(link)];
    }

    // Whether a message takes turns with others at an engine or a port, packet by packet; and what those that
    // come after it find there.
    [[nodiscard]] bool shares_turns(bool& by_long, const InFlight& coming, bool waits) const {
        const bool before = waits && by_long;
        by_long = coming.wire > packet_ || before;
        return waits && by_long;
    }

    // By which part of what it takes alone a message was late.
    void weigh(const InFlight& coming, Time waited) {
        const Time alone = coming.lasts + machine_.links.base + coming.hops * machine_.links.hop;
        contention_ = std::max(contention_, static_cast<double>(coming.late + waited) /
                                                static_cast<double>(std::max<Time>(alone, 1)));
    }

    // Books each link for the time in which the message would pass it, and notes whether another has.
    void note(InFlight& coming, Time now, Time start) {
        Time head = start + machine_.links.base;
        if (coming.handed < start || route_.empty()) {
            // It waited: the route that is at hand is another message's.
            route_.clear();
            topology_.route(coming.from, coming.to, 0, route_);
        }
        for (const Link link : route_) {
            Bookings& on = bookings_[static_cast<std::size_t>(link)];
            const Booking own{head, head + port_time(coming.wire, link), link == route_.back()};
            coming.late += book(on, own, now + machine_.links.base);
            waited_ = waited_ || (own.from < on.last && on.first < own.until);
            on.first = std::min(on.first, own.from);
            on.last = std::max(on.last, own.until);
            head += machine_.links.hop;
        }
    }

    // Enters a booking; by how much its message is late for others. Nobody books a time before `earliest` any
    // more. Messages that end here wait for one another at the input port, which is part of this tier.
    static Time book(Bookings& on, const Booking& own, Time earliest) {
        std::vector<Booking>& others = on.several;
        if (others.empty() && on.one.until > earliest) others.push_back(on.one);
        others.erase(others.begin(), std::ranges::find_if(
                                         others, [&](const Booking& each) { return each.until > earliest; }));
        if (others.empty()) {
            on.one = own;
            return 0;
        }
        Time free = own.from;
        for (const Booking& each : others)
            if (each.from < own.until && own.from < each.until && !(own.ends && each.ends))
                free = std::max(free, each.until);
        const auto next = std::ranges::upper_bound(others, own.from, {}, &Booking::from);
        if (others.size() < most_bookings) {
            others.insert(next, own);
        } else {  // so that thousands that come to one node are no row to search: the time between is lost
            Booking& near = next == others.begin() ? *next : *std::prev(next);
            near = {std::min(near.from, own.from), std::max(near.until, own.until), near.ends && own.ends};
        }
        return free - own.from;
    }

    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    const bool tracks_;  // by how much messages are late for others
    std::vector<Engines> engines_;
    std::vector<Port> ports_;
    std::vector<Bookings> bookings_;
    std::vector<double> widths_;  // of the links; none: all 1
    std::vector<int> places_;     // of nodes, whose engines they use; none: their own
    mutable std::array<Times, 16> times_{};
    mutable std::array<KnownEnds, 128> ends_{};
    std::vector<Link> route_;
    EventQueue<Event> events_;
    Pool<InFlight> coming_;
    const std::int64_t packet_ = std::min<std::int64_t>(machine_.packets.largest(), 4096);
    double contention_ = 0;
    Time clear_ = 0;
    bool waited_ = false;
};

const NetworkTier tier("loggp",
                       [](const Machine& machine, const Topology& topology, Listener& listener,
                          bool track_contention) -> std::unique_ptr<Network> {
                           return std::make_unique<LogGp>(machine, topology, listener, track_contention);
                       });

}  // namespace

}  // namespace leadline::machine
