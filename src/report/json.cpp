// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "base/printable.hpp"

namespace entrain::report {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json counters(const Counters& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) {
    const auto found = object.find(name);
    if (found == object.end()) {
      object[name] = count;
    } else {
      *found = found->get<std::uint64_t>() + count;
    }
  }
  return object;
}

std::string dump(const Json& document) {
  return printable(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "\n");
}

}  // namespace entrain::report
