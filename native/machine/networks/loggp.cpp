// Tier `loggp`: a message books the engines and ports at its two ends, first come first served; between them
// it is alone. LogGP's g and G with the node's parts told apart: injection engine, output port, input port,
// reception engine, each busy for the message's bytes over its own rate.
//
// With its gate on it also notes when each link between is busy, and tells by which part messages would have
// been late had they waited for one another there: where that is nothing, this tier is the truth.
#include <algorithm>
#include <vector>

#include "machine/network.hpp"
#include "machine/pool.hpp"
#include "machine/wheel.hpp"

namespace leadline::machine {
namespace {

class LogGp final : public Network {
public:
    LogGp(const Machine& machine, const Topology& topology, Listener& listener, bool gate)
        : machine_(machine),
          topology_(topology),
          listener_(listener),
          engines_(static_cast<std::size_t>(topology.nodes())),
          ports_(static_cast<std::size_t>(topology.links())),
          spans_(gate ? static_cast<std::size_t>(topology.links()) : 0) {
        // Asked of the topology once: most have links of one width only, and then nothing is kept.
        for (Link link = 0; link < topology.links(); ++link) {
            const double width = topology.width(link);
            if (width == 1 || width == 0) continue;
            widths_.resize(ports_.size(), 1);
            widths_[static_cast<std::size_t>(link)] = width;
        }
    }

    void send(Time now, const Transfer& transfer) override {
        const std::int64_t wire = machine_.packets.wire(transfer.bytes);
        Engines& from = engines_[static_cast<std::size_t>(transfer.from)];
        if (transfer.from == transfer.to) {
            const Time lasts = transfer_time(wire, machine_.node.local);
            const Time start = std::max(now, from.local);
            from.local = start + std::max(lasts, machine_.node.message_gap);
            listener_.injected(transfer.token, start + lasts);
            listener_.arrived(transfer.token, start + lasts + machine_.node.local_latency);
            return;
        }
        route_.clear();
        topology_.route(transfer.from, transfer.to, 0, route_);
        double narrowest = width(route_.front());
        if (!widths_.empty())
            for (const Link link : route_) narrowest = std::min(narrowest, width(link));
        const Node& node = machine_.node;
        const double slowest = std::min({node.injection, machine_.links.rate * narrowest, node.reception});
        const Time lasts = transfer_time(wire, slowest);
        Time& port = ports_[static_cast<std::size_t>(route_.front())].out;
        const Time taken = std::max(now, from.injection);
        from.injection = taken + std::max(transfer_time(wire, node.injection), node.message_gap);
        const Time start = std::max(taken, port);
        port = start + port_time(wire, route_.front());
        if (!spans_.empty()) note(now, start, wire, lasts);
        listener_.injected(transfer.token, start + lasts);
        const Id id = coming_.take();
        coming_[id] = {wire, lasts, transfer.token, route_.size() > 1 ? route_.back() : none, transfer.to};
        const auto hops = static_cast<Time>(route_.size());
        heads_.push(start + machine_.links.base + hops * machine_.links.hop, id);
    }

    [[nodiscard]] Time next() const override { return heads_.next(); }

    void advance() override {
        const Id id = heads_.pop();
        const Coming coming = coming_[id];
        coming_.give_back(id);
        Time start = heads_.now();
        if (coming.port != none) {
            Time& port = ports_[static_cast<std::size_t>(coming.port)].in;
            start = std::max(start, port);
            port = start + port_time(coming.wire, coming.port);
        }
        Time& engine = engines_[static_cast<std::size_t>(coming.to)].reception;
        start = std::max(start, engine);
        engine = start + std::max(transfer_time(coming.wire, machine_.node.reception), machine_.node.message_gap);
        listener_.arrived(coming.token, start + coming.lasts);
    }

    [[nodiscard]] double contention() const override { return contention_; }

private:
    using Id = Pool<int>::Id;
    static constexpr Link none = -1;
    struct Engines {
        Time injection = 0, reception = 0, local = 0;  // when each is free
    };
    struct Ports {
        Time out = 0, in = 0;
    };
    struct Span {
        Time from = 0, until = 0;  // when a link was last booked
        bool ends = false;         // by a message whose last link it is
    };
    // A message whose head is on its way.
    struct Coming {
        std::int64_t wire;
        Time lasts;
        std::uint32_t token;
        Link port;  // the input port, where it is not the output port as well
        int to;
    };

    [[nodiscard]] Time port_time(std::int64_t wire, Link link) const {
        return transfer_time(wire, machine_.links.rate * width(link));
    }
    [[nodiscard]] double width(Link link) const {
        return widths_.empty() ? 1 : widths_[static_cast<std::size_t>(link)];
    }

    // Books each link for the time in which the message would pass it, and notes whether another has. Messages
    // that end here wait for one another at the input port, which is part of this tier.
    void note(Time now, Time start, std::int64_t wire, Time lasts) {
        Time head = start + machine_.links.base;
        const Time whole = start + lasts - now + machine_.links.base +
                           static_cast<Time>(route_.size()) * machine_.links.hop;
        for (const Link link : route_) {
            Span& span = spans_[static_cast<std::size_t>(link)];
            const Time until = head + port_time(wire, link);
            const bool ends = link == route_.back();
            if (head < span.until && span.from < until && !(ends && span.ends))
                contention_ = std::max(contention_, static_cast<double>(span.until - head) /
                                                        static_cast<double>(std::max<Time>(whole, 1)));
            span = {head, std::max(span.until, until), ends};
            head += machine_.links.hop;
        }
    }

    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    std::vector<Engines> engines_;
    std::vector<Ports> ports_;
    std::vector<Span> spans_;
    std::vector<double> widths_;  // of the links; none: all 1
    std::vector<Link> route_;
    Wheel<Id> heads_;
    Pool<Coming> coming_;
    double contention_ = 0;
};

}  // namespace

std::unique_ptr<Network> make_loggp(const Machine& machine, const Topology& topology, Listener& listener,
                                    bool gate) {
    return std::make_unique<LogGp>(machine, topology, listener, gate);
}

}  // namespace leadline::machine
