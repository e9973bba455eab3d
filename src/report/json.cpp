// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

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
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  // JSON may hold this control character as it is; a terminal would not show it.
  constexpr char k_delete = '\x7F';
  if (text.find(k_delete) == std::string::npos) return text;
  std::string shown;
  for (const char c : text) {
    if (c == k_delete) {
      shown += "\\u007f";
    } else {
      shown += c;
    }
  }
  return shown;
}

}  // namespace entrain::report
