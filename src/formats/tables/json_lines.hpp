// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/memory.hpp"
#include "formats/tables/reader.hpp"

namespace entrain::tables {

/// Number of readable bytes that must follow a text for JsonLine.
inline constexpr std::size_t k_padding = simdjson::SIMDJSON_PADDING;

/// Parses lines that are JSON objects with plain values: text, numbers, true, false, null.
class JsonLine {
 public:
  /// The names must outlive it.
  explicit JsonLine(std::span<const std::string> columns)
      : columns_(columns), cells_(columns.size()), seen_(columns.size()) {}

  /// Sets cells(); false, with the problem, if the line is no such object. k_padding bytes after
  /// the text must be readable.
  bool parse(std::string_view text, Problem& problem) {
    constexpr const char* k_no_object = "this is no JSON object";
    constexpr std::size_t k_row = Problem::k_whole_row;
    std::fill(cells_.begin(), cells_.end(), std::string_view());
    std::fill(seen_.begin(), seen_.end(), false);
    field_ = 0;
    json::ondemand::document document;
    json::ondemand::object object;
    const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + k_padding);
    if (!simdjson::validate_utf8(text.data(), text.size())) {
      return refuse(problem, k_row, "the line is no UTF-8");
    }
    if (!parser_.begin(padded, document) ||
        document.get_object().get(object) != simdjson::SUCCESS) {
      return refuse(problem, k_row, k_no_object);
    }
    for (auto field : object) {
      std::string_view key;
      Value value;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) {
        return refuse(problem, k_row, k_no_object);
      }
      const std::size_t column = column_of(key);
      if (field.value().get(value) != simdjson::SUCCESS) {
        return refuse(problem, column, k_no_object);
      }
      if (column >= columns_.size()) continue;
      if (seen_[column]) return refuse(problem, column, "the key stands twice in the object");
      seen_[column] = true;
      if (!text_of(value, cells_[column])) {
        return refuse(problem, column, "this is neither text nor a number, true, false or null");
      }
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return refuse(problem, k_row, k_no_object);
    }
    return true;
  }
  /// Values, one per column; "" for null and missing keys. Valid until the next call of parse().
  [[nodiscard]] std::span<const std::string_view> cells() const { return cells_; }

 private:
  using Value = json::ondemand::value;

  /// Position of a column. Lines mostly have the same keys in the same order.
  [[nodiscard]] std::size_t column_of(std::string_view key) {
    const std::size_t place = field_++;
    if (place < order_.size() && order_[place] < columns_.size() &&
        columns_[order_[place]] == key) {
      return order_[place];
    }
    const auto known = std::find(columns_.begin(), columns_.end(), key);
    const std::size_t column = known == columns_.end()
                                   ? Problem::k_whole_row
                                   : static_cast<std::size_t>(known - columns_.begin());
    order_.resize(std::max(order_.size(), field_), Problem::k_whole_row);
    order_[place] = column;
    return column;
  }
  /// Text of a plain value; false for other or damaged ones. Only strings are decoded.
  static bool text_of(Value value, std::string_view& text) {
    using Type = json::ondemand::json_type;
    Type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    if (type == Type::string) return value.get_string().get(text) == simdjson::SUCCESS;
    if (type == Type::object || type == Type::array) return false;
    text = value.raw_json_token();  // a number or a word as written, and the blanks behind it
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    if (type == Type::boolean) return text == "true" || text == "false";
    if (type == Type::number) return is_number(text);
    const bool null = text == "null";
    text = {};
    return null;
  }
  static bool is_number(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    const bool finite = text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
    return finite && at == end && error != std::errc::invalid_argument;
  }

  std::span<const std::string> columns_;
  std::vector<std::string_view> cells_;
  std::vector<bool> seen_;
  std::vector<std::size_t> order_;  ///< columns in the order of the previous line
  std::size_t field_ = 0;
  json::Parser parser_;
};

}  // namespace entrain::tables
