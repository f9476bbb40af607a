// A collective as MPI's calls want it, and those calls in each of their forms.
#pragma once

#include <vector>

#include "comm/mpi/types.hpp"

namespace leadline {

// The arguments of one call. Which of them it takes is the operation's affair; counts are of elements of
// `type`, in blocks of one rank. `by_layout` is the v-variant.
template <class Count, class Offset>
struct Arguments {
    const void* out = nullptr;
    void* in = nullptr;
    Count gives = 0;
    Count takes = 0;
    const Count* gives_counts = nullptr;
    const Offset* gives_offsets = nullptr;
    const Count* takes_counts = nullptr;
    const Offset* takes_offsets = nullptr;
    MPI_Datatype type = MPI_BYTE;
    MPI_Datatype blocks = MPI_BYTE;  // of the blocks of a gather or scatter at its root
    MPI_Op reduction = MPI_OP_NULL;
    int root = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    Collective what = Collective::barrier;
    bool by_layout = false;
};
using SmallArguments = Arguments<int, int>;
using LargeArguments = Arguments<MPI_Count, MPI_Aint>;

// Says it in a form: does it, begins it, or makes it ready. A code of MPI's; throws Unsupported where this
// MPI lacks the call.
using MpiCall = int (*)(const void* arguments, MPI_Request* request);
template <class Given>
MpiCall say_as(Form form);
int say_at_once(const SmallArguments& arguments);

// What of a call its rank knows by itself.
struct Sized {
    std::int64_t elements = 0;  // the most that a call has to count
    bool by_layout = false;
    bool gaps = false;  // the blocks of a reduce_scatter do not follow one another
};
Sized size_up(const Call& call, MPI_Comm comm);

// The arguments of a call, and the arrays that they refer to.
template <class Count, class Offset>
class MpiArguments {
public:
    MpiArguments(const Call& call, MPI_Comm comm, bool by_layout);
    MpiArguments(const MpiArguments&) = delete;
    MpiArguments& operator=(const MpiArguments&) = delete;
    ~MpiArguments();
    [[nodiscard]] const Arguments<Count, Offset>& arguments() const { return arguments_; }

private:
    struct Dense {
        std::vector<Count> counts;
        std::vector<Offset> offsets;
    };
    static Dense spread(Layout layout, std::size_t peers, std::int64_t unit, bool shaped);

    Arguments<Count, Offset> arguments_;
    Dense gives_;
    Dense takes_;
    MPI_Datatype shaped_ = MPI_DATATYPE_NULL;  // made for this call
};

}  // namespace leadline
