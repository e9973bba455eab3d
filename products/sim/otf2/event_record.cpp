// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otf2/event_record.hpp"

#include <array>

#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

/// Kinds by record type.
constexpr auto k_kinds = [] {
  std::array<std::optional<RecordKind>, 256> kinds;
  kinds[event::mpi_send] = RecordKind::send;
  kinds[event::mpi_isend] = RecordKind::isend;
  kinds[event::mpi_isend_complete] = RecordKind::isend_complete;
  kinds[event::mpi_recv] = RecordKind::recv;
  kinds[event::mpi_irecv_request] = RecordKind::irecv_request;
  kinds[event::mpi_irecv] = RecordKind::irecv;
  kinds[event::mpi_request_test] = RecordKind::request_test;
  kinds[event::mpi_request_cancelled] = RecordKind::request_cancelled;
  kinds[event::mpi_collective_begin] = RecordKind::collective_begin;
  kinds[event::mpi_collective_end] = RecordKind::collective_end;
  kinds[event::nb_collective_request] = RecordKind::nb_request;
  kinds[event::nb_collective_complete] = RecordKind::nb_complete;
  return kinds;
}();

}  // namespace

RecordDecoder::RecordDecoder(const EventFile& file, bool with_regions)
    : regions_(file.local.regions, file.references.regions), with_regions_(with_regions) {}

bool RecordDecoder::stamp(std::uint64_t time) {
  time_ = time;
  has_time_ = true;
  return time <= k_last_time;
}

std::optional<EventRecord> RecordDecoder::record(std::uint8_t type, std::size_t offset,
                                                 std::size_t size) {
  if (!has_time_) return std::nullopt;
  EventRecord result;
  result.kind = k_kinds[type];
  result.time = time_;
  result.region = innermost();
  FieldReader in = fields(offset, size);
  switch (type) {
    case event::enter:
    case event::leave:
      if (with_regions_) follow(type, in.c32());
      break;
    case event::mpi_isend:
    case event::mpi_irecv:
      in.c32(), in.c32(), in.c32(), in.c64();
      result.request = in.c64();
      break;
    case event::mpi_isend_complete:
    case event::mpi_irecv_request:
    case event::mpi_request_test:
    case event::mpi_request_cancelled:
    case event::nb_collective_request:
      result.request = in.c64();
      break;
    case event::mpi_collective_end:
      result.op = in.u8();
      break;
    case event::nb_collective_complete:
      result.op = in.u8();
      in.c32(), in.c32(), in.c64(), in.c64();
      result.request = in.c64();
      break;
    default:
      break;
  }
  if (!in.ok()) return std::nullopt;
  return result;
}

/// A Leave ends the innermost call, whatever region it names.
void RecordDecoder::follow(std::uint8_t type, std::uint32_t local_region) {
  if (type == event::enter) {
    open_.push_back(local_region);
  } else if (!open_.empty()) {
    open_.pop_back();
  }
}

std::uint32_t RecordDecoder::innermost() { return open_.empty() ? k_none : regions_(open_.back()); }

namespace {

/// Hands every record of a file on.
class RecordVisitor {
 public:
  RecordVisitor(const EventFile& file, const std::function<void(const EventRecord&)>& visit)
      : decoder_(file, false), visit_(visit) {}

  void chunk(std::uint8_t* bytes, bool big_endian) { decoder_.chunk(bytes, big_endian); }
  bool stamp(std::size_t, std::uint64_t time) { return decoder_.stamp(time); }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    const auto record = decoder_.record(type, offset, size);
    if (record) visit_(*record);
    return record.has_value();
  }

 private:
  RecordDecoder decoder_;
  const std::function<void(const EventRecord&)>& visit_;
};

}  // namespace

Result<void> read_records(const EventFile& file, Progress* progress,
                          const std::function<void(const EventRecord&)>& visit) {
  RecordVisitor visitor(file, visit);
  return visit_events(file.path, file.chunk_size, progress, visitor);
}

}  // namespace entrain::otf2
