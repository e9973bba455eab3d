// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/scratch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include "support/all_records.hpp"
#include "support/compare_traces.hpp"
#include "support/oracle.hpp"
#include "support/process.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_chunk = 256 * 1024;
constexpr unsigned k_library_time_s = 5;
constexpr rlim_t k_library_memory = rlim_t{256} << 20;  ///< beside what the process has already

/// A folder in memory, unless the user chose another place.
void prefer_memory() {
  if (fs::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
}

/// Bytes of address space that this process has mapped.
rlim_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void finding(const std::string& what) {
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

Scratch::Scratch(bool mappings) : folder_((prefer_memory(), TempFolder())) {
  test::write_all_records_archive(folder(), 1,
                                  {.events_per_location = 3,
                                   .base_time = 1000,
                                   .clock_offsets = mappings,
                                   .mappings = mappings,
                                   .side_files = false,
                                   .buffer_flushes = false});
}

fs::path Scratch::event_file(std::uint64_t location) const {
  return folder() / "traces" / (std::to_string(location) + ".evt");
}

void Scratch::write(const fs::path& file, Input input) {
  test::write_bytes(file, {input.begin(), input.end()});
}

void Scratch::write_chunks(const fs::path& file, Input input) {
  test::Bytes bytes;
  constexpr std::size_t k_cut_size = sizeof k_cut - 1;
  constexpr std::size_t k_most_chunks = 4;
  auto at = input.begin();
  for (std::size_t chunks = 1; chunks < k_most_chunks; ++chunks) {
    const auto cut = std::search(at, input.end(), k_cut, k_cut + k_cut_size);
    if (cut == input.end()) break;
    bytes.insert(bytes.end(), at, cut);
    bytes.resize(chunks * k_chunk);
    at = cut + k_cut_size;
  }
  bytes.insert(bytes.end(), at, input.end());
  test::write_bytes(file, bytes);
}

void expect_good_error(const Scratch& scratch, const std::string& message) {
  if (message.empty()) finding("an error without a message");
  if (message.find('\n') != std::string::npos) finding("an error of several lines: " + message);
  if (message.find(scratch.folder().parent_path().string()) == std::string::npos) {
    finding("an error that names no file: " + message);
  }
}

void expect_plausible(const trace::LocationSkeleton& skeleton, std::size_t file_size) {
  // Every record takes at least two bytes, and no record makes two events.
  if (skeleton.event_count > file_size / 2 + 1) finding("more records than the file can hold");
  if (skeleton.events.size() > skeleton.event_count) finding("more events than records");
  if (skeleton.flushes.size() > skeleton.event_count) finding("more flushes than records");
  for (const auto& flush : skeleton.flushes) {
    if (flush.end < flush.begin) finding("a flush that ends before it begins");
  }
  if (!skeleton.decreasing.empty()) return;
  std::uint64_t time = skeleton.first;
  for (const auto& event : skeleton.events) {
    if (event.time < time) finding("time decreases and nobody said so");
    time = event.time;
  }
  if (skeleton.event_count > 0 && time > skeleton.last) finding("an event after the last one");
}

bool chosen(Input input, Compare compare) {
  if (compare == Compare::always) return true;
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto byte : input) hash = (hash ^ byte) * 0x100000001b3u;
  return (hash >> 17) % 32 == 0;
}

void compare_with_library(const Scratch& scratch, const trace::Trace& ours) {
  const auto child = test::run_in_child(
      [&] {
        std::fputs(test::difference(ours, test::library_trace(scratch.anchor())).c_str(), stdout);
        return 0;
      },
      {.timeout_s = k_library_time_s, .address_space = mapped_bytes() + k_library_memory});
  if (child.exit_code == 0 && !child.out.empty()) {
    finding("scanner | library: " + child.out);
  }
}

}  // namespace entrain::fuzz
