// SPDX-License-Identifier: BSD-3-Clause
#include "trace/properties.hpp"

namespace entrain::trace {

const std::string* find_property(const Definitions& definitions, std::string_view name) {
  for (const Property& property : definitions.properties) {
    if (property.name == name) return &property.value;
  }
  return nullptr;
}

}  // namespace entrain::trace
