// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write_archive.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/cancel.hpp"
#include "base/durable.hpp"
#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/link.hpp"
#include "base/team.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/retime.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// A run of stage_archive() in one process.
class Writer {
 public:
  Writer(const PlacedArchive& archive, const WritePlan& plan, const OutputFolder& staged)
      : archive_(archive.archive),
        plan_(plan),
        place_(staged.path() / archive.place),
        folder_((place_ / archive_.name()).string() + '/'),
        linker_(staged.target() / archive.place / archive_.name(), plan.link),
        own_(archive_.locations()),
        event_counts_(plan.copy_events ? archive_.definitions().locations.size() : 0) {
    if (plan.share != nullptr) {
      std::erase_if(own_, [&](LocationIndex l) { return !plan.share->owns(l); });
    }
  }

  Result<void> create_folder() const {
    std::error_code error;
    const fs::path folder = place_ / archive_.name();
    fs::create_directories(folder, error);
    if (!error) return {};
    return output_error("cannot create folder {}: {}", folder.string(), error.message());
  }

  Result<void> write_locations() {
    const bool rewrites = plan_.mode == WriteMode::rewrite;
    if (plan_.progress != nullptr && rewrites) {
      plan_.progress->begin("write", archive_.event_bytes(own_), "B");
    } else if (plan_.progress != nullptr) {
      plan_.progress->begin("write", own_.size(), "locations");
    }
    return parallel_for(plan_.threads, own_.size(), [&](std::size_t i) -> Result<void> {
      TRY(Cancel(plan_.progress).check());
      TRY(write_definitions(own_[i]));
      TRY(write_snapshots(own_[i]));
      TRY(write_events(own_[i]));
      if (plan_.progress != nullptr && !rewrites) plan_.progress->advance(1);
      return {};
    });
  }

  Result<void> write_globals(std::span<const std::int64_t> marker_times) {
    TRY(write_global_definitions(definitions(archive_.global_definition_file()),
                                 written(archive_.global_definition_file()),
                                 {plan_.first_time, plan_.last_time, event_counts()}));
    TRY(write_markers(archive_, written(archive_.marker_file()), marker_times));
    for (std::uint32_t i = 0; i < archive_.anchor().thumbnail_count; ++i) {
      const fs::path thumbnail = archive_.thumbnail_file(i);  // it holds no times
      if (!file_exists(thumbnail)) break;
      TRY(duplicate_file(thumbnail, written(thumbnail)));
    }
    // The anchor comes last: without it nothing here looks like an archive.
    TRY_ASSIGN(const auto anchor, read_file(archive_.path(), k_largest_anchor));
    return write_file(
        written(archive_.path()),
        with_properties(anchor, archive_.anchor(), plan_.properties, plan_.removed_properties));
  }

  /// Adds the links that this process has made, by kind.
  void count_links(LinkCounts& all) const {
    for (std::size_t kind = 0; kind < all.size(); ++kind) all[kind] += links_[kind];
  }
  /// Waits until the files of this process are on the disk. One process does it at its commit; of
  /// several each must, as no other one knows what its machine has still in memory.
  Result<void> make_files_durable() const {
    std::vector<fs::path> files;
    for (const LocationIndex location : own_) {
      for (const fs::path& file : archive_.files_of(location)) {
        fs::path written = folder_ + file.filename().string();
        std::error_code error;
        if (fs::is_regular_file(fs::symlink_status(written, error)))
          files.push_back(std::move(written));
      }
    }
    return make_durable(files);
  }

 private:
  /// Where a file of a location is written.
  [[nodiscard]] fs::path written(LocationIndex location, LocationFile file) const {
    return folder_ + archive_.name_of(location, file);
  }
  /// Where a file of the whole archive is written.
  [[nodiscard]] fs::path written(const fs::path& file) const { return place_ / file.filename(); }
  [[nodiscard]] ChunkedPath definitions(fs::path file) const {
    return {std::move(file), archive_.anchor().definition_chunk_size};
  }

