// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/info.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the contents of an archive.
std::string to_text(const ArchiveInfo& info, const Style& style);

/// Schema entrain.info/1: the members of ArchiveInfo by name; `length_s` and `span_s` are
/// `length_ticks` and `last_ticks - first_ticks` in seconds.
Json to_json(const ArchiveInfo& info);
/// to_json() as text.
std::string json_text(const ArchiveInfo& info);

}  // namespace entrain::report
