#include "program/player.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace leadline::program {
namespace {

constexpr double shortest = 50e-9;    // s: computation below this is less than asking a clock for its end
constexpr std::int64_t of_split = 8;  // B: colour and key that each rank tells the others

// Of the operation's buffers, bytes that one rank needs.
std::int64_t buffer(const Program& program, const Sequence& sequence) {
    std::int64_t most = of_split * program.ranks;
    std::int64_t wholes = 8;  // so much more do blocks of whole elements take
    for (const Step& step : sequence.steps) {
        if (step.kind == Kind::loop || step.kind == Kind::end) continue;
        if (step.kind == Kind::win || step.kind == Kind::file) continue;  // bytes of no message
        const auto ranks = std::ssize(program.communicators[static_cast<std::size_t>(step.comm)].members);
        const bool blocks = step.kind == Kind::gather || step.kind == Kind::scatter ||
                            step.kind == Kind::allgather || step.kind == Kind::alltoall ||
                            step.kind == Kind::reduce_scatter;
        if (step.kind == Kind::reduce_scatter) wholes = std::max(wholes, 8 * std::int64_t{ranks});
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(step.bytes, blocks ? std::int64_t{ranks} : 1, &bytes))
            Run::skip("an operation's buffer is larger than any memory");
        most = std::max(most, bytes);
    }
    return std::max(most, sequence.largest) + wholes;
}

// Communicators that one split makes: pairwise without a common rank. Their numbers, from `first` on.
struct Round {
    std::size_t first;
    std::size_t end;
};

std::vector<Round> rounds_of(const Program& program) {
    std::vector<Round> rounds;
    std::vector<std::size_t> last(static_cast<std::size_t>(program.ranks), 0);
    for (std::size_t i = 1; i < program.communicators.size(); ++i) {
        const Communicator& each = program.communicators[i];
        const bool shares = rounds.empty() || std::ranges::any_of(each.members, [&](std::int32_t rank) {
                                return last[static_cast<std::size_t>(rank)] >= rounds.back().first;
                            });
        if (shares) rounds.push_back({i, i});
        rounds.back().end = i + 1;
        for (const std::int32_t rank : each.members) last[static_cast<std::size_t>(rank)] = i;
    }
    return rounds;
}

}  // namespace

std::optional<Collective> collective_of(Kind kind) {
    switch (kind) {
        case Kind::barrier: return Collective::barrier;
        case Kind::bcast: return Collective::bcast;
        case Kind::reduce: return Collective::reduce;
        case Kind::allreduce: return Collective::allreduce;
        case Kind::gather: return Collective::gather;
        case Kind::scatter: return Collective::scatter;
        case Kind::allgather: return Collective::allgather;
        case Kind::alltoall: return Collective::alltoall;
        case Kind::reduce_scatter: return Collective::reduce_scatter;
        case Kind::scan:
        case Kind::exscan: return Collective::scan;
        default: return std::nullopt;
    }
}

std::map<Kind, std::string> algorithms(const std::string& words) {
    std::map<Kind, std::string> made;
    if (words == "library") return made;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(',', at), words.size());
        const std::string word = words.substr(at, end - at);
        const std::size_t equals = word.find('=');
        bool found = false;
        for (int kind = static_cast<int>(Kind::barrier); kind <= static_cast<int>(Kind::scan); ++kind) {
            const auto what = collective_of(static_cast<Kind>(kind));
            if (what && equals != std::string::npos && name_of(*what) == word.substr(0, equals)) {
                made[static_cast<Kind>(kind)] = word.substr(equals + 1);
                found = true;
            }
        }
        if (!found) Run::skip("algorithms are such as allreduce=recursive-doubling, but got '" + word + "'");
        at = end + 1;
    }
    return made;
}

namespace {

// Whether something goes through an intercommunicator. To make one, to merge its groups and to free it is
// none.
bool speaks_between(const Program& program, const Sequence& sequence) {
    return std::ranges::any_of(sequence.steps, [&](const Step& step) {
        const bool merges = step.kind == Kind::comm && step.mode == by_merge;
        return program.communicators[static_cast<std::size_t>(step.comm)].inter && !merges &&
               step.kind != Kind::comm_free;
    });
}

}  // namespace

