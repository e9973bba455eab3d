// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "base/printable.hpp"
#include "report/units.hpp"

namespace entrain::report {

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json seconds(std::int64_t ticks, std::uint64_t hz) { return seconds_of(ticks, hz); }
Json seconds(std::uint64_t ticks, std::uint64_t hz) { return seconds_of(ticks, hz); }
Json seconds(const std::optional<std::int64_t>& ticks, std::uint64_t resolution_hz) {
  return ticks ? Json(seconds_of(*ticks, resolution_hz)) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

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
