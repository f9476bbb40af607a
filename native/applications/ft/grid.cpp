#include "applications/ft/grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "applications/ft/random.hpp"

namespace leadline::ft {
namespace {

constexpr double diffusion = 1e-6;  // alpha of NAS FT
constexpr int in_checksum = 1024;   // points
constexpr double tolerance = 1e-12;

std::vector<double> factors(std::int64_t length, int step) {
    constexpr double pi = std::numbers::pi;
    std::vector<double> all(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) {
        const auto wave = static_cast<double>(i < length / 2 ? i : i - length);
        all[static_cast<std::size_t>(i)] = std::exp(-4 * diffusion * pi * pi * wave * wave * step);
    }
    return all;
}

}  // namespace

void initial(const Problem& problem, std::int64_t first_x, std::int64_t planes, Complex* to) {
    constexpr std::int64_t together = 8;  // rows, so that whole cache lines are written
    const auto& [name, nx, ny, nz, iterations, checksums] = problem;
    std::vector<Complex> lines(static_cast<std::size_t>(together * planes));
    for (std::int64_t z = 0; z < nz; ++z)
        for (std::int64_t y = 0; y < ny; y += together) {
            for (std::int64_t k = 0; k < together; ++k)
                Sequence(2 * ((z * ny + y + k) * nx + first_x)).fill(lines.data() + k * planes, planes);
            for (std::int64_t x = 0; x < planes; ++x)
                for (std::int64_t k = 0; k < together; ++k)
                    to[(x * nz + z) * ny + y + k] = lines[static_cast<std::size_t>(k * planes + x)];
        }
}

Evolution::Evolution(const Problem& problem, int step)
    : x_(factors(problem.nx, step)), y_(factors(problem.ny, step)), z_(factors(problem.nz, step)) {}

void scale(const Complex* row, double factor, const double* factors, std::int64_t count, Complex* to) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = row[k] * (factor * factors[k]);
}

std::vector<Point> summed(const Problem& problem) {
    std::vector<Point> all;
    for (std::int64_t j = 1; j <= in_checksum; ++j)
        all.push_back({j % problem.nx, 3 * j % problem.ny, 5 * j % problem.nz});
    return all;
}

Complex partial_checksum(const Problem& problem, const Shape& shape, std::int64_t rank, const Complex* grid) {
    Complex sum = 0;
    for (const auto& [x, y, z] : summed(problem))
        if (x / shape.rows() == rank) sum += grid[shape.landing(z, x % shape.rows()) + y];
    return sum / static_cast<double>(problem.points());
}

bool agrees(Complex found, Complex published) {
    return std::abs((found.real() - published.real()) / published.real()) <= tolerance &&
           std::abs((found.imag() - published.imag()) / published.imag()) <= tolerance;
}

}  // namespace leadline::ft
