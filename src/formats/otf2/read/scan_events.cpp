// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/scan_events.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/read/scanner.hpp"

namespace entrain::otf2 {

namespace {

/// Room for more events than this is made only when half of them are there: a file may begin with
/// far more communication than it holds later.
constexpr std::uint64_t k_most_foreseen = std::uint64_t{1} << 24;
/// Vectors with less room than this are cut to their size.
constexpr std::size_t k_small = 1 << 13;

/// Predicts from the blocks read so far how many events a part holds, and reserves room for them:
/// growing a vector step by step would copy it again and again.
///
/// Example: after 10 of 100 blocks there are 4,000 events, so about 40,000 are expected; room is
/// made for 1/16 more than that, and for two blocks more.
///
/// For the first block the whole file that this thread scanned before tells, as locations of a
/// trace are much alike. Only the room depends on it, never a result.
class Forecast {
 public:
  Forecast(const BlockReader& reader, ChunkRange range, trace::EventList& events)
      : reader_(reader), range_(range), events_(events) {
    const double expected = events_per_byte * static_cast<double>(reader.file_size());
    if (range.count != ChunkRange::k_all || expected < k_small) return;
    const auto room = static_cast<std::uint64_t>(expected + expected / 16);
    events.reserve(std::min(room, k_most_foreseen));
  }
  /// To be called when the part is scanned.
  void note() const {
    const std::uint64_t bytes = reader_.next_offset();
    if (range_.count != ChunkRange::k_all || bytes < k_small) return;  // too few to tell
    events_per_byte = static_cast<double>(events_.size()) / static_cast<double>(bytes);
  }

  void block_is_done(std::uint64_t block_bytes) {
    if (block_bytes == 0) return;
    ++blocks_;
    const std::size_t more = events_.size() - std::exchange(size_before_, events_.size());
    const std::uint64_t end = std::max(reader_.file_size(), reader_.next_offset());  // it may grow
    const std::uint64_t bytes = end - reader_.next_offset();
    const std::uint64_t left =
        std::min((bytes + block_bytes - 1) / block_bytes, range_.count - blocks_);
    // Room for the next two blocks is enough for now, or for the last one.
    if (events_.size() + std::min<std::uint64_t>(left, 2) * more <= events_.capacity()) return;
    const std::uint64_t expected = events_.size() + events_.size() / blocks_ * left;
    const std::uint64_t most = std::max<std::uint64_t>(k_most_foreseen, 2 * events_.size());
    events_.reserve(std::min(expected + expected / 16, most) + 2 * more);
  }

 private:
  /// Events per byte of the last whole file, except small ones, that this thread scanned.
  static inline thread_local double events_per_byte = 0;

  const BlockReader& reader_;
  ChunkRange range_;
  trace::EventList& events_;
  std::uint64_t blocks_ = 0;
  std::size_t size_before_ = 0;
};

/// Scans the chunks of `range`. `time`: the last stamp before the part, if it is known.
Result<void> try_scan_part(const EventFile& file, ChunkRange range,
                           std::optional<std::uint64_t> time, Progress* progress, ScanPart& part) {
  part = {};
  TRY_ASSIGN(BlockReader reader, BlockReader::open(file.path, file.chunk_size, range));
  Scanner scanner(file.local, file.references, part, time);
  Forecast forecast(reader, range, part.skeleton.events);
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(count_block(progress, block));
    forecast.block_is_done(block.size());
    return {};
  };
  TRY_ASSIGN(const FileEnd end, walk_file<Framing::events>(reader, scanner, on_block));
  forecast.note();
  part.truncated = end.truncated;
  part.goes_on = end.goes_on;
  return {};
}

/// Puts the parts of one file together, in order. The result is that of one scan of the whole file.
class PartJoiner {
 public:
  explicit PartJoiner(std::size_t events) {
    if (events > 0) result_.events.reserve(events);
  }

  void append(ScanPart part);
  /// The last stamp so far; unset: there was none.
  [[nodiscard]] std::optional<std::uint64_t> last_stamp() const { return last_stamp_; }
  [[nodiscard]] trace::LocationSkeleton finish();

 private:
  void append_stamps(const ScanPart& part);
  void append_events(ScanPart& part);
  void append_gaps(const ScanPart& part);
  void note_decrease(const ScanPart::Decrease& decrease);

