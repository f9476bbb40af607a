// The simulated machine's clockwork: ranks as suspended coroutines, their clocks, messages and matching.
//
// A rank that runs charges its own clock and goes on until it needs something that has not happened yet; it
// may run ahead of the engine, since all that it does to others is an event at its own time, and events
// happen in the order of time. Where several happen at one time they happen in the order in which they were
// caused, so a run is a function of the program, the machine and the seed.
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/coldness.hpp"
#include "machine/crossings.hpp"
#include "machine/description.hpp"
#include "machine/endings.hpp"
#include "machine/event_queue.hpp"
#include "machine/mapping.hpp"
#include "machine/matching.hpp"
#include "machine/network.hpp"
#include "machine/networks/pairs.hpp"
#include "machine/pool.hpp"
#include "machine/rank_state.hpp"
#include "machine/symmetry.hpp"
#include "machine/topology.hpp"

namespace leadline::machine {

// An operation, a message or a transfer, that its rank may wait for.
using RequestId = std::uint32_t;
inline constexpr RequestId no_request = 0;

struct Conditions {
    std::string network = "loggp";  // tier
    bool track_contention = false;  // keep the books of contention, and stop where there is any
    bool automatic = false;         // a collective that is alone may take the cheapest tier that is true
    bool settled = false;           // the tier stays, whatever messages come
    bool by_messages = false;       // no collective is computed at once
    std::uint64_t seed = 1;
    bool noise = false;
    std::string protocol = "default";    // or the name of the one that is forced
    const Symmetry* symmetry = nullptr;  // what is played for all; null: every rank is
};

class Engine final : private Listener {
public:
    Engine(const Machine& machine, const Topology& topology, std::vector<Placement> placements, Conditions);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() = default;

    [[nodiscard]] int ranks() const { return static_cast<int>(placements_.size()); }
    // Of them the first ones, which are played; what goes on beside their programs is numbered after them.
    [[nodiscard]] int players() const { return players_; }
    [[nodiscard]] const Machine& machine() const { return machine_; }
    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] const Placement& placement(int rank) const {
        return placements_[static_cast<std::size_t>(rank)];
    }
    // Of a core on one of its threads, what a rank has of it while all that share it compute: ranks of a
    // socket take its cores in turns, and further threads of theirs once each has one.
    [[nodiscard]] double share_of_core(int rank) const;
    [[nodiscard]] bool local(int a, int b) const { return placement(a).node == placement(b).node; }
    [[nodiscard]] int ranks_on_node(int rank) const;  // itself with them
    // Whether a message has no way at all: of a rank to itself, where the machine says what that costs.
    [[nodiscard]] bool to_itself(int a, int b) const { return a == b && !machine_.own_protocols.empty(); }
    [[nodiscard]] Reach reach(int a, int b) const;
    [[nodiscard]] const Conditions& conditions() const { return conditions_; }
    [[nodiscard]] const Network& network() const { return *network_; }
    // Of machines where computation takes the caches from messages; else null.
    [[nodiscard]] Coldness* coldness() { return coldness_ ? &*coldness_ : nullptr; }
    // Whether ranks whose numbers differ in one bit, always the same, sit on nodes whose numbers do: on a
    // grid whose axes are powers of two, with a rank a node in any order of the axes.
    [[nodiscard]] bool placed_by_bits() const;
    // Whether some links are slower or faster than others.
    [[nodiscard]] bool tapered() const { return tapered_; }
    [[nodiscard]] int socket(int rank) const;
    // The protocol that a message of this size takes between two ranks.
    [[nodiscard]] const Protocol& protocol(int from, int to, std::int64_t bytes) const;
    // What a message costs the core at its end.
    [[nodiscard]] Time send_cost(const Protocol& way, std::int64_t bytes) const {  // before it is handed over
        return core_costs(way, bytes).send;
    }
    [[nodiscard]] Time send_rest(const Protocol& way, std::int64_t bytes) const {  // and after that
        return core_costs(way, bytes).rest;
    }
    [[nodiscard]] Time receive_cost(const Protocol& way, std::int64_t bytes) const {
        return core_costs(way, bytes).receive;
    }
    // What a rank's core takes to combine a message with what it has, and to copy within its memory.
    [[nodiscard]] Time combine_cost(std::int64_t bytes) const;
    [[nodiscard]] Time copy_cost(std::int64_t bytes) const;
    // When a message is combined whose receiver was free from `free` on and has all of it at `whole`.
    [[nodiscard]] Time combined(int from, int to, std::int64_t bytes, Time handed, Time free,
                                Time whole) const;
    // From handing over to the last byte's arrival, on an idle network.
    [[nodiscard]] Time under_way(int from, int to, const Protocol& way, std::int64_t bytes) const;

