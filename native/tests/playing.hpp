// A benchmark's point on the mock backend, seen from one rank.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

struct Played {
    std::map<std::string, std::vector<double>> samples;  // those after warm-up, by metric
    long batch = 0;
    bool skipped = false;
};

inline Played play(const Declaration& benchmark, const Point& point, Script script) {
    Session session(std::move(script));
    Arena arena;
    SharedPoint asked(benchmark, point, arena, Limits{.time = 0.05});
    Run run(asked, session.world(), session.control());
    Played played;
    auto body = benchmark.body(run);
    EXPECT_TRUE(body.resume()) << benchmark.name << " waits for something that the mock never does";
    try {
        body.finish();
    } catch (const Skipped&) {
        played.skipped = true;
    }
    const auto& sampler = asked.sampler;
    for (std::size_t i = 0; i < benchmark.metrics.size(); ++i) {
        auto values = sampler.samples()[i];
        values.erase(values.begin(), values.begin() + sampler.warmup());
        std::erase_if(values, [](double value) { return std::isnan(value); });
        played.samples[benchmark.metrics[i].name] = values;
    }
    played.batch = sampler.batch();
    return played;
}

}  // namespace leadline
