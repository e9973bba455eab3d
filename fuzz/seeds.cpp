// SPDX-License-Identifier: BSD-3-Clause
// First inputs: files of recorded and generated archives, and small programs.
#include <algorithm>

#include "fuzz/targets.hpp"
#include "support/all_records.hpp"
#include "support/big_endian.hpp"
#include "support/files.hpp"
#include "support/random_events.hpp"
#include "support/small_trace.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;
using test::Bytes;

namespace {

using Seeds = std::map<fs::path, Bytes>;

constexpr std::size_t k_largest_seed = 24 * 1024;  ///< longer ones make the fuzzers slow

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Bytes k_cut_bytes(k_cut, k_cut + sizeof k_cut - 1);

/// Files of an archive as inputs of the targets that read.
void add_archive(Seeds& seeds, const std::string& name, const fs::path& folder) {
  const auto add = [&](const fs::path& input, const Bytes& bytes) {
    if (bytes.size() <= k_largest_seed) seeds[input] = bytes;
  };
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& file = entry.path();
    const std::string input = name + "-" + file.filename().string();
    const std::string extension = file.extension().string();
    const bool is_local = file.parent_path() != folder;
    if (extension == ".evt") add(fs::path("event_file") / input, test::read_bytes(file));
    if (extension == ".def") {
      add(fs::path("definitions") / input,
          Bytes{is_local ? std::uint8_t{1} : std::uint8_t{0}} + test::read_bytes(file));
    }
    if (extension == ".otf2") {
      add(fs::path("definitions") / input, Bytes{2} + test::read_bytes(file));
    }
  }
}

/// Two chunks: the first one ends with its mark, the second one is a whole file.
void add_two_chunks(Seeds& seeds, const Bytes& file) {
  Bytes first(file.begin(), file.end() - 2);
  first.push_back(0);
  seeds["event_file/two-chunks"] = first + k_cut_bytes + file;
}

void add_programs(Seeds& seeds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::Random random(seed);
    Bytes program{static_cast<std::uint8_t>(seed % 8)};
    for (unsigned i = 0; i < 40; ++i) {
      // Few kinds at a time, so that partners meet.
      program.push_back(static_cast<std::uint8_t>(random.below(3)));
      program.push_back(static_cast<std::uint8_t>(random.below(20)));
      program.push_back(static_cast<std::uint8_t>(seed + random.below(4)));
      program.push_back(static_cast<std::uint8_t>(random.below(3)));
      program.push_back(static_cast<std::uint8_t>(random.below(8)));
    }
    seeds["correction/program-" + std::to_string(seed)] = program;
  }
}

}  // namespace

Seeds seeds(const fs::path& examples) {
  Seeds result;
  const test::TempDir scratch;
  for (const auto& folder : test::archives_under(examples)) {
    add_archive(result, folder.filename().string(), folder);
  }
  test::write_all_records_archive(
      scratch / "all", 1,
      {.events_per_location = 90, .base_time = 500, .side_files = false, .buffer_flushes = false});
  test::write_all_records_archive(
      scratch / "few", 2, {.events_per_location = 5, .side_files = false, .buffer_flushes = false});
  test::write_small_trace(scratch / "small", {.rounds = 3, .filler_pairs = 2});
  test::make_big_endian(scratch / "all/traces.otf2", scratch / "all-big-endian");
  for (const char* name : {"all", "few", "small", "all-big-endian"}) {
    add_archive(result, name, scratch / name);
  }
  const Bytes one = test::read_bytes(scratch / "small/traces/0.evt");
  add_two_chunks(result, one);
  result["correction/raw"] =
      Bytes{k_raw} + one + k_cut_bytes + test::read_bytes(scratch / "small/traces/1.evt");
  add_programs(result);
  return result;
}

}  // namespace entrain::fuzz
