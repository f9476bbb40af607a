// leadline-packets: traffic through the packet tier alone; packet-hops a second of the processor.
//
// The job gives `machine` and `topology` as a simulated job does, `bytes` and `messages` that each node
// sends, and `pattern`: "random", any other node, or "neighbours", the nodes one hop away in turns. A node
// hands over its next message once the last has left it, so that buffers are full and queues at the nodes are
// not.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "harness/job.hpp"
#include "machine/event_queue.hpp"
#include "machine/networks/packet_network.hpp"

namespace {

using namespace leadline::machine;

class Traffic final : private Listener {
public:
    Traffic(const Machine& machine, const Topology& topology, const nlohmann::json& job)
        : topology_(topology),
          network_(machine, topology, *this, {}),
          bytes_(job.at("bytes")),
          neighbours_(job.at("pattern") == "neighbours"),
          left_(static_cast<std::size_t>(topology.nodes()), job.at("messages").get<int>()) {}

    // Until all has arrived; packets passed over links.
    std::uint64_t run() {
        for (int node = 0; node < topology_.nodes(); ++node) send(0, node);
        while (network_.next() != never || !ready_.empty()) {
            if (ready_.next() <= network_.next()) {
                const int node = ready_.pop();
                send(ready_.now(), node);
            } else {
                network_.advance();
            }
        }
        return network_.passed();
    }

private:
    void send(Time now, int node) {
        int& left = left_[static_cast<std::size_t>(node)];
        if (left == 0) return;
        --left;
        network_.send(now, {.from = node,
                            .to = target(node, left),
                            .bytes = bytes_,
                            .token = static_cast<std::uint32_t>(node)});
    }
    // Of a random node, or of the one next on an axis, either way.
    int target(int node, int number) {
        if (!neighbours_) {
            const auto others = static_cast<std::uint64_t>(topology_.nodes() - 1);
            return (node + 1 + static_cast<int>(random_() % others)) % topology_.nodes();
        }
        const auto axes = topology_.axes();
        auto at = topology_.coordinates(node);
        const auto axis = static_cast<std::size_t>(number / 2) % axes.size();
        at[axis] = (at[axis] + (number % 2 == 0 ? 1 : axes[axis] - 1)) % axes[axis];
        return topology_.node_at(at);
    }
    void injected(std::uint32_t node, Time when) override { ready_.push(when, static_cast<int>(node)); }
    void arrived(std::uint32_t, Time) override {}

    const Topology& topology_;
    PacketNetwork network_;
    std::int64_t bytes_;
    bool neighbours_;
    std::vector<int> left_;  // messages that each node has yet to send
    EventQueue<int> ready_;  // nodes whose last message has left
    std::mt19937_64 random_{1};
};

void play(const nlohmann::json& job, leadline::Answers& answers) {
    const Machine machine = parse_machine(job.at("machine"));
    const auto topology = make_topology(job.at("topology"));
    Traffic traffic(machine, *topology, job);
    const auto begin = std::clock();  // of the processor
    const std::uint64_t hops = traffic.run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    answers.write({{"event", "ran"}, {"seconds", seconds}, {"hops", hops}});
    answers.write({{"event", "done"}});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    try {
        std::ifstream file(argv[1]);
        leadline::Answers answers(argv[2]);
        play(nlohmann::json::parse(file), answers);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "leadline-packets: %s\n", problem.what());
        return 1;
    }
    return 0;
}
