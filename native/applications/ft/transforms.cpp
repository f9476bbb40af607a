#include "applications/ft/transforms.hpp"

#include <algorithm>

#ifdef LEADLINE_FFTW
#include <fftw3.h>
#endif

namespace leadline::ft {

#ifdef LEADLINE_FFTW

namespace {

fftw_complex* fftw(Complex* data) { return reinterpret_cast<fftw_complex*>(data); }
fftw_complex* fftw(double* data) { return reinterpret_cast<fftw_complex*>(data); }

// FFTW's memory, aligned as its fastest code wants it.
struct FreeFftw {
    void operator()(fftw_complex* memory) const { fftw_free(memory); }
};

}  // namespace

bool transforms_available() { return true; }

struct Transform::Plans {
    // Only what will be asked for: a plan is found by trying.
    Plans(int n, int direction, Use use, bool by_vectors) {
        const auto points = static_cast<std::size_t>(n * tile);
        const std::unique_ptr<fftw_complex, FreeFftw> memory(fftw_alloc_complex(points));
        fftw_complex* at = memory.get();
        if (use == Use::planes) row = fftw_plan_dft_1d(n, at, at, direction, FFTW_MEASURE);
        if (by_vectors) return;
        if (use == Use::planes) columns = of_lines(n, static_cast<int>(tile), at, direction);
        else few = of_lines(n, static_cast<int>(ft::abreast), at, direction);
    }
    static fftw_plan of_lines(int n, int lines, fftw_complex* at, int direction) {
        return fftw_plan_many_dft(1, &n, lines, at, nullptr, lines, 1, at, nullptr, lines, 1, direction,
                                  FFTW_MEASURE);
    }
    ~Plans() {
        for (const fftw_plan each : {row, columns, few})
            if (each) fftw_destroy_plan(each);
    }
    Plans(const Plans&) = delete;
    Plans& operator=(const Plans&) = delete;
    Plans(Plans&&) = delete;
    Plans& operator=(Plans&&) = delete;

    void a_row(Complex* line) const { fftw_execute_dft(row, fftw(line), fftw(line)); }
    void a_tile(Complex* rows) const { fftw_execute_dft(columns, fftw(rows), fftw(rows)); }
    void a_few(double* rows) const { fftw_execute_dft(few, fftw(rows), fftw(rows)); }

    fftw_plan row = nullptr;
    fftw_plan columns = nullptr;
    fftw_plan few = nullptr;
};

#else

bool transforms_available() { return false; }

struct Transform::Plans {
    Plans(int, int, Use, bool) {}
    void a_row(Complex*) const {}
    void a_tile(Complex*) const {}
    void a_few(double*) const {}
};

constexpr int FFTW_FORWARD = -1;
constexpr int FFTW_BACKWARD = 1;

#endif

namespace {

constexpr std::size_t line = 64;  // B, of a cache

}  // namespace

Transform::Transform(std::int64_t length, Sign sign, Use use, bool by_vectors) {
    const bool inverse = sign == Sign::inverse;
    if (by_vectors) radices_.emplace(length, inverse);
    const std::int64_t room = by_vectors ? radices_->room() : length * halves;
    const std::size_t bytes = static_cast<std::size_t>(room) * sizeof(double);
    work_.reset(static_cast<double*>(std::aligned_alloc(line, bytes)));
    plans_ = std::make_unique<Plans>(static_cast<int>(length), inverse ? FFTW_BACKWARD : FFTW_FORWARD, use,
                                     by_vectors);
    length_ = length;
}

Transform::~Transform() = default;

void Transform::row(Complex* line) { plans_->a_row(line); }

void Transform::columns(Complex* rows) {
    if (!radices_) {
        plans_->a_tile(rows);
        return;
    }
    auto* at = reinterpret_cast<double*>(rows);  // [complex.numbers]: an array of two doubles each
    for (std::ptrdiff_t part = 0; part < 2 * tile; part += halves)
        vectors().transform(*radices_, {at + part, 2 * tile}, {at + part, 2 * tile}, {}, work_.get(),
                            nullptr);
}

void Transform::abreast(From from, To to, const Factors& factors, const double* next) const {
    if (radices_) {
        vectors().transform(*radices_, from, to, factors, work_.get(), next);
        return;
    }
    double* work = work_.get();
    for (std::ptrdiff_t i = 0; i < length_; ++i)
        for (std::ptrdiff_t k = 0; k < halves; ++k) {
            const double factor = factors.rows ? factors.rows[i] * factors.lanes[k] : 1;
            work[i * halves + k] = from.at[i * from.apart + k] * factor;
        }
    plans_->a_few(work);
    for (std::ptrdiff_t i = 0; i < length_; ++i) std::copy_n(work + i * halves, halves, to.at + i * to.apart);
}

}  // namespace leadline::ft
