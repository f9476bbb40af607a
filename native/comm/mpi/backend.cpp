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
    const std::size_t size = std::max<std::size_t>(bytes, 64);
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
    memory_ = {base, size};
    std::ranges::fill(memory_, std::byte{});
    if (!shmem_) {
        check(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN));
        check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_));
    }
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

void Control::broadcast(std::string& text) {
    auto length = static_cast<int>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT, 0, handle_));
    text.resize(static_cast<std::size_t>(length));
    check(MPI_Bcast(text.data(), length, MPI_CHAR, 0, handle_));
}

std::vector<std::string> Control::gather(const std::string& mine) {
    const auto length = static_cast<int>(mine.size());
    const auto ranks = static_cast<std::size_t>(size_);
    std::vector<int> lengths(ranks);
    std::vector<int> starts(ranks);
    check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, handle_));
    int total = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        starts[i] = total;
        total += lengths[i];
    }
    std::string all(static_cast<std::size_t>(total), ' ');
    check(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                      handle_));
    std::vector<std::string> each;
    if (rank_ == 0)
        for (std::size_t i = 0; i < ranks; ++i)
            each.push_back(
                all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return each;
}

namespace {

std::vector<Place> exchange_places(Control& control) {
    const auto each = control.gather(nlohmann::json(my_place()).dump());
    auto all = nlohmann::json::array();
    for (const auto& one : each) all.push_back(nlohmann::json::parse(one));
    std::string text = all.dump();
    control.broadcast(text);
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

}  // namespace

Session::Session(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    control_ = std::make_unique<Control>(MPI_COMM_WORLD);
    places_ = std::make_shared<const std::vector<Place>>(exchange_places(*control_));
}

Session::~Session() {
    shmem::finish();
    // Some libraries end MPI with OpenSHMEM.
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Finalize();
}

std::string Session::library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check(MPI_Get_library_version(text.data(), &length));
    const std::string all(text.data());
    return all.substr(0, all.find('\n'));
}

std::string Session::standard() {
    int version = 0;
    int subversion = 0;
    check(MPI_Get_version(&version, &subversion));
    return std::to_string(version) + "." + std::to_string(subversion);
}

std::map<std::string, std::string> Session::settings(const std::vector<std::string>& words) {
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

void Session::abandon() {
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace leadline
