#include "comm/mpi/prepared.hpp"

#include <array>

namespace leadline {
namespace {

void refuse_algorithm(const Call& call) {
    if (!call.algorithm.empty())
        throw Unsupported("a library cannot be told by the call to take algorithm '" +
                          std::string(call.algorithm) + "'");
}

// Persistent collectives of MPICH that end in wrong data or in an error from the second start on. Fixed by
// its pull requests 7081 (gather), after issue 6423 (allgather) and by 7550 (what scatters along a binomial
// tree, as a long broadcast among many ranks does too).
void refuse_faulty([[maybe_unused]] const Call& call, [[maybe_unused]] bool by_layout,
                   [[maybe_unused]] Form form, [[maybe_unused]] MPI_Comm comm) {
#ifdef MPICH_NUMVERSION
    if (form != Form::persistent) return;
    const char* name = nullptr;
    int ranks = 0;
    check(MPI_Comm_size(comm, &ranks));
    const bool plain = !by_layout;
    if (call.what == Collective::gather && plain && MPICH_NUMVERSION < 40300300) name = "gather";
    if (call.what == Collective::allgather && plain && MPICH_NUMVERSION < 40200300) name = "allgather";
    if (MPICH_NUMVERSION < 50000000) {
        if (call.what == Collective::scatter && plain) name = "scatter";
        if (call.what == Collective::bcast && ranks >= 8 && call.in.size() >= 12288) name = "long bcast";
    }
    if (name)
        throw Unsupported(std::string("the persistent ") + name + " of MPICH " + MPICH_VERSION + " fails");
#endif
}

void refuse_shape(const Call& call) {
    if (call.shape.run > 0 && call.what != Collective::gather && call.what != Collective::scatter)
        throw Unsupported("only a gather or scatter with a layout takes blocks of a shape");
}

void refuse_gaps(bool gaps) {
    if (gaps)
        throw Unsupported("MPI's reduce_scatter wants blocks of whole elements that follow one another");
}

[[maybe_unused]] std::size_t bytes_of(std::int64_t elements, const Call& call) {
    const bool typed = call.what == Collective::reduce || call.what == Collective::allreduce ||
                       call.what == Collective::scan || call.what == Collective::reduce_scatter;
    return static_cast<std::size_t>(elements) * (typed ? size_of(call.type) : 1);
}

}  // namespace

void do_at_once(const Call& call, MPI_Comm comm) {
    refuse_algorithm(call);
    const Sized sized = size_up(call, comm);
    refuse_gaps(sized.gaps);
    if (fits(static_cast<std::size_t>(sized.elements))) [[likely]] {
        check(say_at_once(MpiArguments<int, int>(call, comm, sized.by_layout).arguments()));
    } else {
#if MPI_VERSION >= 4
        const MpiArguments<MPI_Count, MPI_Aint> bound(call, comm, sized.by_layout);
        check(say_as<LargeArguments>(Form::blocking)(&bound.arguments(), nullptr));
#else
        refuse_count(bytes_of(sized.elements, call));
#endif
    }
}

template <class Count, class Offset>
void Prepared::bind(const Call& call, MPI_Comm comm, bool by_layout) {
    auto bound = std::make_shared<MpiArguments<Count, Offset>>(call, comm, by_layout);
    arguments_ = &bound->arguments();
    bound_ = std::move(bound);
    say_ = say_as<Arguments<Count, Offset>>(form_);
    if (form_ == Form::persistent) check(say_(arguments_, &request_));
}

Prepared::Prepared(const Call& call, Form form, MPI_Comm comm) : form_(form) {
    refuse_algorithm(call);
    refuse_shape(call);
    const Sized mine = size_up(call, comm);
    const std::array<std::int64_t, 3> own{mine.elements, mine.by_layout, mine.gaps};
    std::array<std::int64_t, 3> most = own;
    // What is begun at once waits for no other rank; a program may begin it before a message that others
    // need.
    if (form != Form::nonblocking)
        check(MPI_Allreduce(own.data(), most.data(), 3, MPI_INT64_T, MPI_MAX, comm));
    const bool by_layout = most[1] != 0;
    refuse_gaps(most[2] != 0);
    refuse_faulty(call, by_layout, form, comm);
    if (fits(static_cast<std::size_t>(most[0]))) bind<int, int>(call, comm, by_layout);
#if MPI_VERSION >= 4
    else bind<MPI_Count, MPI_Aint>(call, comm, by_layout);
#else
    else refuse_count(bytes_of(most[0], call));
#endif
}

Exchange::Exchange(std::span<const PersistentMessage> sends, std::span<const PersistentMessage> receives,
                   MPI_Comm comm) {
    requests_.reserve(sends.size() + receives.size());
    for (const PersistentMessage& each : receives) {
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        if (fits(each.data.size()))
            check(MPI_Recv_init(each.data.data(), static_cast<int>(each.data.size()), MPI_BYTE, each.peer,
                                each.tag, comm, &request));
        else
            LEADLINE_LARGE(MPI_Recv_init, each.data.size(), each.data.data(),
                           static_cast<MPI_Count>(each.data.size()), MPI_BYTE, each.peer, each.tag, comm,
                           &request);
    }
    for (const PersistentMessage& each : sends) {
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        if (fits(each.data.size()))
            check(MPI_Send_init(each.data.data(), static_cast<int>(each.data.size()), MPI_BYTE, each.peer,
                                each.tag, comm, &request));
        else
            LEADLINE_LARGE(MPI_Send_init, each.data.size(), each.data.data(),
                           static_cast<MPI_Count>(each.data.size()), MPI_BYTE, each.peer, each.tag, comm,
                           &request);
    }
}

}  // namespace leadline
