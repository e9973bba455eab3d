// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// The text with its times mapped, and every other byte unchanged. `maps`: index as the
/// clocks of `stamps` and `marks`, results of read(). Times in microseconds are rounded to the
/// nearest one, halves up, which keeps the order of times; durations are differences of rounded
/// times. If any time of the text has decimals, all are written to the ns. A time that its map does
/// not move keeps its digits. A span of `marks` whose begin moves gets an attribute
/// entrain.offset_ns: the added ns. `sizes`: those of consecutive parts of the text; get their new
/// ones. Errors: ErrorKind::input for a time that would be negative.
Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps, std::span<const Mark> marks = {},
                            std::span<std::size_t> sizes = {});

}  // namespace entrain::spans
