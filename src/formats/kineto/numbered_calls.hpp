// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::kineto {

/// A call that has a number.
struct NumberedCall {
  std::uint32_t file = 0;
  std::uint32_t call = 0;  ///< position in RankFile::calls
};

/// Calls of a run by number; a collective has one number at all ranks. Not thread safe.
class NumberedCalls {
 public:
  /// Must be called with ascending files. `number` must outlive this object.
  void add(std::string_view number, NumberedCall call);

  /// Calls `see` with the calls of each number, in order of the numbers' texts; calls of a number
  /// are in the order of add().
  void for_each(const std::function<void(std::span<const NumberedCall>)>& see) const;

 private:
  FlatMap<std::string_view, std::uint32_t, std::hash<std::string_view>> places_;
  std::vector<std::string_view> numbers_;  ///< index: place
  std::vector<std::uint32_t> place_;       ///< place of its number per call
  std::vector<NumberedCall> calls_;
};

}  // namespace entrain::kineto
