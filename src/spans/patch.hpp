// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "spans/spans.hpp"

namespace entrain::spans {

/// The text with its times mapped, and every other byte as it was. `maps`: by Spans::clocks;
/// `stamps`: of read(), in their order. Times in microseconds become the nearest ones, halves the
/// later one, so that an order between any two times stays one; lengths are between such times. In
/// files where a time has decimals they are written to the ns. A
/// time whose map does not move it keeps its digits. `marks`, also of read(): those spans whose
/// begin moves get an attribute entrain.offset_ns, what was added to it in ns. Errors:
/// ErrorKind::input for a time that would be negative.
Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps, std::span<const Mark> marks = {});

}  // namespace entrain::spans
