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
std::string virtual_clocks(const std::vector<ProcessRecord>& processes) {
  std::string text;
  for (const ProcessRecord& process : processes) {
    text += "rank=" + std::to_string(process.rank) + " host=" + process.host + ' ' +
            process.clock_description + '\n';
  }
  return text;
}

bool write_tables(const std::string& directory, const std::vector<ProcessRecord>& processes,
                  const std::vector<std::vector<ClockPoint>>& points) {
  return write_text(directory + "/clock_samples.csv", samples_as_csv(processes, points)) &&
         write_text(directory + "/clock_delays.csv", delays_as_csv(processes, points)) &&
         write_text(directory + "/clock_offsets.csv", offsets_as_csv(points)) &&
         write_text(directory + '/' + k_clock_processes, processes_as_csv(processes));
}

bool write_virtual_clocks(const std::string& directory,
                          const std::vector<ProcessRecord>& processes) {
  return processes.front().clock_description.empty() ||
         write_text(truth_folder(directory) + "/virtual_clocks.txt", virtual_clocks(processes));
}

}  // namespace

bool write_clock_files(const std::string& directory, const Merged& merged) {
  const bool any = !merged.points().empty() && !merged.points()[0].empty();
  const bool good = !any || write_tables(directory, merged.processes(), merged.points());
  return write_virtual_clocks(directory, merged.processes()) && good;
}

bool write_clocks_only(const std::string& directory, const std::vector<ProcessRecord>& processes) {
  return write_virtual_clocks(directory, processes) &&
         write_tables(directory, processes, clock_points(processes));
}

}  // namespace entrain::record
