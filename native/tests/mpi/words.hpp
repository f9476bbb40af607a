// What the parts of leadline-words share: saying a word of a real backend, and telling what is wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"

namespace leadline::words {

// On a real machine no word suspends: what it returns is there.
template <class Said>
auto done(Said said) {
    return said.await_resume();
}

// What was checked on this rank, and what was wrong; each is printed as it is found.
class Report {
public:
    Report(int rank, bool by_algorithms) : rank_(rank), by_algorithms_(by_algorithms) {}
    // Collectives are done by the project's own algorithms, not by the library's calls.
    [[nodiscard]] bool by_algorithms() const { return by_algorithms_; }
    void expect(bool right, const std::string& what);
    // The library said that it could not.
    void failed(const std::string& what, const std::string& words);
    // What this MPI refuses, once each.
    void refused(const std::string& reason);
    [[nodiscard]] long checked() const { return checked_; }
    [[nodiscard]] long wrong() const { return wrong_; }
    [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }

private:
    int rank_;
    bool by_algorithms_;
    long checked_ = 0;
    long wrong_ = 0;
    std::vector<std::string> refusals_;
};

template <class Number>
Bytes bytes_of(std::vector<Number>& numbers) {
    return std::as_writable_bytes(std::span(numbers));
}

// A collective by hand: what `in` holds before, and must hold afterwards.
struct Expected {
    std::string name;
    Call call;
    std::vector<std::byte> before;
    std::vector<std::byte> after;
};
// Does it at once and, twice each, in every form; or by every algorithm.
void check_collective(Comm& comm, const Expected& expected, Report& report);

// Does it twice by each of our own algorithms for it, over messages.
void check_performed(Comm& comm, const Expected& expected, Report& report);

void check_messages(Comm& comm, Report& report);
void check_windows(Comm& comm, Report& report);
void check_blocks(Comm& comm, Report& report);      // collectives that move bytes
void check_reductions(Comm& comm, Report& report);  // and those that compute
void check_neighbourhoods(Comm& comm, Report& report);
void check_refusals(Comm& comm, Report& report);
// More bytes than an int counts, within one process: carried, or refused.
void check_large(Comm& self, Report& report);

// Clocks that were planted: what they are found to be, a line of JSON at rank 0. `kind` is "host" (those
// there are), "apart" (every rank's shifted and drifting, each a host of its own) or "belied" (the same under
// one name).
void tell_clocks(int rank, const std::string& kind, double seconds);

}  // namespace leadline::words
