// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "base/file.hpp"

namespace entrain {

/// Records in order of two keys are sorted by the first one, then the second one.
struct SortKey {
  std::int64_t first = 0, second = 0;
  friend auto operator<=>(const SortKey&, const SortKey&) = default;
};

/// Sorts records of any size with bounded memory: those that pass it go to a file, as sorted runs
/// that are merged in the end. Equal keys keep their order. One thread at a time.
class RecordSorter {
 public:
  /// `spill`: a file that need not exist, made if it is needed and removed in the end;
  /// `most_bytes`: of memory, but at least one record.
  RecordSorter(std::filesystem::path spill, std::size_t most_bytes)
      : spill_(std::move(spill)), most_(most_bytes) {}
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;
  ~RecordSorter() {
    std::error_code ignored;
    if (written_ > 0) std::filesystem::remove(spill_, ignored);
  }

  /// Adds a record that consists of these parts. Errors: ErrorKind::output.
  Result<void> add(const SortKey& key, std::initializer_list<std::string_view> parts);
  /// Calls `see` with all records in order, once. Errors: those of add(), of reading, of `see`.
  Result<void> for_each(const std::function<Result<void>(std::string_view)>& see);

 private:
  struct Entry {
    SortKey key;
    std::size_t at = 0, size = 0;  ///< position and size in `bytes_`
  };
  /// A record in the file begins with this.
  struct Head {
    SortKey key;
    std::uint64_t size = 0;
  };
  class Run;
  void sort() {
    std::ranges::sort(entries_, {}, [](const Entry& one) { return std::pair(one.key, one.at); });
  }
  Result<void> write_run();
  Result<void> merge(const std::function<Result<void>(std::string_view)>& see);

  std::filesystem::path spill_;
  std::size_t most_;
  std::string bytes_;
  std::vector<Entry> entries_;
  File file_;
  std::uint64_t written_ = 0;
  std::vector<std::uint64_t> runs_;  ///< their ends in the file
};

}  // namespace entrain
