// The packet tier's inner page: what packet.cpp (messages) and packet_router.cpp (packets) share, and what
// its tests look at. The rules it keeps are told in packet.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/network.hpp"
#include "machine/pool.hpp"

namespace leadline::machine {

// Sees each packet pass a link or a reception engine (links() + node). For tests.
class PacketWatch {
public:
    // `taken` is how many B of the buffer behind the link are taken or promised, this packet's included;
    // `transit` whether the packet came over another link.
    virtual void passed(int port, Time start, Time end, std::uint32_t token, int taken, bool transit) = 0;

protected:
    ~PacketWatch() = default;
};

class PacketNetwork final : public Network {
public:
    struct Options {
        bool bubble = true;  // off only to show what it is for
        PacketWatch* watch = nullptr;
    };
    PacketNetwork(const Machine& machine, const Topology& topology, Listener& listener, Options options);

    void send(Time now, const Transfer& transfer) override;
    [[nodiscard]] Time next() const override { return events_.next(); }
    void advance() override;
    [[nodiscard]] Time clear() const override { return clear_; }

    // Packets that went over a link or into a node, so far.
    [[nodiscard]] std::int64_t passed() const { return passed_; }
    // Messages that have not wholly arrived; more than none when nothing moves any more is a deadlock.
    [[nodiscard]] std::size_t under_way() const { return under_way_; }

private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr Index most_channels = 8;  // for hops, where there is no grid; later hops share the last
    static constexpr Index dynamic = 1;        // channel of a grid
    static constexpr int most_variants = 16;   // bits of Packet::ways

    struct Packet {
        Time ready = 0;     // its head is in the buffer
        Index next = none;  // the port after that, once it is decided
        Index message = 0;
        Index route = 0;         // row of routes_
        std::uint16_t ways = 0;  // variants of its message still open to it: it is routed by load
        std::uint16_t hop = 0;   // place in the route of the next port, and the two flags below
        Index behind = none;     // of queue_, the packet behind it in its buffer
    };
    static constexpr unsigned last_bit = 1U << 15U;  // the last of its message, so maybe smaller
    static constexpr unsigned own_bit = 1U << 14U;   // has a row of routes_ to itself
    // A FIFO of packets behind a link, one for each channel. Its head waits for one port at a time. The
    // others are in queue_: where no packet waits for another, all that is needed is here.
    struct alignas(64) Buffer {
        Packet head;
        Time since = 0;                   // when the head began to wait
        Index first = none, last = none;  // of queue_: the second packet and the last
        std::uint16_t count = 0;          // packets, with the head
        std::uint16_t need = 0;           // units that the head needs free at its target
        Index channel = 0;                // of that port, which the head goes to
        Index next = none;                // the next buffer that waits for the same port
    };
    // A link or a reception engine: packets pass it one at a time.
    struct alignas(64) Port {
        Time busy = 0;       // until then
        Time armed = never;  // when it will be looked at
        // Units of the buffers behind it that are taken, or promised.
        std::array<std::uint16_t, most_channels> taken{};
        Index first = none, last = none;              // buffers whose heads wait for it
        Index local_first = none, local_last = none;  // messages of the node that begin with it
        Index node = 0;                               // whose engine feeds it, or which it feeds
        std::int32_t ring = -1;                       // in a grid: of rings_
        Index queued = none;                          // the next port that waits for the same engine
        bool waits = false;                           // for the injection engine
    };
    struct Engine {
        Time free = 0;                    // the injection engine
        Time gap = 0;                     // before which it may start no other message
        Time reception_gap = 0;           // the same of the reception engine
        Time local = 0;                   // the local engine is free
        Index first = none, last = none;  // ports that wait for the injection engine
    };
    struct Message {
        std::int64_t count = 0, unsent = 0, missing = 0;  // packets
        std::int64_t rest = 0;                            // B of the last one
        double slowest = 0;                               // ps a byte, of its way up to the receiving node
        Time injected = 0, arrived = 0;                   // on an idle network; these times are never earlier
        Time pace = 0;                                    // before which it may send no other packet
        std::uint32_t token = 0;
        int to = 0;
        Index behind = none;                        // the next to its node, which begins after it
        std::uint16_t queues = 0;                   // of ports, in which it stands
        std::uint16_t variants = 0;                 // none: not routed by load
        int turn = 0;                               // the variant that took its last packet
        std::array<Index, most_variants> routes{};  // rows of routes_
    };
    struct Queued {
        Index message = none, next = none;
    };
    struct Report {
        std::uint32_t token;
        bool arrival;
        Time when;
    };
    enum Kind : std::uint32_t { port_free, head_ready, engine_free };
    struct Event {
        Kind kind;
        Index which;
    };

    // Messages: packet.cpp.
    void lay_out();
    void grow_channels(Index channels);
    void send_local(Time now, const Transfer& transfer, std::int64_t wire);
    void find_routes(Message& message, const Transfer& transfer);
    void foresee(Message& message, Time now, std::int64_t wire);
    [[nodiscard]] Index new_route(const Link* begin, const Link* end, int to);
    void widen_routes(std::size_t length);
    void enqueue(Index at, Index id);
    void drop_head(Port& port);
    [[nodiscard]] bool follows(Index at, Index id);
    void begin_others(Index at);
    void take_turns(Index at, Index id);
    void finish(Index id);
    void give_reports();

