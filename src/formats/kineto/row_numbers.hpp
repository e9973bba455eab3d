// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "formats/kineto/collective_calls.hpp"

namespace entrain::kineto {

/// Numbers the rows of a file in the order in which they are seen. Files have few rows and take
/// turns between them: those that were seen not long ago are found without a search.
class RowNumbers {
 public:
  RowNumbers() = default;
  RowNumbers(const RowNumbers&) = delete;
  RowNumbers& operator=(const RowNumbers&) = delete;

  /// The number of a row; that of a new one is the number of rows before.
  std::uint32_t operator()(const Row& row) {
    Entry& recent = recent_[place(row)];
    if (recent.name != nullptr && recent.name->thread == row.thread &&
        recent.name->process == row.process) {
      return recent.number;
    }
    auto at = numbers_.find(row);
    if (at == numbers_.end()) {
      const RowOf<std::string> own{std::string(row.process), std::string(row.thread)};
      at = numbers_.emplace(own, static_cast<std::uint32_t>(numbers_.size())).first;
    }
    recent = {&at->first, at->second};
    return at->second;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  static constexpr std::size_t k_recent = 64;
  struct Entry {
    const RowOf<std::string>* name = nullptr;  ///< null: none yet
    std::uint32_t number = 0;
  };
  /// By the last bytes of both names, in which rows of a file differ.
  static std::size_t place(const Row& row) {
    std::size_t sum = row.thread.size() + row.process.size();
    for (const std::string_view text : {row.process, row.thread}) {
      if (text.size() >= 3) sum = sum * 7 + static_cast<unsigned char>(text[text.size() - 3]);
      if (text.size() >= 2) sum = sum * 7 + static_cast<unsigned char>(text[text.size() - 2]);
      if (!text.empty()) sum = sum * 7 + static_cast<unsigned char>(text.back());
    }
    return sum % k_recent;
  }

  std::map<RowOf<std::string>, std::uint32_t, IsRowBefore> numbers_;
  std::array<Entry, k_recent> recent_;
};

}  // namespace entrain::kineto
