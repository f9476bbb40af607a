#include "backend.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace leadline {

void fail(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error(std::string(text.data(), static_cast<std::size_t>(length)));
}

Window::Window(MPI_Comm comm, std::size_t bytes, Exposure exposure) : shmem_(exposure == Exposure::shmem) {
    // A window of no bytes has no address to aim at; a cache line keeps every rank's base valid.
    const std::size_t room = (std::max<std::size_t>(bytes, 64) + 7) / 8 * 8;
    const std::size_t size = room + sizeof(std::int64_t);
    std::byte* base = nullptr;
    if (shmem_) {
        if (!shmem::available()) throw Unsupported("this MPI comes without OpenSHMEM");
        base = shmem::allocate(size);
        if (!base)
            throw Unsupported("OpenSHMEM's symmetric heap has no room for " + std::to_string(size) +
                              " B; raise SHMEM_SYMMETRIC_SIZE");
    } else if (exposure == Exposure::allocated) {
        check(MPI_Win_allocate(static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &base, &handle_));
    } else {
        own_ = std::make_unique<std::byte[]>(size);
        base = own_.get();
        check(MPI_Win_create(base, static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &handle_));
    }
    memory_ = {base, room};
    std::fill_n(base, size, std::byte{});
    check(MPI_Barrier(comm));  // nobody writes, or gives notice, before the memory is cleared
    if (!shmem_) {
        check(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN));
        check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_));
    }
}

Ready<> Window::notify(int target) {
    if (shmem_) {
        shmem::quiet();
        shmem::count_up(memory_.data() + counter(), target);
        return {};
    }
    static const std::int64_t one = 1;
    check(MPI_Win_flush(target, handle_));
    check(MPI_Accumulate(&one, 1, MPI_INT64_T, target, static_cast<MPI_Aint>(counter()), 1, MPI_INT64_T,
                         MPI_SUM, handle_));
    check(MPI_Win_flush(target, handle_));
    return {};
}

Ready<> Window::notified(std::int64_t count) {
    if (shmem_) {
        shmem::wait_for(memory_.data() + counter(), count);
        return {};
    }
    // Read through the library: only so does an accumulate of a neighbour surely come to be seen.
    int me = 0;
    MPI_Group group = MPI_GROUP_NULL;
    check(MPI_Win_get_group(handle_, &group));
    check(MPI_Group_rank(group, &me));
    check(MPI_Group_free(&group));
    const std::int64_t nothing = 0;
    for (std::int64_t seen = 0; seen < count;) {
        check(MPI_Fetch_and_op(&nothing, &seen, MPI_INT64_T, me, static_cast<MPI_Aint>(counter()), MPI_NO_OP,
                               handle_));
        check(MPI_Win_flush(me, handle_));
    }
    return {};
}

Ready<> Window::free() {
    if (shmem_) {
        shmem::release(memory_.data());
    } else {
        check(MPI_Win_unlock_all(handle_));
        check(MPI_Win_free(&handle_));
    }
    memory_ = {};
    return {};
}

