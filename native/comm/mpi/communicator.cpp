#include "comm/mpi/communicator.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace leadline {

std::vector<NodePlace> node_places(const std::vector<Place>& places) {
    std::map<std::string, int> nodes;
    std::vector<int> cores;
    std::vector<NodePlace> placements;
    for (const Place& place : places) {
        const auto [at, first] = nodes.emplace(place.host, static_cast<int>(nodes.size()));
        if (first) cores.push_back(0);
        placements.push_back({at->second, cores[static_cast<std::size_t>(at->second)]++});
    }
    return placements;
}

std::size_t Comm::in_world(int rank) const {
    MPI_Group mine = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    int there = 0;
    check(MPI_Comm_group(handle_, &mine));
    check(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check(MPI_Group_translate_ranks(mine, 1, &rank, world, &there));
    check(MPI_Group_free(&mine));
    check(MPI_Group_free(&world));
    return static_cast<std::size_t>(there);
}

int Comm::distance(int a, int b) const {
    return leadline::distance(ranks_->places.at(in_world(a)), ranks_->places.at(in_world(b)));
}

Ready<Comm> Comm::cart(std::span<const int> dimensions, bool periodic) {
    const std::vector<int> wraps(dimensions.size(), periodic ? 1 : 0);
    MPI_Comm grid = MPI_COMM_NULL;
    check(MPI_Cart_create(handle_, static_cast<int>(dimensions.size()), dimensions.data(), wraps.data(), 0,
                          &grid));
    if (grid == MPI_COMM_NULL) throw Unsupported("the grid is smaller than the communicator");
    return {Comm(grid, ranks_)};
}

Neighbours Comm::shift(int dimension, int by) const {
    Neighbours found;
    check(MPI_Cart_shift(handle_, dimension, by, &found.down, &found.up));
    if (found.down == MPI_PROC_NULL) found.down = Neighbours::nobody;
    if (found.up == MPI_PROC_NULL) found.up = Neighbours::nobody;
    return found;
}

void Comm::large_send(Bytes data, [[maybe_unused]] int to, [[maybe_unused]] int tag) {
    LEADLINE_LARGE(MPI_Send, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, to, tag,
                   handle_);
}

void Comm::large_recv(Bytes data, [[maybe_unused]] int from, [[maybe_unused]] int tag,
                      [[maybe_unused]] MPI_Status* status) {
    LEADLINE_LARGE(MPI_Recv, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, from,
                   tag, handle_, status);
}

void Comm::large_sendrecv(Bytes out, [[maybe_unused]] int to, Bytes in, [[maybe_unused]] int from,
                          [[maybe_unused]] int tag) {
    LEADLINE_LARGE(MPI_Sendrecv, std::max(out.size(), in.size()), out.data(),
                   static_cast<MPI_Count>(out.size()), MPI_BYTE, to, tag, in.data(),
                   static_cast<MPI_Count>(in.size()), MPI_BYTE, from, tag, handle_, MPI_STATUS_IGNORE);
}

void Comm::large_isend(Bytes data, [[maybe_unused]] int to, [[maybe_unused]] int tag,
                       [[maybe_unused]] Request& request) {
    LEADLINE_LARGE(MPI_Isend, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, to,
                   tag, handle_, &request);
}

void Comm::large_irecv(Bytes data, [[maybe_unused]] int from, [[maybe_unused]] int tag,
                       [[maybe_unused]] Request& request) {
    LEADLINE_LARGE(MPI_Irecv, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, from,
                   tag, handle_, &request);
}

}  // namespace leadline
