// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "engine/workers.hpp"
#include "otf2/archive.hpp"
#include "trace/clock_domains.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::engine {

/// An archive with everything that the correction works on.
struct LoadedTrace {
  std::unique_ptr<otf2::Archive> archive;
  trace::Trace trace;          ///< skeletons of this process's locations; those of others are empty
  trace::Partition partition;  ///< over the processes of the run

  /// The locations of this process.
  [[nodiscard]] std::vector<LocationIndex> own(const Team& processes) const;
};

/// Opens an archive and scans the locations of this process on its threads. `together`: per
/// location, or empty; those with equal numbers get one owner. Collective over the processes.
/// Errors: ErrorKind::input, ErrorKind::interrupted.
Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together = {});
/// Opens an overlay of `original`, whose events it takes over where both share the event files: the
/// skeletons of `original` are gone then. It keeps what else it has. Collective; errors as load().
Result<LoadedTrace> load_overlay(Workers& workers, const std::filesystem::path& path,
                                 LoadedTrace& original);
/// In this process alone.
Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress);

/// mu per class with a word on where it comes from.
struct ChosenMu {
  MuTicks ticks{};
  std::string source;
};

/// Largest mu accepted, ticks: two months of nanoseconds.
inline constexpr std::int64_t k_largest_mu = std::int64_t{1} << 52;

/// verify::check() by a team of all workers, with a word on mu. Edges between locations of one
/// clock are told apart if `domains` has such locations. Collective.
Result<CheckReport> check(Workers& workers, const LoadedTrace& loaded,
                          std::span<const ClockMap> maps, const CheckOptions& options,
                          const ChosenMu& mu, const trace::ClockDomains& domains,
                          const Progress* progress);

/// Decides mu by `option`; `maps` give C. Values above k_largest_mu are cut to it, those that an
/// archive carries are not believed. Without the archive there are no MuSource::delays: as
/// automatic.
ChosenMu choose_mu(const trace::Trace& trace, std::span<const ClockMap> maps,
                   const MuOption& option);
/// The same of a trace that the processes of a run share. Collective. Errors: ErrorKind::input for
/// MuSource::delays as read_delay_mu().
Result<ChosenMu> choose_mu(Workers& workers, const LoadedTrace& loaded,
                           std::span<const ClockMap> maps, const MuOption& option,
                           const Progress* progress);

// Names of the archive properties that a corrected archive carries.
inline constexpr const char* k_property_prefix = "ENTRAIN::";
inline constexpr const char* k_property_version = "ENTRAIN::VERSION";
inline constexpr const char* k_property_correction = "ENTRAIN::CORRECTION";
inline constexpr const char* k_property_session_span = "ENTRAIN::SESSION_SPAN";

/// Value of a property, or nullptr.
const std::string* find_property(const trace::Definitions& definitions, std::string_view name);

}  // namespace entrain::engine
