// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/parallel_scan.hpp"

#include <algorithm>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"

namespace entrain::otf2 {

namespace {

constexpr std::uint64_t k_part_bytes = std::uint64_t{64} << 20;  ///< some 20 ms of scanning
/// Parts per thread, so that all threads end at about the same time.
constexpr std::uint64_t k_parts_per_thread = 4;

}  // namespace

ParallelScan::ParallelScan(const Archive& archive, std::span<const LocationIndex> locations,
                           unsigned threads, Progress* progress, std::uint64_t part_bytes)
    : archive_(archive),
      locations_(locations),
      threads_(worker_count(threads)),
      progress_(progress),
      part_bytes_(std::max<std::uint64_t>(part_bytes, 1)) {}

Result<std::vector<trace::LocationSkeleton>> ParallelScan::run() {
  const std::size_t count = locations_.size();
  skeletons_.resize(count);
  if (progress_ != nullptr) progress_->begin("scan", archive_.event_bytes(locations_), "B");
  TRY(parallel_for(threads_, count, [&](std::size_t i) { return scan_location(i); }));
  const std::vector<Task> tasks = split_large_files();
  TRY(parallel_for(threads_, tasks.size(), [&](std::size_t t) { return scan_part_of(tasks[t]); }));
  return std::move(skeletons_);
}

Result<void> ParallelScan::scan_location(std::size_t index) {
  TRY(Cancel(progress_).check());
  const LocationIndex location = locations_[index];
  if (threads_ > 1) {
    const std::uint64_t bytes = archive_.event_bytes({&location, 1});
    if (bytes / 2 >= part_bytes_) {
      const std::lock_guard lock(mutex_);
      large_files_.push_back(std::make_unique<LargeFile>(index, bytes));
      return {};
    }
  }
  TRY_ASSIGN(skeletons_[index], archive_.scan(location, progress_));
  return {};
}

/// Makes as few parts as keep all threads busy: joining them costs a copy of their events.
std::vector<ParallelScan::Task> ParallelScan::split_large_files() {
  std::sort(large_files_.begin(), large_files_.end(),
            [](const auto& a, const auto& b) { return a->index < b->index; });
  std::uint64_t total = 0;
  for (const auto& file : large_files_) total += file->bytes;
  const std::uint64_t wanted = std::max(part_bytes_, total / (threads_ * k_parts_per_thread));
  const std::uint64_t chunk_size = archive_.anchor().event_chunk_size;
  std::vector<Task> tasks;
  for (const auto& file : large_files_) {
    const std::uint64_t parts = std::max<std::uint64_t>(file->bytes / wanted, 1);
    const std::uint64_t chunks = (file->bytes - 1) / chunk_size + 1;
    const std::uint64_t step = (chunks - 1) / parts + 1;
    for (std::uint64_t first = 0; first < chunks; first += step) {
      tasks.push_back({file.get(), file->parts.size()});
      file->parts.emplace_back().range = {first, step};
    }
    file->parts.back().range.count = ChunkRange::k_all;
    file->parts_left = file->parts.size();
  }
  return tasks;
}

Result<void> ParallelScan::scan_part_of(const Task& task) {
  TRY(Cancel(progress_).check());
  LargeFile& file = *task.file;
  const LocationIndex location = locations_[file.index];
  // Read again for every part: cheap beside the part, while keeping those of all locations would
  // take much memory.
  TRY_ASSIGN(LocalDefinitions local, archive_.local_definitions(location));
  const EventFile events = archive_.events_of(location, local);
  scan_part(events, progress_, file.parts[task.part]);
  if (--file.parts_left > 0) return {};
  TRY_ASSIGN(trace::LocationSkeleton skeleton, join_parts(events, progress_, file.parts));
  file.parts = {};
  archive_.complete(skeleton, location, local);
  skeletons_[file.index] = std::move(skeleton);
  return {};
}

Result<std::vector<trace::LocationSkeleton>> Archive::scan_all(
    std::span<const LocationIndex> locations, unsigned threads, Progress* progress) const {
  return ParallelScan(*this, locations, threads, progress, k_part_bytes).run();
}

}  // namespace entrain::otf2
