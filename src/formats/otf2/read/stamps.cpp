// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/stamps.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/quick.hpp"

namespace entrain::otf2 {

namespace {

/// Operation codes from here on create and destroy handles.
constexpr std::uint8_t k_first_handle_operation = 17;

/// Records that never communicate, so that their type is all that counts.
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

}  // namespace

Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location) {
  EventStamps result;
  const std::filesystem::path path = archive.event_file(location);
  if (!file_exists(path)) return result;
  TRY_ASSIGN(BlockReader reader, BlockReader::open(path, archive.anchor().event_chunk_size));
  // Room for as many events as the definition says, if the file can hold them: no event has fewer
  // than 2 bytes.
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

}  // namespace entrain::otf2
