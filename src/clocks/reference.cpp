// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/reference.hpp"

#include <string>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::clocks {

Result<Reference> find_reference(const trace::Definitions& definitions, std::string_view text,
                                 ClockKind kind) {
  if (text.empty()) return Reference{.consensus = kind == ClockKind::wall};
  if (text == "consensus") return Reference{.consensus = true};
  for (const bool by_id : {true, false}) {
    for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
      const auto& location = definitions.locations[l];
      const bool found = by_id
                             ? fmt::format("{}", location.id) == text
                             : trace::process_name(definitions, l) == text || location.name == text;
      if (found) return Reference{.location = l};
    }
  }
  const std::string example =
      definitions.locations.empty()
          ? ""
          : fmt::format("; the first one has the id {} and belongs to {}",
                        definitions.locations.front().id, trace::process_name(definitions, 0));
  return input_error("--reference {}: no location has that id or name{}", text, example);
}

}  // namespace entrain::clocks