std::string refusal(const Program& program, int ranks) {
    if (program.ranks != ranks)
        return "the program has " + std::to_string(program.ranks) + " ranks, but there are " +
               std::to_string(ranks) + ": run it with as many";
    if (std::ranges::any_of(program.sequences,
                            [&](const Sequence& each) { return speaks_between(program, each); }))
        return "the program speaks through a communicator between two groups (an intercommunicator), which "
               "cannot be executed";
    return {};
}

Player::Player(Run& run, const Program& program, const Playing& playing)
    : run_(run),
      program_(program),
      playing_(playing),
      left_behind_(run.once([&] { return left_by(program); })),
      sequence_(program.of(run.rank())),
      before_(program.computed(run.rank()).data()),
      inside_(program.inside_of(run.rank())),
      memory_(program.memory.empty() ? 0 : program.memory[static_cast<std::size_t>(run.rank())]),
      recorded_(program.times ? program.times->of(run.rank()) : nullptr),
      world_(run.world()),
      slots_(static_cast<std::size_t>(sequence_.requests) + 1),
      windows_(static_cast<std::size_t>(sequence_.windows) + 1) {
    const auto& most = run.once([&] {
        std::int64_t bytes = 0;
        for (const Sequence& each : program.sequences) bytes = std::max(bytes, buffer(program, each));
        return bytes;
    });
    out_ = run.buffers(most)[0];
    in_ = run.buffers(most)[0];
    if (!left_behind_.by.empty()) {
        const auto& own = left_behind_.by[static_cast<std::size_t>(run.rank())];
        leaving_.assign(own.begin(), own.end());
    }
}

Task<> Player::prepare() {
    const auto& rounds = run_.once([&] { return rounds_of(program_); });
    const auto& all = run_.once([&] { return memberships(program_); });
    const auto& own = all[static_cast<std::size_t>(run_.rank())];
    comms_.reserve(own.size());
    auto next = own.begin();  // they are in the order of the rounds, one of each at most
    Comm& world = run_.world();
    for (const Round& round : rounds) {
        const bool member = next != own.end() && next->communicator < round.end;
        const auto mine = static_cast<std::int32_t>(member ? next->communicator : 0);
        const int place = member ? (next++)->place : 0;
        const auto& first = program_.communicators[round.first].members;
        if (first == program_.communicators.front().members) {
            auto copy = co_await world.dup();  // GCC 12 destroys it twice where it is made in the list
            comms_.push_back({mine, std::move(copy)});
            continue;
        }
        auto part = co_await world.split(mine, place);
        if (mine != 0) comms_.push_back({mine, std::move(part)});
    }
}

Comm& Player::numbered(std::int32_t comm) {
    if (comm == 0) return world_;
    const auto found = std::ranges::lower_bound(comms_, comm, {}, &Own::number);
    if (found == comms_.end() || found->number != comm)
        Run::skip("rank " + std::to_string(run_.rank()) + " speaks through communicator " +
                  std::to_string(comm) + ", in which it is not");
    return found->comm;
}

double Player::before(const Step& step, std::size_t index) const {
    if (recorded_ == nullptr) return before_[step.leaf];
    const std::int64_t left = index == 0 ? 0 : recorded_[2 * index - 1];
    return 1e-9 * static_cast<double>(std::max<std::int64_t>(recorded_[2 * index] - left, 0));
}

// What a call of files takes is as it was recorded.
double Player::inside(const Step& step, std::size_t index) const {
    if (recorded_ != nullptr)
        return 1e-9 * static_cast<double>(
                          std::max<std::int64_t>(recorded_[2 * index + 1] - recorded_[2 * index], 0));
    return inside_ == nullptr ? 0 : inside_[step.leaf];
}

Task<> Player::compute(double seconds) {
    computed_ += seconds;
    co_await run_.turn(false);
    co_await run_.busy(seconds);
    if (memory_ > 0) run_.walked(seconds, memory_);
}

// A peer as a rank of the communicator.
int Player::place(const Step& step, std::int32_t peer) {
    if (!sequence_.relative || peer < 0) return peer;
    const Comm& among = comm(step);
    const int sum = peer + among.rank();
    return sum >= among.size() ? sum - among.size() : sum;
}

