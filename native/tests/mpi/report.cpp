#include <algorithm>
#include <cstdio>

#include "words.hpp"

namespace leadline::words {
namespace {

constexpr long most_told = 500;

void restore(const Expected& expected) { std::ranges::copy(expected.before, expected.call.in.begin()); }

void compare(const Expected& expected, const std::string& way, Report& report) {
    const bool same = std::ranges::equal(expected.call.in, expected.after);
    report.expect(same, expected.name + ", " + way);
}

void check_form(Comm& comm, const Expected& expected, Form form, const std::string& way, Report& report) {
    auto prepared = done(comm.prepare(expected.call, form));
    for (int turn = 0; turn < 2; ++turn) {
        restore(expected);
        (void)prepared.begin();
        if (turn == 1 && form != Form::blocking)
            while (!done(prepared.test())) {}
        (void)prepared.end();
        compare(expected, way, report);
    }
    (void)prepared.free();
}

}  // namespace

void Report::expect(bool right, const std::string& what) {
    ++checked_;
    if (right || ++wrong_ > most_told) return;
    std::printf("wrong: rank %d: %s\n", rank_, what.c_str());
    (void)std::fflush(stdout);
}

void Report::failed(const std::string& what, const std::string& words) {
    expect(false, what + ": " + words.substr(0, words.find('\n')));
}

void Report::refused(const std::string& reason) {
    if (std::ranges::find(refusals_, reason) == refusals_.end()) refusals_.push_back(reason);
}

void check_collective(Comm& comm, const Expected& expected, Report& report) {
    if (report.by_algorithms()) {
        check_performed(comm, expected, report);
        return;
    }
    const std::string where = " of " + std::to_string(comm.size()) + " ranks";
    restore(expected);
    (void)comm.collective(expected.call);
    compare(expected, "at once" + where, report);
    check_form(comm, expected, Form::blocking, "blocking" + where, report);
    check_form(comm, expected, Form::nonblocking, "nonblocking" + where, report);
    try {
        check_form(comm, expected, Form::persistent, "persistent" + where, report);
    } catch (const Unsupported& reason) {
        report.refused(reason.what());
    } catch (const std::runtime_error& problem) {
        report.failed(expected.name + ", persistent" + where, problem.what());
    }
}

}  // namespace leadline::words
