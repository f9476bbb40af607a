#include "comm/mpi/session.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "comm/mpi/settings.hpp"
#include "comm/mpi/shmem.hpp"

namespace leadline {

// A launcher's processes still have 0.2 ms to do after MPI_Init has returned, and take it from the ranks
// where there are no more processors than these: a third of a point of 1 ms.
void Session::configure(const nlohmann::json&) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

void Session::broadcast(std::string& text) {
    auto length = static_cast<int>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD));
    text.resize(static_cast<std::size_t>(length));
    check(MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD));
}

std::vector<double> Session::gather(const std::vector<double>& mine) {
    int rank = 0;
    int size = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    check(MPI_Comm_size(MPI_COMM_WORLD, &size));
    std::vector<double> all(rank == 0 ? mine.size() * static_cast<std::size_t>(size) : 0);
    const auto width = static_cast<int>(mine.size());
    check(MPI_Gather(mine.data(), width, MPI_DOUBLE, all.data(), width, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    return all;
}

std::vector<std::string> Session::gather_texts(const std::string& mine) {
    int rank = 0;
    int size = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    check(MPI_Comm_size(MPI_COMM_WORLD, &size));
    const auto length = static_cast<int>(mine.size());
    const auto ranks = static_cast<std::size_t>(size);
    std::vector<int> lengths(ranks);
    std::vector<int> starts(ranks);
    check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD));
    int total = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        starts[i] = total;
        total += lengths[i];
    }
    std::string all(static_cast<std::size_t>(total), ' ');
    check(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                      MPI_COMM_WORLD));
    std::vector<std::string> each;
    if (rank == 0)
        for (std::size_t i = 0; i < ranks; ++i)
            each.push_back(
                all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return each;
}

namespace {

std::vector<Place> exchange_places() {
    const auto each = Session::gather_texts(nlohmann::json(my_place()).dump());
    auto all = nlohmann::json::array();
    for (const auto& one : each) all.push_back(nlohmann::json::parse(one));
    std::string text = all.dump();
    Session::broadcast(text);
    return nlohmann::json::parse(text).get<std::vector<Place>>();
}

// The library's own words for itself, first line.
std::string library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check(MPI_Get_library_version(text.data(), &length));
    const std::string all(text.data());
    return all.substr(0, all.find('\n'));
}

// The version of the MPI standard that it serves.
std::string standard() {
    int version = 0;
    int subversion = 0;
    check(MPI_Get_version(&version, &subversion));
    return std::to_string(version) + "." + std::to_string(subversion);
}

}  // namespace

Session::Session(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    control_ = std::make_unique<Control>(MPI_COMM_WORLD);
    const auto places = exchange_places();
    ranks_ = std::make_shared<const Everybody>(Everybody{places, node_places(places)});
}

Session::~Session() {
    free_user_additions();
    shmem::finish();
    // Some libraries end MPI with OpenSHMEM.
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Finalize();
}

nlohmann::json Session::facts(const std::vector<std::string>& settings) const {
    nlohmann::json facts{{"library", library()}, {"standard", standard()}, {"places", ranks_->places}};
    if (!settings.empty()) facts["settings"] = settings_named(settings);
    return facts;
}

nlohmann::json Session::answered() { return nlohmann::json::object(); }

void Session::abandon() {
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace leadline
