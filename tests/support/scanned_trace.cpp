// SPDX-License-Identifier: BSD-3-Clause
#include "support/scanned_trace.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "formats/otf2/read/archives.hpp"

namespace entrain::test {

trace::Trace scanned_trace(const trace::EventReader& source) {
  trace::Trace trace;
  trace.path = source.path();
  trace.definitions = source.definitions();
  std::vector<LocationIndex> all(trace.definitions.locations.size());
  std::iota(all.begin(), all.end(), LocationIndex{0});
  auto skeletons = source.scan_all(all, 1, nullptr);
  if (!skeletons) throw std::runtime_error(skeletons.error().message);
  trace.locations = *std::move(skeletons);
  return trace;
}

trace::Trace scanned_trace(const std::filesystem::path& anchor) {
  const auto archives = otf2::Archives::open({&anchor, 1});
  if (!archives) throw std::runtime_error(archives.error().message);
  return scanned_trace(**archives);
}

}  // namespace entrain::test
