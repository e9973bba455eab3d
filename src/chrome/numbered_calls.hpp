// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::chrome {

/// A call that has a number.
struct NumberedCall {
  std::uint32_t file = 0;
  std::uint32_t call = 0;  ///< position in RankFile::calls
};

/// The calls of a run by their number, which one collective has at all ranks. Not thread safe.
class NumberedCalls {
 public:
  /// Files in ascending order. `number` must outlive this object.
  void add(std::string_view number, NumberedCall call);

  /// Calls `see` with the calls of each number, in order of the numbers' texts; its calls come in
  /// the order in which they were added.
  void for_each(const std::function<void(std::span<const NumberedCall>)>& see) const;

 private:
  FlatMap<std::string_view, std::uint32_t, std::hash<std::string_view>> places_;
  std::vector<std::string_view> numbers_;  ///< by place
  std::vector<std::uint32_t> place_;       ///< per call, of its number
  std::vector<NumberedCall> calls_;
};

}  // namespace entrain::chrome
