// How fast are many concurrent operations of one size, one-sided and two-sided?
//
// A window of puts or gets ended by a flush, or of non-blocking sends ended by an empty answer (Bell et al.,
// one-sided communication and overlap, 4.2).
#include "harness/benchmark.hpp"
#include "harness/operations.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

std::vector<std::string> operations() {
    std::vector<std::string> all{"isend"};
    all.insert(all.end(), one_sided_operations.begin(), one_sided_operations.end());
    return all;
}

Task<> one_sided(Run& run, const Operation& operation) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    const std::int64_t outstanding = run["outstanding"];
    auto window = co_await world.window(data.size(), operation.exposure);
    const Bytes there = operation.direct ? window.reach(1) : Bytes();
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() != 0) break;  // the target takes no part
            for (std::int64_t k = 0; k < outstanding; ++k) {
                if (operation.direct)
                    co_await run.compute(copying(data), [&] { copy_directly(operation, data, there); });
                else if (operation.put) co_await window.put(data, 1, 0);
                else co_await window.get(data, 1, 0);
            }
            if (operation.direct) fence_directly();
            else co_await window.flush(1);
        }
        run.stop();
        if (world.rank() != 0) continue;
        run.sample("bandwidth",
                   static_cast<double>(outstanding) * static_cast<double>(data.size()) / run.each());
    }
    co_await window.free();
}

Task<> two_sided(Run& run) {
    Stream stream(run, {0, 1}, run["bytes"], run["outstanding"]);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await stream.window();
        run.stop();
        run.sample("bandwidth", stream.bytes() / run.each());
    }
}

}  // namespace

BENCHMARK(flood, ranks(2), choice("operation", operations(), "operation that moves the data"),
          sizes("bytes", powers(8, 1_MiB), "size of each operation"),
          counts("outstanding", {64}, "concurrent operations"),
          metric("bandwidth", Unit::bytes_per_second, higher, root, "bytes moved a second")) {
    const Operation operation = parse_operation(run.word("operation"));
    if (operation.one_sided) co_await one_sided(run, operation);
    else co_await two_sided(run);
}

}  // namespace leadline
