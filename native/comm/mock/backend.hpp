// The smallest legal backend: one rank that plays a script, on a clock that only moves when a word is said.
//
// Nothing is sent. Each operation moves the clock by a cost that the test has set, so a benchmark's
// arithmetic, the batches, the stopping and the records can be checked exactly and at once, without MPI. It
// is also the template for a new backend.
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "comm/places.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

// What each word costs, in seconds: `fixed` a call plus `per_byte` a byte; `jitter` is added to successive
// sends in turn, so that samples can be given a known spread. `rank` is the one that is played.
struct Script {
    int rank = 0;
    int size = 2;
    double fixed = 0;
    double per_byte = 0;
    double posting = 0;  // cost of isend, irecv, put and get; the transfer is paid in wait and flush
    std::vector<double> jitter{};
    bool shmem = true;
    double late = 0;  // for every agreed start, s
    double clock_error = 0;
    bool carries = false;  // pretends that messages bring what was sent
};

class Mock {
public:
    explicit Mock(Script script) : script(std::move(script)) {}
    void pass(double seconds) { now += seconds; }
    void transfer(std::size_t bytes) {
        pass(script.fixed + script.per_byte * static_cast<double>(bytes));
        if (!script.jitter.empty()) pass(script.jitter[turn++ % script.jitter.size()]);
    }

    Script script;
    double now = 0;
    std::size_t turn = 0;
    std::size_t sources = 0;  // ranks that recv_any has named so far, in turn
};

struct MockRequest {
    std::size_t bytes = 0;
    bool open = false;
};

class Window {
public:
    Window(Mock& mock, std::size_t bytes) : mock_(&mock), memory_(std::max<std::size_t>(bytes, 64)) {}
    Bytes local() { return memory_; }
    Bytes reach(int) { return memory_; }
    Ready<> put(Bytes data, int, std::size_t) { return post(data.size()); }
    Ready<> get(Bytes data, int, std::size_t) { return post(data.size()); }
    Ready<> flush(int) {
        for (const std::size_t bytes : posted_) mock_->transfer(bytes);
        posted_.clear();
        return {};
    }
    Ready<> notify(int target) {
        (void)flush(target);
        mock_->pass(mock_->script.posting);
        return {};
    }
    Ready<> notified(std::int64_t) {
        mock_->transfer(8);
        return {};
    }
    Ready<> lock(int, bool) {
        mock_->transfer(8);
        return {};
    }
    Ready<> unlock(int, bool) {
        mock_->pass(mock_->script.posting);
        return {};
    }
    static Ready<> free() { return {}; }

private:
    Ready<> post(std::size_t bytes) {
        mock_->pass(mock_->script.posting);
        posted_.push_back(bytes);
        return {};
    }
    Mock* mock_;
    std::vector<std::byte> memory_;
    std::vector<std::size_t> posted_;
};

// A collective, or a set of messages: the transfers are paid when it ends, or when it begins if it blocks.
class Repeated {
public:
    Repeated(Mock& mock, std::vector<std::size_t> transfers, bool blocks)
        : mock_(&mock), transfers_(std::move(transfers)), blocks_(blocks) {}
    Ready<> begin() {
        if (blocks_) pay();
        else mock_->pass(mock_->script.posting);
        open_ = !blocks_;
        return {};
    }
    Ready<bool> test() {
        (void)end();
        return {true};
    }
    Ready<> end() {
        if (std::exchange(open_, false)) pay();
        return {};
    }
    static Ready<> free() { return {}; }

private:
    void pay() {
        for (const std::size_t bytes : transfers_) mock_->transfer(bytes);
    }
    Mock* mock_;
    std::vector<std::size_t> transfers_;
    bool blocks_;
    bool open_ = false;
};

class Comm {
public:
    using Request = MockRequest;
    using Window = leadline::Window;
    using Prepared = Repeated;
    using Exchange = Repeated;

    explicit Comm(Mock& mock) : mock_(&mock) {}
    [[nodiscard]] int rank() const { return mock_->script.rank; }
    [[nodiscard]] int size() const { return mock_->script.size; }
    [[nodiscard]] static int distance(int a, int b) { return a == b ? 0 : same_group; }

