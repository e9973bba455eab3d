// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/archives.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// A name that occurs twice.
std::optional<std::string> repeated(std::span<const std::string> names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return name;
  }
  return std::nullopt;
}

/// The locations of `all` that are in an archive.
std::vector<LocationIndex> share_of(const Archive& archive, std::span<const LocationIndex> all) {
  std::vector<LocationIndex> own;
  std::ranges::copy_if(all, std::back_inserter(own), [&](auto l) { return archive.owns(l); });
  return own;
}

}  // namespace

std::vector<fs::path> anchors_of(std::span<const fs::path> paths) {
  std::vector<fs::path> anchors;
  for (const fs::path& path : paths) {
    std::error_code error;
    std::vector<fs::path> own = anchors_in(path, error);
    if (own.size() < 2 || error) own = {path};  // Archive::open() reports errors
    anchors.insert(anchors.end(), own.begin(), own.end());
  }
  return anchors;
}

Result<std::unique_ptr<Archives>> Archives::open(std::span<const fs::path> paths) {
  const std::vector<fs::path> anchors = anchors_of(paths);
  std::unique_ptr<Archives> result(new Archives());
  const auto definitions = std::make_shared<trace::Definitions>();
  for (const fs::path& anchor : anchors) {
    TRY_ASSIGN(result->archives_.emplace_back(), Archive::open(anchor, definitions));
  }
  result->path_ = result->archives_[0]->path();
  if (anchors.size() == 1) return result;
  result->path_ += fmt::format(" and {} more", anchors.size() - 1);
  std::vector<std::string> labels;
  for (const auto& archive : result->archives_) labels.push_back(archive->name());
  if (repeated(labels)) {
    for (std::size_t k = 0; k < labels.size(); ++k) {
      std::error_code error;
      labels[k] = fs::absolute(result->archives_[k]->folder(), error).lexically_normal().string();
      while (labels[k].size() > 1 && labels[k].ends_with('/')) labels[k].pop_back();
      labels[k] = fs::path(labels[k]).filename().string();
    }
    if (const auto folder = repeated(labels)) {
      return input_error(
          "two of the archives have one name, in folders of one name, {}, so that their copies "
          "cannot stand side by side; rename one",
          *folder);
    }
    result->names_ = labels;
  }
  for (std::size_t k = 0; k < labels.size(); ++k) {
    result->archives_[k]->label_processes(labels[k], *definitions);
  }
  return result;
}

const Archive& Archives::of(LocationIndex location) const {
  const auto found =
      std::ranges::find_if(archives_, [&](const auto& archive) { return archive->owns(location); });
  return found == archives_.end() ? *archives_.back() : **found;
}

fs::path Archives::place_of(std::size_t archive) const {
  return names_.empty() ? fs::path() : fs::path(names_[archive]);
}

std::uint64_t Archives::event_bytes(std::span<const LocationIndex> locations) const {
  std::uint64_t bytes = 0;
  for (const LocationIndex& location : locations) {
    bytes += of(location).event_bytes({&location, 1});
  }
  return bytes;
}

Result<std::vector<trace::LocationSkeleton>> Archives::scan_all(
    std::span<const LocationIndex> locations, unsigned threads, Progress* progress) const {
  if (archives_.size() == 1) return archives_[0]->scan_all(locations, threads, progress);
  std::vector<trace::LocationSkeleton> skeletons(locations.size());
  for (const auto& archive : archives_) {
    TRY_ASSIGN(auto own, archive->scan_all(share_of(*archive, locations), threads, progress));
    auto next = own.begin();
    for (std::size_t i = 0; i < locations.size(); ++i) {
      if (archive->owns(locations[i])) skeletons[i] = std::move(*next++);
    }
  }
  return skeletons;
}

Result<std::string> Archives::region_at(LocationIndex location, std::uint64_t time) const {
  TRY_ASSIGN(const LocalDefinitions local, of(location).local_definitions(location));
  TRY_ASSIGN(const std::uint32_t region,
             find_region(of(location).events_of(location, local), time));
  return region == k_none ? std::string() : definitions().regions[region].name;
}

Result<std::vector<trace::RegionRecord>> Archives::regions_around(LocationIndex location,
                                                                  std::uint64_t time,
                                                                  std::size_t most) const {
  TRY_ASSIGN(const LocalDefinitions local, of(location).local_definitions(location));
  return find_regions_around(of(location).events_of(location, local), time, most);
}

Result<void> Archives::visit_regions(LocationIndex location, Progress* progress,
                                     const trace::RegionVisitor& visit) const {
  TRY_ASSIGN(const LocalDefinitions local, of(location).local_definitions(location));
  return read_regions(of(location).events_of(location, local), progress, visit);
}

void Archives::note_files(std::span<const LocationIndex> locations, unsigned threads) {
  for (const auto& archive : archives_) {
    archive->note_files(share_of(*archive, locations), threads);
  }
}

Result<void> Archives::check_unchanged() const {
  for (const auto& archive : archives_) TRY(archive->check_unchanged());
  return {};
}

}  // namespace entrain::otf2
