// What carries messages between nodes: one file a tier in networks/, which enters itself, behind this page.
//
// Tiers, from the cheapest: `loggp` (the node's engines and its own ports, nothing in between), `flow` (links
// shared as fluid), `packet` (packets, buffers, priorities). On an idle network all give the same times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/description.hpp"
#include "machine/time.hpp"
#include "machine/topology.hpp"

namespace leadline::machine {

// A message that its core has handed over.
struct Transfer {
    int from = 0;            // node
    int to = 0;              // node; may be `from`: then it uses the node's local engine alone
    std::int64_t bytes = 0;  // payload and protocol header
    bool adaptive = false;
    std::uint32_t token = 0;  // by which the listener knows it
};

// Hears of transfers. Times may lie ahead of the moment of the call, never before it.
class Listener {
public:
    virtual void injected(std::uint32_t token, Time when) = 0;  // the last byte has left the sender's memory
    virtual void arrived(std::uint32_t token, Time when) = 0;   // the last byte is in the receiver's memory
protected:
    ~Listener() = default;
};

class Network {
public:
    Network() = default;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;
    virtual ~Network() = default;

    // Takes a message at `now`; called in time order. Both reports follow, here or in advance().
    virtual void send(Time now, const Transfer& transfer) = 0;
    // A message between these nodes will be sent soon: what it needs may be fetched.
    virtual void expect(int, int) const {}
    // When advance() must be called next; `never` when nothing is under way inside.
    [[nodiscard]] virtual Time next() const = 0;
    // Does what happens inside at next(), which may report.
    virtual void advance() = 0;
    // Until when anything inside is busy with what came so far, once nothing is under way.
    [[nodiscard]] virtual Time clear() const = 0;
    // The largest part by which any message so far was late because of a link that others used between its
    // ends: where it is nothing the cheaper `loggp` was true. Only `loggp` itself keeps books of it.
    [[nodiscard]] virtual double contention() const { return 0; }
    // Whether a message may have waited for another of another node anywhere: where none has, every tier
    // gives the same times. Only `loggp` with its books knows.
    [[nodiscard]] virtual bool waited() const { return true; }
};

// What a message may be late for others before the tier without others is no longer the truth.
inline constexpr double negligible = 0.01;

// The longest routes of the tier `packet`, links: a packet counts its hops in few bits.
inline constexpr int longest_packet_route = 16'000;

// The tier for so many messages that wait for one another and have so many bytes in the mean: packets, which
// leave nothing out, where they are few or take little time; else only the messages' shares of links are
// found. Of short messages there are single packets, whose order the router's rules decide on and no share
// tells. `flow` where routes may be longer than packets know.
std::string_view tier_under_contention(const Machine& machine, const Topology& topology, std::int64_t bytes,
                                       std::int64_t messages);

// Whether packets can be had at all for as many such messages, within about a quarter of an hour.
bool playable_by_packets(const Machine& machine, const Topology& topology, std::int64_t bytes,
                         std::int64_t messages);

// Entered once by the file of each tier in networks/, which is named after it. Its first line begins with
// "// Tier `NAME`": from there Python knows which tiers there are. `track_contention` asks for the books that
// contention() needs; a tier that keeps none leaves it.
class NetworkTier {
public:
    using Make = std::unique_ptr<Network> (*)(const Machine&, const Topology&, Listener&,
                                              bool track_contention);
    NetworkTier(std::string_view name, Make make);
};
std::vector<std::string> network_tiers();

// A tier by its name; throws std::invalid_argument for a name that is none.
std::unique_ptr<Network> make_network(std::string_view tier, const Machine& machine, const Topology& topology,
                                      Listener& listener, bool track_contention);

}  // namespace leadline::machine
