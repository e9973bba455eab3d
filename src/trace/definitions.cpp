// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions.hpp"

namespace entrain::trace {

const std::string& process_name(const Definitions& definitions, LocationIndex l) {
  const Location& location = definitions.locations[l];
  return location.group < definitions.location_groups.size()
             ? definitions.location_groups[location.group].name
             : location.name;
}

}  // namespace entrain::trace
