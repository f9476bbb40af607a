// The flow tier's rates: which streams share, who shares exactly, and the pool of those that are too many.
//
// A resource of the pool is one that was oversubscribed when the pool was last closed: all its streams are
// members, and whoever comes to it becomes one. Streams that are no members keep clear of it, so the two
// kinds are solved apart.
#include <algorithm>
#include <cmath>

#include "machine/networks/flow_network.hpp"

namespace leadline::machine {
namespace {

// Solutions of a new pool, until what transit takes has come to rest.
constexpr int first_time = 6;
// Streams between which the quantum is Options::tolerance. It grows with the root of their number, so that a
// run of many ends in seconds, up to the coarsest; few cost little, and have it finer.
constexpr double small = 2304;
// Up to there the shares are given out in finer rounds, too.
constexpr std::int32_t fine = 8192;
constexpr ApproximateMaxMin::Effort finer{.rounds = 30, .slack = 0.05F};
constexpr double coarsest = 0.1;

// When a message of `left` bytes at `since` ends; `whole` where nothing of it is gone.
Time end(double left, double rate, Time since, bool whole) {
    if (rate <= 0) return never;
    // A part of a picosecond that sums of rates left over is no picosecond.
    const double takes = left * (1e12 / rate) - (whole ? 0 : 1e-3);
    if (takes > static_cast<double>(longest)) return longest + 1;  // which no clock reaches
    return since + static_cast<Time>(std::ceil(std::max(0.0, takes)));
}

}  // namespace

// Enters when the first message ends if nothing changes. A pool's streams that end after it is solved again
// need no entry yet.
void FlowNetwork::schedule(StreamId id) {
    Stream& stream = at(id);
    ++stream.epoch;
    stream.due = end(stream.left, stream.rate, stream.since, stream.fresh);
    if (entered(stream)) agenda_.push(stream.due, {id, stream.epoch});
}

bool FlowNetwork::entered(const Stream& stream) const {
    return stream.due != never && (!stream.pooled || stream.due <= pool_due_);
}

// Throws away the entries of earlier rates.
void FlowNetwork::tidy() {
    EventQueue<Event> agenda;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (streams_[i].state != State::free && entered(streams_[i]))
            agenda.push(streams_[i].due, {static_cast<StreamId>(i), streams_[i].epoch});
    agenda_ = std::move(agenda);
}

// Whether the end of the first message moves.
bool FlowNetwork::set_rate(StreamId id, double rate) {
    Stream& stream = at(id);
    if (rate == stream.rate) return stream.due == never;
    if (now_ > stream.since) {
        if (stream.rate > 0) {
            stream.left = std::max(0.0, stream.left - stream.rate * seconds(now_ - stream.since));
            stream.fresh = false;
        }
        stream.since = now_;
    }
    stream.rate = rate;
    return true;
}

void FlowNetwork::solve() {
    ++walk_;
    seeds_.clear();
    seeds_.swap(dirty_);
    for (const std::int32_t r : emptier_) {
        if (loads_[r].pooled) continue;
        for (std::int32_t u = loads_[r].head; u >= 0; u = loads_.use(u).next)
            seeds_.push_back(loads_.use(u).stream());
    }
    emptier_.clear();
    for (const StreamId id : seeds_) solve_around(id);
    if (pool_.alive() > 0 && now_ >= pool_due_) solve_pool();
}

void FlowNetwork::solve_around(StreamId seed) {
    const Stream& stream = at(seed);
    if (stream.state != State::flowing || stream.pooled || stream.seen == walk_) return;
    if (alone(stream)) {
        if (set_rate(seed, stream.most)) schedule(seed);
        return;
    }
    if (gather(seed)) share();
    else
        for (const StreamId member : component_) put_into_pool(member);
}

// Whether nothing holds a stream back, as is the rule where there is no congestion.
bool FlowNetwork::alone(const Stream& stream) {
    for (std::int32_t i = 0; i < stream.length; ++i)
        if (const Resource& on = loads_[loads_.use(stream.uses + i).resource()];
            on.pooled || on.oversubscribed())
            return false;
    return true;
}

// Gathers the component of a stream into component_; `false` where it is too large or meets the pool.
bool FlowNetwork::gather(StreamId seed) {
    component_.clear();
    component_.push_back(seed);
    at(seed).seen = walk_;
    met_pool_ = false;
    for (std::size_t done = 0; done < component_.size();) {
        const Stream& stream = at(component_[done++]);
        for (std::int32_t i = 0; i < stream.length; ++i) {
            Resource& on = loads_[loads_.use(stream.uses + i).resource()];
            if (on.pooled) met_pool_ = true;
            else if (on.seen != walk_ && on.oversubscribed()) meet(on);
            if (component_.size() <= exact()) continue;
            open_pool_ = true;
            return false;
        }
    }
    return !met_pool_;
}

// Who is on a resource belongs to the component.
void FlowNetwork::meet(Resource& on) {
    on.seen = walk_;
    on.number = -1;
    for (std::int32_t u = on.head; u >= 0; u = loads_.use(u).next) {
        Stream& other = at(loads_.use(u).stream());
        if (other.pooled) met_pool_ = true;
        if (other.pooled || other.seen == walk_) continue;
        other.seen = walk_;
        component_.push_back(loads_.use(u).stream());
    }
}

// New rates of a whole component, whose oversubscribed resources the walk has seen.
void FlowNetwork::share() {
    fluid_.clear();
    for (const StreamId id : component_) {
        const Stream& stream = at(id);
        fluid_.add_flow(stream.most);
        for (std::int32_t i = 0; i < stream.length; ++i) {
            const Use& use = loads_.use(stream.uses + i);
            Resource& on = loads_[use.resource()];
            if (!on.oversubscribed()) continue;
            if (on.number < 0) on.number = fluid_.add_resource(on.capacity);
            fluid_.add_use(on.number, use.yields(), use.times);
        }
    }
    // More rounds where they cost nothing.
    if (component_.size() > 64) fluid_.recall({.straight = 6, .rounds = 18});
    else fluid_.recall({});
    for (std::size_t i = 0; i < component_.size(); ++i)
        if (set_rate(component_[i], fluid_.rate(static_cast<std::int32_t>(i)))) schedule(component_[i]);
}

void FlowNetwork::put_into_pool(StreamId id) {
    Stream& stream = at(id);
    if (stream.pooled) return;
    if (pool_.alive() == 0) {
        pool_.reset(static_cast<std::int32_t>(loads_.size()));
        pool_quantum_ = now_;
        warm_pool_ = false;
    }
    // Whoever comes has what nobody else has until the quantum's end, and does not wait for whoever ends
    // first.
    pool_due_ = std::max(now_, pool_quantum_);
    stream.pooled = true;
    stream.member = pool_.add(id, stream.most);
    for (std::int32_t i = 0; i < stream.length; ++i) {
        const Use& use = loads_.use(stream.uses + i);
        Resource& on = loads_[use.resource()];
        for (unsigned time = 0; time < use.times; ++time)
            pool_.add_use(use.resource(), on.capacity, use.yields());
        if (on.oversubscribed()) on.pooled = 1;
    }
    if (stream.rate == 0 && set_rate(id, spare(stream))) schedule(id);
}

// What nobody has on the way of a stream; nothing where it would take long to find.
double FlowNetwork::spare(const Stream& stream) {
    double rate = stream.most;
    for (std::int32_t i = 0; i < stream.length && rate > 0; ++i) {
        const Resource& on = loads_[loads_.use(stream.uses + i).resource()];
        if (!on.oversubscribed()) continue;
        if (on.count > 64) return 0;
        double left = on.capacity * (1 - 1e-9);
        unsigned own = 0;
        for (std::int32_t u = on.head; u >= 0; u = loads_.use(u).next) {
            const Use& use = loads_.use(u);
            const Stream& other = at(use.stream());
            if (&other == &stream) own += use.times;
            left -= other.rate * use.times;
        }
        rate = std::min(rate, left / own);
    }
    return std::max(rate, 0.0);
}

// Puts those into the pool that share with it. In the order of memory, time after time until nothing is new,
// since to follow the rows of a million uses costs a cache miss each.
void FlowNetwork::close_pool() {
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            Stream& stream = streams_[i];
            if (stream.pooled || stream.state != State::flowing) continue;
            for (std::int32_t use = 0; use < stream.length && !stream.pooled; ++use)
                if (loads_[loads_.use(stream.uses + use).resource()].pooled)
                    put_into_pool(static_cast<StreamId>(i));
            grown = grown || stream.pooled;
        }
    }
    open_pool_ = false;
}