    // Packets: packet_router.cpp. `at` is the port or the buffer where it happens.
    void work();
    void request(Index at);
    [[nodiscard]] Index choose(Index at, Packet& packet);
    [[nodiscard]] Index detour(Index at, Packet& packet);
    void serve(Index at, bool turn);
    void serve_engine(Index node);
    [[nodiscard]] Index sendable(Index at, Index& before);
    void forward(Index from, Index before, Index at);
    [[nodiscard]] bool inject(Index at, bool turn);
    [[nodiscard]] bool fits(Index at, Index channel, Index need);
    void take(Index at, Index channel, const Packet& packet);
    void give_back(Index at, Index channel, const Packet& packet);
    [[nodiscard]] Index entrance(Index at, const Message& message, Packet& packet);
    [[nodiscard]] Index better(Index at, Index id, const Message& message) const;
    [[nodiscard]] bool engine_taken(Index at, bool turn);
    Time pass(Index at, const Packet& packet, Index channel, bool promised);
    void deliver(Index at, const Packet& packet);
    template <int step>
    [[gnu::always_inline]] inline void fetch(const Event& event) const;
    void arm(Index at, Time when);

    [[nodiscard]] Index route_at(Index row, unsigned hop) const { return routes_[row * stride_ + hop]; }
    // Units that a packet takes in a buffer, and that must be free for it to enter a ring.
    [[nodiscard]] Index units(const Packet& packet) const {
        return is_last(packet) ? units(messages_[packet.message].rest) : full_units_;
    }
    [[nodiscard]] Index units(std::int64_t bytes) const {
        return static_cast<Index>((bytes + unit_ - 1) / unit_);
    }
    [[nodiscard]] Index bubble() const { return grid_ && options_.bubble ? full_units_ : 0; }
    [[nodiscard]] Index link_of(Index buffer) const { return buffer < links_ ? buffer : buffer % links_; }
    // The channel of a packet that is not routed by load in a grid.
    [[nodiscard]] Index channel(unsigned hop) const {
        return grid_ ? 0 : std::min<Index>(hop, most_channels - 1);
    }
    [[nodiscard]] static unsigned place(const Packet& packet) { return packet.hop & (own_bit - 1); }
    // Whether only one way is left to it: then its route and its next port are known.
    [[nodiscard]] static bool decided(const Packet& packet) { return (packet.ways & (packet.ways - 1)) == 0; }
    [[nodiscard]] static bool is_last(const Packet& packet) { return (packet.hop & last_bit) != 0; }
    [[nodiscard]] Time duration(const Packet& packet, Time full, double per_byte) const {
        if (!is_last(packet)) return full;
        return static_cast<Time>(static_cast<double>(messages_[packet.message].rest) * per_byte);
    }

    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    const Options options_;
    const Index links_;
    const std::int64_t piece_;   // B of a full packet on the wire
    const std::int64_t buffer_;  // B
    const std::int64_t unit_;    // B by which buffers are counted
    const Index full_units_;     // of a full packet
    const Index room_;           // units of a buffer
    Time injection_full_ = 0;    // how long the injection engine takes for it
    double injection_per_byte_;
    bool grid_ = false;  // channels are deterministic and dynamic, else one for each hop
    bool alike_ = true;  // all links, in width
    Index channels_ = 0;
    Time now_ = 0;
    Time clear_ = 0;
    std::int64_t passed_ = 0;
    std::size_t under_way_ = 0;

    std::vector<Port> ports_;          // links, then reception engines
    std::vector<std::int32_t> rings_;  // units free in the deterministic buffers of each ring of a grid
    struct Pace {
        double per_byte = 0;  // ps
        Time full = 0;        // how long a full packet takes
    };
    std::vector<Pace> paces_;      // of each port
    std::vector<Buffer> buffers_;  // [channel][link]
    Pool<Packet> queue_;           // packets behind others
    std::vector<Time> since_;      // when each link's own messages last had their turn
    std::vector<Engine> engines_;
    std::size_t stride_ = 0;
    std::vector<Index> routes_;  // rows of `stride_` ports, the last of which is a reception engine
    std::vector<Index> free_routes_;
    Pool<Message> messages_;
    Pool<Queued> queued_;
    // Where messages take turns, by port: entries of queued_ that may not begin yet; and the last message to
    // a node.
    struct Line {
        Index first = none, last = none;
        bool began = false;  // the port's last packet was the first of its message
    };
    std::vector<Line> aside_;
    std::unordered_map<std::uint64_t, Index> last_to_;
    EventQueue<Event> events_;
    std::vector<Event> work_;  // to be looked at now
    std::vector<Report> reports_;
    std::size_t told_ = 0;           // of them
    std::vector<Link> links_found_;  // scratch
};

}  // namespace leadline::machine
