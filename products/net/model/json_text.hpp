// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <entrain/error.hpp>
#include <nlohmann/json_fwd.hpp>

namespace entrain::net {

/// Parses a file written by people. `name` is the name of the file, for errors. Errors:
/// ErrorKind::input if the text is no JSON or a key stands twice in one object.
Result<nlohmann::json> json_from_text(std::string_view text, std::string_view name);

/// Reads {"preset": NAME, PARAMETER: VALUE, ...} into texts for with_values(), without a check of
/// the names. Errors: ErrorKind::input.
Result<std::map<std::string, std::string>> parameter_texts(std::string_view text,
                                                           std::string_view name);

}  // namespace entrain::net
