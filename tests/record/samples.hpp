// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "record/recorded.hpp"

namespace entrain::test {

/// One line of clock_samples.csv.
struct Sample {
  std::uint64_t session, rank, parent, local, parent_local, master, round_trip, kept;
};

inline std::vector<Sample> samples_in(const std::filesystem::path& folder) {
  std::vector<Sample> samples;
  for (const std::string& line : lines_of(folder / "clock_samples.csv")) {
    if (line.empty() || line[0] == '#' || line[0] == 's') continue;
    std::istringstream in(line);
    std::uint64_t words[8] = {};
    char comma = 0;
    for (std::uint64_t& word : words) in >> word >> comma;
    samples.push_back(
        {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]});
  }
  return samples;
}

}  // namespace entrain::test
