// SPDX-License-Identifier: BSD-3-Clause
#include "support/scanned_trace.hpp"

#include <stdexcept>
#include <utility>

#include "otf2/read/archive.hpp"

namespace entrain::test {

trace::Trace scanned_trace(const trace::Source& source) {
  trace::Trace trace;
  trace.path = source.path();
  trace.definitions = source.definitions();
  for (LocationIndex l = 0; l < trace.definitions.locations.size(); ++l) {
    auto skeleton = source.scan(l);
    if (!skeleton) throw std::runtime_error(skeleton.error().message);
    trace.locations.push_back(*std::move(skeleton));
  }
  return trace;
}

trace::Trace scanned_trace(const std::filesystem::path& anchor) {
  const auto archive = otf2::Archive::open(anchor);
  if (!archive) throw std::runtime_error(archive.error().message);
  return scanned_trace(**archive);
}

}  // namespace entrain::test
