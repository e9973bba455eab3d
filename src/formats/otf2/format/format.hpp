// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entrain::otf2 {

// Numbers and encodings of the OTF2 format on disk, trace format 2 and 3 (POSIX substrate): the one
// place that knows them.
//
// A file of events, snapshots, definitions or markers is a row of chunks. The anchor gives the size
// of chunks, one number for events and snapshots and one for the others; only the last chunk of a
// file may be shorter. A chunk begins with a header of 18 bytes and can be read alone. Example, the
// first bytes of an event file, in which rank 0 enters region 7 and sends 4096 bytes with tag 5 to
// rank 3 over communicator 0:
//
//     03                         mark::chunk_header
//     42                         k_little_endian
//     01 00 00 00 00 00 00 00    number of the chunk's first event, from 1
//     02 00 00 00 00 00 00 00    number of its last event
//     05  E8 03 00 00 00 00 00 00    mark::stamp: the next records are of tick 1000
//     0C  01 07                  event::enter, a bare compressed integer: 1 byte long, region 7
//     05  F2 03 00 00 00 00 00 00    tick 1010
//     0E  08                     event::mpi_send with 8 bytes of payload:
//         01 03                    receiver 3, rank in the communicator
//         00                       communicator 0: an integer of 0 bytes
//         01 05                    tag 5
//         02 00 10                 length 4096
//     02 01                      mark::end_of_file, mark::end_of_buffer
//
// A record is a type, the length of its payload (1 byte; from 255 on the byte FF and 8 bytes), and
// the payload. Some event types are "bare": only one compressed integer, no length (is_bare()). A
// compressed integer is a byte with its size, 0 to 8, and that many bytes; the size FF stands for
// "undefined". Events without a stamp of their own have the one before. A full chunk ends with
// mark::end_of_chunk; the rest of its bytes is 0.

inline constexpr std::size_t k_chunk_header_size = 18;
inline constexpr std::uint8_t k_little_endian = 0x42;
inline constexpr std::uint8_t k_big_endian = 0x23;
inline constexpr std::uint64_t k_min_chunk_size = 256 * 1024;
inline constexpr std::uint64_t k_max_chunk_size = 16 * 1024 * 1024;

/// Later stamps are damage: times must stay computable in 64 bits with a sign.
inline constexpr unsigned k_time_bits = 61;
inline constexpr std::uint64_t k_last_time = std::uint64_t{1} << k_time_bits;

/// True if `time` can be a stamp: it is neither negative nor later than k_last_time.
constexpr bool is_stamp(std::int64_t time) {
  return static_cast<std::uint64_t>(time) <= k_last_time;
}

/// Numbers in the header of a chunk that holds no events: first 1, last 0.
struct ChunkEvents {
  std::uint64_t first = 1, last = 0;
};
inline constexpr ChunkEvents k_no_events;
/// Position of the number of the last event in a chunk header.
inline constexpr std::size_t k_last_event_field = 10;
/// The length byte that says: 8 bytes with the length follow.
inline constexpr std::uint8_t k_long_length = 0xFF;

/// Marks that stand where a record type would.
namespace mark {
inline constexpr std::uint8_t end_of_chunk = 0, end_of_buffer = 1, end_of_file = 2,
                              chunk_header = 3, stamp = 5, attribute_list = 6;
}

/// Event record types that are decoded somewhere; all others are passed over.
namespace event {
inline constexpr std::uint8_t buffer_flush = 10, measurement_on_off = 11, enter = 12, leave = 13,
                              mpi_send = 14, mpi_isend = 15, mpi_isend_complete = 16,
                              mpi_irecv_request = 17, mpi_recv = 18, mpi_irecv = 19,
                              mpi_request_test = 20, mpi_request_cancelled = 21,
                              mpi_collective_begin = 22, mpi_collective_end = 23, omp_fork = 24,
                              omp_acquire_lock = 26, omp_release_lock = 27, omp_task_create = 28,
                              omp_task_switch = 29, omp_task_complete = 30,
                              rma_collective_begin = 37, rma_collective_end = 38,
                              rma_group_sync = 39, rma_request_lock = 40, rma_acquire_lock = 41,
                              rma_try_lock = 42, rma_release_lock = 43, rma_sync = 44,
                              thread_fork = 53, thread_join = 54, thread_team_begin = 55,
                              thread_team_end = 56, thread_acquire_lock = 57,
                              thread_release_lock = 58, thread_task_create = 59,
                              thread_task_switch = 60, thread_create = 62, thread_begin = 63,
                              thread_wait = 64, thread_end = 65, nb_collective_request = 85,
                              nb_collective_complete = 86, last_known = 88;
}  // namespace event

