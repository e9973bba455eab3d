// SPDX-License-Identifier: BSD-3-Clause
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#include "engine/guarantee.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.hpp"
#include "engine/causal.hpp"
#include "sim/distort.hpp"
#include "trace/testing.hpp"

namespace entrain::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

LoadedTrace load_example(const std::string& name) {
  auto loaded = load(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1, nullptr);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return std::move(*loaded);
}

/// The same events with clocks of their own, and sessions as they were measured.
LoadedTrace distorted(const LoadedTrace& truth, const DistortOptions& options, bool sessions) {
  const std::vector<ClockMap> identity(truth.trace.locations.size());
  auto wrong = sim::distort(truth.trace, identity, options);
  EXPECT_TRUE(wrong) << wrong.error().message;
  LoadedTrace result;
  result.trace = truth.trace;
  result.partition = truth.partition;
  for (LocationIndex l = 0; l < result.trace.locations.size(); ++l) {
    trace::LocationSkeleton& location = result.trace.locations[l];
    const ClockMap& map = wrong->maps[l];
    const auto moved = [&](std::uint64_t t) { return static_cast<std::uint64_t>(map(t)); };
    for (trace::Event& event : location.events) event.time = moved(event.time);
    location.first = moved(location.first);
    location.last = moved(location.last);
    location.flushes.clear();
    location.clock_offsets.clear();
    if (sessions) location.clock_offsets = wrong->clock_offsets[l];
  }
  return result;
}

/// What the reference's map makes of true times: of its own events, straight between them.
class TrueTime {
 public:
  TrueTime(const trace::LocationSkeleton& skewed, const trace::LocationSkeleton& right,
           const ClockMap& map) {
    for (std::size_t e = 0; e < right.events.size(); ++e) {
      if (!points_.empty() && right.events[e].time == points_.back().first) continue;
      points_.emplace_back(right.events[e].time, map(skewed.events[e].time));
    }
  }
  /// Empty outside of the reference's events, and where they are far apart.
  [[nodiscard]] std::optional<double> operator()(std::uint64_t time) const {
    const auto next = std::lower_bound(points_.begin(), points_.end(), time,
                                       [](auto& point, std::uint64_t t) { return point.first < t; });
    if (next == points_.end() || (next == points_.begin() && next->first != time)) return {};
    if (next->first == time) return static_cast<double>(next->second);
    const auto before = next - 1;
    const auto length = static_cast<double>(next->first - before->first);
    const auto share = static_cast<double>(time - before->first) / length;
    return static_cast<double>(before->second) +
           share * static_cast<double>(next->second - before->second);
  }

 private:
  std::vector<std::pair<std::uint64_t, std::int64_t>> points_;
};

struct Contained {
  std::size_t events = 0;
  double worst_excess = 0;  ///< of an error beyond its bound, ticks
  double worst_error = 0;
};

/// Looks at every communication event of every location.
Contained compare(const trace::Trace& skewed, const trace::Trace& truth,
                  std::span<const ClockMap> maps, const ClockBounds& bounds) {
  Contained result;
  LocationIndex reference = 0;
  while (skewed.definitions.locations[reference].id != bounds.reference) ++reference;
  const TrueTime right(skewed.locations[reference], truth.locations[reference], maps[reference]);
  for (LocationIndex l = 0; l < skewed.locations.size(); ++l) {
    std::vector<BoundsRow> rows;
    for (const BoundsRow& row : bounds.rows) {
      if (row.location == skewed.definitions.locations[l].id) rows.push_back(row);
    }
    const auto& events = skewed.locations[l].events;
    for (std::size_t e = 0; e < events.size(); ++e) {
      const auto at = right(truth.locations[l].events[e].time);
      if (!at) continue;
      const double error = std::abs(static_cast<double>(maps[l](events[e].time)) - *at);
      // The row of the window: the one whose middle is the nearest.
      const auto row = std::min_element(rows.begin(), rows.end(), [&](auto& a, auto& b) {
        const auto away = [&](const BoundsRow& r) {
          return std::abs(static_cast<double>(r.local_ticks) - static_cast<double>(events[e].time));
        };
        return away(a) < away(b);
      });
      if (row == rows.end()) {
        ADD_FAILURE() << "an event in no window";
        return result;
      }
      ++result.events;
      result.worst_error = std::max(result.worst_error, error);
      if (!row->bounded) continue;
      result.worst_excess =
          std::max(result.worst_excess, error - static_cast<double>(row->bound_ticks));
    }
  }
  return result;
}

struct Proof {
  Presynchronised presync;
  match::Graph graph;
  ProvenIntervals proven;
  ClockBounds bounds;
};

