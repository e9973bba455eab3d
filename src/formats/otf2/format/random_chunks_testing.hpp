// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>

#include "formats/otf2/format/testing.hpp"
#include "formats/otf2/format/walk.hpp"

/// Event files of random records, for the tests of this folder.
namespace entrain::otf2::testing {

/// Makes event files of random chunks: all record types and encodings, stamps that seldom decrease.
class RandomChunks {
 public:
  explicit RandomChunks(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  Bytes file(std::size_t chunk_size, std::size_t chunks) {
    Bytes bytes;
    time_ = one_in(4) ? 0 : below(1000);
    const bool any_order = one_in(4);  // a file has one byte order, as a rule
    const bool big = one_in(8);
    for (std::size_t i = 0; i < chunks; ++i) {
      ChunkBuilder chunk(any_order ? one_in(2) : big);
      fill(chunk, chunk_size - 300, one_in(20));
      const bool last = i + 1 == chunks;
      bytes = bytes + (last ? chunk.end() : chunk.next_chunk(chunk_size)).bytes();
      if (!last && one_in(40)) bytes[i * chunk_size + k_chunk_header_size + 40] = mark::end_of_file;
    }
    if (one_in(4)) bytes = bytes + Bytes(below(3 * chunk_size), mark::stamp);
    return bytes;
  }

  /// Changes some bytes, or cuts the end.
  Bytes damaged(Bytes bytes) {
    for (std::uint64_t i = below(4); i > 0; --i) {
      bytes[below(bytes.size())] = static_cast<std::uint8_t>(one_in(2) ? below(256) : below(24));
    }
    if (one_in(3)) bytes.resize(below(bytes.size() + 1));
    return bytes;
  }

 private:
  void fill(ChunkBuilder& chunk, std::size_t size, bool without_stamp) {
    if (!without_stamp) stamp(chunk);
    while (chunk.bytes().size() < size) {
      if (!one_in(5)) stamp(chunk);
      if (one_in(30)) named_call(chunk);
      one_in(4) ? any(chunk) : region(chunk);
    }
  }
  void stamp(ChunkBuilder& chunk) {
    if (one_in(300)) {
      time_ -= time_ / (1 + below(9));
    } else {
      time_ += one_in(10) ? 0 : 10 + below(one_in(9) ? 100'000 : 90);
    }
    chunk.stamp(time_);
  }
  void region(ChunkBuilder& chunk) {
    const int type = one_in(2) ? event::enter : event::leave;
    chunk.raw({type});
    if (one_in(100)) {
      one_in(2) ? chunk.raw({0xFF}) : chunk.raw({4, 9, 0, 0, 0});
    } else if (one_in(1000)) {
      chunk.raw({5, 9, 0, 0, 0, 0});
    } else {
      chunk.compressed(one_in(20) ? below(100'000) : below(24));
    }
  }
  /// The end of a collective call that names its partners (attribute 5), or something close to it.
  void named_call(ChunkBuilder& chunk) {
    const bool big_endian = chunk.bytes()[1] == k_big_endian;
    ChunkBuilder list(big_endian);
    list.compressed(1 + below(2));
    if (one_in(3)) list.compressed(7).raw({attribute_type::uint8, 99});
    list.compressed(one_in(9) ? 6 : 5).raw({one_in(9) ? 3 : int{attribute_type::string}});
    list.compressed(below(40));
    chunk.record(mark::attribute_list, payload_of(list));
    if (one_in(9)) region(chunk);
    ChunkBuilder call(big_endian);
    call.raw({static_cast<int>(8 + below(3))});
    for (int i = 0; i < 4; ++i) call.compressed(below(300));
    chunk.record(event::mpi_collective_end, payload_of(call));
  }
  static Bytes payload_of(const ChunkBuilder& fields) {
    return {fields.bytes().begin() + k_chunk_header_size, fields.bytes().end()};
  }
  void any(ChunkBuilder& chunk) {
    auto type = static_cast<std::uint8_t>(7 + below(one_in(20) ? 249 : 82));
    if (one_in(8)) type = event::rma_group_sync;
    if (one_in(12)) type = event::buffer_flush;
    if (one_in(8)) type = mark::attribute_list;
    if (is_bare(type)) {
      chunk.raw({type}).compressed(below(1u << below(20)));
      return;
    }
    const Bytes payload = fields(chunk.bytes()[1] == k_big_endian, type);
    if (!one_in(30)) {
      chunk.record(type, payload);
      return;
    }
    chunk.raw({type, 0xFF}).fixed(payload.size());
    for (const std::uint8_t byte : payload) chunk.raw({byte});
  }
  /// Enough integers for any type; a byte that means a size where there is one byte.
  Bytes fields(bool big_endian, std::uint8_t type) {
    ChunkBuilder fields(big_endian);
    if (type == event::buffer_flush)
      fields.fixed(time_ - time_ / 8 + below(one_in(4) ? 99'999 : 99));
    if (type == event::mpi_collective_end || type == event::nb_collective_complete ||
        type == event::rma_collective_end) {
      fields.raw({static_cast<int>(below(25))});
    }
    const std::uint64_t count = one_in(3000) ? below(6) : 7 + below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      one_in(12) ? fields.raw({0xFF}) : fields.compressed(below(1u << below(16)));
    }
    return payload_of(fields);
  }

  std::mt19937_64 random_;
  std::uint64_t time_ = 0;
};

/// A visitor without its haste: the reference that the hurried walk has to agree with.
template <class Visitor>
struct Unhurried {
  Visitor& visitor;
  void chunk(std::uint8_t* bytes, bool big_endian) { visitor.chunk(bytes, big_endian); }
  bool stamp(std::size_t offset, std::uint64_t time) { return visitor.stamp(offset, time); }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    return visitor.record(type, offset, size);
  }
  void attributes(std::size_t offset, std::size_t size) requires LooksAtAttributes<Visitor> {
    visitor.attributes(offset, size);
  }
};

}  // namespace entrain::otf2::testing