  /// Copies an event or snapshot file with other times.
  Result<void> retime(LocationIndex location, const fs::path& from, Framing framing) {
    const bool split = !plan_.split_flushes.empty() && plan_.split_flushes[location];
    return retime_file({.from = from,
                        .to = folder_ + from.filename().string(),
                        .chunk_size = archive_.anchor().event_chunk_size,
                        .map = plan_.maps[location],
                        .stops = split ? StopTimes::stand_alone : StopTimes::move_segment,
                        .progress = plan_.progress},
                       framing);
  }

  Result<void> write_events(LocationIndex location) {
    const FileStamp stamp = archive_.stamp(location, LocationFile::events);
    if (!stamp.named) return {};
    const fs::path from = archive_.event_file(location);
    const fs::path to = written(location, LocationFile::events);
    if (plan_.copy_events) {
      TRY_ASSIGN(event_counts_[location], plan_.copy_events(location, to));
      return {};
    }
    if (plan_.mode == WriteMode::rewrite) return retime(location, from, Framing::events);
    const bool is_plain = stamp.size >= 0 && !stamp.link;
    TRY_ASSIGN(const LinkKind made,
               linker_.link(from, to, is_plain ? Linker::Origin::plain : Linker::Origin::unknown));
    ++links_[static_cast<std::size_t>(made)];
    return {};
  }

  Result<void> write_definitions(LocationIndex location) {
    const ChunkedPath from = definitions(archive_.definition_file(location));
    const fs::path to = written(location, LocationFile::definitions);
    TRY_ASSIGN(auto file, archive_.local_file(location));
    if (plan_.copy_events) return keep_definitions(location, std::move(file), to);
    if (plan_.mode == WriteMode::overlay) {
      return write_overlay_definitions(location, std::move(file), to);
    }
    if (plan_.clock_offsets.empty()) return write_neutral_definitions(std::move(file), from, to);
    return write_local_definitions(std::move(file), from, to, archive_.anchor().big_endian,
                                   plan_.clock_offsets[location]);
  }

  Result<void> keep_definitions(LocationIndex location, std::optional<DefinitionFile> file,
                                const fs::path& to) {
    if (!file) return {};
    TRY_ASSIGN(const LocalDefinitions local,
               local_definitions_of(*file, archive_.definition_file(location)));
    if (trace::in_order(local.clock_offsets)) return archive_.copy_definitions(location, to);
    return input_error(
        "{} is damaged: its ClockOffset records are not in order of time, and no reader would take "
        "a copy; write one without them by entrain correct --presync none",
        archive_.definition_file(location).string());
  }

  Result<void> write_overlay_definitions(LocationIndex location, std::optional<DefinitionFile> file,
                                         const fs::path& to) {
    const ChunkedPath from = definitions(archive_.definition_file(location));
    const auto knots = plan_.maps[location].knots();
    TRY_ASSIGN(const LocalDefinitions old,
               local_definitions_of(file ? *file : DefinitionFile{}, from.path));
    const bool same = std::equal(knots.begin(), knots.end(), old.clock_offsets.begin(),
                                 old.clock_offsets.end(), [](const ClockKnot& k, const auto& o) {
                                   return k.local == o.time && k.offset == o.offset;
                                 });
    const bool both_identity = knots.size() < 2 && old.clock_offsets.size() < 2;
    if (same || both_identity)
      return file ? archive_.copy_definitions(location, to) : Result<void>();
    double stddev = 0;  // of the worst measurement that went in: nothing better is known
    for (const trace::ClockOffset& offset : old.clock_offsets) {
      if (std::isfinite(offset.stddev)) stddev = std::max(stddev, offset.stddev);
    }
    std::vector<trace::ClockOffset> offsets;
    for (const ClockKnot& knot : knots) offsets.push_back({knot.local, knot.offset, stddev});
    return write_local_definitions(std::move(file), from, to, archive_.anchor().big_endian,
                                   offsets);
  }