Proof prove(const LoadedTrace& loaded, Presync method, BoundsOption option = {},
            const ChosenMu& mu = {}) {
  Proof proof;
  Solo solo;
  auto presync = presynchronise(loaded.trace, method);
  EXPECT_TRUE(presync) << presync.error().message;
  proof.presync = std::move(*presync);
  proof.graph = match::build_graph(loaded.trace, {});
  if (method == Presync::causal) {
    EXPECT_TRUE(bend_by_edges(solo, loaded, proof.graph, mu.ticks, proof.presync, nullptr));
  }
  auto proven =
      prove_intervals(solo, loaded, proof.graph, mu, proof.presync, option, nullptr);
  EXPECT_TRUE(proven) << proven.error().message;
  proof.proven = std::move(*proven);
  proof.bounds = judge(solo, loaded, proof.proven, proof.presync.maps, true);
  return proof;
}

TEST(Explore, examples) {
  for (const char* name : {"lulesh-8", "amg-8", "allops-4"}) {
    const LoadedTrace skewed = load_example(name);
    const LoadedTrace truth = load_example(std::string(name) + ".truth");
    for (const Presync method : {Presync::none, Presync::linear, Presync::causal}) {
      const Proof proof = prove(skewed, method);
      const Contained found = compare(skewed.trace, truth.trace, proof.presync.maps, proof.bounds);
      std::int64_t worst = 0, median = 0;
      for (auto& l : proof.bounds.locations) {
        worst = std::max(worst, l.worst_ticks);
        median = std::max(median, l.median_ticks);
      }
      // true rates
      LocationIndex r = 0;
      while (skewed.trace.definitions.locations[r].id != proof.bounds.reference) ++r;
      double rate = 0;
      const double span = 5e6;
      const auto& line0 = proof.proven.lines[proof.proven.clock_of[r]];
      std::vector<ClockMap> lines;
      const TrueTime right(skewed.trace.locations[r], truth.trace.locations[r], ClockMap());
      for (LocationIndex l = 0; l < skewed.trace.locations.size(); ++l) {
        const auto& line = proof.proven.lines[proof.proven.clock_of[l]];
        double t0 = 0, e0 = 0;
        bool has = false;
        for (std::size_t e = 0; e < skewed.trace.locations[l].events.size(); ++e) {
          const auto at = right(truth.trace.locations[l].events[e].time);
          if (!at) continue;
          const double x = static_cast<double>(line(skewed.trace.locations[l].events[e].time));
          const double err = x - static_cast<double>(line0(static_cast<std::uint64_t>(*at)));
          if (!has) { has = true; t0 = x; e0 = err; continue; }
          if (x - t0 < span) continue;
          rate = std::max(rate, std::abs(err - e0) / (x - t0));
          t0 = x; e0 = err;
        }
      }
      std::printf("%-10s %-8s R %.0f least %.0f trueR %.0f windows %llu worst %.1f us median %.1f ticks excess %.3f us error %.1f us\n",
                  name, proof.presync.method.c_str(), proof.bounds.max_rate_ppm,
                  proof.bounds.least_rate_ppm, rate * 1e6, (unsigned long long)proof.bounds.windows, worst / 1e3,
                  median / 1e3, found.worst_excess / 1e3, found.worst_error / 1e6);
    }
  }
}

TEST(Explore, distortions) {
  for (const char* name : {"lulesh-8", "amg-8", "allops-4"}) {
    const LoadedTrace truth = load_example(std::string(name) + ".truth");
    for (const double wander : {0.0, 5.0, 20.0, 100.0, 1000.0}) {
      for (const bool sessions : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          DistortOptions options;
          options.seed = seed;
          options.drift_ppm = seed == 1 ? 1 : seed == 2 ? 20 : 100;
          options.wander_ppm = wander;
          options.wander_period_s = seed == 3 ? 0.02 : 0;
          const LoadedTrace skewed = distorted(truth, options, sessions);
          const Proof proof = prove(skewed, Presync::automatic);
          const Contained found =
              compare(skewed.trace, truth.trace, proof.presync.maps, proof.bounds);
          std::int64_t worst = 0, median = 0;
          for (auto& l : proof.bounds.locations) {
            worst = std::max(worst, l.worst_ticks);
            median = std::max(median, l.median_ticks);
          }
          std::printf("%-10s wander %4.0f sessions %d seed %d R %.0f least %.1f windows %llu worst %.1f us median %.1f ticks excess %.3f us error %.1f us\n",
                      name, wander, sessions, (int)seed, proof.bounds.max_rate_ppm,
                      proof.bounds.least_rate_ppm, (unsigned long long)proof.bounds.windows, worst / 1e3,
                      median / 1e3, found.worst_excess / 1e3, found.worst_error / 1e6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace entrain::engine
