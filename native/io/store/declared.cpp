// What the declarations of all kernels share.
#include "io/store/kernel.hpp"

namespace leadline::io {

std::vector<Sweep> sweeps() {
    return {
        choice("mode", {"write", "read"}, "which way the data go", {"write"}),
        choice("transfer", {"collective", "independent"}, "all ranks in one operation, or each by itself"),
        counts("shrink", {16}, "what the full size is divided by"),
        choice("scaling", {"weak", "strong"}, "whether the size is each rank's or that of all", {"weak"})};
}

std::vector<Metric> metrics() {
    return {metric("time", Unit::second, lower, largest, "time from opening the file to closing it"),
            metric("open", Unit::second, lower, largest, "time to create or open the file"),
            metric("transfer", Unit::second, lower, largest, "time to transfer the data"),
            metric("close", Unit::second, lower, largest, "time to close the file"),
            metric("bandwidth", Unit::bytes_per_second, higher, smallest,
                   "bytes of all ranks divided by the time; no sync, so this includes the page cache")};
}

}  // namespace leadline::io
