// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/recorder_table.hpp"

#include <cstdint>
#include <fstream>

#include <fmt/core.h>

namespace entrain::clocks {

Result<void> read_recorder_table(const std::filesystem::path& path, std::string_view columns,
                                 std::string_view remedy,
                                 const std::function<std::string_view(const std::string&)>& row) {
  std::uint64_t number = 0;
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::input,
                fmt::format("{}, line {}: {}; {}", path.string(), number, why, remedy));
  };
  std::ifstream in(path);
  bool head = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    if (!head) {
      if (line != columns) return refuse("these are not the columns of the recorder");
      head = true;
      continue;
    }
    if (const std::string_view why = row(line); !why.empty()) return refuse(why);
  }
  if (in.bad() || !in.eof() || !head) return refuse("the file cannot be read any further");
  return {};
}

}  // namespace entrain::clocks
