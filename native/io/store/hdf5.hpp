// A file of HDF5 that all ranks of a communicator have open together.
//
// Where this program was built without HDF5 nothing happens; `available` says so.
#pragma once

#include <span>
#include <string>

#include "comm/comm.hpp"
#include "io/store/array.hpp"

namespace leadline::io {

class Hdf5File {
public:
    static bool available();

    // Collective; creates the file, or opens it to be read. This and all others throw std::runtime_error,
    // saying what failed and why.
    Hdf5File(const Comm& comm, std::string path, bool creates);
    // Creates the array and writes the part and the attributes; `together`: one collective operation.
    void write(const Array& array, const Hyperslab& part, std::span<std::byte> bytes,
               std::span<const double> attributes, bool together);
    void read(const Array& array, const Hyperslab& part, std::span<std::byte> bytes,
              std::span<double> attributes, bool together);
    void close();

private:
    std::string path_;
    std::int64_t id_ = -1;
};

}  // namespace leadline::io
