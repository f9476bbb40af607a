// NAS FT on the ranks of a communicator: the parts that are timed, and how planes are handed over.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "applications/ft/grid.hpp"
#include "applications/ft/transforms.hpp"
#include "harness/run.hpp"

namespace leadline::ft {

// Of what the time of a run is made up.
enum class Spent { fft, evolve, transpose, initiation, completion, barrier };
inline constexpr std::size_t kinds_of_time = 6;

// Adds the time since the last call to one of them.
class Split {
public:
    explicit Split(const Run& run) : run_(&run) {}
    void begin() {
        spent_.fill(0);
        last_ = run_->now();
    }
    void lap(Spent on) {
        const double now = run_->now();
        spent_[static_cast<std::size_t>(on)] += now - last_;
        last_ = now;
    }
    [[nodiscard]] double of(Spent kind) const { return spent_[static_cast<std::size_t>(kind)]; }

private:
    const Run* run_;
    std::array<double, kinds_of_time> spent_{};
    double last_ = 0;
};

struct Options {
    Pieces pieces = Pieces::exchange;
    std::optional<Exposure> window{};  // one-sided by it; else by messages
    std::int64_t depth = 0;            // receives posted ahead; 0: all
    std::int64_t padding = 0;          // points
    int iterations = 0;
    bool fused = false;  // rows are put out of the plane in the cache, and no copy of them is kept
};

class Solver {
public:
    Solver(Run& run, const Problem& problem, const Options& options);

    // Memory that a rank takes, B.
    static std::int64_t memory(const Problem& problem, int ranks, const Options& options);

    Task<> open();
    Task<> solve();  // the whole of the benchmark, once
    Task<> close();

    [[nodiscard]] const Split& split() const { return split_; }
    // What this rank handed over in one transform back, to itself as well, as it was counted.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    // Each iteration's, of all ranks; nothing on a machine that does not compute.
    [[nodiscard]] std::span<const Complex> checksums() const { return checksums_; }

private:
    // What a transform needs beside its shape.
    struct Going {
        const Shape& shape;
        Transform* along_b;
        Transform* along_y;
        Transform* along_a;
        const Evolution* evolution;  // null: nothing is multiplied
    };
    // A message's place in the order in which all ranks hand theirs over.
    struct Step {
        std::int64_t plane;
        std::int64_t row;   // the first, of the receiver's own
        std::int64_t turn;  // how far the receiver is from the sender
    };
    struct Posted {
        std::vector<Comm::Request> receives{};
        std::vector<Comm::Request> sends{};
    };

    // What a rank computes; where messages bring nothing, on a described or played machine, only time passes.
    template <class Compute>
    auto compute(Work work, const Compute& what) {
        return run_.compute(work, [&] {
            if (computes_) what();
        });
    }
    Task<> transform(Going going);
    Task<> planes(const Going& going);
    Task<> hand(const Shape& shape, const Step& step);
    Task<> all_to_all(const Shape& shape);
    Task<> arrive();
    Task<> settle();
    Task<> last(const Going& going);
    Task<> sum_up();
    void plane(const Going& going, std::int64_t p);
    void columns(Transform& along, Complex* from, std::int64_t length, std::int64_t pitch,
                 std::int64_t width);
    [[nodiscard]] Complex* plane_of(const Shape& shape, std::int64_t p) const;
    void rows(const Going& going, const Step& step);
    void post(const Shape& shape, std::int64_t round);
    [[nodiscard]] Task<> finish(std::int64_t round);
    [[nodiscard]] Step step_of(const Shape& shape, std::int64_t number) const;
    [[nodiscard]] Bytes bytes_at(Complex* memory, std::int64_t from, std::int64_t points) const;

    Run& run_;
    const Problem& problem_;
    Options options_;
    std::int64_t ranks_;
    std::int64_t rank_;
    Shape forth_;
    Shape back_;
    Split split_;
    bool computes_;
    std::int64_t round_ = 0;  // messages in a round of receives
    std::array<Posted, 3> rounds_{};
    std::optional<Window> window_{};
    std::int64_t notices_ = 0;
    std::int64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    std::vector<Complex> checksums_{};

    // The transforms of each length; nothing where nothing is computed.
    std::vector<std::unique_ptr<Transform>> transforms_{};
    Complex* grid_ = nullptr;     // the state in between: [a][b][y] of the transform that is next
    Complex* leaving_ = nullptr;  // what is handed over
    Complex* landed_ = nullptr;   // what came
    Complex* plane_ = nullptr;    // a plane, or two, with its padding
    std::vector<Complex> tile_{};
};

}  // namespace leadline::ft
