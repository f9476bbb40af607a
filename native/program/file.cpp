#include "program/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "program/header.hpp"

namespace leadline::program {
namespace {

using nlohmann::json;

constexpr int version = 1;
constexpr std::size_t fields = 17;
constexpr std::size_t scalars = 15;
constexpr int deepest = 64;  // loops in each other
constexpr std::int64_t most_executed = std::int64_t{1} << 48U;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw std::runtime_error(path + ": " + what);
}

// CRC-32 as zlib and gzip have it (polynomial 0xEDB88320, reflected).
std::uint32_t crc32(std::string_view data, std::uint32_t before = 0) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = (value & 1U) != 0 ? (value >> 1U) ^ 0xEDB88320U : value >> 1U;
            made.at(i) = value;
        }
        return made;
    }();
    std::uint32_t crc = ~before;
    for (const char each : data)
        crc = table.at((crc ^ static_cast<unsigned char>(each)) & 0xFFU) ^ (crc >> 8U);
    return ~crc;
}

template <class To>
To narrowed(std::int64_t value) {
    if (!std::in_range<To>(value)) throw std::runtime_error("a number is too large");
    return static_cast<To>(value);
}

// Instructions of one sequence.
class Reader {
public:
    explicit Reader(std::string_view data) : data_(data) {}

