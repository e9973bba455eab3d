// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ignored_files.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace entrain::formats {

std::string names_of(std::span<const std::filesystem::path> files) {
  constexpr std::size_t k_most_named = 3;
  std::string names;
  for (const auto& file : files.first(std::min(files.size(), k_most_named))) {
    names += (names.empty() ? "" : ", ") + file.filename().string();
  }
  return files.size() > k_most_named ? names + ", ..." : names;
}

std::string note_of_ignored(std::span<const std::filesystem::path> files, const std::string& of,
                            const char* what) {
  const bool is_one = files.size() == 1;
  return fmt::format("{} of the files{} {} {} and {} left out: {}", files.size(), of,
                     is_one ? "holds" : "hold", what, is_one ? "is" : "are", names_of(files));
}

}  // namespace entrain::formats