// The pool's new rates; what has become small leaves.
void FlowNetwork::solve_pool() {
    if (open_pool_) close_pool();
    if (static_cast<std::size_t>(pool_.alive()) <= exact()) {
        dissolve_pool();
        return;
    }
    pool_.tidy();
    for (int i = warm_pool_ ? 1 : first_time; i > 0; --i)
        pool_.solve(pool_.alive() <= fine ? finer : ApproximateMaxMin::Effort{});
    warm_pool_ = true;
    double left = 0;
    double rate = 0;
    Time first = never;
    for (ApproximateMaxMin::Member m = 0; m < pool_.members(); ++m) {
        const StreamId id = pool_.owner(m);
        if (id < 0) continue;
        set_rate(id, pool_.rate(m));
        Stream& stream = at(id);
        stream.member = m;
        stream.due = end(stream.left, stream.rate, stream.since, stream.fresh);
        left += stream.left;
        rate += stream.rate;
        first = std::min(first, stream.due);
    }
    const auto alive = static_cast<double>(pool_.alive());
    const double part =
        options_.tolerance * std::max(std::min(1.0, std::sqrt(alive / small)), std::sqrt(alive / fine));
    pool_quantum_ = now_ + from_seconds(std::min(part, coarsest) * left / rate);
    pool_due_ = std::max(first, pool_quantum_);
    for (ApproximateMaxMin::Member m = 0; m < pool_.members(); ++m)
        if (pool_.owner(m) >= 0) schedule(pool_.owner(m));
}

// Its streams share exactly from now on.
void FlowNetwork::dissolve_pool() {
    for (const std::int32_t r : pool_.touched()) loads_[r].pooled = 0;
    seeds_.clear();
    for (ApproximateMaxMin::Member m = 0; m < pool_.members(); ++m) {
        const StreamId id = pool_.owner(m);
        if (id < 0) continue;
        at(id).pooled = false;
        at(id).due = never;
        seeds_.push_back(id);
    }
    pool_.reset(0);
    ++walk_;
    for (const StreamId id : seeds_) solve_around(id);
}

}  // namespace leadline::machine
