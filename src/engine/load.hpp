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

#include "otf2/archive.hpp"
#include "trace/trace.hpp"

namespace entrain::engine {

/// An archive with everything that the correction works on.
struct LoadedTrace {
  std::unique_ptr<otf2::Archive> archive;
  trace::Trace trace;
};

/// Opens an archive and scans all locations on `threads` threads. Errors: ErrorKind::input,
/// ErrorKind::interrupted.
Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress);

/// The pre-synchronisation of a trace: stored stamp -> C.
struct Presynchronised {
  std::vector<ClockMap> maps;  ///< one per location
  std::string method;          ///< "none" or "linear"
};

/// Builds the presync maps. If a time would be negative, all locations are moved by the same amount.
/// Errors: ErrorKind::input for clock offsets out of order or a map that decreases, and for local
/// stamps that decrease, naming the location.
Result<Presynchronised> presynchronise(const trace::Trace& trace, Presync method);

/// mu per class with a word on where it comes from.
struct ChosenMu {
  MuTicks ticks{};
  std::string source;
};

/// Largest mu accepted, ticks: two months of nanoseconds.
inline constexpr std::int64_t k_largest_mu = std::int64_t{1} << 52;

/// Decides mu by `option`; `maps` give C. Values above k_largest_mu are cut to it, those that an
/// archive carries are not believed.
ChosenMu choose_mu(const trace::Trace& trace, std::span<const ClockMap> maps, const MuOption& option);

// Names of the archive properties that a corrected archive carries.
inline constexpr const char* k_property_prefix = "ENTRAIN::";
inline constexpr const char* k_property_version = "ENTRAIN::VERSION";
inline constexpr const char* k_property_correction = "ENTRAIN::CORRECTION";
inline constexpr const char* k_property_session_span = "ENTRAIN::SESSION_SPAN";

/// Value of a property, or nullptr.
const std::string* find_property(const trace::Definitions& definitions, std::string_view name);

}  // namespace entrain::engine
