// SPDX-License-Identifier: BSD-3-Clause
#include "engine/load.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "engine/clock_delays.hpp"
#include "otf2/adopt.hpp"
#include "verify/check.hpp"

namespace entrain::engine {

namespace {

constexpr const char* k_round_trip = "round trip (estimate)";
constexpr const char* k_delays = "clock_delays.csv (estimate)";

/// Refuses a trace of which no event file exists although there should be some.
Result<void> check_anything_there(Team& processes, const trace::Trace& trace) {
  const auto missing = [](const auto& location) { return location.event_file_missing; };
  const auto present = [](const auto& location) { return location.event_count > 0; };
  const bool any_missing = std::any_of(trace.locations.begin(), trace.locations.end(), missing);
  const bool any_present = std::any_of(trace.locations.begin(), trace.locations.end(), present);
  if (processes.any(any_missing) && !processes.any(any_present)) {
    return fail(
        ErrorKind::input,
        fmt::format("none of the event files of {} exists; was the archive moved without them?",
                    trace.path));
  }
  return {};
}

/// mu of an earlier correction: "... mu_ticks=1/2/3 ...".
std::optional<MuTicks> mu_of_property(const trace::Definitions& definitions) {
  const std::string* value = find_property(definitions, k_property_correction);
  if (value == nullptr) return std::nullopt;
  constexpr std::string_view k_key = "mu_ticks=";
  const std::size_t begin = value->find(k_key);
  if (begin == std::string::npos) return std::nullopt;
  MuTicks mu{};
  const char* at = value->data() + begin + k_key.size();
  const char* const end = value->data() + value->size();
  for (std::size_t c = 0; c < mu.size(); ++c) {
    const auto [next, error] = std::from_chars(at, end, mu[c]);
    if (error != std::errc() || mu[c] < 0 || mu[c] > k_largest_mu) return std::nullopt;
    at = next;
    if (c + 1 < mu.size()) {
      if (at == end || *at != '/') return std::nullopt;
      ++at;
    }
  }
  return mu;
}

}  // namespace

std::vector<LocationIndex> LoadedTrace::own(const Team& processes) const {
  std::vector<LocationIndex> own;
  for (LocationIndex l = 0; l < partition.owner.size(); ++l) {
    if (partition.owns(processes.rank(), l)) own.push_back(l);
  }
  return own;
}

Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress) {
  Workers workers(threads);
  return load(workers, path, progress);
}

Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together) {
  Team& processes = workers.processes();
  LoadedTrace loaded;
  TRY_ASSIGN(loaded.archive, agree(processes, otf2::Archive::open(path)));
  loaded.trace.path = loaded.archive->path();
  loaded.trace.definitions = loaded.archive->definitions();
  TRY_ASSIGN(loaded.partition, workers.share_out(
                                   loaded.trace.definitions,
                                   [&](LocationIndex l) {
                                     std::error_code missing;
                                     const auto size = std::filesystem::file_size(
                                         loaded.archive->event_file(l), missing);
                                     return missing ? 0 : size;
                                   },
                                   together));
  const std::vector<LocationIndex> own = loaded.own(processes);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY_ASSIGN(std::vector<trace::LocationSkeleton> skeletons,
             agree(processes, loaded.archive->scan_all(own, workers.threads(), progress)));
  for (std::size_t i = 0; i < own.size(); ++i) {
    loaded.trace.locations[own[i]] = std::move(skeletons[i]);
  }
  TRY(check_anything_there(processes, loaded.trace));
  return loaded;
}