/// Definition record types.
namespace def {
inline constexpr std::uint8_t clock_properties = 5, string = 10, attribute = 11,
                              system_tree_node = 12, location_group = 13, location = 14,
                              region = 15, group = 18, comm = 22, rma_window = 24,
                              tree_node_domain = 27, inter_comm = 43;
inline constexpr std::uint8_t local_mapping_table = 5, local_clock_offset = 6;
}  // namespace def

/// Kinds of local mapping tables.
namespace mapping {
inline constexpr std::uint8_t string = 0, attribute = 1, region = 3, group = 4, comm = 6,
                              rma_window = 8;
}

/// Types of attributes, and of the values in attribute lists (OTF2_Type).
namespace attribute_type {
inline constexpr std::uint8_t uint8 = 1, int8 = 5, float32 = 9, float64 = 10, string = 11,
                              location = 13;
}

/// True for event records that are one bare compressed integer without a length byte.
constexpr bool is_bare(std::uint8_t type) {
  switch (type) {
    case event::enter:
    case event::leave:
    case event::mpi_isend_complete:
    case event::mpi_irecv_request:
    case event::mpi_request_test:
    case event::mpi_request_cancelled:
    case event::omp_fork:
    case event::omp_task_create:
    case event::omp_task_switch:
    case event::omp_task_complete:
      return true;
    default:
      return false;
  }
}

/// True for event records whose length byte is always 0: they have no fields.
constexpr bool is_empty(std::uint8_t type) {
  return type == event::mpi_collective_begin || type == event::rma_collective_begin;
}

/// A fixed-size 64-bit value in the byte order of its chunk.
inline std::uint64_t load_u64(const std::uint8_t* bytes, bool big_endian) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  const bool swap = big_endian == (std::endian::native == std::endian::little);
  return swap ? __builtin_bswap64(value) : value;
}

inline void store_u64(std::uint8_t* bytes, std::uint64_t value, bool big_endian) {
  const bool swap = big_endian == (std::endian::native == std::endian::little);
  if (swap) value = __builtin_bswap64(value);
  std::memcpy(bytes, &value, sizeof value);
}

/// Writes a chunk header of k_chunk_header_size bytes.
inline void store_chunk_header(std::uint8_t* bytes, ChunkEvents events, bool big_endian) {
  bytes[0] = mark::chunk_header;
  bytes[1] = big_endian ? k_big_endian : k_little_endian;
  store_u64(bytes + 2, events.first, big_endian);
  store_u64(bytes + k_last_event_field, events.last, big_endian);
}

/// Reads the fields of one record payload. Running past the end, or an integer longer than its
/// type, turns `ok()` false and yields zeros from then on.
class FieldReader {
 public:
  FieldReader(const std::uint8_t* begin, std::size_t size, bool big_endian)
      : at_(begin), end_(begin + size), big_endian_(big_endian) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::uint8_t* position() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t u8() {
    if (at_ == end_) return stop(), std::uint8_t{0};
    return *at_++;
  }
  /// A compressed integer of up to 4 bytes; all ones if undefined.
  std::uint32_t c32() { return static_cast<std::uint32_t>(compressed(4)); }
  /// A compressed integer of up to 8 bytes; all ones if undefined.
  std::uint64_t c64() { return compressed(8); }
  /// A signed compressed integer.
  std::int64_t s64() { return static_cast<std::int64_t>(compressed(8)); }
  /// A fixed 8-byte value (stamps, doubles).
  std::uint64_t fixed64() { return number(8); }
  /// A fixed 4-byte value.
  std::uint32_t fixed32() { return static_cast<std::uint32_t>(number(4)); }
  /// A text with its end mark; one without is not ok().
  std::string text() {
    const std::uint8_t* const begin = at_;
    const std::uint8_t* const end = std::find(at_, end_, std::uint8_t{0});
    if (end == end_) return stop(), std::string();
    at_ = end + 1;
    return {begin, end};
  }

