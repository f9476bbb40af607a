// A described machine in SI units, as the simulator reads it; machines/*.toml say where each number is from.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine/time.hpp"

namespace leadline::machine {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

// What a message of a size costs the cores at its two ends, and how it travels.
struct Protocol {
    std::string name;                                               // short, eager, rendezvous
    std::int64_t up_to = std::numeric_limits<std::int64_t>::max();  // B, the largest message that takes it
    Time send_overhead = 0;                                         // of the sending core, a message
    Time receive_overhead = 0;                                      // of the receiving core, a message
    Time send_packet = 0;                                           // of the sending core, a packet
    Time receive_packet = 0;                                        // of the receiving core, a packet
    Rate send_copy = infinite;     // B/s at which the sending core copies the message; infinite: it does not
    Rate receive_copy = infinite;  // B/s at which the receiving core copies it
    std::int64_t header = 0;       // B that the message carries beside its payload
    bool handshake = false;        // rendezvous: a request and a grant travel first
    Time handshake_overhead = 0;   // of the sending core for its request, of the receiving one for its grant
    bool one_way = false;          // data of two ranks never move both ways at once: a grant waits for them
    Time crossing_latency = 0;     // more, for data that are under way while others come the other way
    bool adaptive = false;         // routed by load; else always the same way
    bool waits =
        false;  // a blocking send returns when the message has left the node, not when it is handed over
};

// How bytes become packets: each carries up to `payload` and costs `overhead` on the wire beside it; what
// travels is a multiple of `granule`.
struct Packets {
    std::int64_t payload = std::numeric_limits<std::int64_t>::max();
    std::int64_t overhead = 0;
    std::int64_t granule = 1;

    [[nodiscard]] std::int64_t count(std::int64_t bytes) const;
    [[nodiscard]] std::int64_t wire(std::int64_t bytes) const;  // B on the wire of a whole message
    [[nodiscard]] std::int64_t largest() const;                 // B on the wire of a full packet
};

struct Links {
    Rate rate = infinite;  // B/s on the wire, each direction
    Time hop = 0;          // each link passed
    Time base = 0;         // of the network's two ends together, beside the hops
};

struct Node {
    int cores = 1;
    int sockets = 1;
    int threads = 1;         // hardware threads a core
    int ranks = 1;           // processes a node, as the machine is run
    double thread_gain = 1;  // rate of a core on several of its threads, over that on one
    // The network's engines of the node, shared by its ranks: B/s on the wire out, in, and within the node.
    Rate injection = infinite;
    Rate reception = infinite;
    Rate local = infinite;
    bool local_by_network = false;  // messages within the node pass the network's engine; else memory copies
    Time local_latency = 0;         // of a message within the node, beside the cores' overheads
    Time message_gap = 0;           // the engine's least time between two messages, out and in each
    Time put_overhead = -1;         // of the core, for a put or a get; less than nothing: as for a send
    Time poll = 100'000;            // of the core, for asking whether an operation is over
    Time match = 0;                 // of the receiving core, for each queue entry that a match passes by
    Time socket_latency = 0;        // more, for a message between two sockets of a node
    Rate flops = infinite;          // a second, each core
    Rate memory = infinite;         // B/s of the whole node
    int rendezvous_credits = 0;     // messages with a handshake that a rank lets come before it asks for them
    double contend =
        0;  // of the time that a rank's messages and a collective are both under way: what is lost
    // Requests and grants of a handshake pass the data that wait at the node's way out.
    bool control_first = false;
    // Overheads, gap and copies as the LogGOPS model has them, and no adapter: engine_loggops.cpp.
    bool loggops = false;
    bool progress = true;  // communication goes on while the core computes; else in calls only
};

// A network that only some communicators may use, in closed form.
struct BarrierNetwork {
    bool present = false;
    Time latency = 0;   // of the whole machine
    Time overhead = 0;  // of each core
};
struct CollectiveNetwork {
    bool present = false;
    Rate rate = infinite;       // B/s of payload, up and down at the same time
    Time latency = 0;           // up and down the tree of so many nodes
    int nodes = 0;              // 0: of however many there are
    Time overhead = 0;          // of each core, a call
    double float_factor = 1;    // times the time of an integer sum, for floating-point sums
    double product_factor = 1;  // the same, for operations that the network lacks
};

struct Noise {
    bool present = false;
    double interval = 0;  // s, mean between two detours of a core
    double detour = 0;    // s, mean length
};

// Short messages of collectives that ranks of one node have for one other node travel as one.
struct Coalescing {
    std::int64_t up_to = 0;  // B; 0: they do not
    Time wait = 0;           // of a message whose node's other ranks have nothing for the same node
};

// What a message costs more at its ends once a rank has walked through so much memory since its last one.
struct Cold {
    double walked = 0;  // B
    double time = 0;    // s that walking through them takes
    struct Costs {
        double overhead = 0;     // s, of either end that had no message since
        double copy = infinite;  // B/s, of the receiver
    };
    Costs eager{}, handshake{};
    [[nodiscard]] const Costs& of(bool asks) const { return asks ? handshake : eager; }
};

// Which algorithm a communicator's collective expands to: the first row that fits.
struct Choice {
    std::string operation;                                          // barrier, bcast, allreduce, ...
    std::int64_t up_to = std::numeric_limits<std::int64_t>::max();  // B, of the message or of a rank's block
    int ranks_up_to = std::numeric_limits<int>::max();              // of the communicator
    std::string algorithm;
};

// How far two ranks are apart, as far as protocols tell it.
enum class Reach { nodes, node, own };

struct Machine {
    std::string name;
    Links links;
    Packets packets;
    Node node;
    std::vector<Protocol> protocols;        // between nodes, by growing up_to
    std::vector<Protocol> local_protocols;  // within a node; empty: as between nodes
    std::vector<Cold> cold{};               // by memory walked through, ascending; empty: costs nothing
    std::vector<Protocol> own_protocols;    // of a rank to itself, without a way; empty: as within a node
    BarrierNetwork barrier;
    CollectiveNetwork collective;
    bool line_broadcast = false;   // packets that every node of a line takes as they pass
    double line_reduce = 0;        // B/s of a reduction along lines; 0: there is none
    std::int64_t lines_from = 0;   // B; what is shorter goes as from rank to rank
    Time collective_overhead = 0;  // of a core that begins a collective by messages, beside its messages
    Rate copy = infinite;          // B/s at which a core copies within its memory; infinite: not known
    Rate reduce = infinite;        // B/s at which a core combines two operands
    bool reduce_streams = false;   // it combines packets as they come, not a message that is there
    Coalescing coalesce;
    Noise noise;
    std::vector<Choice> collectives;
    std::string library = "mpich-3";  // whose choice of algorithms is taken where no row fits
    bool transit_first = true;        // through traffic before local injection
    int buffer = 0;                   // B of a router's input, each virtual channel; 0: eight packets

    [[nodiscard]] bool any_protocol(bool (*is)(const Protocol&)) const;
    [[nodiscard]] bool copies() const { return copy < infinite; }
    [[nodiscard]] const std::vector<Protocol>& protocols_of(Reach reach) const;
    [[nodiscard]] const Protocol& protocol(std::int64_t bytes, Reach reach) const;
};

// Reads the description that src/leadline/machine.py writes. Throws std::invalid_argument naming the key.
Machine parse_machine(const nlohmann::json& description);

}  // namespace leadline::machine
