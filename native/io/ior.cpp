// How fast do ranks write or read plain files: shared, one per rank, interleaved, random?
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

class Mover : public io::Way {
public:
    Mover(Run& run, const Blocks& blocks)
        : Way(run),
          blocks_(blocks),
          apart_(blocks.pattern == "apart"),
          buffer_(run.buffers(static_cast<std::int64_t>(blocks.bytes))[0]) {}

    [[nodiscard]] std::string path(int shift) const {
        std::string ending = ".dat";
        if (apart_) ending = std::to_string(other(shift)).insert(0, 1, '-') + ending;
        return io::file_of(run_, ending);
    }

    Task<io::Times> move(bool writes, int shift) override {
        io::Times times;
        std::optional<io::PlainFile> file;
        const Work opening{.flops = 1};
        const std::string where = path(shift);
        double begin = run_.now();
        co_await run_.compute(opening, [&] { file.emplace(run_.world(), where, writes, apart_); });
        times.open = run_.now() - begin;
        for (io::Length which = 0; which < blocks_.count; ++which) {
            const double one = co_await move_one(*file, writes, which, shift);
            times.transfer += one;
        }
        if (!apart_) co_await run_.world().barrier();  // nobody's judging is another's closing
        begin = run_.now();
        co_await run_.compute(opening, [&] { file->close(); });
        times.close = run_.now() - begin;
        co_return times;
    }

    Task<> remove() override {
        const std::string where = path(0);
        co_await io::remove(run_, where, apart_ || run_.rank() == 0);
    }

private:
    Task<double> move_one(io::PlainFile& file, bool writes, io::Length which, int shift) {
        const auto rank = static_cast<io::Length>(other(shift));
        const io::Length at = blocks_.at(rank, which);
        const std::size_t ordinal = apart_ ? rank + 1 : 0;
        if (writes && run_.verifies()) io::stamp(ordinal, at, buffer_);
        // Nobody's making or judging is another's transfer, where they wait for each other.
        if (together_ && !apart_) co_await run_.world().barrier();
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

    const Blocks& blocks_;
    bool apart_;
    Bytes buffer_;
};

}  // namespace

BENCHMARK(ior, at_least(1),
          choice("pattern", {"shared", "apart", "strided", "random"},
                 "a stretch of one file for each rank; a file for each; blocks in turns; blocks in no order"),
          counts("pieces", {64}, "blocks of a rank's share"), io::sweeps(), io::metrics(),
          Sampling{.one_operation = true}) {
    io::check_here(run, io::PlainFile::available(), "this program was built without MPI-IO");
    const Blocks made = blocks(run);
    Mover mover(run, made);
    co_await io::repeat(run, mover, static_cast<double>(made.bytes * made.count * made.ranks));
}

}  // namespace leadline
