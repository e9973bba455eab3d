// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "record/recorded.hpp"

namespace entrain::test {

/// A ClockOffset record.
struct Record {
  std::uint64_t location, time;
  std::int64_t offset;
  double half_width;
};

inline std::vector<Record> records_in(const std::filesystem::path& folder) {
  const std::string print =
      run_program({"otf2-print", "-A", "-C", anchor_of(folder).string()}, tool_limits()).out;
  std::vector<Record> records;
  std::istringstream lines(print);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Record record{};
    std::string what, time, offset, width;
    char comma = 0;
    words >> what >> record.location >> time >> record.time >> comma >> offset >> record.offset >>
        comma >> width >> record.half_width;
    if (what == "CLOCK_OFFSET" && words) records.push_back(record);
  }
  return records;
}

/// Offset and error of the rate of the clock of `rank`, out of the file that tells the truth.
struct Clock {
  long double offset_ns = 0, rate_error = 0, epoch_ns = 0;
};

inline Clock clock_of(const std::filesystem::path& truth, std::uint64_t rank) {
  for (const std::string& line : lines_of(truth / "virtual_clocks.txt")) {
    if (!line.starts_with("rank=" + std::to_string(rank) + " ")) continue;
    const auto value = [&](const std::string& name) {
      return std::stold(line.substr(line.find(" " + name + "=") + name.size() + 2));
    };
    return {value("offset_ns"), value("rate_error"), value("epoch_ns")};
  }
  ADD_FAILURE() << "no clock of rank " << rank;
  return {};
}

/// The clocks of virtual nodes, one per process and without wander, are as wrong as the records of
/// `folder` say, give or take the half-width.
inline void expect_bounds_to_hold(const std::filesystem::path& folder) {
  for (const Record& record : records_in(folder)) {
    const Clock clock = clock_of(folder.string() + ".truth", record.location);
    EXPECT_EQ(record.half_width == 0, record.location == 0);
    if (record.location == 0) continue;
    EXPECT_NE(clock.offset_ns, 0);
    // local = true + offset + rate error * (true - epoch)
    const long double local = static_cast<long double>(record.time);
    const long double true_time =
        clock.epoch_ns + (local - clock.offset_ns - clock.epoch_ns) / (1 + clock.rate_error);
    const long double error = static_cast<long double>(record.offset) - (true_time - local);
    EXPECT_LE(std::fabs(static_cast<double>(error)), record.half_width)
        << "location " << record.location;
  }
}

}  // namespace entrain::test