    Ready<> send(Bytes data, int, int = 0) { return done(data.size()); }
    Ready<> recv(Bytes data, int, int = 0) { return done(data.size()); }
    Ready<> sendrecv(Bytes out, int, Bytes in, int, int = 0) { return done(std::max(out.size(), in.size())); }
    Request isend(Bytes data, int, int = 0) { return post(data.size()); }
    Request irecv(Bytes data, int, int = 0) { return post(data.size()); }
    Ready<> wait(Request& request) {
        if (std::exchange(request.open, false)) mock_->transfer(request.bytes);
        return {};
    }
    Ready<int> recv_any(Bytes data, int = 0) {
        mock_->transfer(data.size());
        return {static_cast<int>(1 + mock_->sources++ % static_cast<std::size_t>(std::max(1, size() - 1)))};
    }
    Request irecv_any(Bytes data, int = 0) { return post(data.size()); }
    Ready<bool> test(Request& request) {
        (void)wait(request);
        return {true};
    }
    Ready<> wait_all(std::span<Request> requests) {
        for (auto& request : requests) (void)wait(request);
        return {};
    }
    Ready<int> wait_any(std::span<Request> requests) {
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (requests[i].open) {
                (void)wait(requests[i]);
                return {static_cast<int>(i)};
            }
        return {-1};
    }
    Ready<> combine(Bytes in, Bytes, Type, Reduce) { return done(in.size()); }
    Ready<> copy(Bytes in, Bytes) { return done(in.size()); }
    Ready<> barrier() { return done(0); }
    Ready<> bcast(Bytes data, int) { return done(data.size()); }
    Ready<> allreduce(Bytes in, Bytes, Type, Reduce) { return done(in.size()); }
    Ready<> collective(const Call& call) { return done(moved(call)); }
    Ready<Prepared> prepare(const Call& call, Form form) {
        return {Prepared(*mock_, {moved(call)}, form == Form::blocking)};
    }
    Exchange prepare_exchange(std::span<const PersistentMessage> sends,
                              std::span<const PersistentMessage> receives) {
        std::vector<std::size_t> transfers;
        for (const auto& set : {sends, receives})
            for (const PersistentMessage& each : set) transfers.push_back(each.data.size());
        return {*mock_, std::move(transfers), false};
    }
    [[nodiscard]] static NodePlace placement(int rank) { return {0, rank}; }
    [[nodiscard]] static std::vector<int> axes() { return {}; }
    [[nodiscard]] static std::vector<int> coordinates(int) { return {}; }
    Ready<Comm> cart(std::span<const int>, bool) { return {*this}; }
    [[nodiscard]] Neighbours shift(int, int) const {
        return {(rank() + size() - 1) % size(), (rank() + 1) % size()};
    }
    Ready<Comm> split(int, int) { return {*this}; }
    Ready<Comm> dup() { return {*this}; }
    Ready<Window> window(std::size_t bytes, Exposure exposure) {
        if (exposure == Exposure::shmem && !mock_->script.shmem)
            throw Unsupported("this MPI comes without OpenSHMEM");
        return {Window(*mock_, bytes)};
    }

private:
    static std::size_t moved(const Call& call) { return std::max(call.out.size(), call.in.size()); }
    Ready<> done(std::size_t bytes) {
        mock_->transfer(bytes);
        return {};
    }
    Request post(std::size_t bytes) {
        mock_->pass(mock_->script.posting);
        return {bytes, true};
    }
    Mock* mock_;
};

// Only the played rank speaks; the others are taken to say nothing (not-a-number), as ranks that stand by do.
class Control {
public:
    explicit Control(Mock& mock) : mock_(&mock) {}
    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] static int size() { return 1; }
    [[nodiscard]] double now() const { return mock_->now; }
    static constexpr bool computes = true;
    [[nodiscard]] bool carries() const { return mock_->script.carries; }
    static Ready<Verdict> agree(std::span<const double> mine, const Decide& decide) {
        return {decide({mine.begin(), mine.end()})};
    }
    Ready<> busy(double seconds) {
        mock_->pass(seconds);
        return {};
    }
    static Ready<> turn(bool) { return {}; }
    static double on_shared_core(double seconds) { return seconds; }
    static void walked(double, double) {}
    Ready<> work(std::int64_t steps) {
        mock_->pass(1e-9 * static_cast<double>(steps));
        return {};
    }
    Ready<> charge(Work work) {
        mock_->pass(1e-9 * work.flops + 1e-10 * work.bytes);
        return {};
    }
    Ready<double> align() {
        aligned_ = mock_->now;
        return {mock_->script.late};
    }
    [[nodiscard]] double since_start() const { return mock_->now - aligned_; }
    [[nodiscard]] double clock_error() const { return mock_->script.clock_error; }

private:
    Mock* mock_;
    double aligned_ = 0;
};

class Session {
public:
    Session(int&, char**&) : Session(Script{.fixed = 1e-6, .per_byte = 1e-10}) {}
    explicit Session(Script script) : mock_(std::move(script)), control_(mock_) {}
    Comm world() { return Comm(mock_); }
    Control& control() { return control_; }
    Mock& mock() { return mock_; }
    static void configure(const nlohmann::json&) {}
    static void broadcast(std::string&) {}
    static std::vector<double> gather(const std::vector<double>& mine) { return mine; }
    static std::vector<std::string> gather_texts(const std::string& mine) { return {mine}; }
    static constexpr bool measures = true;
    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] int size() const { return mock_.script.size; }
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>&) const;
    template <class Program>
    void run(Program program, int = 0) {
        program(world(), control_).complete();
    }
    static bool exact() { return false; }
    static bool needs_rerun() { return false; }
    static nlohmann::json answered();
    [[noreturn]] static void abandon() { std::exit(1); }

private:
    Mock mock_;
    Control control_;
    std::vector<Place> places_{my_place()};
};

}  // namespace leadline
