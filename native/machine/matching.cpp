#include "machine/matching.hpp"

namespace leadline::machine {
namespace {

bool fits(const Envelope& a, const Envelope& b) {
    return a.tag == b.tag && a.context == b.context &&
           (a.source == b.source || a.source == any_source || b.source == any_source);
}

Envelope from_any(Envelope envelope) {
    envelope.source = any_source;
    return envelope;
}

}  // namespace

std::size_t MatchQueues::Hash::operator()(const Envelope& key) const {
    std::uint64_t mixed = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32U) |
                          static_cast<std::uint32_t>(key.tag);
    mixed = (mixed ^ (static_cast<std::uint64_t>(key.context) << 17U)) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29U));
}

void MatchQueues::append(int rank, const Envelope& envelope, Id id) {
    if (lines_.empty()) [[unlikely]]
        lines_.resize(ranks_);
    MatchQueue& line = lines_[static_cast<std::size_t>(rank)];
    ++line.count;
    if (line.count == 1) {
        line.envelope = envelope;
        line.id = id;
        ++inside_;
        return;
    }
    const std::uint32_t at = entries_.take();
    entries_[at] = {
        .envelope = envelope, .id = id, .order = order_ += 2, .next = none, .previous = line.tail};
    if (line.tail == none) line.head = at;
    else entries_[line.tail].next = at;
    line.tail = at;
    if (line.index != none) enter(*indices_[line.index], at);
    else if (line.count > long_line && !walk_) make_index(line);
}

// From now on also the one in the record is searched by the index, before all others.
void MatchQueues::make_index(MatchQueue& line) {
    if (free_indices_.empty()) {
        free_indices_.push_back(static_cast<std::uint32_t>(indices_.size()));
        indices_.push_back(std::make_unique<Index>());
    }
    line.index = free_indices_.back();
    free_indices_.pop_back();
    if (line.id != none) {
        const std::uint32_t at = entries_.take();
        entries_[at] = {.envelope = line.envelope,
                        .id = std::exchange(line.id, none),
                        .order = entries_[line.head].order - 1,
                        .next = line.head,
                        .previous = none};
        entries_[line.head].previous = at;
        line.head = at;
        --inside_;
    }
    for (std::uint32_t each = line.head; each != none; each = entries_[each].next)
        enter(*indices_[line.index], each);
}

MatchQueues::Found MatchQueues::take(int rank, const Envelope& envelope) {
    if (lines_.empty()) return {};
    MatchQueue& line = lines_[static_cast<std::size_t>(rank)];
    Found found;
    std::uint32_t at = none;
    if (line.index != none) {
        at = look_up(*indices_[line.index], envelope);
    } else {
        if (line.id != none) {
            if (fits(line.envelope, envelope)) {
                --line.count;
                --inside_;
                found.id = std::exchange(line.id, none);
                return found;
            }
            ++found.passed;
        }
        at = line.head;
        while (at != none && !fits(entries_[at].envelope, envelope)) {
            ++found.passed;
            at = entries_[at].next;
        }
    }
    if (at == none) return found;
    found.id = entries_[at].id;
    unlink(line, at);
    return found;
}

const Envelope* MatchQueues::first(int rank) const {
    if (lines_.empty()) return nullptr;
    const MatchQueue& line = lines_[static_cast<std::size_t>(rank)];
    if (line.id != none) return &line.envelope;
    return line.head == none ? nullptr : &entries_[line.head].envelope;
}

// A message also stands under no source, so that a receive from any finds it.
void MatchQueues::enter(Index& index, std::uint32_t entry) {
    const Mark mark{entry, entries_[entry].order};
    const Envelope& envelope = entries_[entry].envelope;
    index[envelope].push_back(mark);
    if (of_ == Of::messages) index[from_any(envelope)].push_back(mark);
}

std::uint32_t MatchQueues::look_up(Index& index, const Envelope& envelope) {
    // Of one key, the earliest entry that is still there; those taken out by another key are dropped here.
    const auto front = [&](const Envelope& key) -> std::uint32_t {
        const auto place = index.find(key);
        if (place == index.end()) return none;
        auto& marks = place->second;
        while (!marks.empty() && entries_[marks.front().entry].order != marks.front().order)
            marks.pop_front();
        if (!marks.empty()) return marks.front().entry;
        index.erase(place);
        return none;
    };
    const std::uint32_t own = front(envelope);
    if (of_ == Of::messages) return own;
    const std::uint32_t any = front(from_any(envelope));
    if (own == none || any == none) return own == none ? any : own;
    return entries_[own].order < entries_[any].order ? own : any;
}

void MatchQueues::unlink(MatchQueue& line, std::uint32_t entry) {
    Entry& gone = entries_[entry];
    if (gone.previous == none) line.head = gone.next;
    else entries_[gone.previous].next = gone.next;
    if (gone.next == none) line.tail = gone.previous;
    else entries_[gone.next].previous = gone.previous;
    gone.order = 0;
    entries_.give_back(entry);
    if (--line.count == 0 && line.index != none) {
        indices_[line.index]->clear();
        free_indices_.push_back(line.index);
        line.index = none;
    }
}

}  // namespace leadline::machine
