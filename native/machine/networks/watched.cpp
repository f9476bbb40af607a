// A message is on every link and engine of its way at some time between its handing over and its arrival. So
// of any time, those that are handed over and arrive within it have not more bytes than the rate moves in it.
#include "machine/networks/watched.hpp"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace leadline::machine {
namespace {

std::vector<std::string> violations;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

class Watched final : public Network, private Listener {
public:
    Watched(std::string_view tier, const Machine& machine, const Topology& topology, Listener& listener,
            const MakeNetwork& make)
        : tier_(tier), machine_(machine), topology_(topology), listener_(listener), network_(make(*this)) {}
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() override {
        if (!broken_ && network_->next() == never && !under_way_.empty())
            say(std::to_string(under_way_.size()) + " messages never arrived");
        for (auto& [resource, stays] : stays_) check(resource, stays);
    }

    void send(Time now, const Transfer& transfer) override {
        if (!under_way_.emplace(transfer.token, Sent{transfer, now}).second)
            say("a message was handed over twice");
        unless_thrown([&] { network_->send(now, transfer); });
    }
    [[nodiscard]] Time next() const override { return network_->next(); }
    void advance() override {
        unless_thrown([&] { network_->advance(); });
    }
    [[nodiscard]] Time clear() const override { return network_->clear(); }
    [[nodiscard]] double contention() const override { return network_->contention(); }
    [[nodiscard]] bool waited() const override { return network_->waited(); }

private:
    struct Sent {
        Transfer transfer;
        Time handed;
    };
    struct Stay {
        Time from, until;
        std::int64_t bytes;
    };
    // A link, less links() as the way in of a node; or links() + kind * nodes() + node.
    using Resource = std::int64_t;
    enum Kind : std::uint8_t { injection, reception, local };

    // A network that an error has left half-way need not go on.
    template <class Does>
    void unless_thrown(Does does) {
        broken_ = true;
        does();
        broken_ = false;
    }

    void say(const std::string& what) const { violations.push_back("network " + tier_ + ": " + what); }

    void injected(std::uint32_t token, Time when) override {
        const auto sent = under_way_.find(token);
        if (sent != under_way_.end() && when < sent->second.handed)
            say("a message left before it was handed over");
        listener_.injected(token, when);
    }

    void arrived(std::uint32_t token, Time when) override {
        if (const auto sent = under_way_.extract(token)) note(sent.mapped(), when);
        else say("a message arrived that was not under way");
        listener_.arrived(token, when);
    }

    void note(const Sent& sent, Time when) {
        const auto& [transfer, handed] = sent;
        const Stay stay{handed, when, machine_.packets.wire(transfer.bytes)};
        if (when < handed) say("a message arrived before it was handed over");
        if (transfer.from == transfer.to) {
            stays_[engine(local, topology_.place(transfer.from))].push_back(stay);
            return;
        }
        stays_[engine(injection, topology_.place(transfer.from))].push_back(stay);
        stays_[engine(reception, topology_.place(transfer.to))].push_back(stay);
        // By load nobody knows which way it went; and `loggp` has the links at the two ends only, where a
        // node's own messages and those that come to its neighbour over the same link do not meet.
        if (transfer.adaptive && tier_ != "loggp") return;
        route_.clear();
        topology_.route(transfer.from, transfer.to, 0, route_);
        if (tier_ == "loggp") {
            stays_[route_.front()].push_back(stay);
            if (route_.size() > 1) stays_[route_.back() - topology_.links()].push_back(stay);
            return;
        }
        for (const Link link : route_) stays_[link].push_back(stay);
    }

    [[nodiscard]] Resource engine(Kind kind, int node) const {
        return topology_.links() + static_cast<Resource>(kind) * topology_.nodes() + node;
    }

    [[nodiscard]] double rate(Resource resource) const {
        if (resource < 0) return rate(resource + topology_.links());
        if (resource < topology_.links())
            return machine_.links.rate * topology_.width(static_cast<Link>(resource));
        const auto kind = (resource - topology_.links()) / topology_.nodes();
        return kind == injection   ? machine_.node.injection
               : kind == reception ? machine_.node.reception
                                   : machine_.node.local;
    }

    // Of each time in which something was always under way there: all of it, its ends and its beginnings.
    void check(Resource resource, std::vector<Stay>& stays) const {
        std::ranges::sort(stays, {}, [](const Stay& stay) { return std::pair(stay.from, stay.until); });
        for (std::size_t from = 0, to = 0; from < stays.size(); from = to) {
            Time until = stays[from].until;
            for (to = from; to < stays.size() && stays[to].from <= until; ++to)
                until = std::max(until, stays[to].until);
            std::vector<Stay> period(stays.begin() + static_cast<std::ptrdiff_t>(from),
                                     stays.begin() + static_cast<std::ptrdiff_t>(to));
            std::int64_t bytes = 0;
            for (const Stay& each : std::views::reverse(period))
                weigh(resource, bytes += each.bytes, until - each.from);
            const Time begin = period.front().from;
            std::ranges::sort(period, {}, &Stay::until);
            bytes = 0;
            for (const Stay& each : period) weigh(resource, bytes += each.bytes, each.until - begin);
        }
    }

    void weigh(Resource resource, std::int64_t bytes, Time time) const {
        if (rate(resource) == infinite) return;
        const double most = rate(resource) * seconds(time);
        // Durations of packets are cut to whole picoseconds.
        if (static_cast<double>(bytes) <= most * (1 + 1e-5) + 1) return;
        say((resource < topology_.links() ? "link " : "engine ") + std::to_string(resource) + " moved " +
            std::to_string(bytes) + " B in " + std::to_string(seconds(time) * 1e6) + " us, " +
            std::to_string(static_cast<double>(bytes) / most) + " times what it can");
    }

    bool broken_ = false;
    std::string tier_;
    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    std::unordered_map<std::uint32_t, Sent> under_way_;
    std::unordered_map<Resource, std::vector<Stay>> stays_;
    std::vector<Link> route_;
    std::unique_ptr<Network> network_;
};

}  // namespace

std::vector<std::string> take_violations() { return std::exchange(violations, {}); }

std::unique_ptr<Network> watched(std::string_view tier, const Machine& machine, const Topology& topology,
                                 Listener& listener, const MakeNetwork& make) {
    return std::make_unique<Watched>(tier, machine, topology, listener, make);
}

}  // namespace leadline::machine
