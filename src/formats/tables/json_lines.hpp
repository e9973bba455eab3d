// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tables/reader.hpp"

namespace entrain::tables {

/// Number of readable bytes that must follow a text for JsonLine.
inline constexpr std::size_t k_padding = 64;

/// Parses lines that are JSON objects with plain values: text, numbers, true, false, null.
class JsonLine {
 public:
  /// The names must outlive it.
  explicit JsonLine(std::span<const std::string> columns);
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  /// Sets cells(); false, with the problem, if the line is no such object. k_padding bytes after
  /// the text must be readable.
  bool parse(std::string_view text, Problem& problem);
  /// Values, one per column; "" for null and missing keys. Valid until the next call of parse().
  [[nodiscard]] std::span<const std::string_view> cells() const { return cells_; }

 private:
  struct Parser;
  [[nodiscard]] std::size_t column_of(std::string_view key);

  std::span<const std::string> columns_;
  std::vector<std::string_view> cells_;
  std::vector<bool> seen_;
  std::vector<std::size_t> order_;  ///< columns in the order of the previous line
  std::size_t field_ = 0;
  std::unique_ptr<Parser> parser_;
};

}  // namespace entrain::tables
