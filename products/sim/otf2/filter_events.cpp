// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otf2/filter_events.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/event_writer.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

constexpr std::uint8_t k_measurement_on = 1, k_measurement_off = 2;

/// Visitor of walk_chunk() that asks the filter and writes what is kept.
class FilteringVisitor {
 public:
  FilteringVisitor(const EventFile& file, EventFilter& filter, EventWriter& writer)
      : decoder_(file, filter.wants_regions()),
        filter_(filter),
        writer_(writer),
        marks_(filter.marks()) {}

  void chunk(std::uint8_t* bytes, bool big_endian) {
    decoder_.chunk(bytes, big_endian);
    chunk_ = bytes;
    begin_ = k_chunk_header_size;
    attributes_.clear();
  }
  bool stamp(std::size_t offset, std::uint64_t time) {
    // A stamp between an attribute list and its record.
    attributes_.insert(attributes_.end(), chunk_ + begin_, chunk_ + offset - 1);
    begin_ = offset + 8;
    if (time < std::exchange(last_, time)) {
      error_ = Error{ErrorKind::input, "time runs backward, and no reader would take a copy"};
      return false;
    }
    return decoder_.stamp(time);
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    const auto record = decoder_.record(type, offset, size);
    if (!record) return false;
    const std::size_t end = offset + size;
    bool good = write_marks(record->time);
    if (good && filter_.keeps(*record)) {
      attributes_.insert(attributes_.end(), chunk_ + begin_, chunk_ + end);
      good = write(record->time, attributes_);
    }
    begin_ = end;
    attributes_.clear();
    return good;
  }

  /// Why the walk was ended by this visitor, if it was not the file's fault.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::uint64_t marks_written() const { return next_mark_; }
  [[nodiscard]] bool big_endian() const { return decoder_.big_endian(); }

 private:
  bool write(std::uint64_t time, std::span<const std::uint8_t> record) {
    writer_.set_byte_order(decoder_.big_endian());
    if (!writer_.raw(time, record)) {
      error_ =
          Error{ErrorKind::input, "an event does not fit into a chunk together with its stamp"};
    }
    return !error_ && writer_.ok();
  }
  bool write_marks(std::uint64_t time) {
    while (next_mark_ < marks_.size() && marks_[next_mark_].time <= time) {
      const MeasurementMark& mark = marks_[next_mark_++];
      const std::array<std::uint8_t, 3> bytes{event::measurement_on_off, 1,
                                              mark.on ? k_measurement_on : k_measurement_off};
      if (!write(mark.time, bytes)) return false;
    }
    return true;
  }

  RecordDecoder decoder_;
  EventFilter& filter_;
  EventWriter& writer_;
  std::vector<MeasurementMark> marks_;
  std::size_t next_mark_ = 0;
  const std::uint8_t* chunk_ = nullptr;
  std::size_t begin_ = 0;                 ///< end of the last record or stamp
  std::uint64_t last_ = 0;                ///< stamp
  std::vector<std::uint8_t> attributes_;  ///< attribute lists in front of a stamp; mostly none
  std::optional<Error> error_;
};

}  // namespace

Result<FilteredEvents> filter_events(const EventFile& file, const std::filesystem::path& to,
                                     EventFilter& filter, Progress* progress) {
  TRY_ASSIGN(BlockReader reader, BlockReader::open(file.path, file.chunk_size));
  EventWriter writer(to, file.chunk_size, file.chunk_size);
  FilteringVisitor visitor(file, filter, writer);
  const Result<bool> end = walk_file<Framing::events>(
      reader, visitor, [&](auto block) { return count_block(progress, block); });
  if (visitor.error()) return damaged(file.path, reader.offset(), visitor.error()->message);
  if (!writer.ok()) return tl::unexpected<Error>(writer.close().error());
  if (!end) return tl::unexpected<Error>(end.error());
  if (writer.events() == 0) writer.set_byte_order(visitor.big_endian());
  TRY(writer.close(!*end));
  return FilteredEvents{writer.events(), visitor.marks_written()};
}

}  // namespace entrain::otf2
