#include "harness/collective.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "harness/blocks.hpp"
#include "harness/cadences.hpp"
#include "harness/grids.hpp"
#include "harness/perform.hpp"
#include "harness/repeated.hpp"

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

const TimedCadence* timed(const Run& run) {
    const auto* found = std::ranges::find(timed_cadences, run.word("cadence"), &TimedCadence::name);
    return found == timed_cadences.end() ? nullptr : found;
}

// What the point says: read once, for a million ranks.
struct Asked : Asking {
    Asked(const Run& run, Asking asking)
        : Asking(asking), form(leadline::form(run)), timed(leadline::timed(run)) {
        isolated = run.word("cadence") == "isolated";
        if (run.word("algorithm") != library) algorithm = run.word("algorithm");
        if (has_root(what)) root = static_cast<int>(run["root"]);
        if (reduces(what)) {
            type = number_type(run);
            reduce = reduction(run);
            unit = static_cast<std::int64_t>(size_of(type));
        }
        if (what != Collective::barrier) bytes = run["bytes"];
        laid_out = varies(what) && run.word("variation") != "none";
        varying = laid_out && run.word("variation") == "varying";
        if (of_neighbours(what)) dimensions = static_cast<int>(run["dimensions"]);
    }

    Form form;
    const TimedCadence* timed;
    bool isolated;
    std::string_view algorithm{};  // none: the library's own choice
    int root = 0;
    Type type = Type::float64;
    Reduce reduce = Reduce::sum;
    std::int64_t unit = 1;  // B, of a number that is reduced
    std::int64_t bytes = 0;
    bool laid_out;  // block by block
    bool varying;
    int dimensions = 0;

    // By an algorithm of ours over messages, where no machine can be told to take it.
    [[nodiscard]] bool over_messages() const { return Control::computes && !algorithm.empty(); }
    // Each rank calls again as it comes out.
    [[nodiscard]] bool back_to_back() const { return form == Form::blocking && !isolated && !timed; }
};

// What a point asks and the operation cannot be; the same on all ranks.
void check(const Run& run, const Asked& asked, const Membership& members) {
    if (has_root(asked.what) && asked.root >= members.size)
        Run::skip("there is no rank " + std::to_string(asked.root) + " in '" + run.word("communicator") +
                  "', which has " + std::to_string(members.size) + " ranks");
    if (asked.timed && asked.form != Form::blocking)
        Run::skip("the cadence '" + run.word("cadence") + "' has only the blocking form");
    if (asked.over_messages() && asked.form != Form::blocking)
        Run::skip("an algorithm over messages has only the blocking form");
    if (asked.bytes % asked.unit != 0)
        Run::skip("numbers of " + std::to_string(asked.unit) + " B do not make " +
                  std::to_string(asked.bytes) + " B");
    if (of_neighbours(asked.what) && (asked.dimensions < 1 || asked.dimensions > 6))
        Run::skip("a grid of neighbours has 1 to 6 dimensions");
}

// Memory for all layouts of a simulated machine's ranks, where each has its own.
constexpr std::int64_t most_parts = std::int64_t{1} << 26U;

