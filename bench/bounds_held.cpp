// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the bounds that check and correct state hold for every event of a trace whose truth is
// known, and whether corrected times lie inside of them: see bench/README.md.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <entrain/entrain.hpp>

#include "arguments.hpp"
#include "bounds/bounds_testing.hpp"
#include "clocks/presync.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/read/archive.hpp"

namespace {

using entrain::ClockBounds;
using entrain::ClockMap;
using entrain::bounds::testing::Contained;
using entrain::bounds::testing::KnownEvents;
using entrain::trace::LoadedTrace;

template <class Value>
Value must(entrain::Result<Value> result) {
  if (!result) bench::die(result.error().message);
  return std::move(*result);
}

/// An archive with the times that a reader of it sees.
struct Shown {
  LoadedTrace loaded;
  std::vector<ClockMap> maps;

  explicit Shown(const std::filesystem::path& path)
      : loaded(must(entrain::otf2::load(path, 0, nullptr))) {
    maps = must(entrain::clocks::presynchronise(loaded.trace,
                                                entrain::clocks::PresyncOptions::of_reader()))
               .maps;
  }
  [[nodiscard]] std::vector<std::uint64_t> stamps(entrain::LocationIndex l) const {
    return must(entrain::otf2::read_stamps(entrain::otf2::archive_of(loaded), l)).stamps;
  }
};

std::string figures(const Shown& trace, const std::vector<ClockMap>& maps, const Shown& truth,
                    const ClockBounds& bounds) {
  const double us = 1e6 / static_cast<double>(trace.loaded.trace.definitions.clock.resolution_hz);
  if (!bounds.reason.empty()) return "null";
  std::vector<KnownEvents> known(trace.maps.size());
  for (entrain::LocationIndex l = 0; l < known.size(); ++l) {
    known[l].location = trace.loaded.trace.definitions.locations[l].id;
    known[l].stamps = trace.stamps(l);
    known[l].truth = truth.stamps(l);
    if (known[l].truth.size() != known[l].stamps.size()) {
      bench::die("the archives do not have the same events");
    }
  }
  const Contained found = entrain::bounds::testing::hold_against_truth(known, maps, bounds);
  if (!found.in_windows) bench::die("an event lies in no window");
  std::int64_t worst = 0, outside = 0;
  for (const entrain::LocationBounds& of : bounds.locations) {
    worst = std::max(worst, of.worst_ticks);
    outside = std::max(outside, of.outside_ticks);
  }
  return fmt::format(
      "{{\"events\": {}, \"bounded\": {}, \"beyond\": {}, \"excess_us\": {:.4f}, "
      "\"error_us\": {:.4f}, \"bound_us\": {:.4f}, \"outside_us\": {:.4f}, "
      "\"max_rate_ppm\": {:.4f}, \"sessions\": {}}}",
      found.events, found.bounded, found.beyond, found.worst_excess * us, found.worst_error * us,
      static_cast<double>(worst) * us, static_cast<double>(outside) * us, bounds.max_rate_ppm,
      bounds.sessions);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) bench::die("usage: bounds_held TRACE TRUTH OUTPUT");
  entrain::CorrectOptions options;
  options.check.bounds.wanted = true;
  options.check.bounds.rows = true;
  options.mode = entrain::WriteMode::overlay;  // stamps stay: its maps are those of the correction
  entrain::CheckOptions as_read = options.check;
  as_read.presync = entrain::Presync::linear;
  const Shown trace(argv[1]), truth(argv[2]);
  const auto has_offsets = [](const auto& location) { return location.clock_offsets.size() > 0; };
  if (std::none_of(trace.loaded.trace.locations.begin(), trace.loaded.trace.locations.end(),
                   has_offsets)) {
    as_read.presync = entrain::Presync::none;
  }
  const auto checked = must(entrain::check(argv[1], as_read, nullptr));
  const auto corrected = must(entrain::correct(argv[1], argv[3], options, nullptr));
  const Shown output(argv[3]);
  fmt::print("{{\"checked\": {}, \"corrected\": {}, \"reason\": \"{}\"}}\n",
             figures(trace, trace.maps, truth, *checked.bounds),
             figures(trace, output.maps, truth, *corrected.bounds), corrected.bounds->reason);
}
