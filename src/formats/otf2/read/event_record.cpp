// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/event_record.hpp"

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

std::optional<RecordKind> kind_of(std::uint8_t type) {
  switch (type) {
    case event::mpi_send:
      return RecordKind::send;
    case event::mpi_isend:
      return RecordKind::isend;
    case event::mpi_isend_complete:
      return RecordKind::isend_complete;
    case event::mpi_recv:
      return RecordKind::recv;
    case event::mpi_irecv_request:
      return RecordKind::irecv_request;
    case event::mpi_irecv:
      return RecordKind::irecv;
    case event::mpi_request_test:
      return RecordKind::request_test;
    case event::mpi_request_cancelled:
      return RecordKind::request_cancelled;
    case event::mpi_collective_begin:
      return RecordKind::collective_begin;
    case event::mpi_collective_end:
      return RecordKind::collective_end;
    case event::nb_collective_request:
      return RecordKind::nb_request;
    case event::nb_collective_complete:
      return RecordKind::nb_complete;
    default:
      return std::nullopt;
  }
}

}  // namespace

RecordDecoder::RecordDecoder(const EventFile& file, bool with_regions)
    : regions_(file.local.regions, file.references.regions), with_regions_(with_regions) {}

void RecordDecoder::chunk(const std::uint8_t* bytes, bool big_endian) {
  chunk_ = bytes;
  big_endian_ = big_endian;
}

bool RecordDecoder::stamp(std::uint64_t time) {
  time_ = time;
  has_time_ = true;
  return time <= k_last_time;
}

std::optional<EventRecord> RecordDecoder::record(std::uint8_t type, std::size_t offset,
                                                 std::size_t size) {
  if (!has_time_) return std::nullopt;
  EventRecord result;
  result.kind = kind_of(type);
  result.time = time_;
  result.region = innermost();
  FieldReader in(chunk_ + offset, size, big_endian_);
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

  void chunk(const std::uint8_t* bytes, bool big_endian) { decoder_.chunk(bytes, big_endian); }
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
  if (!file_exists(file.path)) return {};
  TRY_ASSIGN(BlockReader reader, BlockReader::open(file.path, file.chunk_size));
  RecordVisitor visitor(file, visit);
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(Cancel(progress).check());
    if (progress != nullptr) progress->advance(block.size());
    return {};
  };
  TRY(walk_file<Framing::events>(reader, visitor, on_block));
  return {};
}

}  // namespace entrain::otf2
