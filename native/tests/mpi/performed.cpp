// Every algorithm of a collective, over this MPI's messages: what the library's own call must give, twice.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "collectives/algorithm.hpp"
#include "harness/perform.hpp"
#include "harness/perform_memory.hpp"
#include "words.hpp"

namespace leadline::words {
namespace {

// Memory that this program has asked for, so often.
long asked_for = 0;

void restore(const Expected& expected) { std::ranges::copy(expected.before, expected.call.in.begin()); }

Task<> twice(Comm& comm, const Expected& expected, const Call& call, Report& report) {
    const std::string way = expected.name + " by " + std::string(call.algorithm) + " of " +
                            std::to_string(comm.size()) + " ranks";
    P2PCollective performed = co_await P2PCollective::prepare(comm, call);
    for (int turn = 0; turn < 2; ++turn) {
        restore(expected);
        const long before = asked_for;
        co_await performed.begin();
        co_await performed.end();
        const bool nothing = asked_for == before;
        report.expect(nothing, way + ", without asking for memory");
        report.expect(std::ranges::equal(call.in, expected.after), way);
    }
    co_await performed.free();
}

}  // namespace

void check_performed(Comm& comm, const Expected& expected, Report& report) {
    for (const auto& algorithm : collectives::algorithms()) {
        if (algorithm.operation != name_of(expected.call.what)) continue;
        Call call = expected.call;
        call.algorithm = algorithm.name;
        try {
            twice(comm, expected, call, report).complete();
        } catch (const Unsupported& reason) {
            report.refused(reason.what());
        }
    }
}

}  // namespace leadline::words

// Not inlined: GCC 12 takes the two for a pair that does not belong together.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++leadline::words::asked_for;
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