// One coroutine for all kinds of operations: another one for each would cost more than the operation.
// NOLINTNEXTLINE(readability-function-size)
Task<> Player::play(std::vector<std::int64_t>* times) {
    const Step* const steps = sequence_.steps.data();
    std::size_t index = 0;  // of executed operations
    computed_ = 0;
    for (Leaving& each : leaving_) each.sent = 0;
    const double began = run_.now();
    const auto moment = [&] { return std::llround(1e9 * (run_.now() - began)); };
    for (std::size_t at = 0;; ++at) {
        const Step& step = steps[at];
        if (step.kind == Kind::loop) {
            if (step.bytes == 0) at = step.leaf;
            else loops_.push_back({at, step.bytes});
            continue;
        }
        if (step.kind == Kind::end) {
            if (loops_.empty()) break;
            if (--loops_.back().left > 0) at = loops_.back().begin;
            else loops_.pop_back();
            continue;
        }
        if (const double compute = run_.on_shared_core(playing_.compute * before(step, index));
            compute > 0 && (!Control::computes || compute > shortest)) {
            computed_ += compute;
            co_await run_.turn(false);
            co_await run_.busy(compute);
            if (memory_ > 0) run_.walked(compute, memory_);
        }
        ++index;
        if (times) times->push_back(moment());
        switch (step.kind) {
            case Kind::send:
                if (step.form != persistent) co_await run_.turn(true);
                if (step.form == blocking && leaves(step))
                    left_.push_back(comm(step).isend(out(step.bytes), place(step, step.peer), step.tag));
                else if (step.form == blocking && step.mode == buffered) {
                    forgotten_.push_back(comm(step).isend(out(step.bytes), place(step, step.peer), step.tag));
                    if (forgotten_.size() > most_buffered) co_await oldest();
                } else if (step.form == blocking)
                    co_await comm(step).send(out(step.bytes), place(step, step.peer), step.tag);
                else if (step.form == nonblocking)
                    begin_message(step, slots_[static_cast<std::size_t>(step.request)]);
                else slots_[static_cast<std::size_t>(step.request)].made_ready = &step;
                break;
            case Kind::recv:
                if (step.form == nonblocking)
                    begin_message(step, slots_[static_cast<std::size_t>(step.request)]);
                else if (step.form != blocking)
                    slots_[static_cast<std::size_t>(step.request)].made_ready = &step;
                else if (step.peer == any_peer) co_await comm(step).recv_any(in(step.bytes), step.tag);
                else co_await comm(step).recv(in(step.bytes), place(step, step.peer), step.tag);
                break;
            case Kind::sendrecv:
                co_await run_.turn(true);
                if (const auto [source, tag, bytes] = sequence_.received(step); leaves(step)) {
                    Comm::Request coming = source == any_peer
                                               ? comm(step).irecv_any(in(bytes), tag)
                                               : comm(step).irecv(in(bytes), place(step, source), tag);
                    left_.push_back(comm(step).isend(out(step.bytes), place(step, step.peer), step.tag));
                    co_await comm(step).wait(coming);
                } else if (step.tag == tag && source != any_peer) {
                    co_await comm(step).sendrecv(out(step.bytes), place(step, step.peer), in(bytes),
                                                 place(step, source), step.tag);
                } else {
                    std::array<Comm::Request, 2> both{
                        source == any_peer ? comm(step).irecv_any(in(bytes), tag)
                                           : comm(step).irecv(in(bytes), place(step, source), tag),
                        comm(step).isend(out(step.bytes), place(step, step.peer), step.tag)};
                    co_await comm(step).wait_all(both);
                }
                break;
            case Kind::start: co_await start(step); break;
            case Kind::wait: {
                const bool collectives = take_requests(step);
                if (waited_.size() == 1) co_await run_.world().wait(waited_.front());
                else if (!waited_.empty()) co_await run_.world().wait_all(waited_);
                if (collectives) co_await end_collectives(step);
                break;
            }
            case Kind::neighbor_allgather:
            case Kind::neighbor_alltoall: co_await neighbours(step); break;
            case Kind::comm: co_await made(step); break;
            case Kind::file: co_await compute(playing_.compute > 0 ? inside(step, index - 1) : 0); break;
            case Kind::win:
            case Kind::win_free:
            case Kind::put:
            case Kind::get:
            case Kind::accumulate:
            case Kind::fence:
            case Kind::lock:
            case Kind::unlock:
            case Kind::flush:
            case Kind::post:
            case Kind::start_epoch:
            case Kind::complete:
            case Kind::wait_epoch: co_await one_sided(step); break;
            case Kind::free: {
                Slot& slot = slots_[static_cast<std::size_t>(step.request)];
                if (slot.message) forgotten_.push_back(slot.request);
                slot.message = false;
                slot.hand_over_blocks(forgotten_);
                if (slot.collective()) co_await slot.meeting->prepared->free();
                slot.meeting.reset();
                slot.made_ready = nullptr;
                break;
            }
            default:
                if (collective_of(step.kind)) co_await collective(step);
                break;
        }
        if (times) times->push_back(moment());
    }
    // What nobody waits for is over before the program is.
    if (!forgotten_.empty()) co_await run_.world().wait_all(forgotten_);
    forgotten_.clear();
}