    Sequence read(bool relative) {
        made_.relative = relative;
        made_.executed = block(0);
        made_.steps.push_back({});
        if (at_ != data_.size()) throw std::runtime_error("something follows the end of a sequence");
        return std::move(made_);
    }

private:
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ == data_.size()) break;
            const auto byte = static_cast<unsigned char>(data_[at_++]);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80U) return value;
        }
        throw std::runtime_error("a number does not end");
    }
    std::int64_t signed_number() {
        const std::uint64_t value = number();
        return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
    }

    // What stands until END; the operations that it executes.
    std::int64_t block(int depth) {
        if (depth > deepest) throw std::runtime_error("more than 64 loops are in each other");
        std::int64_t executed = 0;
        while (true) {
            const auto kind = number();
            if (kind > 255) throw std::runtime_error("no operation has such a number");
            if (kind == 0) return executed;
            if (kind == 1) {
                const std::uint64_t turns = number();
                if (turns > static_cast<std::uint64_t>(most_executed))
                    throw std::runtime_error("a loop has an impossible number of turns");
                const std::size_t begin = made_.steps.size();
                made_.steps.push_back({.kind = Kind::loop, .bytes = static_cast<std::int64_t>(turns)});
                const std::int64_t inside = block(depth + 1);
                made_.steps[begin].leaf = static_cast<std::uint32_t>(made_.steps.size());
                made_.steps.push_back({.kind = Kind::end, .bytes = static_cast<std::int64_t>(begin)});
                std::int64_t all = 0;
                if (__builtin_mul_overflow(inside, static_cast<std::int64_t>(turns), &all) ||
                    all > most_executed - executed)
                    throw std::runtime_error("a sequence is impossibly long");
                executed += all;
                continue;
            }
            made_.steps.push_back(step(static_cast<Kind>(kind)));
            ++executed;
        }
    }

    List list(bool there) {
        List made{.begin = static_cast<std::uint32_t>(made_.lists.size())};
        const std::uint64_t items = there ? number() : 0;
        if (items > data_.size() - at_) throw std::runtime_error("a list is longer than the file");
        for (std::uint64_t i = 0; i < items; ++i) made_.lists.push_back(signed_number());
        made.size = static_cast<std::uint32_t>(items);
        return made;
    }

    Step step(Kind kind) {
        const std::uint64_t mask = number();
        if (mask >> fields != 0) throw std::runtime_error("an operation has unknown fields");
        std::array<std::int64_t, scalars> value{};
        for (std::size_t i = 0; i < scalars; ++i)
            if ((mask >> i & 1U) != 0) value.at(i) = signed_number();
        Step made{.kind = kind,
                  .form = narrowed<std::uint8_t>(value[8]),
                  .mode = narrowed<std::uint8_t>(value[7]),
                  .type = narrowed<std::uint8_t>(value[9]),
                  .reduction = narrowed<std::uint8_t>(value[10]),
                  .free = narrowed<std::uint8_t>(value[11]),
                  .comm = narrowed<std::int32_t>(value[0]),
                  .peer = narrowed<std::int32_t>(value[1]),
                  .tag = narrowed<std::int32_t>(value[3]),
                  .request = narrowed<std::int32_t>(value[4]),
                  .extra = narrowed<std::int32_t>(value[6]),
                  .leaf = made_.leaves++,
                  .bytes = value[2]};
        made.gives = list((mask >> scalars & 1U) != 0);
        made.takes = list((mask >> (scalars + 1) & 1U) != 0);
        note(made, value[13]);
        if (kind == Kind::sendrecv) {
            made.takes = {.begin = static_cast<std::uint32_t>(made_.lists.size()), .size = 3};
            made_.lists.insert(made_.lists.end(), {narrowed<std::int32_t>(value[12]),
                                                   narrowed<std::int32_t>(value[14]), value[13]});
        }
        return made;
    }

    void note(const Step& step, std::int64_t received) {
        constexpr std::int64_t most = std::int64_t{1} << 60U;
        if (step.bytes < 0 || step.bytes > most || received < 0 || received > most)
            throw std::runtime_error("an operation has an impossible size");
        made_.requests = std::max(made_.requests, place_of(step.request));
        if (step.form > persistent) throw std::runtime_error("an operation has an unknown form");
        if (step.kind != Kind::win && step.kind != Kind::file)  // which have no buffers
            made_.largest = std::max({made_.largest, step.bytes, received});
        made_.files = made_.files || step.kind == Kind::file;
        if (step.kind >= Kind::win && step.kind <= Kind::wait_epoch)
            made_.windows = std::max(made_.windows, place_of(step.extra));
        if (step.kind == Kind::wait || step.kind == Kind::start) {
            for (const std::int64_t slot : made_.list(step.gives))
                made_.requests = std::max(made_.requests, place_of(slot));
            return;
        }
        if (step.kind < Kind::barrier || step.kind > Kind::neighbor_alltoall) return;
        for (const auto& parts : {made_.list(step.gives), made_.list(step.takes)}) {
            if (parts.size() % 2 != 0) throw std::runtime_error("a list of blocks has an odd length");
            std::int64_t all = 0;
            for (std::size_t i = 1; i < parts.size(); i += 2) {
                if (parts[i] < 0 || parts[i] > most - all)
                    throw std::runtime_error("a block has an impossible size");
                all += parts[i];
            }
            made_.largest = std::max(made_.largest, all);
        }
    }

    std::string_view data_;
    std::size_t at_ = 0;
    Sequence made_{};
};

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read the program " + path + ": " + std::strerror(errno));
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Head {
    json header;
    std::size_t end = 0;  // of the header, in the file
};

Head head_of(std::string_view data, std::string_view magic, const std::string& path) {
    const std::size_t first = data.find('\n');
    if (first == std::string_view::npos || !data.starts_with(magic))
        refuse(path, "it does not begin with '" + std::string(magic) + "'");
    const std::string_view found = data.substr(magic.size(), first - magic.size());
    if (found != std::to_string(version))
        refuse(path,
               "it is of version " + std::string(found) + ", this reads version " + std::to_string(version));
    const std::size_t second = data.find('\n', first + 1);
    try {
        std::istringstream line(std::string(data.substr(first + 1, second - first - 1)));
        std::size_t length = 0;
        const std::size_t begin = second + 1;
        if (!(line >> length) || second == std::string_view::npos || length >= data.size() - begin)
            throw std::runtime_error("it is cut");
        const std::string_view text = data.substr(begin, length);
        if (std::uint32_t crc = 0; line >> crc && crc != crc32(text))
            throw std::runtime_error("its checksum is wrong");
        return {json::parse(text), begin + length + 1};
    } catch (const std::exception& problem) {
        refuse(path, std::string("its header is cut or damaged (") + problem.what() + ")");
    }
}

