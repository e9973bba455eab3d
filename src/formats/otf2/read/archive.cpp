// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/archive.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/trace_kinds.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// Local definitions of up to so many bytes are kept in memory.
constexpr std::int64_t k_small_definitions = 256;

/// The one anchor file of a folder.
Result<fs::path> anchor_in(const fs::path& folder) {
  std::error_code error;
  const std::vector<fs::path> anchors = anchors_in(folder, error);
  if (error) {
    return input_error("cannot read folder {}: {}", folder.string(), error.message());
  }
  if (anchors.size() == 1) return anchors.front();
  if (anchors.empty()) {
    return input_error("folder {} holds no trace, which is {}", folder.string(), k_trace_kinds);
  }
  return input_error("folder {} holds several anchor files; name the .otf2 file of the archive",
                     folder.string());
}

Result<void> check_same(const FileStamp& before, const FileStamp& now, const fs::path& file) {
  if (now == before) return {};
  return input_error("{} has changed while it was read; run again when nothing writes to it",
                     file.string());
}

/// Operation codes from here on create and destroy handles.
constexpr std::uint8_t k_first_handle_operation = 17;

/// Collects stamps and types.
class StampReader : public ChunkVisitor {
 public:
  explicit StampReader(EventStamps& result) : result_(result) {}

  bool stamp(std::size_t, std::uint64_t time) {
    time_ = time;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    result_.stamps.push_back(time_);
    result_.types.push_back(type);
    result_.communication.push_back(communicates(type, chunk_ + offset, size) ? 1 : 0);
    return true;
  }

 private:
  static bool communicates(std::uint8_t type, const std::uint8_t* payload, std::size_t size) {
    switch (type) {
      case event::mpi_send:
      case event::mpi_isend:
      case event::mpi_recv:
      case event::mpi_irecv:
        return true;
      case event::mpi_collective_end:
      case event::nb_collective_complete:
        return size > 0 && payload[0] < k_first_handle_operation;
      default:
        return false;
    }
  }

  EventStamps& result_;
  std::uint64_t time_ = 0;
};

}  // namespace

bool is_anchor(const fs::path& path) { return path.extension() == ending::anchor; }

std::vector<fs::path> anchors_in(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> anchors;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_anchor(it->path())) anchors.push_back(it->path());
  }
  std::ranges::sort(anchors);
  return anchors;
}

Result<std::unique_ptr<Archive>> Archive::open(const fs::path& path,
                                               std::shared_ptr<trace::Definitions> all) {
  std::error_code error;
  fs::path anchor_path = path;
  if (fs::is_directory(path, error)) {
    TRY_ASSIGN(anchor_path, anchor_in(path));
  }
  // A link to an anchor stands for the archive where that lies.
  if (fs::is_symlink(fs::symlink_status(anchor_path, error))) {
    const fs::path target = fs::canonical(anchor_path, error);
    if (!error) anchor_path = target;
  }
  std::unique_ptr<Archive> archive(new Archive());
  archive->anchor_path_ = anchor_path.string();
  for (const fs::path& file : archive->common_files()) {
    archive->common_stamps_.push_back(stamp_of(file));
  }
  TRY_ASSIGN(const auto bytes, read_file(anchor_path, k_largest_anchor));
  TRY_ASSIGN(archive->anchor_, parse_anchor(bytes, anchor_path));
  archive->location_folder_ = (archive->folder() / archive->name()).string() + '/';
  archive->first_location_ = static_cast<LocationIndex>(all->locations.size());
  archive->first_group_ = all->location_groups.size();
  const fs::path path_of_globals = archive->global_definition_file();
  TRY_ASSIGN(const DefinitionFile file,
             read_definition_file(path_of_globals, archive->anchor_.definition_chunk_size));
  TRY_ASSIGN(GlobalDefinitions globals,
             global_definitions_of(file, path_of_globals, std::move(*all)));
  *all = std::move(globals.definitions);
  all->properties.insert(all->properties.end(), archive->anchor_.properties.begin(),
                         archive->anchor_.properties.end());
  archive->references_ = std::move(globals.references);
  archive->end_of_groups_ = all->location_groups.size();
  archive->take_ids(*all);
  archive->definitions_ = std::move(all);
  return archive;
}