 private:
  std::uint64_t compressed(unsigned widest) {
    const unsigned size = u8();
    if (size == 0xFF) return ~std::uint64_t{0};
    return size <= widest ? number(size) : (stop(), 0);
  }
  std::uint64_t number(unsigned size) {
    if (size > left()) return stop(), std::uint64_t{0};
    std::uint64_t value = 0;
    if (big_endian_) {
      for (unsigned i = 0; i < size; ++i) value = value << 8 | at_[i];
    } else {
      for (unsigned i = size; i-- > 0;) value = value << 8 | at_[i];
    }
    at_ += size;
    return value;
  }
  void stop() {
    ok_ = false;
    at_ = end_;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool big_endian_;
  bool ok_ = true;
};

/// Writes `value` as a compressed integer and returns the bytes used. 9 bytes must be writable:
/// those after the end of the integer get any value. 4096 becomes 02 00 10 in little-endian.
inline std::size_t store_compressed(std::uint8_t* bytes, std::uint64_t value, bool big_endian) {
  const std::size_t size = (static_cast<std::size_t>(std::bit_width(value)) + 7) / 8;
  bytes[0] = static_cast<std::uint8_t>(size);
  if (big_endian && size > 0) value <<= 8 * (8 - size);
  store_u64(bytes + 1, value, big_endian);
  return 1 + size;
}

/// Builds the payload of a record, field by field; FieldReader reads it.
class Fields {
 public:
  explicit Fields(bool big_endian = false) : big_endian_(big_endian) {}

  Fields& u8(std::uint8_t value) {
    bytes_.push_back(value);
    return *this;
  }
  /// A compressed integer; all ones are undefined.
  Fields& c32(std::uint32_t value) { return value == ~std::uint32_t{0} ? u8(0xFF) : number(value); }
  Fields& c64(std::uint64_t value) { return value == ~std::uint64_t{0} ? u8(0xFF) : number(value); }
  /// A signed compressed integer: -1 is all ones, but not undefined.
  Fields& s64(std::int64_t value) { return number(static_cast<std::uint64_t>(value)); }
  /// A fixed 8-byte value (stamps, doubles).
  Fields& fixed64(std::uint64_t value) {
    std::array<std::uint8_t, 8> encoded{};
    store_u64(encoded.data(), value, big_endian_);
    return append(encoded);
  }
  /// A fixed 4-byte value.
  Fields& fixed32(std::uint32_t value) {
    std::array<std::uint8_t, 8> encoded{};
    store_u64(encoded.data(), big_endian_ ? std::uint64_t{value} << 32 : value, big_endian_);
    return append(std::span(encoded).first(4));
  }
  Fields& text(std::string_view value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return u8(0);
  }
  Fields& append(std::span<const std::uint8_t> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }

  std::vector<std::uint8_t> take() { return std::exchange(bytes_, {}); }

 private:
  Fields& number(std::uint64_t value) {
    std::array<std::uint8_t, 9> encoded{};
    return append(std::span(encoded).first(store_compressed(encoded.data(), value, big_endian_)));
  }

  std::vector<std::uint8_t> bytes_;
  bool big_endian_;
};

/// Name of the attribute (type STRING) at the end record of a collective call that names the
/// process's partners: "to 0-3,7 from 2" says that it sent data to the ranks 0, 1, 2, 3 and 7 and
/// received data from rank 2. Ranks rise; they are those of the communicator, on an
/// inter-communicator those of the other group. Without ranks a direction is its word alone.
inline constexpr const char* k_partners_attribute = "ENTRAIN::PARTNERS";
/// Name of Score-P's attribute (type LOCATION) that names the stream of a call to the driver of
/// CUDA.
inline constexpr const char* k_stream_attribute = "CUDA_STREAM_REF";

}  // namespace entrain::otf2