std::string_view bytes_of(const std::vector<std::int64_t>& numbers) {
    return {static_cast<const char*>(static_cast<const void*>(numbers.data())),
            numbers.size() * sizeof(std::int64_t)};
}

std::string_view piece(std::string_view body, const json& placed) {
    const auto offset = whole<std::uint64_t>(placed.at(0)), bytes = whole<std::uint64_t>(placed.at(1));
    if (offset > body.size() || bytes > body.size() - offset)
        throw std::runtime_error("a part lies outside of the file");
    return body.substr(offset, bytes);
}

// Time in files is as it was recorded: of each leaf of a table the mean, s.
std::vector<double> inside_of(const json& columns, std::string_view table, std::size_t leaves) {
    std::vector<double> made(leaves);
    std::size_t offset = 0;
    for (const json& column : columns) {
        const std::size_t width = width_of(column.get<std::string>());
        for (std::size_t i = 0; column == "inside_mean" && i < leaves; ++i) {
            float value = 0;
            std::memcpy(&value, table.data() + offset + i * width, sizeof value);
            made[i] = value >= 0 && value < 1e9F ? value : 0;
        }
        offset += leaves * width;
    }
    return made;
}

void check(const Program& made) {
    if (made.ranks < 1 || std::ssize(made.rank_sequence) != made.ranks ||
        std::ssize(made.rank_before) != made.ranks || made.communicators.empty() ||
        std::ssize(made.communicators.front().members) != made.ranks)
        throw std::runtime_error("not every rank has a sequence");
    for (int rank = 0; rank < made.ranks; ++rank)
        if (made.computed(rank).size() < made.of(rank).leaves)
            throw std::runtime_error("a rank's times are those of another sequence");
    for (const Sequence& sequence : made.sequences)
        for (const Step& step : sequence.steps)
            if (step.comm < 0 || step.comm >= std::ssize(made.communicators) || step.request < 0 ||
                (step.kind == Kind::comm && step.extra > std::ssize(made.communicators)) || step.extra < 0)
                throw std::runtime_error("an operation names what is not there");
}

Program parse(const json& header, std::string_view body) {
    Program made;
    made.ranks = whole<int>(header.at("ranks"));
    made.checksum = whole<std::uint32_t>(header.at("crc32"));
    for (const json& each : header.at("sequences"))
        made.sequences.push_back(Reader(piece(body, each)).read(whole<int>(each.at(3)) != 0));
    const bool files = std::ranges::any_of(made.sequences, &Sequence::files);
    const json& columns = header.at("stats_columns");
    std::size_t width = 0;
    for (const json& column : columns) width += width_of(column.get<std::string>());
    if (columns.at(0) != "before_mean")
        throw std::runtime_error("the computation before leaves is not there");
    for (const json& each : header.at("stats")) {
        const std::string_view table = piece(body, each);
        std::vector<double>& before = made.before.emplace_back(table.size() / width);
        if (!before.empty()) std::memcpy(before.data(), table.data(), before.size() * sizeof(double));
        const auto possible = [](double value) { return value >= 0 && value < 1e9; };
        if (!std::ranges::all_of(before, possible))
            throw std::runtime_error("a computation takes an impossible time");
        if (files) made.inside.push_back(inside_of(columns, table, before.size()));
    }
    made.rank_sequence = numbers_of(header.at("rank_sequence"), std::ssize(made.sequences), made.ranks);
    made.rank_before = numbers_of(header.at("rank_stats"), std::ssize(made.before), made.ranks);
    for (const json& each : header.at("communicators"))
        made.communicators.push_back({.members = numbers_of(each.at("members"), made.ranks, made.ranks),
                                      .construction = whole<std::uint8_t>(each.at("construction")),
                                      .inter = each.contains("remote")});
    made.memory = memory_of(header, made.ranks);
    made.recorded = was_recorded(header);
    check(made);
    return made;
}

}  // namespace

