// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/event_file.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/fail.hpp"
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

/// Makes room for the events of the rest of the file, before there are `more` of them again:
/// growing a vector step by step would copy it again and again.
///
/// Example: after 10 of 100 blocks there are 4,000 events, so about 40,000 are expected; room is
/// made for 1/16 more than that.
void make_room(const BlockReader& reader, std::size_t more, trace::EventList& events) {
  const std::uint64_t size = events.size(), read = reader.next_offset();
  if (size + more <= events.capacity() || read >= reader.file_size()) return;
  const double expected = static_cast<double>(size) * static_cast<double>(reader.file_size()) /
                          static_cast<double>(read) * 17 / 16;
  const std::uint64_t most = std::max(k_most_foreseen, 2 * size);
  events.reserve(more + static_cast<std::uint64_t>(std::min(expected, static_cast<double>(most))));
}

}  // namespace

Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress) {
  trace::LocationSkeleton skeleton;
  auto reader = BlockReader::open(file.path, file.chunk_size);
  // Looked for only now: nearly all of these files are there.
  if (!reader && !file_exists(file.path)) {
    skeleton.event_file_missing = true;
    return skeleton;
  }
  TRY_ASSIGN(BlockReader opened, std::move(reader));
  Scanner scanner(file.local, file.references, skeleton, file.location);
  std::size_t before = 0;
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(count_block(progress, block));
    const std::size_t size = skeleton.events.size();
    make_room(opened, size - std::exchange(before, size), skeleton.events);
    return {};
  };
  const auto end = walk_file<Framing::events>(opened, scanner, on_block);
  if (!end && scanner.below_zero() > 0) {
    return input_error(
        "{} begins at -{} ticks, stored as 2^64 - {}: clocks that count below 0 cannot be read; "
        "add "
        "a constant to all stamps of this location",
        file.path.string(), scanner.below_zero(), scanner.below_zero());
  }
  if (!end) return tl::unexpected(end.error());
  skeleton.truncated = end->truncated;
  // Unused room of up to a half stays in a large list: its pages were never touched and take no
  // memory.
  const std::size_t size = skeleton.events.size(), capacity = skeleton.events.capacity();
  skeleton.events.settle(capacity < k_small || capacity > size + size / 2);
  return skeleton;
}

}  // namespace entrain::otf2
