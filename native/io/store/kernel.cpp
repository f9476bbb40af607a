#include "io/store/kernel.hpp"

#include <algorithm>
#include <filesystem>

#include "io/store/hdf5.hpp"

namespace leadline::io {

double Contents::bytes() const {
    double sum = 0;
    for (const Array& each : arrays)
        sum += static_cast<double>(product(each.lengths)) * static_cast<double>(each.element()) +
               8 * static_cast<double>(each.attributes);
    return sum;
}

Length Size::of_all(Length full, int ranks) const {
    const auto many = static_cast<Length>(ranks);
    const Length shrunk = std::max<Length>(full / shrink, 1);
    return strong ? std::max(shrunk, many) : shrunk * many;
}

Size size_of(const Run& run) {
    if (run["shrink"] < 1)
        Run::skip("sizes are divided by 1 or more, but got " + std::to_string(run["shrink"]));
    return {static_cast<Length>(run["shrink"]), run.word("scaling") == "strong"};
}

void check_here(const Run& run, bool available, const std::string& lacking) {
    if constexpr (!Control::computes)
        Run::skip("files are written on real machines; 'leadline io tune --on' simulates their storage");
    if (run.verifies() && !available) Run::skip(lacking);
}

void Times::sample(Run& run, double bytes) const {
    const double all = open + transfer + close;
    run.sample("time", all);
    run.sample("open", open);
    run.sample("transfer", transfer);
    run.sample("close", close);
    run.sample("bandwidth", bytes / all);
}

std::string file_of(const Run& run, const std::string& ending) {
    return std::filesystem::path(run.directory()) / (run.benchmark() + ending);
}

Task<> remove(Run& run, const std::string& path, bool mine) {
    co_await run.world().barrier();
    std::error_code gone;
    if (mine && run.verifies()) std::filesystem::remove(path, gone);
    co_await run.world().barrier();
}

Task<> repeat(Run& run, Way& way, double bytes) {
    const bool writes = run.word("mode") == "write";
    co_await way.remove();
    if (!writes) {
        const Times unused = co_await way.move(true, 0);
        (void)unused;
    }
    while (co_await run.next_sample()) {
        if (writes) co_await way.remove();
        run.start();
        const Times times = co_await way.move(writes, writes ? 0 : 1);
        run.stop();
        times.sample(run, bytes);
    }
    if (writes) {
        const Times unused = co_await way.move(false, 1);
        (void)unused;
    }
    co_await way.remove();
}

namespace {

class Mover : public Way {
public:
    Mover(Run& run, const Contents& contents)
        : Way(run),
          contents_(contents),
          path_(file_of(run, ".h5")),
          buffer_(run.buffers(static_cast<std::int64_t>(largest_part()))[0]) {}

    Task<> remove() override { return io::remove(run_, path_, run_.rank() == 0); }

    Task<Times> move(bool writes, int shift) override {
        Times times;
        std::optional<Hdf5File> file;
        double begin = run_.now();
        const Work opening{.flops = 1};
        co_await run_.compute(opening, [&] { file.emplace(run_.world(), path_, writes); });
        times.open = run_.now() - begin;
        for (std::size_t i = 0; i < contents_.arrays.size(); ++i) {
            const double one = co_await move_one(*file, writes, i, shift);
            times.transfer += one;
        }
        co_await run_.world().barrier();  // nobody's judging is another's closing
        begin = run_.now();
        co_await run_.compute(opening, [&] { file->close(); });
        times.close = run_.now() - begin;
        co_return times;
    }

private:
    [[nodiscard]] std::size_t largest_part() const {
        std::size_t most = 8;
        for (std::size_t i = 0; i < contents_.arrays.size(); ++i)
            for (int shift = 0; shift < std::min(run_.ranks(), 2); ++shift)
                most = std::max<std::size_t>(
                    most, contents_.part(i, other(shift)).elements() * contents_.arrays[i].element());
        return most;
    }

    Task<double> move_one(Hdf5File& file, bool writes, std::size_t which, int shift) {
        const Array& array = contents_.arrays[which];
        const Hyperslab part = contents_.part(which, other(shift));
        const auto bytes = buffer_.first(part.elements() * array.element());
        std::vector<double> attributes(array.attributes);
        if (writes && run_.verifies()) stamp(array, which, part, bytes);
        for (std::size_t i = 0; writes && i < attributes.size(); ++i) attributes[i] = attribute(which, i);
        co_await run_.world().barrier();  // nobody's making or judging is another's transfer
        const double begin = run_.now();
        const Work work{.bytes = static_cast<double>(bytes.size())};
        co_await run_.compute(work, [&] {
            if (writes) file.write(array, part, bytes, attributes, together_);
            else file.read(array, part, bytes, attributes, together_);
        });
        const double spent = run_.now() - begin;
        if (!writes && run_.verifies()) judge(which, part, bytes, attributes);
        co_return spent;
    }

    void judge(std::size_t which, const Hyperslab& part, Bytes bytes, std::span<const double> attributes) {
        const Array& array = contents_.arrays[which];
        const auto wrong = differs(array, which, part, bytes);
        run_.verify(!wrong, wrong.value_or(""));
        for (std::size_t i = 0; i < attributes.size(); ++i)
            run_.verify(attributes[i] == attribute(which, i),
                        "attribute a" + std::to_string(i) + " of " + array.name + " is not what was written");
    }

    const Contents& contents_;
    std::string path_;
    Bytes buffer_;
};

}  // namespace

Task<> move_arrays(Run& run, const Contents& contents) {
    check_here(
        run, Hdf5File::available(),
        "this program was built without parallel HDF5: install libhdf5-openmpi-dev or libhdf5-mpich-dev "
        "and run again");
    Mover mover(run, contents);
    co_await repeat(run, mover, contents.bytes());
}

}  // namespace leadline::io
