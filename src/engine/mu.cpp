// SPDX-License-Identifier: BSD-3-Clause
#include "engine/mu.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "clocks/delays.hpp"
#include "match/round_trip.hpp"
#include "trace/properties.hpp"

namespace entrain::engine {

namespace {

/// Counts the pairs of machines that have more than the smallest of their class.
MuProvenance source_of(const clocks::DelayMu& mu) {
  const auto& pairs = mu.of_pairs.all();
  const auto above = std::ranges::count_if(pairs, [&](const auto& pair) {
    const bool one = pair.first.first == pair.first.second;
    return pair.second > mu.by_class[static_cast<std::size_t>(one ? LatencyClass::same_node
                                                                  : LatencyClass::other)];
  });
  return {.origin = MuOrigin::delays,
          .pairs = pairs.size(),
          .pairs_above = static_cast<std::uint64_t>(above)};
}

/// mu of an earlier correction: "... mu_ticks=1/2/3 ...".
std::optional<MuTicks> mu_of_property(const trace::Definitions& definitions) {
  const std::string* value = trace::find_property(definitions, trace::k_property_correction);
  if (value == nullptr) return std::nullopt;
  constexpr std::string_view k_key = "mu_ticks=";
  const std::size_t begin = value->find(k_key);
  if (begin == std::string::npos) return std::nullopt;
  MuTicks mu{};
  const char* at = value->data() + begin + k_key.size();
  const char* const end = value->data() + value->size();
  for (std::size_t c = 0; c < mu.size(); ++c) {
    const auto [next, error] = std::from_chars(at, end, mu[c]);
    if (error != std::errc() || mu[c] < 0 || mu[c] > trace::k_largest_mu) return std::nullopt;
    at = next;
    if (c + 1 < mu.size()) {
      if (at == end || *at != '/') return std::nullopt;
      ++at;
    }
  }
  return mu;
}

}  // namespace

Result<ChosenMu> choose_mu(trace::Workers& workers, const trace::LoadedTrace& loaded,
                           std::span<const ClockMap> maps, const CheckOptions& options,
                           const match::Graph* graph) {
  const MuOption& option = options.mu;
  const std::string& apart = options.clock_samples;
  if (option.source == MuSource::delays) {
    const std::filesystem::path folder =
        apart.empty() ? std::filesystem::path(loaded.trace.path).parent_path()
                      : std::filesystem::path(apart);
    TRY_ASSIGN(clocks::DelayMu mu,
               agree(workers.processes(),
                     clocks::read_delay_mu(folder, loaded.trace.definitions, !apart.empty())));
    return ChosenMu{mu.by_class, source_of(mu), std::move(mu.of_pairs)};
  }
  if (option.source != MuSource::round_trip) return choose_mu(loaded.trace, option);
  ChosenMu mu{{}, {MuOrigin::round_trip}, {}};
  if (graph != nullptr) {
    mu.ticks = match::round_trip_mu(workers.processes(), loaded.partition, *graph, maps);
  }
  return mu;
}

ChosenMu choose_mu(const trace::Trace& trace, const MuOption& option) {
  if (option.source == MuSource::one_tick) return {{1, 1, 1}, {MuOrigin::given}, {}};
  if (option.source == MuSource::fixed) {
    const double ticks =
        option.seconds * static_cast<double>(trace.definitions.clock.resolution_hz);
    const auto rounded = static_cast<std::int64_t>(
        std::llround(std::clamp(ticks, 0.0, static_cast<double>(trace::k_largest_mu))));
    return {{rounded, rounded, rounded}, {MuOrigin::given}, {}};
  }
  const auto carried = mu_of_property(trace.definitions);
  if (carried && *carried != MuTicks{}) return {*carried, {MuOrigin::archive}, {}};
  return {{}, {MuOrigin::none}, {}};
}

}  // namespace entrain::engine
