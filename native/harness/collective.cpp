#include "harness/collective.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "harness/blocks.hpp"
#include "harness/grids.hpp"
#include "harness/overlap.hpp"
#include "harness/perform.hpp"
#include "harness/repeated.hpp"
#include "harness/walk.hpp"

namespace leadline {
namespace {

bool of_neighbours(Collective what) {
    return what == Collective::neighbor_allgather || what == Collective::neighbor_alltoall;
}

bool reduces(Collective what) {
    return what == Collective::reduce || what == Collective::allreduce ||
           what == Collective::reduce_scatter || what == Collective::scan;
}

bool varies(Collective what) {
    return what == Collective::gather || what == Collective::scatter || what == Collective::allgather ||
           what == Collective::alltoall || what == Collective::reduce_scatter;
}

Form form(const Run& run) {
    const std::string& name = run.word("form");
    if (name == "nonblocking") return Form::nonblocking;
    return name == "persistent" ? Form::persistent : Form::blocking;
}

bool isolated(const Run& run) { return run.word("cadence") == "isolated"; }

const TimedCadence* timed(const Run& run) {
    const auto* found = std::ranges::find(timed_cadences, run.word("cadence"), &TimedCadence::name);
    return found == timed_cadences.end() ? nullptr : found;
}

// By an algorithm of ours over messages, where no machine can be told to take it.
bool over_messages(const Run& run) { return Control::computes && run.word("algorithm") != library; }

// What a point asks and the operation cannot be; the same on all ranks.
void check(Run& run, Collective what, const Membership& members) {
    if (has_root(what) && run["root"] >= members.size)
        Run::skip("there is no rank " + std::to_string(run["root"]) + " in '" + run.word("communicator") +
                  "', which has " + std::to_string(members.size) + " ranks");
    if (timed(run) && form(run) != Form::blocking)
        Run::skip("the cadence '" + run.word("cadence") + "' has only the blocking form");
    if (over_messages(run) && form(run) != Form::blocking)
        Run::skip("an algorithm over messages has only the blocking form");
    if (!reduces(what)) return;
    const auto unit = static_cast<std::int64_t>(size_of(number_type(run)));
    if (run["bytes"] % unit != 0)
        Run::skip("numbers of " + std::to_string(unit) + " B do not make " + std::to_string(run["bytes"]) +
                  " B");
}

// Memory for all layouts of a simulated machine's ranks, where each has its own.
constexpr std::int64_t most_parts = std::int64_t{1} << 26U;

// The layouts of a v-variant, and what the rank's own block takes.
class Layouts {
public:
    Layouts(Run& run, const Comm& comm, Collective what) {
        const bool varying = run.word("variation") == "varying";
        const auto unit = reduces(what) ? static_cast<std::int64_t>(size_of(number_type(run))) : 1;
        const auto ranks = static_cast<std::size_t>(comm.size());
        const auto rank = static_cast<std::size_t>(comm.rank());
        const std::int64_t mean = run["bytes"];
        const auto& sizes =
            run.once([&] { return block_sizes(static_cast<std::size_t>(run.ranks()), mean, unit, varying); });
        // Those of a communicator with all members; others are shorter.
        const auto& shared = run.once([&] { return laid_out(sizes); });
        all = Layout(shared).first(ranks);
        block = sizes[rank];
        if (what != Collective::alltoall || !varying) return;
        if (!Control::computes && std::int64_t{run.ranks()} * std::int64_t{run.ranks()} > most_parts)
            Run::skip("varying blocks between all of " + std::to_string(run.ranks()) +
                      " ranks are more than a simulation remembers");
        // What a rank gives to another is as much as it gets from there.
        std::vector<std::int64_t> mine(ranks);
        for (std::size_t peer = 0; peer < ranks; ++peer) mine[peer] = sizes[(rank + peer) % ranks];
        own = laid_out(mine);
        all = own;
    }

