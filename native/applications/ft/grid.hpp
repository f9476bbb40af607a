// Where the points of a rank's part of the grid stand, and what is done to them beside the transforms.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "applications/ft/problem.hpp"

namespace leadline::ft {

// How the planes of a transform are handed over.
enum class Pieces { exchange, slabs, pencils };

// One three-dimensional transform over `ranks`. Before it a rank has planes of `a`, each [b][y]; after it
// planes of `b`. Each dimension is cut into as many equal parts as there are ranks. There and back are the
// same, with a and b exchanged.
struct Shape {
    std::int64_t na;
    std::int64_t nb;
    std::int64_t ny;
    std::int64_t ranks;
    Pieces pieces;
    std::int64_t padding;  // points

    [[nodiscard]] std::int64_t planes() const { return na / ranks; }  // that a rank has before
    [[nodiscard]] std::int64_t rows() const { return nb / ranks; }    // of a plane that go to one rank
    [[nodiscard]] std::int64_t points() const { return planes() * nb * ny; }

    // Where a piece that is sent stands among the sender's: plane `p` of its own, row `b`. A rank's pieces
    // for another one are together where they are exchanged all at once.
    [[nodiscard]] std::int64_t leaving(std::int64_t p, std::int64_t b) const {
        if (pieces != Pieces::exchange) return (p * nb + b) * ny;
        return ((b / rows() * planes() + p) * rows() + b % rows()) * ny;
    }
    // Where row `b` of the receiver's own from plane `a` of all lands: [a][b][y], so that a slab lies
    // together; [b][a][y] where rows come by themselves, so that the last transform strides over rows alone.
    [[nodiscard]] std::int64_t landing(std::int64_t a, std::int64_t b) const {
        if (pieces == Pieces::pencils) return (b * na + a) * (ny + padding);
        return a * slab() + b * ny;
    }
    [[nodiscard]] std::int64_t slab() const { return rows() * ny + (pieces == Pieces::slabs ? padding : 0); }
    [[nodiscard]] std::int64_t landing_points() const {
        return pieces == Pieces::pencils ? rows() * na * (ny + padding) : na * slab();
    }
    // Rows in one message, and messages that a rank hands over, to itself as well (Bell et al., table 1).
    [[nodiscard]] std::int64_t piece() const { return pieces == Pieces::pencils ? 1 : rows(); }
    [[nodiscard]] std::int64_t messages() const {
        if (pieces == Pieces::exchange) return ranks;
        return planes() * nb / piece();
    }
};

// This rank's planes of x of the initial state: [x][z][y].
void initial(const Problem& problem, std::int64_t first_x, std::int64_t planes, Complex* to);

// What the evolution of a step multiplies the point of wave numbers (x, y, z) by: the product of a factor for
// each dimension.
class Evolution {
public:
    Evolution(const Problem& problem, int step);
    [[nodiscard]] double x(std::int64_t i) const { return x_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const double* y() const { return y_.data(); }
    [[nodiscard]] double z(std::int64_t i) const { return z_[static_cast<std::size_t>(i)]; }

private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> z_;
};

// A row times a factor of its own and one of each point.
void scale(const Complex* row, double factor, const double* factors, std::int64_t count, Complex* to);

// The 1024 points that NAS FT sums up.
struct Point {
    std::int64_t x;
    std::int64_t y;
    std::int64_t z;
};
std::vector<Point> summed(const Problem& problem);

// The sum of a rank's own of the 1024 points that NAS FT sums up, where its planes of x stand as `shape`
// lands them.
Complex partial_checksum(const Problem& problem, const Shape& shape, std::int64_t rank, const Complex* grid);

// Whether a checksum agrees with a published one to one part in 10^12, each half for itself (NPB 3.4, FT).
bool agrees(Complex found, Complex published);

}  // namespace leadline::ft
