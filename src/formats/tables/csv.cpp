// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/csv.hpp"

#include <algorithm>

namespace entrain::tables {

bool CsvRow::next_quoted(std::string_view& field, std::string& why) {
  const char* const from = ++at_;
  bool doubled = false;
  for (;;) {
    at_ = std::find(at_, end_, '"');
    if (at_ == end_) {
      why = "a quoted field does not end";
      return false;
    }
    if (at_ + 1 == end_ || at_[1] != '"') break;
    doubled = true;
    at_ += 2;
  }
  field = {from, static_cast<std::size_t>(at_ - from)};
  lines_ += static_cast<std::uint64_t>(std::count(field.begin(), field.end(), '\n'));
  if (doubled) {
    std::string& text = unquoted_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      text += field[i];
      if (field[i] == '"') ++i;
    }
    field = text;
  }
  ++at_;
  if (at_ < end_ && *at_ == '\r') ++at_;
  if (at_ == end_ || *at_ == '\n') {
    end_row();
  } else if (*at_ == delimiter_ && at_[-1] != '\r') {
    ++at_;
  } else {
    why = "something stands between a quoted field and the next one";
    return false;
  }
  return true;
}

void CsvRow::end_row() {
  ended_ = true;
  text_ = static_cast<std::size_t>(at_ - begin_);
  if (text_ > 0 && begin_[text_ - 1] == '\r') --text_;
  if (at_ < end_) ++at_;
}

}  // namespace entrain::tables