    Layout all;
    std::vector<Part> own;
    std::int64_t block = 0;
};

// The call of the point, with this rank's buffers; `own` holds the layout where each rank has another.
Call make_call(Run& run, const Comm& comm, const Asking& asking, std::vector<Part>& own) {
    const Collective what = asking.what;
    Call call{.what = what};
    if (has_root(what)) call.root = static_cast<int>(run["root"]);
    if (reduces(what)) {
        call.type = number_type(run);
        call.reduce = reduction(run);
    }
    if (run.word("algorithm") != library) call.algorithm = run.word("algorithm");
    if (what == Collective::barrier) return call;
    std::int64_t block = run["bytes"];
    std::int64_t blocks = block * comm.size();
    const bool at_root = comm.rank() == call.root;
    if (varies(what) && run.word("variation") != "none") {
        Layouts layouts(run, comm, what);
        own = std::move(layouts.own);  // the memory that `all` looks at stays
        block = layouts.block;
        blocks = layouts.all.back().offset + layouts.all.back().bytes;
        const auto laid = [&](Held held) {
            const bool here = held == Held::blocks || (held == Held::blocks_at_root && at_root);
            return here ? layouts.all : Layout();
        };
        call.varies = true;
        call.gives = laid(asking.out);
        call.takes = laid(asking.in);
        // The blocks of all ranks are those of the operand.
        if (what == Collective::reduce_scatter) call.takes = std::exchange(call.gives, {});
    }
    const auto buffer = [&](Held held) -> Bytes {
        switch (held) {
            case Held::nothing: return {};
            case Held::block: return run.buffers(block)[0];
            case Held::blocks: return run.buffers(blocks)[0];
            case Held::blocks_at_root: return at_root ? run.buffers(blocks)[0] : Bytes();
            case Held::neighbours: return run.buffers(block * 2 * run["dimensions"])[0];
        }
        return {};
    };
    call.out = buffer(asking.out);
    call.in = buffer(asking.in);
    return call;
}

// Made ready apart from the body, so that no simulated rank keeps the call for the whole of its program.
Task<Comm::Prepared> ready(Run& run, Comm& comm, const Asking& asking, std::vector<Part>& own) {
    const Call call = make_call(run, comm, asking, own);
    co_return co_await comm.prepare(call, form(run));
}

Task<P2PCollective> ready_over_messages(Run& run, Comm& comm, const Asking& asking, std::vector<Part>& own) {
    const Call call = make_call(run, comm, asking, own);
    co_return co_await P2PCollective::prepare(comm, call);
}

// The communicator of the point; a grid of its ranks for operations among neighbours.
Task<Comm> place(Run& run, Collective what, const Membership& members) {
    Comm comm = co_await communicator(run, members);
    if (!of_neighbours(what)) co_return comm;
    const auto dimensions = static_cast<int>(run["dimensions"]);
    if (dimensions < 1 || dimensions > 6) Run::skip("a grid of neighbours has 1 to 6 dimensions");
    const auto& usual = run.once([&] { return even_grid(members.size, dimensions); });
    const std::vector<int> lengths = comm.size() == members.size ? usual : even_grid(comm.size(), dimensions);
    co_return co_await comm.cart(lengths, true);
}

Task<> stand_by(Run& run) {
    const bool aligns = isolated(run);
    // As often as the ranks that take part.
    const int starts = form(run) == Form::blocking ? 1 : 2;
    while (co_await run.next_sample())
        for (int start = 0; aligns && start < starts; ++start) co_await run.align();
}

void give(Run& run, double time) {
    run.sample("time", time);
    run.sample("mean", time);
}

// One at a time, all ranks beginning at one moment. (It has a name since GCC 12 miscompiles what a template
// awaits without one.)
template <class Operation>
Task<> one_by_one(Run& run, Operation& operation) {
    while (co_await run.next_sample()) {
        auto moment = run.align();
        co_await moment;
        co_await operation.begin();
        co_await operation.end();
        give(run, run.since_start());
    }
}

void give_overlap(Run& run, double pure, double compute, double together) {
    if (pure > 0 && compute > 0) run.sample("overlap", hidden_share(pure, compute, together));
}

// Steps of `work` that a rank does in a second.
Task<double> pace(Run& run) {
    constexpr std::int64_t steps = 100'000;
    const double begin = run.now();
    co_await run.work(steps);
    co_return static_cast<double>(steps) / (run.now() - begin);
}

// Operations alone, then computations that are as long, then each with the other.
template <class Operation>
Task<> beside_work(Run& run, Comm& comm, Operation& operation) {
    const double rate = co_await pace(run);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await operation.end();
        }
        run.stop();
        const double pure = run.each();
        const auto steps = static_cast<std::int64_t>(std::ceil(pure * rate));
        const auto batch = static_cast<double>(run.batch().size);
        double begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) co_await run.work(steps);
        const double compute = (run.now() - begin) / batch;
        co_await comm.barrier();
        begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await run.work(steps);
            co_await operation.end();
        }
        give(run, pure);
        give_overlap(run, pure, compute, (run.now() - begin) / batch);
    }
}

