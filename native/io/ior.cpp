// How fast do ranks write or read plain files: one they share, one each, interleaved, in no order at all?
//
// The patterns of IOR (Shan, Antypas and Shalf, Characterizing and predicting the I/O performance of HPC
// applications using a parameterized synthetic benchmark, SC 2008) through MPI-IO: 256 MiB a rank in full
// size, moved in blocks by explicit offsets.
#include <algorithm>
#include <numeric>

#include "io/store/kernel.hpp"
#include "io/store/plain.hpp"

namespace leadline {
namespace {

constexpr io::Length share = io::Length{256} << 20U;  // B, of a rank in full size

struct Blocks {
    std::string pattern;
    io::Length bytes;  // of a block
    io::Length count;  // of a rank
    io::Length ranks;
    io::Length step;  // has no divisor in common with the number of all blocks

    // Where a rank's block begins in its file.
    [[nodiscard]] io::Length at(io::Length rank, io::Length which) const {
        if (pattern == "apart") return which * bytes;
        if (pattern == "shared") return (rank * count + which) * bytes;
        const io::Length place = which * ranks + rank;
        return (pattern == "strided" ? place : place * step % (count * ranks)) * bytes;
    }
};

Blocks blocks(const Run& run) {
    const auto ranks = static_cast<io::Length>(run.ranks());
    if (run["pieces"] < 1)
        Run::skip("a rank moves 1 block or more, but got " + std::to_string(run["pieces"]));
    const io::Length all = io::size_of(run).of_all(share, run.ranks());
    const auto count = static_cast<io::Length>(run["pieces"]);
    const io::Length bytes = std::max<io::Length>(all / ranks / count / 8 * 8, 8);
    // The golden section of a row spreads what follows each other (Knuth, The Art of Computer Programming
    // 3, 6.4).
    io::Length step =
        std::max<io::Length>(static_cast<io::Length>(0.618 * static_cast<double>(count * ranks)), 1);
    while (std::gcd(step, count * ranks) != 1) ++step;
    return {.pattern = run.word("pattern"), .bytes = bytes, .count = count, .ranks = ranks, .step = step};
}

// One rank's way through its file, or through another's.
class Mover {
public:
    Mover(Run& run, const Blocks& blocks)
        : run_(run),
          blocks_(blocks),
          together_(run.word("transfer") == "collective"),
          buffer_(run.buffers(static_cast<std::int64_t>(blocks.bytes))[0]) {}

    [[nodiscard]] std::string path(int shift) const {
        std::string ending = ".dat";
        if (blocks_.pattern == "apart") ending = std::to_string(other(shift)).insert(0, 1, '-') + ending;
        return io::file_of(run_, ending);
    }

    Task<io::Times> move(bool writes, int shift) {
        io::Times times;
        std::optional<io::PlainFile> file;
        const Work opening{.flops = 1};
        const bool apart = blocks_.pattern == "apart";
        const std::string where = path(shift);
        double begin = run_.now();
        co_await run_.compute(opening, [&] { file.emplace(run_.world(), where, writes, apart); });
        times.open = run_.now() - begin;
        for (io::Length which = 0; which < blocks_.count; ++which) {
            const double one = co_await move_one(*file, writes, which, shift);
            times.transfer += one;
        }
        begin = run_.now();
        co_await run_.compute(opening, [&] { file->close(); });
        times.close = run_.now() - begin;
        co_return times;
    }

    Task<> remove() {
        co_await run_.world().barrier();
        const std::string where = path(0);
        if (blocks_.pattern == "apart" || run_.rank() == 0) io::PlainFile::remove(where);
        co_await run_.world().barrier();
    }

private:
    [[nodiscard]] int other(int shift) const { return (run_.rank() + shift) % run_.ranks(); }

    Task<double> move_one(io::PlainFile& file, bool writes, io::Length which, int shift) {
        const auto rank = static_cast<io::Length>(other(shift));
        const io::Length at = blocks_.at(rank, which);
        const std::size_t ordinal = blocks_.pattern == "apart" ? rank + 1 : 0;
        if (writes && run_.verifies()) io::stamp(ordinal, at, buffer_);
        const double begin = run_.now();
        const Work work{.bytes = static_cast<double>(buffer_.size())};
        co_await run_.compute(work, [&] {
            if (writes) file.write(at, buffer_, together_);
            else file.read(at, buffer_, together_);
        });
        const double spent = run_.now() - begin;
        if (!writes && run_.verifies()) {
            const auto wrong = io::differs(ordinal, at, buffer_);
            run_.verify(!wrong, wrong.value_or(""));
        }
        co_return spent;
    }

    Run& run_;
    const Blocks& blocks_;
    bool together_;
    Bytes buffer_;
};

}  // namespace

BENCHMARK(ior, at_least(1),
          choice("pattern", {"shared", "apart", "strided", "random"},
                 "a stretch of one file for each rank; a file for each; blocks in turns; blocks in no order"),
          counts("pieces", {64}, "blocks in which a rank moves its share"), io::sweeps(), io::metrics(),
          Sampling{.one_operation = true}) {
    io::check_here(run, io::PlainFile::available(), "this program was built without MPI-IO");
    const Blocks made = blocks(run);
    const bool writes = run.word("mode") == "write";
    const int shift = writes ? 0 : 1;
    Mover mover(run, made);
    co_await mover.remove();
    if (!writes) {
        const io::Times unused = co_await mover.move(true, 0);
        (void)unused;
    }
    while (co_await run.next_sample()) {
        if (writes) co_await mover.remove();
        run.start();
        const io::Times times = co_await mover.move(writes, shift);
        run.stop();
        times.sample(run, static_cast<double>(made.bytes * made.count * made.ranks));
    }
    if (writes) {
        const io::Times unused = co_await mover.move(false, 1);
        (void)unused;
    }
    co_await mover.remove();
}

}  // namespace leadline