void Player::begin_message(const Step& step, Slot& slot) {
    Comm& among = comm(step);
    slot.message = true;
    if (step.kind == Kind::send) {
        slot.request = among.isend(out(step.bytes), place(step, step.peer), step.tag);
        const bool left = leaves(step);
        if (!left && step.mode != buffered) return;
        (left ? left_ : forgotten_).push_back(slot.request);  // its completion waits for nobody
        slot.message = false;
    } else if (step.peer == any_peer) slot.request = among.irecv_any(in(step.bytes), step.tag);
    else slot.request = among.irecv(in(step.bytes), place(step, step.peer), step.tag);
}

// A buffer of the program's has an end, too.
Task<> Player::oldest() {
    co_await run_.world().wait(forgotten_.front());
    forgotten_.erase(forgotten_.begin());
}

Task<> Player::start(const Step& step) {
    for (const std::int64_t which : sequence_.list(step.gives)) {
        Slot& slot = slots_[static_cast<std::size_t>(which)];
        if (slot.made_ready == nullptr) Run::skip("an operation is started that was not made ready");
        if (slot.made_ready->kind == Kind::send) co_await run_.turn(true);
        if (among_neighbours(*slot.made_ready)) co_await begin_blocks(*slot.made_ready, slot.meeting->blocks);
        else if (slot.collective()) co_await slot.meeting->prepared->begin();
        else begin_message(*slot.made_ready, slot);
    }
}

// The messages that are waited for; whether collectives are, too.
bool Player::take_requests(const Step& wait) {
    waited_.clear();
    bool collectives = false;
    for (const std::int64_t which : sequence_.list(wait.gives)) {
        Slot& slot = slots_[static_cast<std::size_t>(which)];
        if (slot.message) waited_.push_back(slot.request);
        slot.message = false;
        slot.hand_over_blocks(waited_);
        collectives = collectives || slot.collective();
    }
    return collectives;
}

Task<> Player::end_collectives(const Step& wait) {
    for (const std::int64_t which : sequence_.list(wait.gives)) {
        Slot& slot = slots_[static_cast<std::size_t>(which)];
        if (!slot.collective()) continue;
        co_await slot.meeting->prepared->end();
        if (slot.made_ready != nullptr) continue;
        co_await slot.meeting->prepared->free();
        slot.meeting->prepared.reset();
    }
}

// A communicator is made: it is there already, and what its ranks tell each other is told again.
Task<> Player::made(const Step& step) {
    const bool among_themselves = step.mode == by_group || step.mode == by_merge;
    if (among_themselves && step.extra == 0) co_return;
    Comm& told = among_themselves ? numbered(step.extra - 1) : comm(step);
    const auto ranks = static_cast<std::int64_t>(told.size());
    const Call call{.what = Collective::allgather, .out = out(of_split), .in = in(of_split * ranks)};
    co_await told.collective(call);
}

}  // namespace leadline::program
