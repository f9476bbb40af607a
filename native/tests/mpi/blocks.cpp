// Collectives that move bytes: every block where it belongs, and nothing else touched.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "words.hpp"

namespace leadline::words {
namespace {

constexpr std::byte untouched{0xEE};

// Byte i of what a rank has for another (or for all).
std::byte byte_of(int from, int to, std::size_t i) {
    return static_cast<std::byte>(
        (static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 17 + i * 7) % 223);
}

void write(std::vector<std::byte>& into, std::size_t at, std::size_t bytes, int from, int to) {
    for (std::size_t i = 0; i < bytes; ++i) into.at(at + i) = byte_of(from, to, i);
}

// How many bytes each peer has in a buffer.
using Length = std::function<std::size_t(int peer)>;

// Blocks of different lengths from the last to the first, with room between them; none of no bytes.
struct Laid {
    std::vector<Part> parts;
    std::size_t bytes = 0;
};
Laid lay_out(int peers, const Length& length) {
    Laid laid;
    laid.bytes = 3;
    for (int peer = peers - 1; peer >= 0; --peer) {
        const std::size_t bytes = length(peer);
        if (bytes == 0) continue;
        laid.parts.push_back({peer, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(laid.bytes)});
        laid.bytes += bytes + 3;
    }
    std::ranges::reverse(laid.parts);
    return laid;
}

// In order and without gaps: what no layout means.
Laid in_order(int peers, std::size_t block) {
    Laid laid;
    for (int peer = 0; peer < peers; ++peer) {
        laid.parts.push_back({peer, static_cast<std::int64_t>(block), static_cast<std::int64_t>(laid.bytes)});
        laid.bytes += block;
    }
    return laid;
}

class Blocks {
public:
    Blocks(Comm& comm, std::size_t bytes, bool varying, Report& report)
        : comm_(comm),
          me_(comm.rank()),
          ranks_(comm.size()),
          bytes_(bytes),
          varying_(varying),
          report_(report) {}

    void bcast(int root) {
        std::vector<std::byte> message(bytes_);
        write(message, 0, bytes_, root, 0);
        const std::vector<std::byte> nothing(bytes_, untouched);
        check("bcast", {.what = Collective::bcast, .root = root}, {}, me_ == root ? message : nothing,
              message);
    }

    void gather(int root) {
        const Laid all = laid([&](int peer) { return length(peer, 0); });
        std::vector<std::byte> mine(length(me_, 0));
        write(mine, 0, mine.size(), me_, 0);
        std::vector<std::byte> in(me_ == root ? all.bytes : 0, untouched);
        std::vector<std::byte> after = in;
        if (me_ == root)
            for (const Part& each : all.parts) put(after, each, each.peer, 0);
        check("gather", {.what = Collective::gather, .root = root, .takes = layout(all)}, mine, in, after);
    }

    void scatter(int root) {
        const Laid all = laid([&](int peer) { return length(peer, 1); });
        std::vector<std::byte> out(me_ == root ? all.bytes : 0, untouched);
        if (me_ == root)
            for (const Part& each : all.parts) put(out, each, root, each.peer);
        const std::vector<std::byte> in(length(me_, 1), untouched);
        std::vector<std::byte> after = in;
        write(after, 0, after.size(), root, me_);
        check("scatter", {.what = Collective::scatter, .root = root, .gives = layout(all)}, out, in, after);
    }

    void allgather() {
        const Laid all = laid([&](int peer) { return length(peer, 2); });
        std::vector<std::byte> mine(length(me_, 2));
        write(mine, 0, mine.size(), me_, 0);
        const std::vector<std::byte> in(all.bytes, untouched);
        std::vector<std::byte> after = in;
        for (const Part& each : all.parts) put(after, each, each.peer, 0);
        check("allgather", {.what = Collective::allgather, .takes = layout(all)}, mine, in, after);
    }

    void alltoall() {
        const Laid gives = laid([&](int peer) { return length(me_, peer); });
        const Laid takes = laid([&](int peer) { return length(peer, me_); });
        std::vector<std::byte> out(gives.bytes, untouched);
        for (const Part& each : gives.parts) put(out, each, me_, each.peer);
        const std::vector<std::byte> in(takes.bytes, untouched);
        std::vector<std::byte> after = in;
        for (const Part& each : takes.parts) put(after, each, each.peer, me_);
        check("alltoall", {.what = Collective::alltoall, .gives = layout(gives), .takes = layout(takes)}, out,
              in, after);
    }

    void barrier() { check("barrier", {}, {}, {}, {}); }

private:
    // What one rank has for another; a fourth of them have nothing where lengths vary.
    [[nodiscard]] std::size_t length(int from, int to) const {
        return varying_ ? bytes_ * static_cast<std::size_t>((from + 2 * to + 1) % 4) : bytes_;
    }
    [[nodiscard]] Laid laid(const Length& each) const {
        return varying_ ? lay_out(ranks_, each) : in_order(ranks_, bytes_);
    }
    [[nodiscard]] Layout layout(const Laid& laid) const { return varying_ ? Layout(laid.parts) : Layout(); }
    static void put(std::vector<std::byte>& into, const Part& part, int from, int to) {
        write(into, static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.bytes), from, to);
    }

    void check(const std::string& name, Call call, std::vector<std::byte> out,
               const std::vector<std::byte>& before, const std::vector<std::byte>& after) {
        std::vector<std::byte> in = before;
        call.out = out;
        call.in = in;
        check_collective(comm_,
                         {name + (varying_ ? " of varying " : " of ") + std::to_string(bytes_) + " B from " +
                              std::to_string(call.root),
                          call, before, after},
                         report_);
    }

    Comm& comm_;
    int me_;
    int ranks_;
    std::size_t bytes_;
    bool varying_;
    Report& report_;
};

}  // namespace

void check_blocks(Comm& comm, Report& report) {
    for (const std::size_t bytes : {37, 20000})
        for (const bool varying : {false, true}) {
            Blocks blocks(comm, bytes, varying, report);
            if (!varying) blocks.barrier();
            for (const int root : {0, comm.size() - 1}) {
                if (!varying) blocks.bcast(root);
                blocks.gather(root);
                blocks.scatter(root);
            }
            blocks.allgather();
            blocks.alltoall();
        }
    std::vector<std::byte> message(5, std::byte{static_cast<unsigned char>(comm.rank() + 1)});
    (void)comm.bcast(message, comm.size() - 1);
    report.expect(message[4] == std::byte{static_cast<unsigned char>(comm.size())}, "the word bcast");
    (void)comm.barrier();
}

}  // namespace leadline::words
