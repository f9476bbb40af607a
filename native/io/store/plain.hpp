// A plain file through MPI-IO, of all ranks together or of one alone.
//
// On a backend that is not MPI nothing happens; `available` says so.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "io/store/array.hpp"

namespace leadline::io {

class PlainFile {
public:
    static bool available();
    // Collective, unless it is `own`. This and all others throw std::runtime_error, saying what failed and
    // why.
    PlainFile(const Comm& comm, std::string path, bool writes, bool own);
    void write(Length at, Bytes bytes, bool together);
    void read(Length at, Bytes bytes, bool together);
    void close();

private:
    struct Handle;
    std::string path_;
    std::shared_ptr<Handle> handle_;
};

}  // namespace leadline::io
