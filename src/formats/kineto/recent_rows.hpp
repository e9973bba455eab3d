// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "formats/kineto/collective_calls.hpp"

namespace entrain::kineto {

/// What is known of rows that were seen not long ago. Files have few rows and take turns between
/// them, so that this saves nearly all searches in a map.
template <class Value>
class RecentRows {
 public:
  /// Null if it is not known, or no more.
  [[nodiscard]] const Value* find(const Row& row) const {
    const Entry& entry = entries_[place(row)];
    const bool is_it =
        entry.is_used && entry.row.thread == row.thread && entry.row.process == row.process;
    return is_it ? &entry.value : nullptr;
  }
  void keep(const Row& row, Value value) {
    entries_[place(row)] = {{std::string(row.process), std::string(row.thread)}, value, true};
  }

 private:
  static constexpr std::size_t k_entries = 64;
  struct Entry {
    RowOf<std::string> row;
    Value value{};
    bool is_used = false;
  };
  /// By the last bytes of both names, in which rows of a file differ.
  static std::size_t place(const Row& row) {
    std::size_t sum = row.thread.size() + row.process.size();
    for (const std::string_view text : {row.process, row.thread}) {
      if (text.size() >= 3) sum = sum * 7 + static_cast<unsigned char>(text[text.size() - 3]);
      if (text.size() >= 2) sum = sum * 7 + static_cast<unsigned char>(text[text.size() - 2]);
      if (!text.empty()) sum = sum * 7 + static_cast<unsigned char>(text.back());
    }
    return sum % k_entries;
  }

  std::array<Entry, k_entries> entries_;
};

}  // namespace entrain::kineto
