#include "applications/ft/transforms.hpp"

#ifdef LEADLINE_FFTW

#include <fftw3.h>

namespace leadline::ft {
namespace {

fftw_complex* fftw(Complex* data) { return reinterpret_cast<fftw_complex*>(data); }

// FFTW's memory, aligned as its fastest code wants it.
struct Free {
    void operator()(fftw_complex* memory) const { fftw_free(memory); }
};

}  // namespace

bool transforms_available() { return true; }

struct Transform::Plans {
    fftw_plan row = nullptr;
    fftw_plan columns = nullptr;
};

Transform::Transform(std::int64_t length, Sign sign) : plans_(std::make_unique<Plans>()) {
    const int n = static_cast<int>(length);
    const int lines = static_cast<int>(tile);
    const int direction = sign == Sign::forward ? FFTW_FORWARD : FFTW_BACKWARD;
    const std::unique_ptr<fftw_complex, Free> memory(
        fftw_alloc_complex(static_cast<std::size_t>(length * tile)));
    fftw_complex* at = memory.get();
    plans_->row = fftw_plan_dft_1d(n, at, at, direction, FFTW_MEASURE);
    plans_->columns = fftw_plan_many_dft(1, &n, lines, at, nullptr, lines, 1, at, nullptr, lines, 1,
                                         direction, FFTW_MEASURE);
}

Transform::~Transform() {
    fftw_destroy_plan(plans_->row);
    fftw_destroy_plan(plans_->columns);
}

void Transform::row(Complex* line) { fftw_execute_dft(plans_->row, fftw(line), fftw(line)); }
void Transform::columns(Complex* rows) { fftw_execute_dft(plans_->columns, fftw(rows), fftw(rows)); }

}  // namespace leadline::ft

#else

namespace leadline::ft {

bool transforms_available() { return false; }

struct Transform::Plans {};

Transform::Transform(std::int64_t, Sign) {}
Transform::~Transform() = default;
void Transform::row(Complex*) {}
void Transform::columns(Complex*) {}

}  // namespace leadline::ft

#endif
