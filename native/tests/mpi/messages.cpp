// Messages and windows around a ring, and what must be refused.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>

#include "words.hpp"

namespace leadline::words {
namespace {

constexpr std::size_t count = 300;

class Ring {
public:
    explicit Ring(Comm& comm)
        : comm(comm),
          next((comm.rank() + 1) % comm.size()),
          last((comm.rank() + comm.size() - 1) % comm.size()) {
        write(comm.rank());
    }
    void write(int from) {
        for (std::size_t i = 0; i < count; ++i) out[i] = from * 1000 + static_cast<std::int32_t>(i);
        in.assign(count, -1);
    }
    // Whether all of the previous rank's message came.
    [[nodiscard]] bool came(int from) const {
        for (std::size_t i = 0; i < count; ++i)
            if (in[i] != from * 1000 + static_cast<std::int32_t>(i)) return false;
        return true;
    }

    Comm& comm;
    int next;
    int last;
    std::vector<std::int32_t> out = std::vector<std::int32_t>(count);
    std::vector<std::int32_t> in = std::vector<std::int32_t>(count);
};

void check_posted(Ring& ring, Report& report) {
    Comm& comm = ring.comm;
    std::array<Comm::Request, 2> both{comm.irecv(bytes_of(ring.in), ring.last, 2),
                                      comm.isend(bytes_of(ring.out), ring.next, 2)};
    (void)comm.wait_all(both);
    report.expect(ring.came(ring.last), "isend, irecv and wait_all");

    ring.write(comm.rank());
    both = {comm.irecv(bytes_of(ring.in), ring.last, 3), comm.isend(bytes_of(ring.out), ring.next, 3)};
    const int first = done(comm.wait_any(both));
    (void)comm.wait(both.at(1 - static_cast<std::size_t>(first)));
    report.expect(ring.came(ring.last), "wait_any and wait");

    ring.write(comm.rank());
    Comm::Request arrives = comm.irecv(bytes_of(ring.in), ring.last, 4);
    Comm::Request leaves = comm.isend(bytes_of(ring.out), ring.next, 4);
    while (!done(comm.test(arrives))) {}
    (void)comm.wait(leaves);
    report.expect(ring.came(ring.last), "test");
}

void check_exchange(Ring& ring, Report& report) {
    const std::array<PersistentMessage, 2> sends{PersistentMessage{bytes_of(ring.out), ring.next, 5},
                                                 PersistentMessage{{}, ring.last, 6}};
    const std::array<PersistentMessage, 2> receives{PersistentMessage{bytes_of(ring.in), ring.last, 5},
                                                    PersistentMessage{{}, ring.next, 6}};
    auto exchange = ring.comm.prepare_exchange(sends, receives);
    for (int turn = 0; turn < 3; ++turn) {
        ring.write(ring.comm.rank() + 10 * turn);
        (void)exchange.begin();
        if (turn == 1)
            while (!done(exchange.test())) {}
        (void)exchange.end();
        report.expect(ring.came(ring.last + 10 * turn), "a prepared exchange");
    }
    (void)exchange.free();
}

void check_fan(Comm& comm, Report& report) {
    if (comm.rank() != 0) {
        std::vector<std::int32_t> mine{comm.rank()};
        (void)comm.send(bytes_of(mine), 0, 7);
        return;
    }
    std::vector<int> from;
    for (int i = 1; i < comm.size(); ++i) {
        std::vector<std::int32_t> said{-1};
        from.push_back(done(comm.recv_any(bytes_of(said), 7)));
        report.expect(said[0] == from.back(), "recv_any names the sender");
    }
    std::ranges::sort(from);
    std::vector<int> all(from.size());
    std::iota(all.begin(), all.end(), 1);
    report.expect(from == all, "recv_any hears each sender once");
}

void check_window(Comm& comm, Exposure exposure, Report& report) {
    const int next = (comm.rank() + 1) % comm.size();
    const int last = (comm.rank() + comm.size() - 1) % comm.size();
    auto window = done(comm.window(16, exposure));
    std::vector<std::int64_t> said{comm.rank() + 100};
    std::vector<std::int64_t> read{-1};
    (void)window.put(bytes_of(said), next, 8);
    (void)window.notify(next);
    (void)window.notified(1);
    std::int64_t came = 0;
    std::memcpy(&came, window.local().data() + 8, sizeof came);
    report.expect(came == last + 100, "a put has come when its notice has");
    (void)window.get(bytes_of(read), next, 8);
    (void)window.flush(next);
    report.expect(read[0] == comm.rank() + 100, "get reads what was put");
    if (exposure == Exposure::shared) {
        const std::int64_t stored = comm.rank() + 200;
        (void)comm.barrier();
        std::memcpy(window.reach(next).data(), &stored, sizeof stored);
        (void)window.notify(next);
        (void)window.notified(2);
        std::memcpy(&came, window.local().data(), sizeof came);
        report.expect(came == last + 200, "what was stored has come when its notice has");
    }
    (void)comm.barrier();  // a rank that asks no more would leave its notices to come
    (void)window.free();
}

// All ranks count in the memory of one, by reads and writes that only its lock keeps apart; those that share
// it only read.
void check_locks(Comm& comm, Report& report) {
    // Where ranks share processors MPICH's accesses wait for the target's turn, some 0.1 s each.
    const int turns = comm.size() > static_cast<int>(std::thread::hardware_concurrency()) ? 1 : 20;
    auto window = done(comm.window(8, Exposure::allocated));
    std::vector<std::int64_t> count{0};
    for (int turn = 0; turn < turns; ++turn) {
        const bool writes = (turn + comm.rank()) % 3 != 0;
        (void)window.lock(0, writes);
        (void)window.get(bytes_of(count), 0, 0);
        (void)window.flush(0);
        if (writes) ++count[0];
        if (writes) (void)window.put(bytes_of(count), 0, 0);
        (void)window.flush(0);
        (void)window.unlock(0, writes);
    }
    (void)comm.barrier();
    (void)window.get(bytes_of(count), 0, 0);
    (void)window.flush(0);
    std::int64_t written = 0;
    for (int rank = 0; rank < comm.size(); ++rank)
        for (int turn = 0; turn < turns; ++turn) written += (turn + rank) % 3 != 0 ? 1 : 0;
    report.expect(count[0] == written, "a lock keeps writers apart");
    (void)comm.barrier();
    (void)window.free();
}

template <class Said>
std::string refusal(Said said) {
    try {
        said();
    } catch (const Unsupported& reason) {
        return reason.what();
    }
    return "";
}

}  // namespace

void check_messages(Comm& comm, Report& report) {
    Ring ring(comm);
    (void)comm.sendrecv(bytes_of(ring.out), ring.next, bytes_of(ring.in), ring.last, 1);
    report.expect(ring.came(ring.last), "sendrecv");
    ring.write(comm.rank());
    check_posted(ring, report);
    check_exchange(ring, report);
    check_fan(comm, report);
    if (comm.size() > 1) {
        ring.write(comm.rank());
        if (comm.rank() == 0) (void)comm.send(bytes_of(ring.out), ring.next, 8);
        if (comm.rank() == 1) (void)comm.recv(bytes_of(ring.in), ring.last, 8);
        report.expect(comm.rank() != 1 || ring.came(0), "send and recv");
    }
    report.expect(comm.axes().empty() && comm.coordinates(0).empty(), "no axes on a real machine");
    report.expect(comm.distance(0, comm.rank()) <= same_node, "ranks of one host are near");
    const NodePlace placement = comm.placement(comm.rank());
    report.expect(placement.node >= 0 && placement.core >= 0, "every rank has a placement");
}

void check_windows(Comm& comm, Report& report) {
    check_window(comm, Exposure::allocated, report);
    check_locks(comm, report);
    for (const Exposure exposure : {Exposure::created, Exposure::shared}) {
        const std::string reason = refusal([&] { check_window(comm, exposure, report); });
        if (!reason.empty()) report.refused(reason);
    }
}

void check_refusals(Comm& comm, Report& report) {
    std::vector<std::byte> some(64);
    const Call forced{.what = Collective::bcast, .in = some, .algorithm = "ring"};
    report.expect(refusal([&] { (void)comm.collective(forced); }).find("'ring'") != std::string::npos,
                  "an algorithm by name is refused at once");
    report.expect(
        refusal([&] { (void)comm.prepare(forced, Form::blocking); }).find("'ring'") != std::string::npos,
        "an algorithm by name is refused when it is prepared");
    report.expect(refusal([&] {
                      (void)comm.prepare({.what = Collective::neighbor_alltoall, .out = some, .in = some},
                                         Form::blocking);
                  }).find("grid") != std::string::npos,
                  "there is no neighbourhood without a grid");
    const std::vector<Part> apart{{comm.size() - 1, 8, 16}};
    report.expect(
        refusal([&] {
            (void)comm.prepare(
                {.what = Collective::reduce_scatter, .out = some, .in = Bytes(some).first(8), .takes = apart},
                Form::nonblocking);
        }).find("follow one another") != std::string::npos,
        "blocks of a reduce_scatter with gaps are refused");
}

void check_large(Comm& self, Report& report) {
    const std::size_t bytes = (std::size_t{1} << 31) + 5;
    const auto message = [&](std::vector<std::byte>& of) {
        of.resize(bytes);
        of.front() = of.back() = std::byte{42};
        return Bytes(of);
    };
    std::vector<std::byte> out;
    std::vector<std::byte> in(bytes);
    const Bytes sent = message(out);
    const auto arrived = [&](const std::string& what) {
        report.expect(in.front() == std::byte{42} && in.back() == std::byte{42}, what + " carries all of it");
        in.front() = in.back() = std::byte{0};
    };
    const std::string no = refusal([&] {
        Comm::Request request = self.irecv(in, 0);
        (void)self.send(sent, 0);
        (void)self.wait(request);
        arrived("a message");
    });
    if (!no.empty()) report.refused(no);
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
        const std::string reason = refusal([&] {
            auto prepared = done(self.prepare({.what = Collective::alltoall, .out = sent, .in = in}, form));
            (void)prepared.begin();
            (void)prepared.end();
            arrived("an alltoall");
            (void)prepared.free();
        });
        report.expect(reason == no, "a collective is refused for its length as a message is: " + reason);
    }
    const std::vector<Part> near{{0, 8, 0}};
    const std::vector<Part> far{{0, 8, static_cast<std::int64_t>(bytes) - 8}};
    const std::string reason = refusal([&] {
        (void)self.collective(
            {.what = Collective::alltoall, .out = sent.last(8), .in = in, .gives = near, .takes = far});
        report.expect(in.back() == std::byte{42}, "a block far away is reached");
    });
    report.expect(reason.empty() == no.empty(), "and so is a block that lies too far: " + reason);
}

}  // namespace leadline::words
