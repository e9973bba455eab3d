// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <entrain/error.hpp>

namespace entrain {

/// Sends a record of less than 64 MiB.
using SendRecord = std::function<void(std::string_view)>;

/// Runs `work` in a process of its own with at most `most_memory` bytes of data beside those of
/// this process, for libraries that may end a process or never return. It says nothing but by its
/// records, and ends with its parent. Calls `take` for each record, in order, until it returns
/// false or an error, which ends the process. Returns the signal that ended it; 0: none. Errors:
/// those of `take`; ErrorKind::input if there can be no process.
Result<int> run_isolated(std::uint64_t most_memory,
                         const std::function<void(const SendRecord&)>& work,
                         const std::function<Result<bool>(std::string_view)>& take);

}  // namespace entrain
