// Collectives that compute, of every type by every reduction, beside serial arithmetic.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "words.hpp"

namespace leadline::words {
namespace {

template <class Number>
constexpr Type type_of() {
    if constexpr (std::is_same_v<Number, std::int32_t>) return Type::int32;
    else if constexpr (std::is_same_v<Number, std::int64_t>) return Type::int64;
    else if constexpr (std::is_same_v<Number, float>) return Type::float32;
    else return Type::float64;
}

template <class Number>
Number combined(Reduce reduce, Number a, Number b) {
    switch (reduce) {
        case Reduce::product: return a * b;
        case Reduce::smallest: return std::min(a, b);
        case Reduce::sum:
        case Reduce::user: break;
    }
    return a + b;
}

template <class Number>
std::vector<std::byte> as_bytes(const std::vector<Number>& numbers) {
    std::vector<std::byte> bytes(numbers.size() * sizeof(Number));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

template <class Number>
class Reductions {
public:
    Reductions(Comm& comm, Reduce reduce, std::size_t elements, Report& report)
        : comm_(comm), reduce_(reduce), elements_(elements), report_(report) {}

    void all() {
        for (const int root : {0, comm_.size() - 1}) {
            const bool mine = comm_.rank() == root;
            check("reduce", {.what = Collective::reduce, .root = root}, operand(comm_.rank(), elements_),
                  mine ? upto(comm_.size(), elements_) : std::vector<Number>());
        }
        check("allreduce", {.what = Collective::allreduce}, operand(comm_.rank(), elements_),
              upto(comm_.size(), elements_));
        check("scan", {.what = Collective::scan}, operand(comm_.rank(), elements_),
              upto(comm_.rank() + 1, elements_));
        scatter(false);
        scatter(true);
        std::vector<Number> in = operand(comm_.rank(), elements_);
        std::vector<Number> out(elements_);
        (void)comm_.allreduce(bytes_of(in), bytes_of(out), type_of<Number>(), reduce_);
        report_.expect(out == upto(comm_.size(), elements_), "the word allreduce");
    }

private:
    // Small whole numbers: every order of combining them is exact in every type.
    static std::vector<Number> operand(int rank, std::size_t count) {
        std::vector<Number> numbers(count);
        for (std::size_t i = 0; i < count; ++i)
            numbers[i] = static_cast<Number>(1 + (static_cast<std::size_t>(rank) * 7 + i * 3) % 5);
        return numbers;
    }
    // Of the ranks below `ranks`.
    [[nodiscard]] std::vector<Number> upto(int ranks, std::size_t count) const {
        std::vector<Number> result = operand(0, count);
        for (int rank = 1; rank < ranks; ++rank) {
            const std::vector<Number> more = operand(rank, count);
            for (std::size_t i = 0; i < count; ++i) result[i] = combined(reduce_, result[i], more[i]);
        }
        return result;
    }

    void scatter(bool varying) {
        std::vector<Part> parts;
        std::size_t next = 0;
        std::size_t at = 0;
        std::size_t count = 0;
        for (int rank = 0; rank < comm_.size(); ++rank) {
            const std::size_t block =
                varying ? elements_ * static_cast<std::size_t>((3 * rank + 1) % 4) : elements_;
            if (rank == comm_.rank()) {
                at = next;
                count = block;
            }
            parts.push_back({rank, static_cast<std::int64_t>(block * sizeof(Number)),
                             static_cast<std::int64_t>(next * sizeof(Number))});
            next += block;
        }
        const std::vector<Number> whole = upto(comm_.size(), next);
        const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(at);
        check(varying ? "reduce_scatter of varying blocks" : "reduce_scatter",
              {.what = Collective::reduce_scatter, .takes = varying ? Layout(parts) : Layout()},
              operand(comm_.rank(), next),
              std::vector<Number>(begin, begin + static_cast<std::ptrdiff_t>(count)));
    }

    void check(const std::string& name, Call call, std::vector<Number> out,
               const std::vector<Number>& after) {
        std::vector<Number> in(after.size(), Number{77});
        const std::vector<std::byte> before = as_bytes(in);
        call.out = bytes_of(out);
        call.in = bytes_of(in);
        call.type = type_of<Number>();
        call.reduce = reduce_;
        check_collective(comm_,
                         {name + " of " + std::to_string(elements_) + " elements of type " +
                              std::to_string(static_cast<int>(call.type)) + " by reduction " +
                              std::to_string(static_cast<int>(reduce_)) + " at " + std::to_string(call.root),
                          call, before, as_bytes(after)},
                         report_);
    }

    Comm& comm_;
    Reduce reduce_;
    std::size_t elements_;
    Report& report_;
};

template <class Number>
void check_type(Comm& comm, Report& report) {
    for (const Reduce reduce : {Reduce::sum, Reduce::product, Reduce::smallest, Reduce::user})
        for (const std::size_t elements : {5, 3000}) Reductions<Number>(comm, reduce, elements, report).all();
}

}  // namespace

void check_reductions(Comm& comm, Report& report) {
    check_type<std::int32_t>(comm, report);
    check_type<std::int64_t>(comm, report);
    check_type<float>(comm, report);
    check_type<double>(comm, report);
}

}  // namespace leadline::words