  Result<void> write_snapshots(LocationIndex location) {
    if (!archive_.has(location, LocationFile::snapshots)) return {};
    return retime(location, archive_.snapshot_file(location), Framing::snapshots);
  }

  /// New numbers of events by location id, where records were left out.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint64_t> event_counts() const {
    std::unordered_map<std::uint64_t, std::uint64_t> counts;
    for (const LocationIndex l : own_) {
      if (event_counts_.empty() || !archive_.has(l, LocationFile::events)) continue;
      counts[archive_.id_of(l)] = event_counts_[l];
    }
    return counts;
  }

  const Archive& archive_;
  const WritePlan& plan_;
  fs::path place_;      ///< folder of the anchor
  std::string folder_;  ///< folder of the location files; ends with a slash
  Linker linker_;
  std::vector<LocationIndex> own_;  ///< locations of this process
  std::array<std::atomic<std::int64_t>, std::tuple_size_v<LinkCounts>> links_{};
  std::vector<std::uint64_t> event_counts_;  ///< one per location, or none
};

/// Rank 0 creates the folder, the others learn where it is.
Result<OutputFolder> create_in_common(Team& team, const fs::path& directory,
                                      const OutputRule& rule) {
  std::optional<OutputFolder> staged;
  Result<void> created;
  std::vector<std::vector<char>> parcels(team.size());
  if (team.rank() == 0) {
    auto result = OutputFolder::create(directory, rule);
    if (result) {
      staged.emplace(std::move(*result));
      std::string names = staged->path().string();
      names += '\0';
      names += staged->target().string();
      std::fill(parcels.begin(), parcels.end(), std::vector<char>(names.begin(), names.end()));
    } else {
      created = tl::unexpected<Error>(std::move(result).error());
    }
  }
  TRY(team.agree(std::move(created)));
  const std::vector<char> names = exchange(team, std::move(parcels))[0];
  if (staged) return std::move(*staged);
  const auto middle = std::find(names.begin(), names.end(), '\0');
  return OutputFolder::attach(fs::path(names.begin(), middle), fs::path(middle + 1, names.end()));
}

}  // namespace

Result<StagedArchive> stage_archive(const Archive& archive, const WritePlan& plan,
                                    const fs::path& directory) {
  const PlacedArchive alone{archive};
  return stage_archives({&alone, 1}, plan, directory);
}

Result<StagedArchive> stage_archives(std::span<const PlacedArchive> archives, const WritePlan& plan,
                                     const fs::path& directory) {
  Solo solo;
  Team& team = plan.share == nullptr ? solo : plan.share->team;
  const bool first = team.rank() == 0;
  TRY_ASSIGN(OutputFolder folder, create_in_common(team, directory, plan.rule));
  StagedArchive staged{.folder = std::move(folder), .anchors = {}};
  std::span<const std::int64_t> markers = plan.marker_times;
  for (const PlacedArchive& one : archives) {
    Writer writer(one, plan, staged.folder);
    TRY(team.agree(first ? writer.create_folder() : Result<void>()));
    TRY(team.agree(writer.write_locations()));
    std::size_t own = markers.size();
    if (archives.size() > 1 && own > 0) {
      TRY_ASSIGN(const auto times, agree(team, read_marker_times(one.archive)));
      own = times.size();
    }
    TRY(team.agree(first ? writer.write_globals(markers.first(own)) : Result<void>()));
    markers = markers.subspan(own);
    if (team.size() > 1) TRY(team.agree(writer.make_files_durable()));
    staged.anchors.push_back(one.place / fs::path(one.archive.path()).filename());
    writer.count_links(staged.links);
  }
  team.reduce(Team::Reduction::sum, staged.links);
  staged.leftovers_removed = static_cast<std::uint64_t>(team.reduce(
      Team::Reduction::sum, static_cast<std::int64_t>(staged.folder.leftovers_removed())));
  return staged;
}

}  // namespace entrain::otf2
