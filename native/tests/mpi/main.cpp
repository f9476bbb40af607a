// leadline-words: says every word of a real MPI and compares with serial arithmetic.
//
//   leadline-words words                   every word on Self, World and a copy of it
//   leadline-words algorithms              collectives by every algorithm of the project, on World and Self
//   leadline-words large                   messages and collectives beyond 2147483647 B, on one rank
//   leadline-words clocks KIND SECONDS     common time over clocks that were planted
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "words.hpp"

namespace {

using namespace leadline;
using namespace leadline::words;

void say_all(Comm& comm, Report& report) {
    check_messages(comm, report);
    check_windows(comm, report);
    check_blocks(comm, report);
    check_reductions(comm, report);
    check_neighbourhoods(comm, report);
}

void check_words(Session& session, Report& report) {
    Comm world = session.world();
    Comm self = done(world.split(world.rank(), 0));
    Comm copy = done(world.dup());
    Comm reversed = done(world.split(0, -world.rank()));
    report.expect(self.size() == 1 && self.rank() == 0, "Self is alone");
    report.expect(copy.size() == world.size() && copy.rank() == world.rank(), "Dup is like World");
    report.expect(reversed.rank() == world.size() - 1 - world.rank(), "keys order the ranks of a split");
    report.expect(reversed.placement(reversed.rank()).core == world.placement(world.rank()).core,
                  "a rank sits where it sits, whatever its number");
    for (Comm* each : {&world, &self, &copy}) say_all(*each, report);
    check_messages(reversed, report);
    check_blocks(reversed, report);
    check_refusals(world, report);
}

int judge(Session& session, const Report& report) {
    const auto all =
        Session::gather({static_cast<double>(report.checked()), static_cast<double>(report.wrong())});
    if (session.rank() != 0) return 0;
    double checked = 0;
    double wrong = 0;
    for (std::size_t i = 0; i < all.size(); i += 2) {
        checked += all[i];
        wrong += all[i + 1];
    }
    for (const auto& reason : report.refusals()) std::printf("refused: %s\n", reason.c_str());
    std::printf("checked %.0f wrong %.0f\n", checked, wrong);
    return wrong == 0 ? 0 : 1;
}

int run(Session& session, const std::vector<std::string>& arguments) {
    const bool by_algorithms = arguments == std::vector<std::string>{"algorithms"};
    Report report(session.rank(), by_algorithms);
    if (arguments == std::vector<std::string>{"words"}) {
        check_words(session, report);
    } else if (by_algorithms) {
        Comm world = session.world();
        Comm self = done(world.split(world.rank(), 0));
        for (Comm* each : {&world, &self}) {
            check_blocks(*each, report);
            check_reductions(*each, report);
        }
    } else if (arguments == std::vector<std::string>{"large"}) {
        Comm world = session.world();
        Comm self = done(world.split(world.rank(), 0));
        check_large(self, report);
    } else if (arguments.size() == 3 && arguments[0] == "clocks") {
        tell_clocks(session.rank(), arguments[1], std::stod(arguments[2]));
    } else {
        std::fputs("usage: leadline-words words | algorithms | large | clocks KIND SECONDS\n", stderr);
        return 2;
    }
    return judge(session, report);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    Session session(argc, argv);
    try {
        return run(session, arguments);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "leadline-words: rank %d: %s\n", session.rank(), problem.what());
        Session::abandon();
    }
}