int Comm::distance(int a, int b) const {
    MPI_Group mine = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    check(MPI_Comm_group(handle_, &mine));
    check(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const std::array<int, 2> here{a, b};
    std::array<int, 2> there{};
    check(MPI_Group_translate_ranks(mine, 2, here.data(), world, there.data()));
    check(MPI_Group_free(&mine));
    check(MPI_Group_free(&world));
    return leadline::distance(places_->at(static_cast<std::size_t>(there[0])),
                              places_->at(static_cast<std::size_t>(there[1])));
}

Control::Control(MPI_Comm comm) {
    check(MPI_Comm_dup(comm, &handle_));
    check(MPI_Comm_rank(handle_, &rank_));
    check(MPI_Comm_size(handle_, &size_));
}

Ready<Comm> Comm::cart(std::span<const int> dimensions, bool periodic) {
    const std::vector<int> wraps(dimensions.size(), periodic ? 1 : 0);
    MPI_Comm grid = MPI_COMM_NULL;
    check(MPI_Cart_create(handle_, static_cast<int>(dimensions.size()), dimensions.data(), wraps.data(), 0,
                          &grid));
    if (grid == MPI_COMM_NULL) throw Unsupported("the grid is smaller than the communicator");
    return {Comm(grid, places_)};
}

Neighbours Comm::shift(int dimension, int by) const {
    Neighbours found;
    check(MPI_Cart_shift(handle_, dimension, by, &found.down, &found.up));
    if (found.down == MPI_PROC_NULL) found.down = Neighbours::nobody;
    if (found.up == MPI_PROC_NULL) found.up = Neighbours::nobody;
    return found;
}

Ready<Verdict> Control::agree(std::span<const double> mine, const Decide& decide) {
    std::vector<double> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
    const auto width = static_cast<int>(mine.size());
    check(MPI_Gather(mine.data(), width, MPI_DOUBLE, all.data(), width, MPI_DOUBLE, 0, handle_));
    Verdict verdict;
    if (rank_ == 0) verdict = decide(all);
    std::array<double, 2> shared{verdict.more, verdict.batch};
    check(MPI_Bcast(shared.data(), static_cast<int>(shared.size()), MPI_DOUBLE, 0, handle_));
    if (shared[0] != 0) check(MPI_Barrier(handle_));
    return {{shared[0], shared[1]}};
}

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

namespace {

// At rank 0: one text a rank.
std::vector<std::string> gather_texts(const std::string& mine) {
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

std::vector<Place> exchange_places() {
    const auto each = gather_texts(nlohmann::json(my_place()).dump());
    auto all = nlohmann::json::array();
    for (const auto& one : each) all.push_back(nlohmann::json::parse(one));
    std::string text = all.dump();
    Session::broadcast(text);
    return nlohmann::json::parse(text).get<std::vector<Place>>();
}

std::string variable_value(MPI_T_cvar_handle handle, MPI_Datatype type, int count) {
    if (type == MPI_CHAR) {
        std::string text(static_cast<std::size_t>(std::max(count, 1)), '\0');
        MPI_T_cvar_read(handle, text.data());
        return text.substr(0, text.find('\0'));
    }
    // Every other type that a library may use here is a number of at most eight bytes.
    union {
        int as_int;
        unsigned as_unsigned;
        unsigned long as_long;
        unsigned long long as_long_long;
        double as_double;
    } value{};
    if (count != 1) return "";
    MPI_T_cvar_read(handle, &value);
    if (type == MPI_INT) return std::to_string(value.as_int);
    if (type == MPI_UNSIGNED) return std::to_string(value.as_unsigned);
    if (type == MPI_UNSIGNED_LONG) return std::to_string(value.as_long);
    if (type == MPI_UNSIGNED_LONG_LONG) return std::to_string(value.as_long_long);
    if (type == MPI_DOUBLE) return std::to_string(value.as_double);
    return "";
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

// The library's own settings as its tools interface tells them.
std::map<std::string, std::string> settings_named(const std::vector<std::string>& words) {
    std::map<std::string, std::string> found;
    int provided = 0;
    int count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return found;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> name{};
        int name_length = name.size();
        int description_length = 0;
        int verbosity = 0;
        int binding = 0;
        int scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum values = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, name.data(), &name_length, &verbosity, &type, &values, nullptr,
                                &description_length, &binding, &scope) != MPI_SUCCESS)
            continue;
        const std::string known(name.data());
        const auto named = [&](const std::string& word) { return known.find(word) != std::string::npos; };
        if (binding != MPI_T_BIND_NO_OBJECT || std::ranges::none_of(words, named)) continue;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        int elements = 0;
        if (MPI_T_cvar_handle_alloc(i, nullptr, &handle, &elements) != MPI_SUCCESS) continue;
        found[known] = variable_value(handle, type, elements);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return found;
}

}  // namespace

Session::Session(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    control_ = std::make_unique<Control>(MPI_COMM_WORLD);
    places_ = std::make_shared<const std::vector<Place>>(exchange_places());
}

Session::~Session() {
    shmem::finish();
    // Some libraries end MPI with OpenSHMEM.
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Finalize();
}

nlohmann::json Session::facts(const std::vector<std::string>& settings) const {
    nlohmann::json facts{{"library", library()}, {"standard", standard()}, {"places", *places_}};
    if (!settings.empty()) facts["settings"] = settings_named(settings);
    return facts;
}

void Session::abandon() {
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace leadline
