// How a benchmark says what it is: the ranks it needs, the points it can be asked at, what it measures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/task.hpp"

namespace leadline {

class Run;

// SI units of samples.
enum class Unit { second, bytes_per_second, per_second, one };
enum class Better { lower, higher };

// How the values of the ranks become one sample. Ranks that gave no value do not count.
enum class Over { root, largest, smallest, mean, sum };

// A sweep's value at one point: a number (bytes, counts) or a word.
using Value = std::variant<std::int64_t, std::string>;
// The values of a point, by their sweeps.
using Point = std::map<std::string, Value, std::less<>>;

struct Ranks {
    int least;
    int most;  // 0: as many as there are
};
constexpr Ranks ranks(int exactly) { return {exactly, exactly}; }
constexpr Ranks at_least(int least) { return {least, 0}; }

enum class Kind { bytes, count, choice };

// What the default values of a sweep may depend on.
struct Scale {
    int ranks = 2;
    int per_node = 2;  // of them on rank 0's node
    int hops = 0;      // to the farthest node; 0 where a machine has no hops to tell
};

// A coordinate of the points.
struct Sweep {
    std::string name;
    Kind kind;
    std::function<std::vector<Value>(const Scale& scale)> values;
    std::string help;
    std::function<std::vector<std::string>()> allowed{};  // the only words there are; null: any may stand
    std::string pattern{};  // what such words look like, a regular expression; empty: they are not told
};

struct Metric {
    std::string name;
    Unit unit;
    Better better;
    Over over;
    std::string description;
    bool difference = false;  // of two measured times: one sample may fall below zero
};

// How samples are taken, where a benchmark's question needs it otherwise than usual.
struct Sampling {
    bool one_operation = false;  // a sample is one operation, however short
    bool whole_time = false;     // sample until the point's time is spent, however tight the answer
    bool overlapping = false;    // ranks leave an operation before all have come: those of a sample overlap
};

// After how many ranks the program of a point is the same, seen from the rank itself; 0: never.
struct Alike {
    std::function<int(const Point& point, int ranks)> period{};
};
// Every rank does the same; one that a point makes a root, or gives a size of its own, is found when it does
// so.
Alike all_alike();
// The same of neighbours in a periodic grid of the ranks, as even as can be, of so many dimensions or of
// those that a sweep tells: all rows, or all layers.
Alike alike_in_grid(int dimensions);
Alike alike_in_grid(const std::string& dimensions);

inline constexpr std::size_t most_metrics = 12;  // of one benchmark

struct Declaration {
    std::string name;
    std::string question;
    Task<> (*body)(Run&);
    Ranks ranks{2, 2};
    std::vector<Sweep> sweeps{};
    std::vector<Metric> metrics{};
    Sampling sampling{};
    Alike alike{};
};

std::vector<std::int64_t> powers(std::int64_t from,
                                 std::int64_t to);  // from, then doubled up to `to`; 0 goes on to 1
std::vector<std::int64_t> counting(std::int64_t from, std::int64_t to);  // from, from + 1, ..., to

Sweep sizes(std::string name, const std::vector<std::int64_t>& values, std::string help);
Sweep counts(std::string name, const std::vector<std::int64_t>& values, std::string help);
// Of closed lists of words all are asked by default, or those that `usual` names.
Sweep choice(std::string name, const std::vector<std::string>& words, std::string help);
Sweep choice(std::string name, const std::vector<std::string>& words, std::string help,
             const std::vector<std::string>& usual);
// The same, of words that are known only once the program runs.
Sweep choice(std::string name, std::function<std::vector<std::string>()> words, std::string help,
             const std::vector<std::string>& usual);

// Where the default values depend on the scale, what gives them comes last.
Sweep counts(std::string name, std::string help,
             std::function<std::vector<std::int64_t>(const Scale& scale)> values);
// `pattern` is what the words look like, in what both C++ and Python take for a regular expression.
Sweep words(std::string name, std::string help,
            std::function<std::vector<std::string>(const Scale& scale)> values, std::string pattern = {});

// The first line of the benchmark's file; empty where no file has that name.
std::string_view question(std::string_view benchmark);

// Enters a benchmark into the registry; called once for each file of native/benchmarks by BENCHMARK.
class Registered {
public:
    template <class... Parts>
    Registered(std::string_view name, Task<> (*body)(Run&), Parts... parts) {
        Declaration made{.name = std::string(name), .question = std::string(question(name)), .body = body};
        (add(made, std::move(parts)), ...);
        enter(std::move(made));
    }

private:
    static void add(Declaration& to, Ranks part) { to.ranks = part; }
    static void add(Declaration& to, Sweep part) { to.sweeps.push_back(std::move(part)); }
    static void add(Declaration& to, Metric part) { to.metrics.push_back(std::move(part)); }
    static void add(Declaration& to, Sampling part) { to.sampling = part; }
    static void add(Declaration& to, Alike part) { to.alike = std::move(part); }
    template <class Part>  // several that benchmarks share
    static void add(Declaration& to, std::vector<Part> parts) {
        for (Part& part : parts) add(to, std::move(part));
    }
    static void enter(Declaration&& made);
};

const std::vector<Declaration>& registry();           // all, by name
const Declaration* find(std::string_view benchmark);  // null when there is none
std::string_view unit_name(Unit unit);

// The registry as data, with the default values at a scale.
nlohmann::json describe(const Scale& scale);

inline namespace literals {
constexpr std::int64_t operator""_KiB(unsigned long long n) { return static_cast<std::int64_t>(n << 10U); }
constexpr std::int64_t operator""_MiB(unsigned long long n) { return static_cast<std::int64_t>(n << 20U); }
}  // namespace literals

}  // namespace leadline
