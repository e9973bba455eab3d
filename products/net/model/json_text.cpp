// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/json_text.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/try.hpp"

namespace entrain::net {

using Json = nlohmann::json;

namespace {

constexpr int k_most_depth = 1024;  ///< every level takes memory, and no document here has five

}  // namespace

Result<Json> json_from_text(std::string_view text, std::string_view name) {
  std::vector<std::set<std::string>> open;  // keys of the objects that are not closed yet
  std::string twice;
  bool is_twice = false;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    too_deep = too_deep || depth > k_most_depth;
    if (too_deep) return false;
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !is_twice) {
      twice = parsed.get<std::string>();
      is_twice = !open.back().insert(twice).second;
    }
    return true;
  };
  Json document = Json::parse(text, watch, false);
  if (too_deep)
    return fail(ErrorKind::input,
                fmt::format("{}: a value lies in more than {} brackets", name, k_most_depth));
  if (document.is_discarded())
    return fail(ErrorKind::input, fmt::format("{}: this is no JSON document", name));
  if (is_twice)
    return fail(
        ErrorKind::input,
        fmt::format("{}: the key '{}' stands twice in one object; remove one", name, twice));
  return document;
}

Result<std::map<std::string, std::string>> parameter_texts(std::string_view text,
                                                           std::string_view name) {
  TRY_ASSIGN(const Json document, json_from_text(text, name));
  if (!document.is_object())
    return fail(ErrorKind::input,
                fmt::format("{}: this is no JSON object of parameters and their values", name));
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : document.items()) {
    if (!value.is_string() && !value.is_number_integer())
      return fail(
          ErrorKind::input,
          fmt::format("{}: the value of '{}' is neither a whole number, as for counts, nor a text "
                      "with a unit, as in \"17ns\"",
                      name, key));
    values[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return values;
}

}  // namespace entrain::net