    // ------------------------------------------------------------------ the program of each rank
    // Calls `then` once all ranks that can go on at this instant have, before anything else happens.
    void before_events(std::function<void()> then) { before_events_ = std::move(then); }
    // Whether nothing is under way: no message, no operation, no rank that will go on by itself.
    [[nodiscard]] bool quiet() const {
        const bool queued = messages_.used() > 0 || operations_.used() > 1;  // beside no_request
        return events_.empty() && network_->next() == never && (machine_.node.match <= 0 || !queued);
    }
    void at_time(Time when, std::function<void()> then);
    // What was computed at once keeps the network until then: a message that comes before stops the run.
    void keep(Time until) { kept_ = std::max(kept_, until); }
    [[nodiscard]] bool spoiled() const { return spoiled_; }
    // Whether the tier is not the one to take: the run stopped, or its last messages waited for one another.
    [[nodiscard]] bool contended() const {
        return contended_ ||
               (conditions_.automatic && conditions_.track_contention && network_->contention() > negligible);
    }
    // Something with a clock of its own beside a rank's program, which sends and receives as the rank.
    int beside(int rank, Time clock);
    void end_beside(int agent);
    // The rank as which an agent sends.
    [[nodiscard]] int home(int agent) const {
        return agent < players_ ? agent : beside_[static_cast<std::size_t>(agent - players_)];
    }
    // The rank is resumed by `handle` when run() begins.
    void start(int rank, std::coroutine_handle<> handle) { at(rank).handle = handle; }
    // Until nothing happens any more. `ended` hears of each rank whose program came to its end, and stops
    // everything by answering true. Throws Deadlock where ranks are left over, and Unfinished where something
    // else is.
    void run(const std::function<bool(int rank)>& ended);

    // ------------------------------------------------------------------ words of the rank that runs
    void compute(int rank, Time time) {
        spend(rank, time);
        if (!computed_.empty()) [[unlikely]]
            computed_[static_cast<std::size_t>(rank)] = {
                computed_[static_cast<std::size_t>(rank)].in_all + time, at(rank).clock};
    }
    // It enters a call in which it waits, where nothing goes on by itself while a core computes.
    void enter(int rank) {
        if (!deferred_.empty() && rank < players_) [[unlikely]]
            progress(rank);
    }
    // Calls `then` once the rank has entered such a call; at once where all goes on by itself.
    void on_progress(int rank, std::function<void()> then);

    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] Time clock(int rank) const { return at(rank).clock; }
    // Processor time, with the core's detours where there is noise.
    void spend(int rank, Time time) {
        Time& clock = at(rank).clock;
        clock += time;
        if (clock > longest) [[unlikely]]
            too_long(seconds(clock));
        if (!detours_.empty()) [[unlikely]]
            take_detours(rank, clock - time);
    }

    RequestId send(int rank, int to, const Envelope& envelope, std::span<const std::byte> data);
    // The same, of a rank that waits for nothing else before it has waited for this: a send that is over once
    // it is handed over leaves nothing to wait for, and is no_request.
    RequestId send_blocking(int rank, int to, const Envelope& envelope, std::span<const std::byte> data);
    // `from` is the envelope's source as a rank of the world, or any_source.
    RequestId receive(int rank, int from, const Envelope& envelope, std::span<std::byte> data);
    // One-sided: bytes to or from `target`, where nobody takes part. Over when it has happened there and this
    // rank knows.
    RequestId put(int rank, int target, std::int64_t bytes);
    RequestId get(int rank, int target, std::int64_t bytes);
    // A put of a word; `then` is called when it is there.
    void signal(int rank, int target, std::function<void()> then);

    // An operation that others end for this rank: it is over at `when`.
    RequestId open(int rank);
    void close(RequestId operation, Time when);

    // The rank was in a collective: what of its messages was under way meanwhile was slower for it, and ends
    // the later.
    void was_in_collective(int rank, Time from, Time until) {
        if (!collectives_.empty()) [[unlikely]]
            collectives_[static_cast<std::size_t>(rank)] = {from, until};
    }

    // When the data of a receive that is over were handed over to the network.
    [[nodiscard]] Time handed(RequestId operation) const { return operations_[operation].posted; }
    // It waits, in a deadlock's sentence.
    void because(int agent, const char* why) { at(agent).parked = why; }
    // When an operation was over; `never` while it is under way.
    [[nodiscard]] Time done(RequestId operation) const { return operations_[operation].done; }
    // Charges an operation that is over and forgets it; the source of a receive.
    int finish(int rank, RequestId operation);
    // The same for several, in the order in which they were over; they become no_request.
    void finish(int rank, std::span<RequestId> operations);
    // The rank stops here until one, or all, of the operations are over; false when that is so already.
    // Whatever is no_request is left out.
    bool await_one(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations);
    bool await_all(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations);
    // Nobody waits for an operation any longer.
    void disregard(RequestId operation) { operations_[operation].awaited = false; }
    // The rank stops here until its clock's time has come for everybody, and then asks whether the operations
    // are over. Throws Livelock, in run(), where that can never be.
    void await_now(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations);
    // The rank stops here until its core is free for what it does next, and for a message that it `sends`;
    // false where cores take up what comes only when they are asked for it.
    bool await_core(int rank, std::coroutine_handle<> handle, bool sends);
    // The rank stops here until wake(); `why` says for whom it waits, for a deadlock's sentence.
    void park(int rank, std::coroutine_handle<> handle, const char* why);
    void wake(int rank, Time when);  // goes on at `when`, or at its own clock if that is later

    [[nodiscard]] std::uint64_t messages() const { return messages_sent_; }  // so far
    [[nodiscard]] std::int64_t bytes() const { return bytes_sent_; }         // in them