/// Ids that earlier archives have become the next ones, after the largest of all, that none has.
void Archive::take_ids(trace::Definitions& all) {
  std::set<std::uint64_t> earlier, used;
  for (LocationIndex l = 0; l < all.locations.size(); ++l) {
    if (l < first_location_) earlier.insert(all.locations[l].id);
    used.insert(all.locations[l].id);
  }
  std::uint64_t next = used.empty() ? 0 : *used.rbegin();
  for (LocationIndex l = first_location_; l < all.locations.size(); ++l) {
    ids_.push_back(all.locations[l].id);
    if (!earlier.contains(ids_.back())) continue;
    while (!used.insert(++next).second) {
    }
    all.locations[l].id = next;
  }
}

void Archive::label_processes(const std::string& label, trace::Definitions& all) const {
  for (std::size_t g = first_group_; g < end_of_groups_; ++g) {
    std::string& name = all.location_groups[g].name;
    name = name.empty() ? label : fmt::format("{}: {}", label, name);
  }
}

std::vector<LocationIndex> Archive::locations() const {
  std::vector<LocationIndex> own(ids_.size());
  std::iota(own.begin(), own.end(), first_location_);
  return own;
}

fs::path Archive::folder() const {
  const fs::path parent = fs::path(anchor_path_).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

std::string Archive::name() const { return fs::path(anchor_path_).stem().string(); }

std::string Archive::name_of(LocationIndex location, LocationFile file) const {
  constexpr std::array<const char*, k_location_files> k_endings{ending::events, ending::definitions,
                                                                ending::snapshots};
  return fmt::format("{}{}", id_of(location), k_endings[static_cast<std::size_t>(file)]);
}

fs::path Archive::location_file(LocationIndex location, LocationFile file) const {
  return location_folder_ + name_of(location, file);
}
fs::path Archive::event_file(LocationIndex location) const {
  return location_file(location, LocationFile::events);
}
fs::path Archive::definition_file(LocationIndex location) const {
  return location_file(location, LocationFile::definitions);
}
fs::path Archive::snapshot_file(LocationIndex location) const {
  return location_file(location, LocationFile::snapshots);
}
fs::path Archive::global_definition_file() const {
  return folder() / (name() + ending::definitions);
}
fs::path Archive::marker_file() const { return folder() / (name() + ending::markers); }
fs::path Archive::thumbnail_file(std::uint32_t number) const {
  return folder() / fmt::format("{}.{}{}", name(), number, ending::thumbnail);
}

std::vector<fs::path> Archive::common_files() const {
  std::vector<fs::path> files{anchor_path_, global_definition_file(), marker_file()};
  for (const char* table : {"clock_samples.csv", "clock_delays.csv"}) {
    files.push_back(folder() / table);
  }
  return files;
}

std::array<fs::path, k_location_files> Archive::files_of(LocationIndex location) const {
  return {event_file(location), definition_file(location), snapshot_file(location)};
}

Archive::Note Archive::take_note(LocationIndex location) const {
  Note note{location, {}, {}};
  const auto files = files_of(location);
  std::transform(files.begin(), files.end(), note.stamps.begin(), stamp_of);
  const std::int64_t size = note.stamps[static_cast<std::size_t>(LocationFile::definitions)].size;
  if (size <= 0 || size > k_small_definitions) return note;
  // A later step reads files again that cannot be read now, and reports their error.
  auto bytes = read_file(definition_file(location), k_small_definitions);
  if (bytes) note.definitions = *std::move(bytes);
  return note;
}

void Archive::note_files(std::span<const LocationIndex> locations, unsigned threads) {
  threads_ = threads;
  note_of_.resize(definitions_->locations.size(), k_none);
  const std::size_t first = notes_.size();
  notes_.resize(first + locations.size());
  for_each_in_parallel(threads, locations.size(), [&](std::size_t i) {
    notes_[first + i] = take_note(locations[i]);
    note_of_[locations[i]] = static_cast<std::uint32_t>(first + i);
  });
}

const Archive::Note* Archive::note_of(LocationIndex location) const {
  const std::uint32_t note = note_of_.empty() ? k_none : note_of_[location];
  return note == k_none ? nullptr : &notes_[note];
}

FileStamp Archive::stamp(LocationIndex location, LocationFile file) const {
  const Note* const note = note_of(location);
  return note == nullptr ? stamp_of(location_file(location, file))
                         : note->stamps[static_cast<std::size_t>(file)];
}

Result<std::optional<DefinitionFile>> Archive::local_file(LocationIndex location) const {
  const Note* const note = note_of(location);
  const fs::path path = definition_file(location);
  if (note == nullptr || note->definitions.empty()) {
    return read_definition_file_if_any(path, anchor_.definition_chunk_size);
  }
  TRY_ASSIGN(DefinitionFile file,
             parse_definitions(note->definitions, anchor_.definition_chunk_size, path));
  return std::optional(std::move(file));
}

Result<void> Archive::copy_definitions(LocationIndex location, const fs::path& to) const {
  const Note* const note = note_of(location);
  if (note == nullptr || note->definitions.empty()) {
    return duplicate_file(definition_file(location), to);
  }
  return write_file(to, note->definitions);
}

Result<void> Archive::check_unchanged() const {
  const std::vector<fs::path> common = common_files();
  for (std::size_t i = 0; i < common_stamps_.size(); ++i) {
    TRY(check_same(common_stamps_[i], stamp_of(common[i]), common[i]));
  }
  return parallel_for(threads_, notes_.size(), [&](std::size_t i) -> Result<void> {
    const auto files = files_of(notes_[i].location);
    for (std::size_t k = 0; k < k_location_files; ++k) {
      TRY(check_same(notes_[i].stamps[k], stamp_of(files[k]), files[k]));
    }
    return {};
  });
}

std::uint64_t Archive::event_bytes(std::span<const LocationIndex> locations) const {
  std::uint64_t bytes = 0;
  for (const LocationIndex location : locations) {
    const std::int64_t size = stamp(location, LocationFile::events).size;
    if (size > 0) bytes += static_cast<std::uint64_t>(size);
  }
  return bytes;
}

/// The largest files come first, so that all threads end at about the same time.
Result<std::vector<trace::LocationSkeleton>> Archive::scan_all(
    std::span<const LocationIndex> locations, unsigned threads, Progress* progress) const {
  if (progress != nullptr) progress->begin("scan", event_bytes(locations), "B");
  std::vector<std::pair<std::uint64_t, std::size_t>> order;  // bytes, position in `locations`
  for (const LocationIndex& location : locations) {
    order.emplace_back(event_bytes({&location, 1}), order.size());
  }
  std::ranges::stable_sort(order, std::greater(), [](const auto& one) { return one.first; });
  std::vector<trace::LocationSkeleton> skeletons(locations.size());
  TRY(parallel_for(threads, order.size(), [&](std::size_t i) -> Result<void> {
    TRY(Cancel(progress).check());
    const std::size_t at = order[i].second;
    TRY_ASSIGN(skeletons[at], scan(locations[at], progress));
    return {};
  }));
  return skeletons;
}

Result<trace::LocationSkeleton> Archive::scan(LocationIndex location, Progress* progress) const {
  TRY_ASSIGN(LocalDefinitions local, local_definitions(location));
  TRY_ASSIGN(trace::LocationSkeleton skeleton, scan_events(events_of(location, local), progress));
  skeleton.definition_file_missing = local.missing;
  skeleton.clock_offsets = std::move(local.clock_offsets);
  if (skeleton.event_file_missing && definitions_->locations[location].event_count == 0) {
    skeleton.event_file_missing = false;  // nothing is lost
  }
  return skeleton;
}

Result<LocalDefinitions> Archive::local_definitions(LocationIndex location) const {
  TRY_ASSIGN(const auto file, local_file(location));
  if (file) {
    return local_definitions_of(
        *file, definition_file(location),
        references_.partners_attribute == k_none ? LocalStrings::ignore : LocalStrings::read);
  }
  LocalDefinitions none;
  none.missing = true;
  return none;
}

EventFile Archive::events_of(LocationIndex location, const LocalDefinitions& local) const {
  return {event_file(location), anchor_.event_chunk_size, local, references_, id_of(location)};
}

Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location) {
  EventStamps result;
  // Room for as many events as the definition says, if the file can hold them: no event has fewer
  // than 2 bytes.
  const std::size_t expected = std::min(archive.definitions().locations[location].event_count,
                                        archive.event_bytes({&location, 1}) / 2);
  result.stamps.reserve(expected);
  result.types.reserve(expected);
  result.communication.reserve(expected);
  StampReader visitor(result);
  TRY(visit_events(archive.event_file(location), archive.anchor().event_chunk_size, nullptr,
                   visitor));
  return result;
}

}  // namespace entrain::otf2
