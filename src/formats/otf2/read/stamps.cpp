// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/stamps.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

/// Operation codes from here on create and destroy handles.
constexpr std::uint8_t k_first_handle_operation = 17;

/// Collects stamps and types.
class StampReader : public ChunkVisitor {
 public:
  explicit StampReader(EventStamps& result) : result_(result) {}

  bool stamp(std::size_t, std::uint64_t time) {
    time_ = time;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    result_.stamps.push_back(time_);
    result_.types.push_back(type);
    result_.communication.push_back(communicates(type, chunk_ + offset, size) ? 1 : 0);
    return true;
  }

 private:
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
  std::uint64_t time_ = 0;
};

}  // namespace

Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location) {
  EventStamps result;
  // Room for as many events as the definition says, if the file can hold them: no event has fewer
  // than 2 bytes.
  const std::size_t expected = std::min(archive.definitions().locations[location].event_count,
                                        archive.event_bytes({&location, 1}) / 2);
  result.stamps.reserve(expected);
  result.types.reserve(expected);
  result.communication.reserve(expected);
  StampReader visitor(result);
  TRY(visit_events(archive.event_file(location), archive.anchor().event_chunk_size, nullptr,
                   visitor));
  return result;
}

}  // namespace entrain::otf2
