#include "machine/coldness.hpp"

#include <algorithm>
#include <utility>

namespace leadline::machine {
namespace {

// The value at `x` of straight lines from (0, 0) through each row's (of, value); after the last as there.
template <class Of, class Get>
double between(const std::vector<Cold>& rows, double x, Of of, Get value) {
    double from = 0, before = 0;
    for (const Cold& row : rows) {
        if (x <= of(row)) return before + (value(row) - before) * (x - from) / (of(row) - from);
        from = of(row);
        before = value(row);
    }
    return before;
}

constexpr auto memory = [](const Cold& row) { return row.walked; };
constexpr auto time = [](const Cold& row) { return row.time; };

Time of_overhead(double seconds) {
    Time time = from_seconds(seconds);
    mark(time, TimePart::overhead);
    return time;
}

}  // namespace

void Coldness::walk(int rank, double bytes) {
    Walked& walked = walked_[static_cast<std::size_t>(rank)];
    walked.code += bytes;
    walked.data += bytes;
}

void Coldness::walk_for(int rank, double seconds, double most) {
    Walked& walked = walked_[static_cast<std::size_t>(rank)];
    for (double* each : {&walked.code, &walked.data}) {
        const double on = between(rows_, between(rows_, *each, memory, time) + seconds, time, memory);
        *each = std::max(*each, std::min(on, most));
    }
}

Time Coldness::sends(int rank, bool handshake) {
    double& code = walked_[static_cast<std::size_t>(rank)].code;
    if (code <= 0) return 0;
    const auto overhead = [&](const Cold& row) { return row.of(handshake).overhead; };
    return of_overhead(between(rows_, std::exchange(code, 0), memory, overhead));
}

Time Coldness::takes_up(int rank, bool handshake, std::int64_t bytes) {
    double& data = walked_[static_cast<std::size_t>(rank)].data;
    const Time first = sends(rank, handshake);
    if (data <= 0) return first;
    const auto each = [&](const Cold& row) { return 1 / row.of(handshake).copy; };
    const auto size = static_cast<double>(bytes);
    // In a ping-pong its buffers at either end are as much memory as is walked through again and again.
    const double itself = between(rows_, std::min(data, 2 * size), memory, each);
    const Time more = of_overhead(size * (between(rows_, data, memory, each) - itself));
    data = std::max(0.0, data - size);
    return first + more;
}

}  // namespace leadline::machine