  trace::LocationSkeleton result_;
  std::optional<std::uint64_t> last_stamp_;
  trace::RmaGroupRole role_ = trace::RmaGroupRole::unknown;  ///< role of the window call that is
                                                             ///< open
  std::vector<trace::Event> waiting_syncs_;                  ///< RmaGroupSyncs of that call
};

void PartJoiner::append(ScanPart part) {
  append_stamps(part);
  append_events(part);
  trace::LocationSkeleton& more = part.skeleton;
  result_.event_count += more.event_count;
  result_.last = std::max(result_.last, more.last);
  result_.unknown_records += more.unknown_records;
  result_.undefined_references += more.undefined_references;
  result_.flushes.insert(result_.flushes.end(), more.flushes.begin(), more.flushes.end());
  append_gaps(part);
  result_.truncated = part.truncated;
}

/// A gap that was open at the end of the part before goes on here until the first "on".
void PartJoiner::append_gaps(const ScanPart& part) {
  std::vector<trace::Gap>& gaps = result_.gaps;
  bool open = !gaps.empty() && gaps.back().end == trace::Gap::k_open;
  if (open && part.switched_on_first) {
    gaps.back().end = part.first_on;
    open = false;
  }
  for (const trace::Gap& gap : part.skeleton.gaps) {
    if (open) {  // switched off twice
      gaps.back().end = gap.end;
      open = false;
    } else {
      gaps.push_back(gap);
    }
  }
}

void PartJoiner::append_stamps(const ScanPart& part) {
  const auto note_step = [&](std::uint64_t step) {
    if (step > 0 && (result_.granule == 0 || step < result_.granule)) result_.granule = step;
  };
  if (!part.has_stamp) return;
  if (!last_stamp_) {
    result_.first = part.first_stamp;
  } else if (part.first_stamp < *last_stamp_) {
    note_decrease({part.records_before_stamp, part.first_stamp, *last_stamp_});
  } else {
    note_step(part.first_stamp - *last_stamp_);
  }
  note_step(part.skeleton.granule);
  if (part.decrease) note_decrease(*part.decrease);
  last_stamp_ = part.last_stamp;
}

/// Only the first decrease of the file is reported.
void PartJoiner::note_decrease(const ScanPart::Decrease& decrease) {
  if (!result_.decreasing.empty()) return;
  result_.decreasing =
      fmt::format("event {} at {} after {}", result_.event_count + decrease.record + 1,
                  decrease.time, decrease.previous);
}

void PartJoiner::append_events(ScanPart& part) {
  using trace::RmaGroupRole;
  trace::EventList& from = part.skeleton.events;
  trace::EventList& to = result_.events;
  std::size_t taken = 0;
  const auto take_until = [&](std::size_t end) {
    if (taken == 0 && end == from.size() && to.capacity() == 0) {
      to = std::move(from);
    } else {
      to.append(from, taken, end);
    }
    taken = end;
  };
  // RmaGroupSyncs at the begin of the part belong to the call that was open at its begin, which the
  // part could not know.
  for (const std::size_t sync : part.early_syncs) {
    if (role_ == RmaGroupRole::unknown) break;
    trace::Event event = from[sync];
    event.op = static_cast<std::uint8_t>(role_);
    if (waits(role_)) {
      take_until(sync);
      waiting_syncs_.push_back(event);
      ++taken;
    } else {
      from.replace(sync, event);
    }
  }
  if (part.first_window_call) {
    if (!waiting_syncs_.empty()) {
      take_until(part.first_window_call->position);
      append_syncs(to, waiting_syncs_, part.first_window_call->time);
    }
    role_ = part.role;
    waiting_syncs_ = std::move(part.waiting_syncs);
  }
  take_until(from.size());
}

trace::LocationSkeleton PartJoiner::finish() {
  // Unused room of up to a half stays in a large list: its pages were never touched and take no
  // memory.
  const std::size_t size = result_.events.size(), capacity = result_.events.capacity();
  result_.events.settle(capacity < k_small || capacity > size + size / 2);
  return std::move(result_);
}

}  // namespace

void scan_part(const EventFile& file, Progress* progress, ScannedPart& scanned) {
  scanned.verdict = try_scan_part(file, scanned.range, std::nullopt, progress, scanned.part);
}

Result<trace::LocationSkeleton> join_parts(const EventFile& file, Progress* progress,
                                           std::span<ScannedPart> parts) {
  std::size_t events = 0;
  for (const ScannedPart& scanned : parts) events += scanned.part.skeleton.events.size();
  PartJoiner joiner(parts.size() > 1 ? events : 0);
  for (ScannedPart& scanned : parts) {
    if (!scanned.verdict && scanned.part.needs_time && joiner.last_stamp()) {
      scanned.verdict =
          try_scan_part(file, scanned.range, joiner.last_stamp(), progress, scanned.part);
    }
    TRY(std::move(scanned.verdict));
    const bool goes_on = scanned.part.goes_on;
    joiner.append(std::move(scanned.part));
    if (!goes_on) break;  // parts after the end mark do not count
  }
  return joiner.finish();
}

Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress) {
  ScannedPart all;
  scan_part(file, progress, all);
  // Looked for only now: nearly all of these files are there.
  if (!all.verdict && !file_exists(file.path)) {
    trace::LocationSkeleton skeleton;
    skeleton.event_file_missing = true;
    return skeleton;
  }
  return join_parts(file, progress, {&all, 1});
}

}  // namespace entrain::otf2
