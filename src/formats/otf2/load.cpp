// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/load.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/file_stamp.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"

namespace entrain::otf2 {

using trace::LoadedTrace;
using trace::Workers;

namespace {

tl::unexpected<Error> not_the_same(const std::filesystem::path& file) {
  return input_error(
      "{} is not the same file for all processes of this run; give all of them the same folder",
      file.string());
}

constexpr std::uint64_t k_largest_file = std::uint64_t{4} << 30;  ///< read for a checksum, bytes

/// 0 for a file that cannot be read.
std::int64_t checksum_of(const std::filesystem::path& file) {
  const auto bytes = read_file(file, k_largest_file);
  return bytes ? static_cast<std::int64_t>(fnv1a(*bytes)) : 0;
}

/// A file of a location as its owner sees it.
struct SeenFile {
  LocationIndex location;
  std::uint32_t file;  ///< position in Archive::files_of()
  std::int64_t size, modified_ns;
};

/// Refuses a trace none of whose event files exists although there should be some.
Result<void> check_anything_there(Team& processes, const trace::Trace& trace) {
  const bool any_missing =
      std::ranges::any_of(trace.locations, &trace::LocationSkeleton::event_file_missing);
  const bool any_present = std::ranges::any_of(
      trace.locations, [](const auto& location) { return location.event_count > 0; });
  if (processes.any(any_missing) && !processes.any(any_present)) {
    return no_event_files(trace.path);
  }
  return {};
}

/// Reads these locations, which belong to this process. Collective.
Result<void> scan(Workers& workers, LoadedTrace& loaded,
                  const std::vector<LocationIndex>& locations, Progress* progress) {
  static_cast<Archives&>(*loaded.reader).note_files(locations, workers.threads());
  TRY_ASSIGN(
      std::vector<trace::LocationSkeleton> skeletons,
      agree(workers.processes(), loaded.reader->scan_all(locations, workers.threads(), progress)));
  for (std::size_t i = 0; i < locations.size(); ++i) {
    loaded.trace.locations[locations[i]] = std::move(skeletons[i]);
  }
  return {};
}

}  // namespace

Result<void> check_same_common_files(Team& processes, const Archive& archive) {
  if (processes.size() == 1) return {};
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

Result<void> check_same_files(Team& processes, const trace::LoadedTrace& loaded) {
  if (processes.size() == 1) return {};
  std::vector<std::vector<SeenFile>> told(processes.size());
  std::vector<SeenFile>& next = told[(processes.rank() + 1) % processes.size()];
  for (const LocationIndex l : loaded.own(processes)) {
    const Archive& archive = archive_of(loaded, l);
    const auto files = archive.files_of(l);
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      const FileStamp stamp = stamp_of(files[i]);
      next.push_back({l, i, stamp.size, stamp.modified_ns});
    }
  }
  Result<void> same;
  for (const std::vector<SeenFile>& from : exchange(processes, std::move(told))) {
    for (const SeenFile& file : from) {
      const std::filesystem::path path =
          archive_of(loaded, file.location).files_of(file.location)[file.file];
      const FileStamp stamp = stamp_of(path);
      const bool equal = stamp.size == file.size && stamp.modified_ns == file.modified_ns;
      if (!equal && same) same = not_the_same(path);
    }
  }
  return processes.agree(std::move(same));
}

tl::unexpected<Error> no_event_files(const std::string& path) {
  return input_error("none of the event files of {} exists; was the archive moved without them?",
                     path);
}

Result<LoadedTrace> load(Workers& workers, std::span<const std::filesystem::path> paths,
                         Progress* progress, std::span<const std::uint32_t> together) {
  LoadedTrace loaded;
  Team& processes = workers.processes();
  TRY_ASSIGN(loaded.reader, agree(processes, Archives::open(paths)));
  for (const auto& archive : archives_of(loaded).all()) {
    TRY(check_same_common_files(processes, *archive));
  }
  loaded.trace.path = loaded.reader->path();
  loaded.trace.definitions = loaded.reader->definitions();
  const std::vector<std::uint64_t> weight =
      workers.weigh(loaded.trace.definitions, [&](LocationIndex l) {
        return loaded.reader->event_bytes({&l, 1});
      });
  loaded.partition = trace::divide(loaded.trace.definitions, weight, processes.size(), together);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY(scan(workers, loaded, loaded.own(processes), progress));
  TRY(check_anything_there(processes, loaded.trace));
  return loaded;
}

}  // namespace entrain::otf2
