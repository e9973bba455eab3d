// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <entrain/error.hpp>

#include "formats/otf2/format/format.hpp"
#include "trace/event.hpp"

namespace entrain::otf2 {

/// Writes an event file, record by record, in chunks as the OTF2 library makes them; format.hpp
/// shows the bytes of a small one. Records are collected in a buffer and written in pieces. The
/// file is open only while a piece is written, so there may be more writers than a process may have
/// open files. The bytes of the file do not depend on the size of the buffer.
///
/// After a write that failed, ok() is false, further records are thrown away, and close() returns
/// the error. Not to be shared between threads.
class EventWriter {
 public:
  static constexpr std::size_t k_least_buffer = 4096;

  /// The file must not exist yet; its folder must. `chunk_size` as the anchor says; `buffer_size`
  /// in bytes, k_least_buffer or more.
  EventWriter(std::filesystem::path path, std::uint64_t chunk_size, std::size_t buffer_size);

  // Records in little-endian chunks.
  void enter(std::uint64_t time, std::uint32_t region) { bare(event::enter, time, region); }
  void leave(std::uint64_t time, std::uint32_t region) { bare(event::leave, time, region); }
  void mpi_send(std::uint64_t time, const trace::Message& m) {
    record(event::mpi_send, time, m.peer, m.comm, m.tag, m.length);
  }
  void mpi_recv(std::uint64_t time, const trace::Message& m) {
    record(event::mpi_recv, time, m.peer, m.comm, m.tag, m.length);
  }
  void mpi_isend(std::uint64_t time, const trace::Message& m, std::uint64_t request) {
    record(event::mpi_isend, time, m.peer, m.comm, m.tag, m.length, request);
  }
  void mpi_irecv(std::uint64_t time, const trace::Message& m, std::uint64_t request) {
    record(event::mpi_irecv, time, m.peer, m.comm, m.tag, m.length, request);
  }
  void mpi_isend_complete(std::uint64_t time, std::uint64_t request) {
    bare(event::mpi_isend_complete, time, request);
  }
  void mpi_irecv_request(std::uint64_t time, std::uint64_t request) {
    bare(event::mpi_irecv_request, time, request);
  }
  void mpi_collective_begin(std::uint64_t time) { record(event::mpi_collective_begin, time); }
  void mpi_collective_end(std::uint64_t time, const trace::Collective& c) {
    record(event::mpi_collective_end, time, c.op, c.comm, c.root, c.sent, c.received);
  }
  void nb_collective_request(std::uint64_t time, std::uint64_t request) {
    record(event::nb_collective_request, time, request);
  }
  void nb_collective_complete(std::uint64_t time, const trace::Collective& c,
                              std::uint64_t request) {
    record(event::nb_collective_complete, time, c.op, c.comm, c.root, c.sent, c.received, request);
  }

  /// Byte order of the records that raw() adds from here on; a chunk has one.
  void set_byte_order(bool big_endian);
  /// Adds a record as it stands in a file, with its attribute lists in front of it. The buffer must
  /// hold a whole chunk. False, and nothing is added, if the record does not fit into one together
  /// with its stamp.
  [[nodiscard]] bool raw(std::uint64_t time, std::span<const std::uint8_t> record);

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] bool ok() const { return !error_; }
  /// Size of the file so far, bytes.
  [[nodiscard]] std::uint64_t size() const { return offset_of(at_); }
  /// Writes the end marks, if the file `ends`, and the buffered records, and frees the buffer.
  /// Nothing may follow. Errors: ErrorKind::output.
  Result<void> close(bool ends = true);

 private:
  /// Stamp, type and the longest payload of the records that are made here, rounded up; also covers
  /// the bytes that a compressed integer may soil after its end.
  static constexpr std::size_t k_largest_event = 96;
  static constexpr std::size_t k_stamp_size = 9;
  static constexpr std::size_t k_end_marks = 2;
  static constexpr std::uint64_t k_no_time = ~std::uint64_t{0};

  /// Makes room for an event and writes its stamp unless it is that of the event before.
  std::uint8_t* begin(std::uint64_t time) {
    if (at_ > limit_) make_room(k_largest_event);
    put_stamp(time);
    return at_;
  }
  void put_stamp(std::uint64_t time) {
    if (time == last_) return;
    *at_ = mark::stamp;
    store_u64(at_ + 1, time, big_endian_);
    at_ += k_stamp_size;
    last_ = time;
  }
  void end(std::uint8_t* out) {
    at_ = out;
    ++events_;
  }
  static std::uint8_t* put(std::uint8_t* out, std::uint8_t value) {
    *out = value;
    return out + 1;
  }
  static std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    return out + store_compressed(out, value, false);
  }
  /// A 32-bit reference, which may be undefined.
  static std::uint8_t* put(std::uint8_t* out, std::uint32_t value) {
    if (value != 0xFFFFFFFFu) return put(out, std::uint64_t{value});
    return put(out, std::uint8_t{0xFF});
  }
  void bare(std::uint8_t type, std::uint64_t time, std::uint64_t value) {
    std::uint8_t* const out = begin(time);
    *out = type;
    end(put(out + 1, value));
  }
  /// A record with these fields.
  template <class... Values>
  void record(std::uint8_t type, std::uint64_t time, Values... values) {
    std::uint8_t* const record = begin(time);
    std::uint8_t* out = record + 2;
    ((out = put(out, values)), ...);
    record[0] = type;
    record[1] = static_cast<std::uint8_t>(out - record - 2);
    end(out);
  }

  [[nodiscard]] std::uint64_t offset_of(const std::uint8_t* position) const {
    return flushed_ + static_cast<std::uint64_t>(position - buffer_.get());
  }
  [[nodiscard]] std::uint64_t left_in_chunk() const {
    return chunk_begin_ + chunk_size_ - offset_of(at_);
  }
  void begin_chunk();
  void end_chunk();
  void end_chunk_header();
  void make_room(std::size_t size);
  void flush();
  void set_limit();

  std::uint8_t* at_ = nullptr;           ///< position of the next event
  const std::uint8_t* limit_ = nullptr;  ///< up to here one more event of k_largest_event fits
  std::uint64_t last_ = k_no_time;
  std::uint64_t events_ = 0;
  std::uint64_t chunk_begin_ = 0;  ///< offset of the chunk in the file
  std::uint64_t flushed_ = 0;      ///< offset of the buffer in the file
  std::uint64_t chunk_size_;
  std::size_t buffer_size_;
  bool big_endian_ = false;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::filesystem::path path_;
  std::optional<Error> error_;
};

}  // namespace entrain::otf2