Program read(const std::string& path) {
    const std::string data = contents(path);
    const Head head = head_of(data, "leadline-program ", path);
    const std::string_view body = std::string_view(data).substr(std::min(head.end, data.size()));
    Program made;
    try {
        if (body.size() != whole<std::size_t>(head.header.at("body"))) throw std::runtime_error("it is cut");
        if (crc32(body) != whole<std::uint32_t>(head.header.at("crc32")))
            throw std::runtime_error("its checksum is wrong");
        made = parse(head.header, body);
    } catch (const std::exception& problem) {
        refuse(path, std::string("the file is damaged: ") + problem.what());
    }
    const std::string beside = path + ".times";
    if (::access(beside.c_str(), R_OK) == 0) {
        std::vector<std::int64_t> counts;
        counts.reserve(static_cast<std::size_t>(made.ranks));
        for (int rank = 0; rank < made.ranks; ++rank) counts.push_back(made.of(rank).executed);
        made.times = std::make_unique<Times>(beside, made.checksum, counts);
    }
    return made;
}

Times::Times(const std::string& path, std::uint32_t program, const std::vector<std::int64_t>& counts) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat found {};
    if (file < 0 || ::fstat(file, &found) != 0) {
        const std::string why = std::strerror(errno);
        if (file >= 0) ::close(file);
        refuse(path, "it cannot be read: " + why);
    }
    bytes_ = static_cast<std::size_t>(found.st_size);
    data_ = bytes_ > 0 ? ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        refuse(path, "it cannot be mapped into memory");
    }
    try {
        const std::string_view text(static_cast<const char*>(data_), bytes_);
        const Head head = head_of(text, "leadline-times ", path);
        std::size_t at = (head.end + 7) / 8 * 8;
        if (head.header.at("program") != program) refuse(path, "it has the times of another program");
        std::int64_t all = 0;
        for (const std::int64_t count : counts) all += count;
        if (head.header.at("counts") != counts || bytes_ < at ||
            bytes_ - at != static_cast<std::size_t>(all) * 2 * sizeof(std::int64_t))
            refuse(path, "it is cut, or has the times of another program");
        for (const std::int64_t count : counts) {
            const void* start = static_cast<const char*>(data_) + at;
            starts_.push_back(static_cast<const std::int64_t*>(start));
            at += static_cast<std::size_t>(count) * 2 * sizeof(std::int64_t);
        }
    } catch (...) {
        ::munmap(data_, bytes_);
        throw;
    }
}

Times::~Times() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

void write_times(const std::string& path, std::uint32_t program,
                 const std::vector<std::vector<std::int64_t>>& times) {
    std::vector<std::size_t> counts;
    counts.reserve(times.size());
    for (const auto& each : times) counts.push_back(each.size() / 2);
    std::uint32_t crc = 0;
    for (const auto& each : times) crc = crc32(bytes_of(each), crc);
    const std::string header = json{{"program", program}, {"counts", counts}, {"crc32", crc}}.dump();
    std::ostringstream begin;
    begin << "leadline-times " << version << '\n'
          << header.size() << ' ' << crc32(header) << '\n'
          << header << '\n';
    std::string head = begin.str();
    head.resize((head.size() + 7) / 8 * 8, '\0');
    std::ofstream file(path, std::ios::binary);
    file << head;
    for (const auto& each : times)
        file.write(bytes_of(each).data(), static_cast<std::streamsize>(bytes_of(each).size()));
    file.flush();
    if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace leadline::program
