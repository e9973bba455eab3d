// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/documents.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "formats/json/scanner.hpp"

namespace entrain::spans {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

}  // namespace

Documents::Documents(std::string_view text) : text_(text) {
  if (text_.starts_with(json::k_byte_order_mark)) at_ = json::k_byte_order_mark.size();
  at_ = std::min(text_.find_first_not_of(k_blanks, at_), text_.size());
  kind_ = is_lines() ? Kind::lines : Kind::one;
}

bool Documents::next(std::string_view& document) {
  begin_ = at_;
  if (begin_ == text_.size()) return false;
  std::size_t end = text_.size();
  if (kind_ == Kind::lines) end = std::min(text_.find('\n', begin_), end);
  if (kind_ == Kind::sequence) end = end_of_value();
  ++number_;
  document = text_.substr(begin_, end - begin_);
  reaches_end_ = end == text_.size();
  at_ = std::min(text_.find_first_not_of(k_blanks, end), text_.size());
  return true;
}

bool Documents::split() {
  if (kind_ != Kind::one || text_[begin_] != '{') return false;
  at_ = begin_;
  const std::size_t end = end_of_value();
  const std::size_t next = text_.find_first_not_of(k_blanks, end);
  if (next == std::string_view::npos || text_[next] != '{') return false;
  kind_ = Kind::sequence;
  at_ = begin_;
  number_ = 0;
  return true;
}

std::string Documents::place(const std::string& name) const {
  switch (kind_) {
    case Kind::lines: {
      const std::string_view before = text_.substr(0, begin_);
      return fmt::format("{}:{}", name, 1 + std::count(before.begin(), before.end(), '\n'));
    }
    case Kind::sequence:
      return fmt::format("{}, document {}", name, number_);
    case Kind::one:
      return name;
  }
  return name;
}

bool Documents::is_lines() const {
  const std::size_t line = text_.find('\n', at_);
  if (line == std::string_view::npos) return false;
  const char open = text_[at_];
  if (open != '{' && open != '[') return false;
  const std::size_t last = text_.substr(0, line).find_last_not_of(k_blanks);
  const std::size_t next = text_.find_first_not_of(k_blanks, line);
  return text_[last] == (open == '{' ? '}' : ']') && next != std::string_view::npos &&
         text_[next] == open;
}

std::size_t Documents::end_of_value() const {
  const std::string_view rest = text_.substr(at_);
  json::Scanner scanner(rest);
  std::string_view value;
  return scanner.value(value) ? at_ + scanner.position() : text_.size();
}

}  // namespace entrain::spans
