// What the engine keeps of each rank beside its program, and of pairs of ranks, on machines where that
// counts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "machine/time.hpp"

namespace leadline::machine {

struct Detours {
    Time next = 0;
    Time spent = 0;           // until when it last had something to do
    std::uint64_t taken = 0;  // with the seed, what the next one is drawn from
};

struct Span {
    Time from = 0;
    Time until = 0;
};

// Where a rank lets messages come ahead: how many do, those that it has not granted yet, and of both those
// whose receives are known, with when these are posted.
struct RendezvousCredits {
    int coming = 0;
    std::vector<std::uint32_t> asking{};
    std::map<std::uint32_t, Time> known{};
};

// For how long it has computed so far, and until when.
struct Computed {
    Time in_all = 0;
    Time until = 0;
};

// Its core as the LogGOPS model has it (engine_loggops.cpp): what wants it, and until when it may not.
struct ModelCore {
    Time send = 0;                         // before which it sends no other message
    Time receive = 0;                      // and receives none
    Time settled = never;                  // when it is next decided what it does
    std::vector<std::uint32_t> arrived{};  // messages that it has not taken up
    bool asks = false;                     // its program wants it,
    bool sends = false;                    // to send
    std::uint32_t turn = 0;                // since when
};

// Envelopes from one rank to another that are under way, where some may overtake others.
struct PairQueue {
    std::uint32_t sent = 0;                        // turns given out
    std::uint32_t due = 0;                         // whose envelope is seen next
    std::map<std::uint32_t, std::uint32_t> early;  // messages that came before it, by their turns
};
// Short messages of collectives from one node to another that will travel as one.
struct Bundle {
    Time began = 0;  // when the first of them was handed over
    Time until = 0;  // when they go
    std::uint64_t key = 0;
    std::vector<std::uint32_t> messages{};
};

struct Granted {
    int coming = 0;                        // data of one rank to another that were granted
    std::vector<std::uint32_t> waiting{};  // grants the other way, until all of them have come
};

}  // namespace leadline::machine
