// Collectives written down as their messages, for tools that know nothing else: nothing is simulated.
//
// What is asked is a job's machine (`simulate`), `communicators` (members as runs [first, count, step]) and
// `collectives`, each with its `communicator`, `operation`, `root`, `bytes` as an algorithm takes them and
// `algorithm` ("": the machine's); where ranks' blocks differ `blocks` (B of each rank), and of a gather or
// scatter whose blocks do `rank`: whose part is wanted.
//
// The answer is a line of JSON for each: `algorithm`, whether the machine has `hardware` for it, and how many
// `lines` follow, one a rank (or the one that was asked for), with a `to`, `from`, `sends`, `takes`, `works`
// after the other (Move; works in ps, whole numbers); or `refused`, a sentence.
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>

#include "comm/sim/session.hpp"

namespace leadline {
namespace {

using nlohmann::json;

// Of all collectives together: an answer of more is too long to be read.
constexpr std::int64_t most_moves = std::int64_t{1} << 24U;

Collective collective_named(const std::string& name) {
    for (int each = 0; each <= static_cast<int>(Collective::scan); ++each)
        if (name_of(static_cast<Collective>(each)) == name) return static_cast<Collective>(each);
    throw std::invalid_argument("there is no collective '" + name + "'");
}

std::vector<std::int32_t> members_of(const json& runs) {
    std::vector<std::int32_t> members;
    for (const json& run : runs)
        for (int i = 0; i < run.at(1).get<int>(); ++i)
            members.push_back(run.at(0).get<std::int32_t>() + i * run.at(2).get<std::int32_t>());
    return members;
}

// Content is none of a collective's: a size without memory.
Bytes sized(std::int64_t bytes) {
    return {static_cast<std::byte*>(nullptr), static_cast<std::size_t>(bytes)};
}

// The call that a question is about, with what it refers to.
struct Asked {
    std::string algorithm{};
    std::vector<Part> parts{};
    Call call{};

    Asked(const json& asked, int ranks) : algorithm(asked.value("algorithm", "")) {
        call.what = collective_named(asked.at("operation"));
        call.root = asked.value("root", 0);
        call.algorithm = algorithm;
        call.in_place = asked.value("in_place", false);
        const auto bytes = asked.at("bytes").get<std::int64_t>();
        const bool every = call.what == Collective::alltoall || call.what == Collective::reduce_scatter;
        call.out = call.in = sized(every ? bytes * ranks : bytes);
        if (!asked.contains("blocks")) return;
        std::int64_t offset = 0;
        for (const json& block : asked.at("blocks")) {
            parts.push_back({static_cast<int>(parts.size()), block.get<std::int64_t>(), offset});
            offset += parts.back().bytes;
        }
        call.varies = asked.contains("rank");
        (call.what == Collective::scatter ? call.gives : call.takes) = parts;
    }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    ~Asked() = default;
};

void write(const std::vector<sim::Move>& moves, std::ostream& out) {
    for (const sim::Move& each : moves)
        out << each.to << ' ' << each.from << ' ' << each.sends << ' ' << each.takes << ' '
            << std::llround(1e12 * machine::seconds(each.works)) << ' ';
    out << '\n';
}

}  // namespace

void Session::list_collectives(const json& asked, std::ostream& out) {
    configure(asked.at("simulate"));
    begin(0);
    std::vector<sim::Group*> groups;
    for (const json& runs : asked.at("communicators")) {
        sim::Group made{.members = members_of(runs)};
        made.ranks = static_cast<int>(made.members.size());
        std::vector<std::int32_t> world(static_cast<std::size_t>(size()));
        std::iota(world.begin(), world.end(), 0);
        made.whole = made.members == world;
        groups.push_back(&world_->new_group(std::move(made)));
    }
    std::int64_t all = 0;
    for (const json& each : asked.at("collectives")) {
        sim::Group& group = *groups.at(each.at("communicator").get<std::size_t>());
        const Asked question(each, group.ranks);
        try {
            const sim::Meeting meeting = world_->imagined(group, question.call);
            if (meeting.program) all += meeting.program->messages();
            if (all > most_moves)
                throw Unsupported("its collectives are more than " + std::to_string(most_moves) +
                                  " messages, each counted once");
            const bool one = each.contains("rank");
            out << json{{"algorithm", world_->algorithm_of(meeting)},
                        {"hardware", meeting.service.has_value()},
                        {"lines", one ? 1 : group.ranks}}
                << '\n';
            if (one) write(world_->moves(meeting, each.at("rank").get<int>()), out);
            for (int rank = 0; !one && rank < group.ranks; ++rank) write(world_->moves(meeting, rank), out);
        } catch (const Unsupported& why) {
            out << json{{"refused", why.what()}} << '\n';
        }
    }
}

}  // namespace leadline
