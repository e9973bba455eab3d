// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "report/report.hpp"
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

std::string csv_heading(const Json& row) {
  std::string text;
  for (const auto& [name, value] : row.items()) text += (text.empty() ? "" : ",") + name;
  return text + "\n";
}

std::string csv_line(const Json& row) {
  std::string line;
  for (const Json& value : row) {
    if (value.is_string()) {
      line += csv_field(value.get_ref<const std::string&>());
    } else if (!value.is_null()) {
      line += value.dump();
    }
    line += ',';
  }
  line.back() = '\n';
  return line;
}

std::string dump(const Json& document) {
  return printable(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "\n");
}

template <class Report>
std::string json_text(const Report& report) {
  return dump(to_json(report));
}

template std::string json_text(const AlignReport&);
template std::string json_text(const ArchiveInfo&);
template std::string json_text(const CheckReport&);
template std::string json_text(const CompareReport&);
template std::string json_text(const CorrectReport&);
template std::string json_text(const EdgesReport&);
template std::string json_text(const ExportReport&);
template std::string json_text(const FitReport&);
template std::string json_text(const MergeReport&);
template std::string json_text(const PartReport&);
template std::string json_text(const StragglerReport&);

}  // namespace entrain::report
