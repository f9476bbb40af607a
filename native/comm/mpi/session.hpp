// MPI from its start to its end, and what is known once it has started.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "comm/mpi/communicator.hpp"
#include "comm/mpi/control.hpp"

namespace leadline {

class Session {
public:
    Session(int& argc, char**& argv);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Whether time, and what disturbs it, are those of the machine that this runs on.
    static constexpr bool measures = true;
    [[nodiscard]] int rank() const { return control_->rank(); }
    [[nodiscard]] int size() const { return control_->size(); }
    Comm world() { return {MPI_COMM_WORLD, ranks_}; }
    Control& control() { return *control_; }
    [[nodiscard]] const std::vector<Place>& places() const { return ranks_->places; }
    static void configure(const nlohmann::json&);
    static void broadcast(std::string& text);                               // from rank 0 to all
    static std::vector<double> gather(const std::vector<double>& mine);     // at rank 0: those of all ranks
    static std::vector<std::string> gather_texts(const std::string& mine);  // at rank 0: one a rank
    // What a launch says of itself; of the library's own settings those whose name holds one of the words.
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>& settings) const;

    // This rank's program, to its end.
    template <class Program>
    void run(Program program, int = 0) {
        program(world(), *control_).complete();
    }
    static bool exact() { return false; }
    static bool needs_rerun() { return false; }
    static nlohmann::json answered();

    // Ends every rank of the program at once, after an error that the others cannot know of.
    [[noreturn]] static void abandon();

private:
    std::unique_ptr<Control> control_;
    std::shared_ptr<const Everybody> ranks_;
};

}  // namespace leadline
