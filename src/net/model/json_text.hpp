// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <entrain/error.hpp>
#include <nlohmann/json.hpp>

namespace entrain::net {

/// Parses a file that people write. `name` is that of the file, for errors. Errors:
/// ErrorKind::input, if it is no JSON or a key stands twice in one object.
Result<nlohmann::json> json_from_text(std::string_view text, std::string_view name);

/// {"preset": NAME, PARAMETER: VALUE, ...}: values as with_values() takes them; names are not
/// looked at. Errors: ErrorKind::input.
Result<std::map<std::string, std::string>> parameter_texts(std::string_view text,
                                                           std::string_view name);

}  // namespace entrain::net
