// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/event_file.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "formats/otf2/format/format.hpp"
#include "record/archive/event_fields.hpp"

namespace entrain::record {

namespace mark = otf2::mark;

namespace {

// Layout of a chunk: mark, byte order, numbers of its first and last event; then records.
constexpr std::size_t k_first_at = 2, k_last_at = 10;

// Chunks are written by this machine, in its own byte order.
std::uint64_t word_at(const std::string& bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

void put_word(std::string& bytes, std::size_t at, std::uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

/// MeasurementOnOff, at the time of the record before it: type, length, OTF2_MEASUREMENT_OFF.
constexpr std::string_view k_end_of_measurement = "\x0b\x01\x02";
static_assert(k_end_of_measurement[0] == otf2::event::measurement_on_off);

/// Bytes up to the last one that is not 0: no others were written.
std::uint64_t written_bytes(const std::string& chunk) { return chunk.find_last_not_of('\0') + 1; }

/// Counts the records of one chunk, up to the first that the recorder did not write. The thread may
/// have been stopped while it wrote the last one: then its length, the number in it or its stamp is
/// still 0. A complete record never looks like that: no region and no request of the recorder has
/// the number 0, and only the records of is_empty have the length 0.
class Walk {
 public:
  Walk(const std::string& chunk, EventSpan& span) : chunk_(chunk), span_(span) {
    while (step()) {
    }
  }
  /// Offset after the last complete record.
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Bytes after the last complete record that were written and mean nothing.
  [[nodiscard]] std::uint64_t lost() const {
    const unsigned char next = at_ < chunk_.size() ? byte(at_) : 0;
    if (end_ == at_ && (next == mark::end_of_chunk || next == mark::end_of_file)) return 0;
    const std::size_t written = written_bytes(chunk_);
    return written > end_ ? written - end_ : 0;
  }

 private:
  [[nodiscard]] unsigned char byte(std::size_t at) const {
    return static_cast<unsigned char>(chunk_[at]);
  }

  bool step() {
    if (at_ + 2 >= chunk_.size()) return false;
    const unsigned char type = byte(at_);
    if (type == mark::end_of_chunk || type == mark::end_of_file) return false;
    std::size_t next = 0, payload = at_ + 2;
    if (type != mark::stamp && byte(at_ + 1) == 0 && !otf2::is_empty(type)) return false;
    if (type == mark::stamp) {
      next = at_ + 9;
    } else if (otf2::is_bare(type)) {
      payload = at_ + 1;
      next = at_ + 2 + (byte(at_ + 1) == 0xff ? 0 : byte(at_ + 1));
    } else if (byte(at_ + 1) != 0xff) {
      next = at_ + 2 + byte(at_ + 1);
    } else {
      if (at_ + 10 > chunk_.size()) return false;
      const std::uint64_t length = word_at(chunk_, at_ + 2);
      if (length > chunk_.size()) return false;
      payload = at_ + 10;
      next = at_ + 10 + length;
    }
    if (next >= chunk_.size()) return false;
    const std::span<const std::uint8_t> fields{
        reinterpret_cast<const std::uint8_t*>(chunk_.data()) + payload, next - payload};
    if (type == mark::stamp) {
      const std::uint64_t time = word_at(chunk_, at_ + 1);
      if (time == 0 || time < span_.last || time > otf2::k_last_time) return false;
      time_ = time;
    } else if (type == mark::attribute_list) {
      if (!is_attribute_payload(fields)) return false;
    } else {
      if (time_ == 0 || !is_event_payload(type, fields)) return false;
      if (span_.events++ == 0) span_.first = time_;
      span_.last = std::max(span_.last, time_);
      ++events_;
      end_ = next;
    }
    at_ = next;
    return true;
  }

  const std::string& chunk_;
  EventSpan& span_;
  std::size_t at_ = otf2::k_chunk_header_size, end_ = otf2::k_chunk_header_size;
  std::uint64_t events_ = 0, time_ = 0;
};

/// The chunks that were in use, in the order of their events. Those that are none count as lost.
std::vector<std::string> chunks_of(const std::string& bytes, std::uint64_t size,
                                   std::uint64_t& lost) {
  std::vector<std::string> chunks;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::string chunk = bytes.substr(at, size);
    if (chunk.size() > otf2::k_chunk_header_size &&
        static_cast<unsigned char>(chunk[0]) == mark::chunk_header &&
        static_cast<unsigned char>(chunk[1]) == otf2::k_little_endian &&
        word_at(chunk, k_first_at) > 0) {
      chunks.push_back(chunk);
    } else {
      lost += written_bytes(chunk);
    }
  }
  std::stable_sort(chunks.begin(), chunks.end(), [](const std::string& a, const std::string& b) {
    return word_at(a, k_first_at) < word_at(b, k_first_at);
  });
  return chunks;
}

}  // namespace

std::string restored_event_file(const std::string& chunks, std::uint64_t chunk_size,
                                EventSpan& span) {
  std::string file;
  std::uint64_t next = 1;
  std::size_t last_chunk = 0;  // where it begins in the file
  bool ended = false;
  for (std::string& chunk : chunks_of(chunks, chunk_size, span.lost_bytes)) {
    // A gap means that a chunk was lost: the following ones cannot be placed.
    if (ended || word_at(chunk, k_first_at) != next) {
      span.lost_bytes += written_bytes(chunk);
      ended = true;
      continue;
    }
    const Walk walk(chunk, span);
    span.lost_bytes += walk.lost();
    ended = walk.events() == 0 || walk.lost() > 0;
    if (walk.events() == 0) continue;
    next += walk.events();
    put_word(chunk, k_last_at, next - 1);
    file.resize((file.size() + chunk_size - 1) / chunk_size * chunk_size, '\0');
    last_chunk = file.size();
    file += chunk.substr(0, walk.end());
  }
  // Without room for it in the last chunk, the record is left out.
  if (next > 1 && file.size() - last_chunk + k_end_of_measurement.size() < chunk_size) {
    file += k_end_of_measurement;
    put_word(file, last_chunk + k_last_at, next);
    ++span.events;
  }
  if (file.empty()) {
    file.assign(otf2::k_chunk_header_size, '\0');
    file[0] = static_cast<char>(mark::chunk_header);
    file[1] = static_cast<char>(otf2::k_little_endian);
    put_word(file, k_first_at, 1);
  }
  file += static_cast<char>(mark::end_of_file);
  file += static_cast<char>(mark::end_of_buffer);
  return file;
}

}  // namespace entrain::record
