// SPDX-License-Identifier: BSD-3-Clause
#include "support/test_archives.hpp"

#include <algorithm>

#include "support/accelerator_archive.hpp"
#include "support/all_records.hpp"
#include "support/files.hpp"
#include "support/many_locations.hpp"
#include "support/small_trace.hpp"

namespace entrain::test {

namespace {

namespace fs = std::filesystem;

TestArchive all_records(const std::string& name, std::uint64_t seed,
                        const AllRecordsOptions& options) {
  return {name, [=](const fs::path& scratch) {
            return write_all_records_archive(scratch / name, seed, options);
          }};
}

std::vector<TestArchive> generated_archives() {
  std::vector<TestArchive> all;
  all.push_back(all_records("all_records", 1, {}));
  // Beyond 2^52: a double no longer holds these times exactly.
  all.push_back(all_records("all_records_late", 2,
                            {.base_time = 7'123'456'789'012'345, .buffer_flushes = false}));
  all.push_back(all_records("all_records_plain", 3,
                            {.events_per_location = 2000,
                             .clock_offsets = false,
                             .mappings = false,
                             .side_files = false}));
  all.push_back(
      {"small", [](const fs::path& scratch) { return write_small_trace(scratch / "small"); }});
  all.push_back({"many_60", [](const fs::path& scratch) {
                   return write_many_locations(scratch / "many", 60, true);
                 }});
  all.push_back({"no_definitions", [](const fs::path& scratch) {
                   return write_many_locations(scratch / "none", 5, false);
                 }});
  return all;
}

std::string test_name(const fs::path& folder) {
  std::string name = folder.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace

std::vector<TestArchive> test_archives() {
  std::vector<TestArchive> all = generated_archives();
  for (const fs::path& root :
       {fs::path(ENTRAIN_EXAMPLES_DIR) / "traces", fs::path(ENTRAIN_SHARED_TRACES_DIR)}) {
    for (const fs::path& folder : archives_under(root)) {
      const std::string name = test_name(folder);
      const bool known = std::any_of(all.begin(), all.end(),
                                     [&](const TestArchive& other) { return other.name == name; });
      if (!known) all.push_back({name, [folder](const fs::path&) { return anchor_in(folder); }});
    }
  }
  return all;
}

bool has_shared_traces() { return fs::is_directory(ENTRAIN_SHARED_TRACES_DIR); }

std::vector<TestArchive> accelerator_archives() {
  std::vector<TestArchive> all;
  for (const bool is_one_machine : {false, true}) {
    all.push_back({is_one_machine ? "accelerators_of_one_machine" : "accelerators",
                   [=](const fs::path& scratch) {
                     // Rank 1 drifts, and both devices are off.
                     const auto shown = [=](std::uint64_t rank, bool is_device, std::int64_t time) {
                       if (rank == 1 && !is_one_machine)
                         time += 7 * accelerators::k_milli + time / 20'000;
                       return time + (is_device ? 300 * accelerators::k_micro : 0);
                     };
                     return accelerators::write_archive(scratch / "accelerators", shown,
                                                        is_one_machine);
                   }});
  }
  return all;
}

}  // namespace entrain::test