// The layouts of a v-variant, and what the rank's own block takes.
class Layouts {
public:
    Layouts(Run& run, const Comm& comm, const Asked& asked) {
        const auto ranks = static_cast<std::size_t>(comm.size());
        const auto rank = static_cast<std::size_t>(comm.rank());
        const auto& sizes = run.once([&] {
            return block_sizes(static_cast<std::size_t>(run.ranks()), asked.bytes, asked.unit, asked.varying);
        });
        // Those of a communicator with all members; others are shorter.
        const auto& shared = run.once([&] { return laid_out(sizes); });
        all = Layout(shared).first(ranks);
        block = sizes[rank];
        if (asked.what != Collective::alltoall || !asked.varying) return;
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
Call make_call(Run& run, const Comm& comm, const Asked& asked, std::unique_ptr<std::vector<Part>>& own) {
    Call call{.what = asked.what,
              .root = asked.root,
              .type = asked.type,
              .reduce = asked.reduce,
              .algorithm = asked.algorithm};
    if (asked.what == Collective::barrier) return call;
    std::int64_t block = asked.bytes;
    std::int64_t blocks = block * comm.size();
    const bool at_root = comm.rank() == call.root;
    if (asked.laid_out) {
        Layouts layouts(run, comm, asked);
        // The memory that `all` looks at stays.
        if (!layouts.own.empty()) own = std::make_unique<std::vector<Part>>(std::move(layouts.own));
        block = layouts.block;
        blocks = layouts.all.back().offset + layouts.all.back().bytes;
        const auto laid = [&](Held held) {
            const bool here = held == Held::blocks || (held == Held::blocks_at_root && at_root);
            return here ? layouts.all : Layout();
        };
        call.varies = true;
        call.gives = laid(asked.out);
        call.takes = laid(asked.in);
        // The blocks of all ranks are those of the operand.
        if (asked.what == Collective::reduce_scatter) call.takes = std::exchange(call.gives, {});
    }
    const auto buffer = [&](Held held) -> Bytes {
        switch (held) {
            case Held::nothing: return {};
            case Held::block: return run.buffers(block)[0];
            case Held::blocks: return run.buffers(blocks)[0];
            case Held::blocks_at_root: return at_root ? run.buffers(blocks)[0] : Bytes();
            case Held::neighbours: return run.buffers(block * 2 * asked.dimensions)[0];
        }
        return {};
    };
    call.out = buffer(asked.out);
    call.in = buffer(asked.in);
    return call;
}

// Made ready apart from the body, so that no simulated rank keeps the call for the whole of its program.
template <class Operation>
Task<Operation> ready(Run& run, Comm& comm, const Asked& asked, std::unique_ptr<std::vector<Part>>& own) {
    const Call call = make_call(run, comm, asked, own);
    if constexpr (std::same_as<Operation, P2PCollective>)
        co_return co_await P2PCollective::prepare(comm, call);
    else co_return co_await comm.prepare(call, asked.form);
}

// The communicator of the point; a grid of its ranks for operations among neighbours.
Task<Comm> place(Run& run, const Asked& asked, const Membership& members) {
    Comm comm = co_await communicator(run, members);
    if (!of_neighbours(asked.what)) co_return comm;
    const auto& usual = run.once([&] { return even_grid(members.size, asked.dimensions); });
    const std::vector<int> lengths =
        comm.size() == members.size ? usual : even_grid(comm.size(), asked.dimensions);
    co_return co_await comm.cart(lengths, true);
}

Task<> stand_by(Run& run, const Asked& asked) {
    // As often as the ranks that take part.
    const int starts = asked.form == Form::blocking ? 1 : 2;
    while (co_await run.next_sample())
        for (int start = 0; asked.isolated && start < starts; ++start) co_await run.align();
}

template <class Operation>
Task<> repeat(Run& run, Comm& comm, Operation& operation, const Asked& asked) {
    const bool whole = asked.form == Form::blocking;
    if (asked.timed) {
        TimedCadence cadence = *asked.timed;
        if (asked.what == Collective::barrier) cadence.barrier_after = false;
        return timed_singly(run, comm, operation, cadence);
    }
    if (asked.isolated) return whole ? one_by_one(run, operation) : one_beside_work(run, operation);
    return beside_work(run, comm, operation);
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

// An operation, and what it stands on.
template <class Operation>
struct Placed {
    Placed(Comm comm, std::unique_ptr<std::vector<Part>> own, Operation operation)
        : comm(std::move(comm)), own(std::move(own)), operation(std::move(operation)) {}
    Comm comm;
    std::unique_ptr<std::vector<Part>> own;  // no more than a pointer where ranks have none
    Operation operation;

    auto begin() { return operation.begin(); }
    auto end() { return operation.end(); }
    auto free() { return operation.free(); }
};

// Makes the operation of the point ready; none on ranks that are in no communicator of it.
template <class Operation>
Task<> place(Run& run, const Asked& asked, std::optional<Placed<Operation>>& placed) {
    const Membership& members = leadline::members(run);
    check(run, asked, members);
    if (asked.isolated) run.isolate();
    Comm comm = co_await place(run, asked, members);
    if (members.of(run.rank()) == Membership::nobody) {
        co_await settle(run, nullptr);
        co_return;
    }
    std::unique_ptr<std::vector<Part>> own;
    Operation operation = co_await granted(run, ready<Operation>(run, comm, asked, own));
    placed.emplace(std::move(comm), std::move(own), std::move(operation));
}

template <class Operation>
Task<> done(Run& run, const Asked& asked) {
    std::optional<Placed<Operation>> placed;
    co_await place(run, asked, placed);
    if (!placed) {
        co_await stand_by(run, asked);
        co_return;
    }
    co_await repeat(run, placed->comm, placed->operation, asked);
    co_await placed->free();
}

template <class Operation>
Task<> by(Run& run, const Asked& asked) {
    if (!asked.back_to_back()) return done<Operation>(run, asked);
    return sampled<Placed<Operation>>(
        run, [&asked](Run& run, auto& placed) { return place(run, asked, placed); },
        [](Run& run) { give(run, run.each()); });
}

}  // namespace

Task<> collective(Run& run, Asking asking) {
    const Asked& asked = run.once([&] { return Asked(run, asking); });
    return asked.over_messages() ? by<P2PCollective>(run, asked) : by<Comm::Prepared>(run, asked);
}

}  // namespace leadline
