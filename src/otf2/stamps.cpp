// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/stamps.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "otf2/records.hpp"

namespace entrain::otf2 {

namespace {

/// Operation codes from here on create and destroy handles.
constexpr std::uint8_t k_first_handle_operation = 17;

/// Collects stamps and types.
class StampReader {
 public:
  explicit StampReader(EventStamps& result) : result_(result) {}

  void chunk(const std::uint8_t* bytes, bool) { chunk_ = bytes; }
  bool stamp(std::size_t, std::uint64_t time) {
    time_ = time;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    result_.stamps.push_back(time_);
    result_.types.push_back(type);
    result_.communication.push_back(communicates(type, offset, size) ? 1 : 0);
    return true;
  }

 private:
  [[nodiscard]] bool communicates(std::uint8_t type, std::size_t offset, std::size_t size) const {
    switch (type) {
      case event::mpi_send:
      case event::mpi_isend:
      case event::mpi_recv:
      case event::mpi_irecv: return true;
      case event::mpi_collective_end:
      case event::nb_collective_complete:
        return size > 0 && chunk_[offset] < k_first_handle_operation;
      default: return false;
    }
  }

  EventStamps& result_;
  const std::uint8_t* chunk_ = nullptr;
  std::uint64_t time_ = 0;
};

/// Overwrites every time with zeros, so that what is left can be compared byte by byte.
class TimeEraser {
 public:
  void chunk(std::uint8_t* bytes, bool) { chunk_ = bytes; }
  bool stamp(std::size_t offset, std::uint64_t) {
    std::memset(chunk_ + offset, 0, 8);
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type == event::buffer_flush && size >= 8) std::memset(chunk_ + offset, 0, 8);
    return true;
  }

 private:
  std::uint8_t* chunk_ = nullptr;
};

}  // namespace

Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location) {
  EventStamps result;
  const std::filesystem::path path = archive.event_file(location);
  if (!file_exists(path)) return result;
  TRY_ASSIGN(BlockReader reader, BlockReader::open(path, archive.anchor().event_chunk_size));
  StampReader visitor(result);
  TRY_ASSIGN([[maybe_unused]] const FileEnd end,
             walk_file<Framing::events>(reader, visitor, [](auto) { return Result<void>(); }));
  return result;
}

Result<void> check_same_records(const Archive& original, const Archive& written,
                                LocationIndex location) {
  const std::filesystem::path from = original.event_file(location);
  const std::filesystem::path to = written.event_file(location);
  if (!file_exists(from) && !file_exists(to)) return {};
  const auto differ = [&](std::uint64_t offset) {
    return fail(ErrorKind::output,
                fmt::format("{} is not what was to be written: it differs from {} in more than "
                            "times, near byte {}; check the disk and run the correction again",
                            to.string(), from.string(), offset));
  };
  TRY_ASSIGN(BlockReader a, BlockReader::open(from, original.anchor().event_chunk_size));
  TRY_ASSIGN(BlockReader b, BlockReader::open(to, written.anchor().event_chunk_size));
  bool in_records = true;
  while (true) {
    TRY_ASSIGN(const std::span<std::uint8_t> left, a.next());
    TRY_ASSIGN(const std::span<std::uint8_t> right, b.next());
    if (left.size() != right.size()) return differ(a.offset());
    if (left.empty()) return {};
    if (in_records) {
      TimeEraser eraser;
      const ChunkWalk walk = walk_chunk<Framing::events>(left.data(), left.size(), eraser);
      (void)walk_chunk<Framing::events>(right.data(), right.size(), eraser);
      in_records = walk.end == ChunkEnd::next_chunk;
    }
    if (!std::equal(left.begin(), left.end(), right.begin())) return differ(a.offset());
  }
}

}  // namespace entrain::otf2
