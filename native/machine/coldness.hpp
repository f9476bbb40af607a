// What messages cost more where a computation has taken the caches.
//
// A machine's rows say it for one message after a rank has walked through so much memory of its own; between
// two rows it goes straight, from nothing at none. The code and the queues of the library are cold for the
// first message that the rank sends or takes up, for which it pays at its end; the data are for as many bytes
// as it walked through, for which the receiver pays, beyond what so long a message costs by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/description.hpp"

namespace leadline::machine {

class Coldness {
public:
    Coldness(const std::vector<Cold>& rows, std::size_t ranks) : rows_(rows), walked_(ranks) {}

    // A rank has walked through so many bytes; or has computed so long in memory of its own that is `most`.
    void walk(int rank, double bytes);
    void walk_for(int rank, double seconds, double most);
    // What the message that it sends, or takes up, costs it beside what it does in caches.
    [[nodiscard]] Time sends(int rank, bool handshake);
    [[nodiscard]] Time takes_up(int rank, bool handshake, std::int64_t bytes);

private:
    struct Walked {
        double code = 0;  // B, since its last message
        double data = 0;  // B, of which messages have not brought back anything
    };

    const std::vector<Cold>& rows_;
    std::vector<Walked> walked_;
};

}  // namespace leadline::machine
