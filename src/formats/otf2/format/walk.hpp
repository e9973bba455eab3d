// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

// walk_chunk() knows how records are framed (format.hpp shows an example) and calls a *visitor* for
// each stamp and each record. It checks every length against the end of the chunk: all decisions
// about damage are made here, once for all users.
//
// Calling a visitor 50 million times for Enter, Leave and their stamps would be slow. So a visitor
// may offer hurry(): a loop of its own over ordinary little-endian events, with its state in
// registers and almost no checks. It stops at the first record that is not plain: marks, lengths of
// 255 and more, undefined or impossible integers, times out of order. The walk then takes exactly
// one step itself, with all checks, and lets the visitor hurry on. Tests hold both ways against
// each other with random and with damaged chunks.

/// The framing of the records of a file.
enum class Framing {
  events,     ///< stamps between the records; some records are bare integers
  snapshots,  ///< stamps between the records; every record has a length
  plain,      ///< no stamps; every record has a length (definitions, markers)
};

/// Why the walk through a chunk ended.
enum class ChunkEnd {
  next_chunk,   ///< end-of-chunk mark: the next chunk begins at a multiple of the chunk size
  end_of_file,  ///< end-of-file mark
  ran_out,      ///< the bytes end in the middle
  damaged,      ///< something that cannot be a record
};

struct ChunkWalk {
  ChunkEnd end = ChunkEnd::damaged;
  std::size_t offset = 0;    ///< position in the chunk: the byte past the mark, or the problem
  const char* problem = "";  ///< phrase for the message of ChunkEnd::damaged
};

/// Bytes that can be read after the position where a hurrying visitor may begin an event: a stamp,
/// the longest record with a length of one byte, and 16 bytes more, as a damaged record may seem to
/// hold an integer that goes beyond its end.
inline constexpr std::size_t k_hurry_margin = 9 + 2 + 254 + 16;

/// Base of visitors that look into the records of a chunk.
class ChunkVisitor {
 public:
  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  [[nodiscard]] bool big_endian() const { return big_endian_; }

 protected:
  /// The fields of a payload.
  [[nodiscard]] FieldReader fields(std::size_t offset, std::size_t size) const {
    return {chunk_ + offset, size, big_endian_};
  }

  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
};

/// A visitor that can pass over ordinary events by itself, with
///   std::size_t hurry(std::size_t at, std::size_t limit);
/// It handles the stamps and records of a little-endian chunk of events from offset `at` on, with
/// the same effect as its stamp() and record(). It begins none at `limit` or later and returns the
/// offset of the first one that it did not handle. It may read up to k_hurry_margin bytes from
/// `limit` on.
template <class Visitor>
concept Hurries = requires(Visitor visitor, std::size_t at) {
  { visitor.hurry(at, at) } -> std::same_as<std::size_t>;
};

/// A visitor that looks at the attribute lists of events, with
///   void attributes(std::size_t offset, std::size_t size);  // of the payload
/// which is called before record() of the event that they belong to.
template <class Visitor>
concept LooksAtAttributes = requires(Visitor visitor, std::size_t at) {
  visitor.attributes(at, at);
};

/// Visits every record of one chunk, `size` bytes at `chunk` (the last one may be shorter than the
/// chunk size). Never reads outside.
///
/// The visitor needs
///   void chunk(std::uint8_t* bytes, bool big_endian);  // a new chunk begins
///   bool stamp(std::size_t offset, std::uint64_t time);   // offset of the 8 bytes in the chunk
///   bool record(std::uint8_t type, std::size_t offset, std::size_t size);  // of the payload
/// and ends the walk as damaged by returning false. A bare record's payload is its compressed
/// integer including the size byte; attribute lists are passed over, unless the visitor
/// LooksAtAttributes. The chunk's bytes may be
/// changed by the visitor as long as lengths stay.
template <Framing framing, class Visitor>
ChunkWalk walk_chunk(std::uint8_t* chunk, std::size_t size, Visitor& visitor) {
  if (size < k_chunk_header_size) return {ChunkEnd::ran_out, 0, ""};
  if (chunk[0] != mark::chunk_header || (chunk[1] != k_little_endian && chunk[1] != k_big_endian)) {
    return {ChunkEnd::damaged, 0, "no chunk header where one must be"};
  }
  const bool big_endian = chunk[1] == k_big_endian;
  visitor.chunk(chunk, big_endian);
  std::size_t at = k_chunk_header_size;
  while (at < size) {
    if constexpr (framing == Framing::events && Hurries<Visitor>) {
      // The step below decides about the record at which the visitor stopped.
      if (!big_endian && size > k_hurry_margin && at < size - k_hurry_margin) {
        at = visitor.hurry(at, size - k_hurry_margin);
      }
    }
    const std::uint8_t type = chunk[at];
    if (framing != Framing::plain && type == mark::stamp) {
      if (size - at < 9) return {ChunkEnd::ran_out, at, ""};
      if (!visitor.stamp(at + 1, load_u64(chunk + at + 1, big_endian))) {
        return {ChunkEnd::damaged, at, "a time stamp out of range, before or after the correction"};
      }
      at += 9;
      continue;
    }
    if (type == mark::end_of_chunk) return {ChunkEnd::next_chunk, at + 1, ""};
    if (type == mark::end_of_file) return {ChunkEnd::end_of_file, at + 1, ""};
    if (type == mark::end_of_buffer || type == mark::chunk_header) {
      return {ChunkEnd::damaged, at, "a mark that cannot stand between records"};
    }
    if (size - at < 2) return {ChunkEnd::ran_out, at, ""};
    const std::size_t length_byte = chunk[at + 1];
    std::size_t payload = at + 2;
    std::size_t length = length_byte;
    if (framing == Framing::events && is_bare(type)) {
      if (length == 0xFF) length = 0;
      if (length > 8) return {ChunkEnd::damaged, at, "an integer of more than 8 bytes"};
      if (size - payload < length) return {ChunkEnd::ran_out, at, ""};
      if (!visitor.record(type, payload - 1, length + 1)) {
        return {ChunkEnd::damaged, at, "a record with impossible content"};
      }
      at = payload + length;
      continue;
    }
    if (length_byte == 0xFF) {
      if (size - payload < 8) return {ChunkEnd::ran_out, at, ""};
      length = load_u64(chunk + payload, big_endian);
      payload += 8;
    }
    if (size - payload < length) return {ChunkEnd::ran_out, at, ""};
    if (framing != Framing::plain && type == mark::attribute_list) {
      if constexpr (LooksAtAttributes<Visitor>) visitor.attributes(payload, length);
    } else if (!visitor.record(type, payload, length)) {
      return {ChunkEnd::damaged, at, "a record with impossible content"};
    }
    at = payload + length;
  }
  return {ChunkEnd::ran_out, at, ""};
}

}  // namespace entrain::otf2