Result<LoadedTrace> load_overlay(Workers& workers, const std::filesystem::path& path,
                                 LoadedTrace& original) {
  Team& processes = workers.processes();
  LoadedTrace loaded;
  TRY_ASSIGN(loaded.archive, agree(processes, otf2::Archive::open(path)));
  loaded.trace.path = loaded.archive->path();
  loaded.trace.definitions = loaded.archive->definitions();
  loaded.partition = original.partition;
  const std::vector<LocationIndex> own = original.own(processes);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY(processes.agree(
      parallel_for(workers.threads(), own.size(), [&](std::size_t i) -> Result<void> {
        const LocationIndex l = own[i];
        trace::LocationSkeleton skeleton = std::move(original.trace.locations[l]);
        TRY_ASSIGN(const bool adopted,
                   otf2::adopt_skeleton(*original.archive, *loaded.archive, l, skeleton));
        if (!adopted) {
          skeleton = {};
          TRY_ASSIGN(skeleton, loaded.archive->scan(l));
        }
        loaded.trace.locations[l] = std::move(skeleton);
        return {};
      })));
  return loaded;
}

Result<CheckReport> check(Workers& workers, const LoadedTrace& loaded,
                          std::span<const ClockMap> maps, const CheckOptions& options,
                          const ChosenMu& mu, const trace::ClockDomains& domains,
                          const Progress* progress) {
  const std::span<const std::uint32_t> clock_of =
      domains.trivial() ? std::span<const std::uint32_t>() : domains.of;
  CheckReport report;
  TRY(workers.run(loaded.trace, loaded.partition,
                  [&](Team& team, const trace::Partition& partition, unsigned) -> Result<void> {
                    TRY_ASSIGN(CheckReport own,
                               verify::check(team, partition, loaded.trace, maps, options, mu.ticks,
                                             loaded.archive.get(), progress, clock_of));
                    if (workers.speaks(team)) report = std::move(own);
                    return {};
                  }));
  report.mu_source = mu.source;
  return report;
}

Result<ChosenMu> choose_mu(Workers& workers, const LoadedTrace& loaded,
                           std::span<const ClockMap> maps, const MuOption& option,
                           const Progress* progress) {
  if (option.source == MuSource::delays) {
    const std::filesystem::path folder = std::filesystem::path(loaded.trace.path).parent_path();
    TRY_ASSIGN(const MuTicks ticks,
               agree(workers.processes(), read_delay_mu(folder, loaded.trace.definitions)));
    return ChosenMu{ticks, k_delays};
  }
  if (option.source != MuSource::round_trip) return choose_mu(loaded.trace, maps, option);
  ChosenMu mu{{}, k_round_trip};
  TRY(workers.run(loaded.trace, loaded.partition,
                  [&](Team& team, const trace::Partition& partition, unsigned) -> Result<void> {
                    TRY_ASSIGN(
                        const MuTicks ticks,
                        verify::round_trip_mu(team, partition, loaded.trace, maps, progress));
                    if (workers.speaks(team)) mu.ticks = ticks;
                    return {};
                  }));
  return mu;
}

ChosenMu choose_mu(const trace::Trace& trace, std::span<const ClockMap> maps,
                   const MuOption& option) {
  switch (option.source) {
    case MuSource::round_trip:
      return {verify::round_trip_mu(trace, maps), k_round_trip};
    case MuSource::one_tick:
      return {{1, 1, 1}, "given"};
    case MuSource::fixed: {
      const double ticks =
          option.seconds * static_cast<double>(trace.definitions.clock.resolution_hz);
      const auto rounded = static_cast<std::int64_t>(
          std::llround(std::clamp(ticks, 0.0, static_cast<double>(k_largest_mu))));
      return {{rounded, rounded, rounded}, "given"};
    }
    case MuSource::automatic:
    case MuSource::delays:
      break;
  }
  const auto carried = mu_of_property(trace.definitions);
  if (carried && *carried != MuTicks{}) return {*carried, "archive"};
  return {{}, "none"};
}

const std::string* find_property(const trace::Definitions& definitions, std::string_view name) {
  for (const trace::Property& property : definitions.properties) {
    if (property.name == name) return &property.value;
  }
  return nullptr;
}

}  // namespace entrain::engine
