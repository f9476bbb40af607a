// Lines of receives and of messages: a walk and a look-up find the same, in the order of coming.
#include "machine/matching.hpp"

#include <gtest/gtest.h>

#include <random>

namespace leadline::machine {
namespace {

using Of = MatchQueues::Of;

// A receive from any and one from source 3 fit a message of 3; the one that came first takes it.
TEST(MatchQueues, TheEarliestThatFitsIsTaken) {
    for (const bool walk : {true, false}) {
        MatchQueues receives(Of::receives, 1, walk);
        receives.append(0, {.context = 0, .source = 3, .tag = 5}, 10);
        receives.append(0, {.context = 0, .source = any_source, .tag = 5}, 11);
        receives.append(0, {.context = 0, .source = 3, .tag = 5}, 12);
        EXPECT_EQ(receives.take(0, {0, 3, 6}).id, MatchQueues::none);
        EXPECT_EQ(receives.take(0, {1, 3, 5}).id, MatchQueues::none);
        EXPECT_EQ(receives.take(0, {0, 4, 5}).id, 11U);
        EXPECT_EQ(receives.take(0, {0, 3, 5}).id, 10U);
        EXPECT_EQ(receives.take(0, {0, 3, 5}).id, 12U);
        EXPECT_EQ(receives.length(0), 0U);
        EXPECT_EQ(receives.first(0), nullptr);
    }
}

// Whoever charges for it learns how many a search passed by; of those that fit nobody, all.
TEST(MatchQueues, AWalkCountsWhatItPasses) {
    MatchQueues messages(Of::messages, 1, true);
    for (int tag = 0; tag < 100; ++tag) messages.append(0, {0, 1, tag}, static_cast<MatchQueues::Id>(tag));
    EXPECT_EQ(messages.take(0, {0, any_source, 70}).passed, 70);
    EXPECT_EQ(messages.take(0, {0, 1, 71}).passed, 70);
    EXPECT_EQ(messages.take(0, {0, 2, 0}).passed, 98);
}

// The first entry of an empty queue is in the queue itself; what comes behind it is not, and stays behind it.
TEST(MatchQueues, OneEntryAtATimeIsStoredNowhereElse) {
    MatchQueues receives(Of::receives, 2, false);
    for (MatchQueues::Id id = 0; id < 1000; ++id) {
        receives.append(1, {0, 3, 5}, id);
        EXPECT_EQ(receives.entries(), 1U);
        EXPECT_EQ(receives.take(1, {0, 3, 5}).id, id);
    }
    EXPECT_EQ(receives.spilled(), 0U);
    receives.append(1, {0, 3, 5}, 1);
    receives.append(1, {0, 4, 5}, 2);
    EXPECT_EQ(receives.take(1, {0, 3, 5}).id, 1U);
    receives.append(1, {0, 4, 5}, 3);
    EXPECT_EQ(receives.spilled(), 2U);
    EXPECT_EQ(receives.take(1, {0, 4, 5}).id, 2U);
    EXPECT_EQ(receives.take(1, {0, 4, 5}).id, 3U);
    EXPECT_EQ(receives.entries(), 0U);
}

// Random traces over lines that grow long and empty again: entries come and go by few
// envelopes, some from any source.
TEST(MatchQueues, AWalkAndALookUpFindTheSame) {
    for (const Of of : {Of::receives, Of::messages})
        for (const unsigned seed : {1U, 2U, 3U}) {
            std::mt19937 draw(seed);
            MatchQueues walked(of, 3, true);
            MatchQueues hashed(of, 3, false);
            const auto some = [&](int most) {
                return static_cast<int>(draw() % static_cast<unsigned>(most));
            };
            const auto envelope = [&](bool receive) -> Envelope {
                const int source = some(6);
                return {.context = some(2),
                        .source = receive && source == 0 ? any_source : source,
                        .tag = some(3)};
            };
            MatchQueues::Id next = 0;
            for (int step = 0; step < 60'000; ++step) {
                const int rank = some(3);
                // Phases in which lines grow, and others in which they shrink to nothing.
                const bool grows = step / 2000 % 2 == 0;
                if (some(10) < (grows ? 6 : 3)) {
                    const Envelope mine = envelope(of == Of::receives);
                    walked.append(rank, mine, next);
                    hashed.append(rank, mine, next++);
                } else {
                    const Envelope mine = envelope(of == Of::messages);
                    ASSERT_EQ(walked.take(rank, mine).id, hashed.take(rank, mine).id) << "step " << step;
                }
                ASSERT_EQ(walked.length(rank), hashed.length(rank));
                ASSERT_EQ(walked.first(rank) == nullptr, hashed.first(rank) == nullptr);
                if (walked.first(rank)) {
                    ASSERT_EQ(*walked.first(rank), *hashed.first(rank));
                }
            }
        }
}

// Many that nobody meets, then met from the last to the first, and from any source: were it a walk, it would
// pass by 3 * 10^10 entries in memory and not end.
TEST(MatchQueues, ManyEntriesAreFoundWithoutAWalk) {
    constexpr int many = 200'000;
    MatchQueues receives(Of::receives, 1, false);
    for (int tag = 0; tag < many; ++tag) receives.append(0, {0, 1, tag}, static_cast<MatchQueues::Id>(tag));
    for (int tag = many; tag-- > 0;)
        ASSERT_EQ(receives.take(0, {0, 1, tag}).id, static_cast<MatchQueues::Id>(tag));
    MatchQueues messages(Of::messages, 1, false);
    for (int source = 0; source < many; ++source)
        messages.append(0, {0, source, 0}, static_cast<MatchQueues::Id>(source));
    for (int source = many; --source >= many / 2;)
        ASSERT_EQ(messages.take(0, {0, source, 0}).id, static_cast<MatchQueues::Id>(source));
    for (int source = 0; source < many / 2; ++source)
        ASSERT_EQ(messages.take(0, {0, any_source, 0}).id, static_cast<MatchQueues::Id>(source));
    EXPECT_EQ(messages.length(0), 0U);
}

}  // namespace
}  // namespace leadline::machine
