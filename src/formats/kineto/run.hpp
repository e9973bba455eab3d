// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/manifest.hpp"
#include "formats/kineto/merge_rank.hpp"
#include "formats/kineto/ranks.hpp"
#include "formats/kineto/rewrite.hpp"
#include "formats/parts/fields.hpp"
#include "formats/recording.hpp"

namespace entrain::kineto {

// Files as compact bytes: what read_file() leaves of each (summary.cpp).

/// Writes files with their calls, arrows and edges. A survey of a Perfetto trace is left out.
void pack(parts::FieldWriter& fields, std::vector<RankFile>& files);

/// Appends the files that pack() has written; each Perfetto trace has an empty survey. False if
/// they are damaged, or if a number in them is out of range.
[[nodiscard]] bool unpack(parts::FieldReader& fields, std::vector<RankFile>& files);

/// Where the files of a run are.
enum class Place : std::uint8_t {
  here,
  elsewhere,  ///< they were summarised
  parted,     ///< some of them are here, whose clocks were fitted elsewhere
};

/// A training run.
class Run : public formats::Recording {
 public:
  explicit Run(std::vector<RankFile> windows, unsigned threads, Place place = Place::here)
      : files_(std::move(windows)), threads_(threads), place_(place) {
    has_overlay = place == Place::here;
  }

  Result<void> prepare() {
    remove_empty(files_, notes);
    TRY(order_ranks(files_, notes));
    ranks_ = ranks_of(files_);
    set_aside_wrong_units();
    set_aside_far_times();
    set_aside_lone_ranks();
    take(match_calls(ranks_));
    return {};
  }

  /// Fills what is told of files; all that is known of those whose run is not here.
  void name_files() {
    for (const RankFile& file : files_) {
      files.push_back(file.path);
      bytes += file.facts.bytes;
      events += file.events;
    }
  }

  [[nodiscard]] Result<void> write(const std::filesystem::path& folder,
                                   std::span<const ClockMap> maps) const override {
    const auto& write_one = place_ == Place::parted ? write_part : kineto::write_file;
    return parallel_for(threads_, files_.size(), [&](std::size_t f) {
      return write_one(folder / files_[f].path.filename(), files_[f], maps_of(files_[f], maps));
    });
  }
  /// The run as its files hold it once they are written with these maps.
  [[nodiscard]] std::unique_ptr<Run> moved(std::span<const ClockMap> maps) const {
    return moved(files_, maps);
  }
  void pack_fitted(parts::FieldWriter& fields) const override {
    std::vector<RankFile> known = files_;
    pack(fields, known);
  }

  [[nodiscard]] Result<LinkCounts> write_overlay(const std::filesystem::path& folder,
                                                 const std::filesystem::path& final_folder,
                                                 std::span<const ClockMap> maps,
                                                 LinkKind kind) const override;

  [[nodiscard]] Result<void> annotate_overlay(const std::filesystem::path& folder,
                                              const formats::Attributes& facts) const override {
    return annotate_manifest(folder / k_manifest_name, facts);
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_back(
      const std::filesystem::path& folder, std::span<const ClockMap> maps) const override;
  [[nodiscard]] std::unique_ptr<formats::Source> paired_after(
      std::span<const ClockMap> maps) const override;

  [[nodiscard]] std::vector<ClockMap> stored_times() const override;
  [[nodiscard]] Result<void> check_mergeable() const override {
    if (place_ == Place::here) return {};
    return usage_error("summaries hold no events to merge: name the files of the run");
  }
  [[nodiscard]] std::uint64_t text_bytes() const override { return bytes; }
  [[nodiscard]] Result<MergeReport> merge(const formats::MergePlan& plan) const override {
    return merge_files(files_, ranks_, plan);
  }

  [[nodiscard]] Result<std::optional<trace::Collectives>> collectives(const trace::Share&,
                                                                      const CheckOptions&,
                                                                      Progress*) const override;
  [[nodiscard]] Result<formats::EventTimes> event_times() const override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override;
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const formats::Work&)>& see) const override;

 private:
  /// `written`: the files, with what is known of them besides the moved times.
  [[nodiscard]] std::unique_ptr<Run> moved(std::vector<RankFile> written,
                                           std::span<const ClockMap> maps) const;
  /// Reads copies like any other files. Fails if they cannot be copies.
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_anew(
      const std::vector<RankFile>& copies) const;
  void take(Matches matches);
  void add_clocks();
  void add_clock(const RankFile& file, const FileClock& own, std::string name);
  void add_devices(const RankFile& rank);
  void add_calls();
  /// Fills `event_names` for the most violated edges of each kind, by the times as stored. The
  /// first `inner` edges are between hosts and devices: of the worst of these the files are read
  /// again. Names are missing if that fails.
  void name_worst_edges(std::size_t inner);
  void name_contents();
  void add(const Instance& instance);
  void add_message(const Instance& instance);
  void add_arrows();
  void set_aside_wrong_units();
  void set_aside_far_times();
  void set_aside_lone_ranks();
  void warn_of_cuts();
  void note_falls(const RankFile& file);
  void note_packets(const RankFile& file);
  void warn_of_origins();
  void warn_of_mixed(const RankFile& file);
  void warn_of_apart();

  std::vector<RankFile> files_;  ///< sorted by rank and time; their calls are in `ranks_`
  std::vector<RankFile> ranks_;
  Matches matches_;
  unsigned threads_;
  Place place_;
};

/// Reads files, each by itself. Errors: those of read_file().
Result<std::vector<RankFile>> read_files(std::span<const std::filesystem::path> files,
                                         unsigned threads, std::uint64_t max_unpacked);

}  // namespace entrain::kineto
