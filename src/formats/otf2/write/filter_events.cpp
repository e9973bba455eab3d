// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/filter_events.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t k_stamp_size = 9;
constexpr std::size_t k_end_marks = 2;
constexpr std::uint8_t k_measurement_on = 1, k_measurement_off = 2;

/// A record as it stands in a file, without its stamp.
struct RawRecord {
  std::uint64_t time = 0;
  Bytes attributes;  ///< attribute lists that stand before the stamp; mostly none
  Bytes bytes;       ///< attribute lists, type, length and payload
  bool big_endian = false;
};

/// Packs raw records into the chunks of a new event file.
class RawWriter {
 public:
  RawWriter(File file, std::uint64_t chunk_size) : file_(std::move(file)), size_(chunk_size) {}

  Result<void> add(const RawRecord& record) {
    if (!chunk_.empty() && (!fits(record) || big_endian_ != record.big_endian)) TRY(end_chunk());
    if (chunk_.empty()) begin_chunk(record.big_endian);
    if (!fits(record)) {
      return fail(ErrorKind::input, "an event does not fit into a chunk together with its stamp");
    }
    if (needs_stamp(record)) put_stamp(record.time);
    append(record.attributes);
    append(record.bytes);
    ++events_;
    return {};
  }

  /// Writes the rest, with end marks if `ends`. Nothing may follow.
  Result<void> finish(bool ends, bool big_endian) {
    if (ends) {
      if (chunk_.empty()) begin_chunk(big_endian);
      append(std::array{mark::end_of_file, mark::end_of_buffer});
    }
    if (!chunk_.empty()) TRY(write_chunk());
    return file_.close();
  }

  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  [[nodiscard]] bool needs_stamp(const RawRecord& record) const {
    return !has_stamp_ || record.time != stamp_;
  }

  /// True if there is room for the record, and for the end marks after it.
  [[nodiscard]] bool fits(const RawRecord& record) const {
    const std::size_t stamp = needs_stamp(record) ? k_stamp_size : 0;
    return chunk_.size() + stamp + record.attributes.size() + record.bytes.size() + k_end_marks <=
           size_;
  }

  void append(Bytes bytes) { chunk_.insert(chunk_.end(), bytes.begin(), bytes.end()); }

  void begin_chunk(bool big_endian) {
    chunk_.resize(k_chunk_header_size);
    big_endian_ = big_endian;
    first_event_ = events_ + 1;
    has_stamp_ = false;  // every chunk can be read alone
  }

  void put_stamp(std::uint64_t time) {
    chunk_.push_back(mark::stamp);
    chunk_.resize(chunk_.size() + 8);
    store_u64(chunk_.data() + chunk_.size() - 8, time, big_endian_);
    stamp_ = time;
    has_stamp_ = true;
  }

  /// Fills the chunk up, as another one follows.
  Result<void> end_chunk() {
    static_assert(mark::end_of_chunk == 0);
    chunk_.resize(size_);
    return write_chunk();
  }

  Result<void> write_chunk() {
    store_chunk_header(chunk_.data(), {first_event_, events_}, big_endian_);
    TRY(file_.write(chunk_));
    chunk_.clear();
    return {};
  }

  File file_;
  std::size_t size_;
  std::vector<std::uint8_t> chunk_;  ///< empty: none was begun
  bool big_endian_ = false;
  bool has_stamp_ = false;
  std::uint64_t stamp_ = 0;  ///< the last one of the chunk
  std::uint64_t first_event_ = 1, events_ = 0;
};

/// Visitor of walk_chunk() that asks the filter and writes what is kept.
class FilteringVisitor {
 public:
  FilteringVisitor(const EventFile& file, EventFilter& filter, RawWriter& writer)
      : decoder_(file, filter.wants_regions()),
        filter_(filter),
        writer_(writer),
        marks_(filter.marks()) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
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
    const bool good =
        write_marks(record->time) &&
        (!filter_.keeps(*record) ||
         write(
             {record->time, attributes_, {chunk_ + begin_, chunk_ + end}, decoder_.big_endian()}));
    begin_ = end;
    attributes_.clear();
    return good;
  }

  /// Why the walk was ended by this visitor, if it was not the file's fault.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::uint64_t marks_written() const { return next_mark_; }
  [[nodiscard]] bool big_endian() const { return decoder_.big_endian(); }

 private:
  bool write(const RawRecord& record) {
    if (auto written = writer_.add(record); !written) error_ = std::move(written).error();
    return !error_;
  }

  bool write_marks(std::uint64_t time) {
    while (next_mark_ < marks_.size() && marks_[next_mark_].time <= time) {
      const MeasurementMark& mark = marks_[next_mark_++];
      const std::array<std::uint8_t, 3> bytes{event::measurement_on_off, 1,
                                              mark.on ? k_measurement_on : k_measurement_off};
      if (!write({mark.time, {}, bytes, decoder_.big_endian()})) return false;
    }
    return true;
  }

  RecordDecoder decoder_;
  EventFilter& filter_;
  RawWriter& writer_;
  std::vector<MeasurementMark> marks_;
  std::size_t next_mark_ = 0;
  const std::uint8_t* chunk_ = nullptr;
  std::size_t begin_ = 0;   ///< end of the last record or stamp
  std::uint64_t last_ = 0;  ///< stamp
  std::vector<std::uint8_t> attributes_;
  std::optional<Error> error_;
};

}  // namespace

Result<FilteredEvents> filter_events(const EventFile& file, const std::filesystem::path& to,
                                     EventFilter& filter, Progress* progress) {
  TRY_ASSIGN(BlockReader reader, BlockReader::open(file.path, file.chunk_size));
  TRY_ASSIGN(File target, File::create(to));
  RawWriter writer(std::move(target), file.chunk_size);
  FilteringVisitor visitor(file, filter, writer);
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(Cancel(progress).check());
    if (progress != nullptr) progress->advance(block.size());
    return {};
  };
  const Result<FileEnd> end = walk_file<Framing::events>(reader, visitor, on_block);
  if (visitor.error()) {
    const Error& error = *visitor.error();
    if (error.kind != ErrorKind::input) return tl::unexpected<Error>(error);
    return damaged(file.path, reader.offset(), error.message);
  }
  if (!end) return tl::unexpected<Error>(end.error());
  TRY(writer.finish(!end->truncated, visitor.big_endian()));
  return FilteredEvents{writer.events(), visitor.marks_written()};
}

}  // namespace entrain::otf2
