// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source/same_files.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/file_stamp.hpp"
#include "base/try.hpp"

namespace entrain::otf2 {

namespace {

tl::unexpected<Error> not_the_same(const std::filesystem::path& file) {
  return fail(ErrorKind::input,
              fmt::format("{} is not the same file for all processes of this run; give all of them "
                          "the same folder",
                          file.string()));
}

constexpr std::uint64_t k_largest_file = std::uint64_t{4} << 30;  ///< read for a checksum, bytes

/// FNV-1a, 64 bit; 0 for a file that cannot be read.
std::int64_t checksum_of(const std::filesystem::path& file) {
  const auto bytes = read_file(file, k_largest_file);
  if (!bytes) return 0;
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::uint8_t byte : *bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return static_cast<std::int64_t>(hash);
}

/// A file of a location as its owner sees it.
struct SeenFile {
  LocationIndex location;
  std::uint32_t file;  ///< position in Archive::files_of()
  std::int64_t size, modified_ns;
};

}  // namespace

Result<void> check_same_common_files(Team& processes, const Archive& archive) {
  if (processes.size() == 1 || archive.is_copy()) return {};
  const std::vector<std::filesystem::path> files = archive.common_files();
  std::vector<std::int64_t> seen;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileStamp stamp = stamp_of(files[i]);
    // Anchor and definitions of an archive that was just written need not be of one age everywhere.
    const bool small = i < 3;
    seen.insert(seen.end(), {stamp.size, small ? checksum_of(files[i]) : stamp.modified_ns});
  }
  std::vector<std::int64_t> least = seen, most = seen;
  processes.reduce(Team::Reduction::min, least);
  processes.reduce(Team::Reduction::max, most);
  Result<void> same;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (least[i] == most[i]) continue;
    same = not_the_same(files[i / (seen.size() / files.size())]);
    break;
  }
  return processes.agree(std::move(same));
}

Result<void> check_same_files(Team& processes, const session::LoadedTrace& loaded) {
  const Archive& archive = archive_of(loaded);
  if (processes.size() == 1 || archive.is_copy()) return {};
  std::vector<std::vector<SeenFile>> told(processes.size());
  std::vector<SeenFile>& next = told[(processes.rank() + 1) % processes.size()];
  for (const LocationIndex l : loaded.own(processes)) {
    const auto files = archive.files_of(l);
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      const FileStamp stamp = stamp_of(files[i]);
      next.push_back({l, i, stamp.size, stamp.modified_ns});
    }
  }
  Result<void> same;
  for (const std::vector<SeenFile>& from : exchange(processes, std::move(told))) {
    for (const SeenFile& file : from) {
      const std::filesystem::path path = archive.files_of(file.location)[file.file];
      const FileStamp stamp = stamp_of(path);
      const bool equal = stamp.size == file.size && stamp.modified_ns == file.modified_ns;
      if (!equal && same) same = not_the_same(path);
    }
  }
  return processes.agree(std::move(same));
}

}  // namespace entrain::otf2
