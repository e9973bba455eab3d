// SPDX-License-Identifier: BSD-3-Clause
#include "formats/parts_of_run.hpp"

#include "formats/parts/part_file.hpp"

namespace entrain::formats {

std::string clocks_text(const Recording& recording, std::span<const ClockMap> maps) {
  NamedKnots all;
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const std::span<const ClockKnot> knots = maps[c].knots();
    all.emplace_back(recording.clocks.clocks[c].name,
                     std::vector<ClockKnot>(knots.begin(), knots.end()));
  }
  parts::FieldWriter fields;
  fields(recording.holds);
  visit_maps(fields, all);
  recording.pack_fitted(fields);
  return parts::file_text(parts::Kind::clocks, fields.take());
}

}  // namespace entrain::formats
