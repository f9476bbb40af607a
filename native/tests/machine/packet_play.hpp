// What tests of the packet tier share: a network with an ear, and messages that go in by their times.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "machine/networks/packet_network.hpp"

namespace leadline::machine {

using Shape = std::vector<int>;

inline std::unique_ptr<Topology> grid(const char* kind, const Shape& shape) {
    return make_topology({{"kind", kind}, {"shape", shape}});
}

// About a BG/P node: 240 B of payload in 256 B packets, six links.
inline Machine machine() {
    Machine machine;
    machine.packets = {240, 16, 32};
    machine.links = {425e6, 58'000, 900'000};
    machine.node.injection = 2.2e9;
    machine.node.reception = 1.6e9;
    machine.node.local = 3e9;
    machine.node.local_latency = 400'000;
    machine.buffer = static_cast<int>(4 * machine.packets.largest());
    return machine;
}

// Keeps what it hears, and looks at each packet's passage.
class Ear final : public Listener, public PacketWatch {
public:
    struct Passage {
        Time start, end;
        std::uint32_t token;
        bool transit;
    };
    void injected(std::uint32_t token, Time when) override { ASSERT_TRUE(left.emplace(token, when).second); }
    void arrived(std::uint32_t token, Time when) override { ASSERT_TRUE(came.emplace(token, when).second); }
    void passed(int port, Time start, Time end, std::uint32_t token, int taken, bool transit) override {
        passages[port].push_back({start, end, token, transit});
        fullest = std::max(fullest, taken);
    }
    std::map<std::uint32_t, Time> left, came;
    std::map<int, std::vector<Passage>> passages;
    int fullest = 0;
};

struct Timed {
    Time when;
    Transfer transfer;
};

// A network with an ear; messages go in by their times, then all that can happen does.
struct Play {
    Play(const Machine& of, const Topology& topology, const std::vector<Timed>& messages, bool bubble = true)
        : network(of, topology, ear, {bubble, &ear}) {
        for (const auto& [when, transfer] : messages) {
            while (network.next() <= when && network.next() != never) network.advance();
            network.send(when, transfer);
        }
        while (network.next() != never) network.advance();
    }
    Ear ear;
    PacketNetwork network;
};

inline Transfer transfer(int from, int to, std::int64_t bytes, std::uint32_t token, bool adaptive = false) {
    return {.from = from, .to = to, .bytes = bytes, .adaptive = adaptive, .token = token};
}

}  // namespace leadline::machine
