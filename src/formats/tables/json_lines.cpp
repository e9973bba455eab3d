// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/json_lines.hpp"

#include <algorithm>
#include <charconv>

#include "formats/json/memory.hpp"

namespace entrain::tables {
namespace {

namespace ondemand = json::ondemand;
static_assert(k_padding >= simdjson::SIMDJSON_PADDING);

/// A number or Boolean as written, without trailing blanks.
std::string_view token(std::string_view raw) {
  while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\t' || raw.back() == '\r')) {
    raw.remove_suffix(1);
  }
  return raw;
}

bool is_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  const bool finite = text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  return finite && at == end && error != std::errc::invalid_argument;
}

}  // namespace

struct JsonLine::Parser {
  json::Parser parser;

  /// Text of a plain value; false for other or damaged ones. Only strings are decoded.
  static bool text_of(ondemand::value value, std::string_view& text) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    if (type == ondemand::json_type::string) {
      return value.get_string().get(text) == simdjson::SUCCESS;
    }
    if (type == ondemand::json_type::object || type == ondemand::json_type::array) return false;
    text = token(value.raw_json_token());
    if (type == ondemand::json_type::boolean) return text == "true" || text == "false";
    if (type == ondemand::json_type::number) return is_number(text);
    const bool null = text == "null";
    text = {};
    return null;
  }
};

JsonLine::JsonLine(std::span<const std::string> columns)
    : columns_(columns),
      cells_(columns.size()),
      seen_(columns.size()),
      parser_(std::make_unique<Parser>()) {}

JsonLine::~JsonLine() = default;

/// Position of a column. Lines mostly have the same keys in the same order.
std::size_t JsonLine::column_of(std::string_view key) {
  const std::size_t place = field_++;
  if (place < order_.size() && order_[place] < columns_.size() && columns_[order_[place]] == key) {
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

bool JsonLine::parse(std::string_view text, Problem& problem) {
  constexpr const char* k_no_object = "this is no JSON object";
  constexpr std::size_t k_row = Problem::k_whole_row;
  std::fill(cells_.begin(), cells_.end(), std::string_view());
  std::fill(seen_.begin(), seen_.end(), false);
  field_ = 0;
  ondemand::document document;
  ondemand::object object;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + k_padding);
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return refuse(problem, k_row, "the line is no UTF-8");
  }
  if (!parser_->parser.begin(padded, document) ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return refuse(problem, k_row, k_no_object);
  }
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return refuse(problem, k_row, k_no_object);
    }
    const std::size_t column = column_of(key);
    if (field.value().get(value) != simdjson::SUCCESS) return refuse(problem, column, k_no_object);
    if (column >= columns_.size()) continue;
    if (seen_[column]) return refuse(problem, column, "the key stands twice in the object");
    seen_[column] = true;
    if (!Parser::text_of(value, cells_[column])) {
      return refuse(problem, column, "this is neither text nor a number, true, false or null");
    }
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return refuse(problem, k_row, k_no_object);
  return true;
}

}  // namespace entrain::tables