private:
    static constexpr int everybody = -2;        // the peer of an operation that others end
    static constexpr int nobody = -1;           // whose operation is that is not in use
    static constexpr std::size_t carried = 16;  // B of content that a message brings; the rest is only time

    struct Rank {
        Time clock = 0;
        std::coroutine_handle<> handle;
        const char* parked = nullptr;  // what for, where it waits for no operation
        std::int32_t wanted = 0;       // operations that it waits for before it goes on
        bool ended = false;
    };
    struct alignas(64) RequestState {
        Time done = never;
        Time cost = 0;  // of the rank's core, charged when it finishes the operation
        std::int32_t rank = 0;
        std::int32_t peer = 0;    // world rank, or any_source
        std::int32_t source = 0;  // in the communicator, once a message is met
        Time posted = 0;
        bool receives = false;
        bool awaited = false;
        bool inner = false;  // of a collective
        bool asked = false;  // by a handshake
        std::int32_t tag = 0;
        std::span<std::byte> data{};
    };
    // What messages of a protocol and a length cost the cores at their ends: most are like one before.
    struct CoreCosts {
        const Protocol* way = nullptr;
        std::int64_t bytes = -1;
        Time send = 0, rest = 0, receive = 0;
    };
    [[nodiscard]] const CoreCosts& core_costs(const Protocol& way, std::int64_t bytes) const;
    [[nodiscard]] Time find_send_cost(const Protocol& way, std::int64_t bytes) const;
    [[nodiscard]] Time find_send_rest(const Protocol& way, std::int64_t bytes) const;
    [[nodiscard]] Time find_receive_cost(const Protocol& way, std::int64_t bytes) const;

    enum class Leg : std::uint8_t { data, request, grant, put, get_request, get_data, signal };
    struct Message {
        std::int64_t bytes = 0;
        Time reached = 0;  // when its envelope came to the receiver
        Time handed = 0;   // its data, to the network
        const Protocol* protocol = nullptr;
        Envelope envelope;
        std::int32_t from = 0;  // world ranks
        std::int32_t to = 0;
        RequestId send = no_request;
        RequestId receive = no_request;
        Leg leg = Leg::data;
        bool early = false;      // comes, or has come, ahead of the receive that will take it
        bool crossed = false;    // is the later for it
        std::uint32_t turn = 0;  // among those of its sender to its receiver, where they may overtake
        std::array<std::byte, carried> content{};
    };
    enum class Kind : std::uint32_t { inject, reach, left, wake, together, call, soon, settle };
    struct Event {
        Kind kind;
        std::uint32_t id;
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    void resume(int rank);
    void happen(const Event& event);
    // Has what an event needs fetched while others happen: a rank's state lies far from that of the next.
    // Inlined always: GCC leaves out calls of functions that only fetch.
    template <int step>
    [[gnu::always_inline]] inline void fetch(const Event& event) const;
    void inject(std::uint32_t id);
    void send_out(std::uint32_t id, int from, int to, std::int64_t bytes);
    [[nodiscard]] bool is_untrue();
    void injected(std::uint32_t id, Time when) override;
    void arrived(std::uint32_t id, Time when) override;
    void has_left(std::uint32_t id, Time when);
    void has_come(std::uint32_t id, Time when);
    [[nodiscard]] bool travels_together(const Message& message) const;
    void join_others(std::uint32_t id);
    void go_together(std::uint32_t number);
    void reach(std::uint32_t id);
    bool waits_to_cross(std::uint32_t id);
    void share_cores();
    [[nodiscard]] bool in_line(const Message& message) const;
    [[nodiscard]] static std::uint64_t pair(const Message& message);
    PairQueue& queue(const Message& message);
    void come_in_turn(std::uint32_t id);
    void match_envelope(std::uint32_t id);
    void grant_early(std::uint32_t id);
    bool taken_up(Message& message, std::uint32_t id, RequestId receive);
    void return_credit(int rank);
    [[nodiscard]] bool may_grant(std::uint32_t id);
    void let_grants_go(const Message& data);
    void lose_to_collective(int rank, const RequestState& pending);
    void complete_match(std::uint32_t id, RequestId receive, std::int32_t passed);
    void complete(RequestId operation, Time when);
    RequestId new_operation(int rank, int peer);
    RequestId send(int rank, int to, const Envelope& envelope, std::span<const std::byte> data,
                   bool blocking);
    void bring_back(Message& message) const;
    [[nodiscard]] int player(int rank) const {
        return conditions_.symmetry ? conditions_.symmetry->player(rank) : rank;
    }
    RequestId one_sided(int rank, int target, std::int64_t bytes, Leg leg);
    std::uint32_t new_message(int from, int to, std::int64_t bytes, Leg leg);
    void hand_over(std::uint32_t message, Time when);
    void progress(int rank);
    // When the rank's core sees what comes now.
    [[nodiscard]] Time seen(int rank) const {
        return computed_.empty() ? now_ : std::max(now_, computed_[static_cast<std::size_t>(rank)].until);
    }
    void draw_detour(int rank);
    void begin_detours(int agent, Time clock);
    void take_detours(int rank, Time begun);
    [[nodiscard]] std::string who_waits() const;
    [[nodiscard]] std::string doing(RequestId operation) const;
    void ask();
    void check_nothing_left() const;
    void wait_for_send_gap(int rank, std::int64_t bytes);
    void cross(std::uint32_t id, int from, int to);
    void settle_at(int rank, Time when);
    void settle(int rank);
    void take_up(int rank, std::uint32_t id);
    void take_data(std::uint32_t id);
    // When what has just come is with its receiver.
    [[nodiscard]] Time with_receiver(const Message& message) const {
        return cores_.empty() || message.leg != Leg::data ? now_ : at(message.to).clock;
    }
    [[noreturn]] void does_not_fit(const Message& message, std::size_t room) const;

    Machine machine_;
    const Topology& topology_;
    std::vector<Placement> placements_;
    std::vector<std::int32_t> sharing_{};  // ranks on each rank's core, itself with them; none: one on each
    Conditions conditions_;
    int players_;
    std::vector<Rank> ranks_;       // and what goes on beside them
    std::vector<Detours> detours_;  // of each rank, where there is noise
    // What each rank has begun, where nothing goes on but in its calls.
    std::vector<std::vector<std::function<void()>>> deferred_;
    std::vector<Computed> computed_;  // of each, there
    std::vector<Span> collectives_;   // in which each was last, where that counts
    std::vector<RendezvousCredits> credits_;
    std::map<std::pair<int, int>, Granted> granted_;  // by sender and receiver, of protocols that are one_way
    std::vector<ModelCore> cores_;                    // of each rank, where the machine is the LogGOPS model
    std::uint32_t turns_ = 0;                         // given out there
    MatchQueues posted_, unexpected_;
    Pool<RequestState> operations_;
    Pool<Message> messages_;
    std::unordered_map<std::uint32_t, std::function<void()>> signals_;  // by the message that brings it
    std::vector<RequestId> several_;                                    // scratch of finish()
    std::vector<int> ready_;                                            // ranks to go on next, in order
    EventQueue<Event> events_;
    mutable std::array<CoreCosts, 16> core_costs_{};
    Time packet_time_;                       // of a full packet on a link
    bool forced_, tapered_;                  // the protocol of messages; whether links differ
    mutable std::optional<bool> by_bits_{};  // once somebody has asked
    mutable std::vector<int> on_node_{};     // ranks of each node, the same
    bool overtaking_;  // messages of one rank to another may come in another order than they left in
    Pairs pairs_;      // sender and receiver, to queues_
    Pool<PairQueue> queues_;
    std::optional<Crossings> crossings_;  // where they cost something
    std::optional<Coldness> coldness_;    // the same
    std::unique_ptr<Network> network_;
    Time now_ = 0, kept_ = 0;
    std::uint64_t messages_sent_ = 0, next_look_ = 1;  // of them
    std::int64_t bytes_sent_ = 0;
    std::function<bool(int)> ended_;
    Pool<std::function<void()>> calls_;
    Pairs waiting_;  // sender's and receiver's node, to bundles_
    Pool<Bundle> bundles_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> together_;  // by the first of them
    std::function<void()> before_events_;
    bool stopped_ = false, spoiled_ = false, contended_ = false;
    std::vector<std::int32_t> beside_;  // the rank of each agent that is none
    std::vector<int> free_beside_;
    // Of ranks that ask whether something is over: how many do, of those the last one and what for, and how
    // often they have since anything else was under way.
    std::size_t asking_ = 0, in_vain_ = 0;
    RequestId asked_ = no_request;
};

}  // namespace leadline::machine
