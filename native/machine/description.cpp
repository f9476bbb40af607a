#include "machine/description.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "collectives/algorithm.hpp"

namespace leadline::machine {
namespace {

using nlohmann::json;

constexpr double most_seconds = 100;

[[noreturn]] void refuse(const std::string& key, const std::string& problem) {
    throw std::invalid_argument("machine description: " + key + " " + problem);
}

// A table of the description and its path, so that whatever is wrong is told with its key.
class Table {
public:
    // `kinds` says of which kind keys are, by their ends; of the kinds of `TimePart` by their names.
    Table(const json& from, std::string path, const json& kinds)
        : from_(from), kinds_(kinds), path_(std::move(path)) {
        if (!from_.is_object()) refuse(path_, "is a table");
    }

    [[nodiscard]] bool has(const char* key) const { return from_.contains(key); }
    [[nodiscard]] std::string path(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

    void time(const char* key, Time& to) const {
        double value = -1;
        length(key, value);
        if (value < 0) return;
        to = from_seconds(value);
        if (is("latency", key)) mark(to, TimePart::latency);
        if (is("overhead", key)) mark(to, TimePart::overhead);
        if (is("message", key)) mark(to, TimePart::messages);
    }
    // A time in seconds; a route of a hundred thousand hops of the longest is still a time.
    void length(const char* key, double& to) const {
        const auto value = number(key);
        if (!value) return;
        if (*value > most_seconds) refuse(path(key), "is at most 100 s, but got " + from_.at(key).dump());
        to = *value;
    }
    void rate(const char* key, Rate& to) const {
        if (const auto value = number(key)) to = *value;
        if (is("bandwidth", key)) mark(to);
        if (to <= 0) refuse(path(key), "is more than nothing");
    }
    void factor(const char* key, double& to) const {
        if (const auto value = number(key)) to = *value;
    }
    template <class T>
    void whole(const char* key, T& to) const {
        const auto value = number(key);
        if (!value) return;
        if (*value >= static_cast<double>(std::numeric_limits<T>::max()))
            refuse(path(key), "is less than 2^" + std::to_string(std::numeric_limits<T>::digits) +
                                  ", but got " + from_.at(key).dump());
        to = static_cast<T>(*value);
    }
    // Of things that there is at least one of.
    template <class T>
    void count(const char* key, T& to) const {
        whole(key, to);
        if (to < 1) refuse(path(key), "is 1 or more");
    }
    void flag(const char* key, bool& to) const { read(key, to); }
    void word(const char* key, std::string& to) const { read(key, to); }
    template <class Read>
    void each(const char* key, Read read) const {
        if (!has(key)) return;
        for (const auto& one : from_.at(key)) read(Table(one, path(key), kinds_));
    }
    template <class Read>
    void part(const char* key, Read read) const {
        if (has(key)) read(Table(from_.at(key), path(key), kinds_));
    }

private:
    [[nodiscard]] std::optional<double> number(const char* key) const {
        if (!has(key)) return std::nullopt;
        const json& value = from_.at(key);
        if (!value.is_number()) refuse(path(key), "is a number, but got " + value.dump());
        if (value.get<double>() < 0) refuse(path(key), "is not negative, but got " + value.dump());
        return value.get<double>();
    }
    [[nodiscard]] bool is(const char* kind, const char* key) const {
        if (!kinds_.contains(kind)) return false;
        return std::ranges::any_of(kinds_.at(kind), [&](const json& end) {
            return path(key).ends_with(end.get_ref<const std::string&>());
        });
    }
    template <class T>
    void read(const char* key, T& to) const {
        if (!has(key)) return;
        try {
            to = from_.at(key).get<T>();
        } catch (const json::exception&) {
            refuse(path(key), "has the wrong type: " + from_.at(key).dump());
        }
    }

    const json& from_;
    const json& kinds_;
    std::string path_;
};

Protocol parse_protocol(const Table& from) {
    Protocol protocol;
    from.word("name", protocol.name);
    from.whole("up_to", protocol.up_to);
    from.time("send_overhead", protocol.send_overhead);
    from.time("receive_overhead", protocol.receive_overhead);
    from.time("send_packet", protocol.send_packet);
    from.time("receive_packet", protocol.receive_packet);
    from.rate("send_copy", protocol.send_copy);
    from.rate("receive_copy", protocol.receive_copy);
    from.whole("header", protocol.header);
    from.flag("handshake", protocol.handshake);
    from.time("handshake_overhead", protocol.handshake_overhead);
    from.flag("one_way", protocol.one_way);
    from.time("crossing_latency", protocol.crossing_latency);
    from.flag("adaptive", protocol.adaptive);
    if (protocol.one_way && !protocol.handshake)
        refuse(from.path("one_way"), "is for a protocol with handshake");
    protocol.waits = protocol.handshake;
    from.flag("waits", protocol.waits);
    return protocol;
}

void parse_node(const Table& from, Node& node) {
    from.count("cores", node.cores);
    from.count("sockets", node.sockets);
    if (node.sockets > std::max(node.cores, 1))
        refuse(from.path("sockets"), "is at most cores, " + std::to_string(node.cores) + ", but got " +
                                         std::to_string(node.sockets));
    from.count("threads", node.threads);
    from.count("ranks", node.ranks);
    from.factor("thread_gain", node.thread_gain);
    if (node.thread_gain <= 0 || node.thread_gain > node.threads)
        refuse(from.path("thread_gain"), "is more than nothing, and no more than a core has threads");
    from.rate("injection", node.injection);
    from.rate("reception", node.reception);
    from.rate("local", node.local);
    from.flag("local_by_network", node.local_by_network);
    from.time("local_latency", node.local_latency);
    from.time("socket_latency", node.socket_latency);
    from.time("message_gap", node.message_gap);
    from.time("put_overhead", node.put_overhead);
    from.time("match", node.match);
    from.time("poll", node.poll);
    // A rank that asks again and again would never come to the time at which the answer is yes.
    if (node.poll == 0) refuse(from.path("poll"), "is more than nothing");
    from.rate("flops", node.flops);
    from.rate("memory", node.memory);
    from.whole("ahead", node.rendezvous_credits);  // its name until version 0.2
    from.whole("rendezvous_credits", node.rendezvous_credits);
    from.factor("contend", node.contend);
    from.flag("control_first", node.control_first);
    from.flag("loggops", node.loggops);
    std::string progress = "engine";
    from.word("progress", progress);
    if (progress != "engine" && progress != "calls")
        refuse(from.path("progress"), "is engine or calls, but got " + progress);
    node.progress = progress == "engine";
}

std::vector<Protocol> parse_protocols(const Table& from, const char* key) {
    std::vector<Protocol> all;
    from.each(key, [&](const Table& one) { all.push_back(parse_protocol(one)); });
    if (!std::ranges::is_sorted(all, {}, &Protocol::up_to))
        refuse(from.path(key), "stands in the order of up_to");
    // Whatever is larger than the last row says takes the last row.
    if (!all.empty()) all.back().up_to = std::numeric_limits<std::int64_t>::max();
    return all;
}

void parse_links(const Table& from, Links& links) {
    from.rate("rate", links.rate);
    from.time("hop", links.hop);
    from.time("base", links.base);
}

void parse_packets(const Table& from, Packets& packets) {
    from.count("payload", packets.payload);
    from.whole("overhead", packets.overhead);
    from.count("granule", packets.granule);
}

void parse_barrier(const Table& from, BarrierNetwork& barrier) {
    barrier.present = true;
    from.time("latency", barrier.latency);
    from.time("overhead", barrier.overhead);
}

void parse_collective_network(const Table& from, CollectiveNetwork& network) {
    network.present = true;
    from.rate("rate", network.rate);
    from.time("latency", network.latency);
    from.whole("nodes", network.nodes);
    from.time("overhead", network.overhead);
    from.factor("float_factor", network.float_factor);
    from.factor("product_factor", network.product_factor);
}

void parse_noise(const Table& from, Noise& noise) {
    noise.present = true;
    from.factor("interval", noise.interval);
    from.factor("detour", noise.detour);
    // Else a core would never come out of its detours.
    if (noise.interval <= noise.detour) refuse(from.path("interval"), "is longer than noise.detour");
}

Choice parse_choice(const Table& from) {
    Choice choice;
    from.word("operation", choice.operation);
    from.word("algorithm", choice.algorithm);
    from.whole("up_to", choice.up_to);
    from.whole("ranks_up_to", choice.ranks_up_to);
    return choice;
}

void parse_coalescing(const Table& from, Coalescing& coalesce) {
    from.whole("up_to", coalesce.up_to);
    from.time("wait", coalesce.wait);
}

}  // namespace

std::int64_t Packets::count(std::int64_t bytes) const {
    return bytes <= payload ? 1 : (bytes + payload - 1) / payload;
}

std::int64_t Packets::wire(std::int64_t bytes) const {
    const std::int64_t full = bytes <= payload ? 0 : (bytes - 1) / payload;
    const std::int64_t rest = bytes - full * payload + overhead;
    return full * largest() + (rest + granule - 1) / granule * granule;
}

std::int64_t Packets::largest() const {
    if (payload == std::numeric_limits<std::int64_t>::max()) return payload;
    return (payload + overhead + granule - 1) / granule * granule;
}

bool Machine::any_protocol(bool (*is)(const Protocol&)) const {
    return std::ranges::any_of(protocols, is) || std::ranges::any_of(local_protocols, is) ||
           std::ranges::any_of(own_protocols, is);
}

const std::vector<Protocol>& Machine::protocols_of(Reach reach) const {
    if (reach == Reach::own && !own_protocols.empty()) return own_protocols;
    return reach != Reach::nodes && !local_protocols.empty() ? local_protocols : protocols;
}

const Protocol& Machine::protocol(std::int64_t bytes, Reach reach) const {
    const auto& table = protocols_of(reach);
    for (const auto& row : table)
        if (bytes <= row.up_to) return row;
    return table.back();
}

Cold parse_cold(const Table& from, const std::vector<Cold>& before) {
    Cold cold;
    from.factor("walked", cold.walked);
    from.length("time", cold.time);
    from.length("overhead", cold.eager.overhead);
    from.factor("copy", cold.eager.copy);
    from.length("handshake_overhead", cold.handshake.overhead);
    from.factor("handshake_copy", cold.handshake.copy);
    if (cold.eager.copy <= 0) refuse(from.path("copy"), "is more than nothing");
    if (cold.handshake.copy <= 0) refuse(from.path("handshake_copy"), "is more than nothing");
    const Cold last = before.empty() ? Cold{} : before.back();
    if (cold.walked <= last.walked || cold.time <= last.time)
        refuse(from.path("walked"), "is more in each row than in the one before, and so is its time");
    return cold;
}

Machine parse_machine(const json& description) {
    Machine machine;
    const json none = json::object();
    const bool says_kinds = description.is_object() && description.contains("kinds");
    const Table from(description, "", says_kinds ? description.at("kinds") : none);
    from.word("name", machine.name);
    from.part("links", [&](const Table& links) { parse_links(links, machine.links); });
    from.part("packets", [&](const Table& packets) { parse_packets(packets, machine.packets); });
    from.part("node", [&](const Table& node) { parse_node(node, machine.node); });
    machine.protocols = parse_protocols(from, "protocol");
    machine.local_protocols = parse_protocols(from, "local_protocol");
    machine.own_protocols = parse_protocols(from, "own_protocol");
    from.each("cold", [&](const Table& row) { machine.cold.push_back(parse_cold(row, machine.cold)); });
    if (machine.node.loggops && !machine.cold.empty())
        refuse("cold", "is nothing of the LogGOPS model's (node.loggops)");
    if (machine.protocols.empty()) refuse("protocol", "has at least one row");
    if (machine.node.loggops &&
        machine.any_protocol([](const auto& row) { return row.crossing_latency > 0; }))
        refuse("protocol.crossing_latency", "is none of the LogGOPS model's (node.loggops)");
    from.part("barrier_network", [&](const Table& barrier) { parse_barrier(barrier, machine.barrier); });
    from.part("collective_network",
              [&](const Table& network) { parse_collective_network(network, machine.collective); });
    from.part("noise", [&](const Table& noise) { parse_noise(noise, machine.noise); });
    from.each("collective", [&](const Table& row) { machine.collectives.push_back(parse_choice(row)); });
    from.word("library", machine.library);
    if (!collectives::find_library(machine.library)) {
        std::string names;
        for (const auto& each : collectives::libraries()) names += (names.empty() ? "" : ", ") + each.name;
        refuse("library", "is one of " + names + ", but got \"" + machine.library + "\"");
    }
    from.part("coalesce", [&](const Table& coalesce) { parse_coalescing(coalesce, machine.coalesce); });
    from.flag("line_broadcast", machine.line_broadcast);
    from.factor("line_reduce", machine.line_reduce);
    from.whole("lines_from", machine.lines_from);
    from.time("collective_overhead", machine.collective_overhead);
    from.rate("copy", machine.copy);
    from.rate("reduce", machine.reduce);
    from.flag("reduce_streams", machine.reduce_streams);
    from.flag("transit_first", machine.transit_first);
    from.whole("buffer", machine.buffer);
    return machine;
}

}  // namespace leadline::machine
