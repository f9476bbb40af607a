// NAS FT with as little traffic to memory as there can be: each pass reads the grid once and writes it once.
//
// The state in wave numbers stands in tiles as they are transformed. Evolution, the transform along x and the
// handing over are one pass: tiles are read, multiplied, transformed and handed over out of the cache. The
// transforms along y and z and the checksum are the other: a plane of x is read, both are done within the
// cache.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/ft/solver.hpp"
#include "applications/ft/transforms.hpp"

namespace leadline::ft {

class Fused : public Solver {
public:
    Fused(Run& run, const Problem& problem, const Options& options);

    // Why it cannot be on so many ranks; empty where it can.
    static std::string refusal(const Problem& problem, std::int64_t ranks);

    Task<> open() override;
    Task<> solve() override;
    Task<> close() override;

private:
    // A point that is summed up: its tile of a plane of x, and its place in that.
    struct Picked {
        std::int64_t tile;
        std::int64_t at;
    };

    Task<> expose(std::int64_t points);
    Task<> handed_over() override;
    Task<> arrive();
    Task<> there();
    Task<> back(int step);
    Task<> hand(const Complex* from, std::int64_t points, std::int64_t receiver, std::int64_t to);
    void begin_plane(std::int64_t x, Complex* to);
    void tiles_of_state();
    void evolve(int step);
    void batch(std::int64_t group, std::int64_t y, Complex* to);
    Complex plane(std::int64_t x);

    std::int64_t xs_;      // planes of x that this rank has
    std::int64_t groups_;  // of `abreast` planes of z that it has
    std::int64_t all_groups_;
    std::int64_t deep_;   // y of a batch
    std::int64_t pitch_;  // points of a plane's tile of y, which are a line more than a power of two
    std::optional<Window> window_{};
    std::vector<std::int64_t> shifts_{};  // B, from where each rank's window begins to its first cache line
    std::vector<Complex*> reach_{};       // what lands at each rank, where it can be stored to; else nothing
    std::array<std::unique_ptr<Transform>, 6> transforms_{};
    std::vector<double> factors_x_{};
    std::vector<double> factors_y_{};
    std::vector<double> factors_z_{};            // each twice, for both halves
    std::vector<std::vector<Picked>> picked_{};  // of each plane of x
    Complex* state_ = nullptr;                   // in wave numbers: [group of z][y][x][z]
    Complex* landed_ = nullptr;   // there: [x][group][y][z], planes of z; back: the same, planes of x
    Complex* planes_ = nullptr;   // in the cache: two planes of x on the way there, one back
    Complex* batches_ = nullptr;  // in the cache: two batches of tiles, [x][y][z]
    Complex* tile_ = nullptr;
};

}  // namespace leadline::ft
