// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/stamps.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "otf2/quick.hpp"
#include "otf2/records.hpp"

namespace entrain::otf2 {

namespace {

/// Operation codes from here on create and destroy handles.
constexpr std::uint8_t k_first_handle_operation = 17;

/// Types of records that never communicate.
constexpr LengthLimits k_silent = except(
    k_plain_records, {mark::attribute_list, event::mpi_send, event::mpi_isend, event::mpi_recv,
                      event::mpi_irecv, event::mpi_collective_end, event::nb_collective_complete});

/// Collects stamps and types, in batches: a vector that grows by one event after the other costs
/// more than the reading.
class StampReader {
 public:
  explicit StampReader(EventStamps& result) : result_(result) {}

  void chunk(const std::uint8_t* bytes, bool) { chunk_ = bytes; }
  bool stamp(std::size_t, std::uint64_t time) {
    time_ = time;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    add(time_, type, communicates(type, chunk_ + offset, size));
    return true;
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    const std::uint8_t* p = chunk_ + at;
    const std::uint8_t* const end = chunk_ + limit;
    std::uint64_t time = time_;
    while (p < end) {
      if (*p == mark::stamp) {
        time = load_u64(p + 1, false);
        p += 9;
      }
      const std::uint8_t type = p[0], length = p[1];
      if (length < k_silent[type]) {
        add(time, type, false);
      } else if (length >= k_plain_records[type]) {
        break;
      } else if (type != mark::attribute_list) {
        add(time, type, communicates(type, p + 2, length));
      }
      p += 2 + length;
    }
    time_ = time;
    return static_cast<std::size_t>(p - chunk_);
  }
  /// Hands over the last batch.
  void finish() {
    const auto append = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count_));
    };
    append(result_.stamps, stamps_);
    append(result_.types, types_);
    append(result_.communication, communication_);
    count_ = 0;
  }

 private:
  static constexpr std::size_t k_batch = 4096;

  void add(std::uint64_t time, std::uint8_t type, bool communicates) {
    if (count_ == k_batch) finish();
    stamps_[count_] = time;
    types_[count_] = type;
    communication_[count_] = communicates ? 1 : 0;
    ++count_;
  }
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
  const std::uint8_t* chunk_ = nullptr;
  std::uint64_t time_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, k_batch> stamps_;
  std::array<std::uint8_t, k_batch> types_;
  std::array<std::uint8_t, k_batch> communication_;
};

/// Gives a second block the times of the one that it visits: where the two differ afterwards, they
/// differ in more than times.
class TimeCopier {
 public:
  /// `other` is as large as the block visited.
  explicit TimeCopier(std::uint8_t* other) : other_(other) {}

  void chunk(const std::uint8_t* bytes, bool) { chunk_ = bytes; }
  bool stamp(std::size_t offset, std::uint64_t) {
    std::memcpy(other_ + offset, chunk_ + offset, 8);
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    return type != event::buffer_flush || size < 8 || stamp(offset, 0);
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    while (at < limit) {
      if (chunk_[at] == mark::stamp) {
        stamp(at + 1, 0);
        at += 9;
      }
      const std::size_t type = chunk_[at], length = chunk_[at + 1];
      if (length >= k_timeless_records[type]) break;
      at += 2 + length;
    }
    return at;
  }

 private:
  const std::uint8_t* chunk_ = nullptr;
  std::uint8_t* other_;
};

}  // namespace

Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location) {
  EventStamps result;
  const std::filesystem::path path = archive.event_file(location);
  if (!file_exists(path)) return result;
  TRY_ASSIGN(BlockReader reader, BlockReader::open(path, archive.anchor().event_chunk_size));
  // As many as the definition says, if the file can hold them: no event has less than 2 bytes.
  const std::size_t expected =
      std::min(archive.definitions().locations[location].event_count, reader.file_size() / 2);
  result.stamps.reserve(expected);
  result.types.reserve(expected);
  result.communication.reserve(expected);
  StampReader visitor(result);
  TRY_ASSIGN([[maybe_unused]] const FileEnd end,
             walk_file<Framing::events>(reader, visitor, [](auto) { return Result<void>(); }));
  visitor.finish();
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
      TimeCopier copier(right.data());
      const ChunkWalk walk = walk_chunk<Framing::events>(left.data(), left.size(), copier);
      in_records = walk.end == ChunkEnd::next_chunk;
    }
    if (std::memcmp(left.data(), right.data(), left.size()) != 0) return differ(a.offset());
  }
}

}  // namespace entrain::otf2