template <class Operation>
Task<> one_beside_work(Run& run, Operation& operation) {
    const double rate = co_await pace(run);
    while (co_await run.next_sample()) {
        auto moment = run.align();
        co_await moment;
        co_await operation.begin();
        co_await operation.end();
        const double pure = run.since_start();
        const auto steps = static_cast<std::int64_t>(std::ceil(pure * rate));
        const double begin = run.now();
        co_await run.work(steps);
        const double compute = run.now() - begin;
        auto again = run.align();
        co_await again;
        co_await operation.begin();
        co_await run.work(steps);
        co_await operation.end();
        give(run, pure);
        give_overlap(run, pure, compute, run.since_start());
    }
}

// Each call timed by itself.
template <class Operation>
Task<> timed_singly(Run& run, Comm& comm, Operation& operation, TimedCadence cadence) {
    const Bytes memory = run.buffers(cadence.walked)[0];
    while (co_await run.next_sample()) {
        for (int i = 0; i < cadence.barriers_before; ++i) co_await comm.barrier();
        double inside = 0;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (cadence.walked > 0) {
                auto walked = walk(run, memory);
                co_await walked;
            }
            const double begin = run.now();
            co_await operation.begin();
            co_await operation.end();
            inside += run.now() - begin;
            if (cadence.barrier_after) co_await comm.barrier();
        }
        run.stop();
        give(run, inside / static_cast<double>(run.batch().size));
    }
}

template <class Operation>
Task<> repeat(Run& run, Comm& comm, Operation& operation, Collective what) {
    const bool whole = form(run) == Form::blocking;
    if (const TimedCadence* found = timed(run)) {
        TimedCadence cadence = *found;
        if (what == Collective::barrier) cadence.barrier_after = false;
        return timed_singly(run, comm, operation, cadence);
    }
    if (isolated(run)) return whole ? one_by_one(run, operation) : one_beside_work(run, operation);
    if (!whole) return beside_work(run, comm, operation);
    // Back to back: each rank calls again as it comes out.
    return sampled(run, operation, [&run] { give(run, run.each()); });
}

// Goes on where the communicator's ranks were given what they asked for, and refuses it to all where one was
// not: ranks that stand by are not asked, and would wait for samples that nobody takes. A simulated refusal
// ends all ranks by itself.
Task<> settle(Run& run, const std::exception_ptr& refused) {
    if constexpr (Control::computes) {
        std::int32_t mine = refused ? 1 : 0;
        std::int32_t all = 0;
        co_await run.world().allreduce(std::as_writable_bytes(std::span(&mine, 1)),
                                       std::as_writable_bytes(std::span(&all, 1)), Type::int32, Reduce::sum);
        if (all > 0 && !refused)
            Run::skip("the ranks of '" + run.word("communicator") + "' are refused what it asks of them");
    }
    if (refused) std::rethrow_exception(refused);
}

template <class Operation>
Task<Operation> granted(Run& run, Task<Operation> asked) {
    std::optional<Operation> made;
    std::exception_ptr refused;
    try {
        made.emplace(co_await asked);
    } catch (const Unsupported&) {
        refused = std::current_exception();
    } catch (const Skipped&) {
        refused = std::current_exception();
    }
    co_await settle(run, refused);
    co_return std::move(*made);
}

Task<> by_messages(Run& run, Comm& comm, const Asking& asking, std::vector<Part>& own) {
    P2PCollective operation = co_await granted(run, ready_over_messages(run, comm, asking, own));
    co_await repeat(run, comm, operation, asking.what);
    co_await operation.free();
}

}  // namespace

Task<> collective(Run& run, Asking asking) {
    const Membership& members = leadline::members(run);
    check(run, asking.what, members);
    if (isolated(run)) run.isolate();
    Comm comm = co_await place(run, asking.what, members);
    if (members.of(run.rank()) == Membership::nobody) {
        co_await settle(run, nullptr);
        co_await stand_by(run);
        co_return;
    }
    std::vector<Part> own;
    if (over_messages(run)) {
        co_await by_messages(run, comm, asking, own);
        co_return;
    }
    Comm::Prepared operation = co_await granted(run, ready(run, comm, asking, own));
    co_await repeat(run, comm, operation, asking.what);
    co_await operation.free();
}

}  // namespace leadline
