// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/clock_files.hpp"

#include <cstdio>

#include "record/archive/folders.hpp"
#include "record/clocks/clock_tables.hpp"

namespace entrain::record {

namespace {

bool write_text(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

/// The clocks of virtual nodes, one line per process:
///   local = true + offset + rate_error * (true - epoch)
///           + wander * (sin(wander_rate * (true - epoch) + phase) - sin(phase))
std::string virtual_clocks(const Merged& merged) {
  std::string text;
  for (const ProcessRecord& process : merged.processes()) {
    text += "rank=" + std::to_string(process.rank) + " host=" + process.host + ' ' +
            process.clock_description + '\n';
  }
  return text;
}

}  // namespace

bool write_clock_files(const std::string& directory, const Merged& merged) {
  bool good = true;
  if (!merged.points().empty() && !merged.points()[0].empty()) {
    good = write_text(directory + "/clock_samples.csv",
                      samples_as_csv(merged.processes(), merged.points())) &&
           write_text(directory + "/clock_delays.csv",
                      delays_as_csv(merged.processes(), merged.points()));
  }
  if (!merged.processes().front().clock_description.empty()) {
    good =
        write_text(truth_folder(directory) + "/virtual_clocks.txt", virtual_clocks(merged)) && good;
  }
  return good;
}

}  // namespace entrain::record
