// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/event_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file.hpp"

namespace entrain::otf2 {

EventWriter::EventWriter(std::filesystem::path path, std::uint64_t chunk_size,
                         std::size_t buffer_size)
    : chunk_size_(chunk_size),
      buffer_size_(std::min<std::size_t>(std::max(buffer_size, k_least_buffer), chunk_size)),
      buffer_(std::make_unique_for_overwrite<std::uint8_t[]>(buffer_size_ + k_largest_event +
                                                             k_end_marks)),
      path_(std::move(path)) {
  at_ = buffer_.get();
  begin_chunk();
}

void EventWriter::begin_chunk() {
  chunk_begin_ = offset_of(at_);
  store_chunk_header(at_, {events_ + 1, events_}, big_endian_);
  at_ += k_chunk_header_size;
  last_ = k_no_time;  // every chunk can be read alone
  set_limit();
}

void EventWriter::set_limit() {
  const std::uint64_t left = chunk_begin_ + chunk_size_ - flushed_;
  const std::size_t room = std::min<std::uint64_t>(buffer_size_, left);
  limit_ = buffer_.get() + room - std::min(room, k_largest_event + k_end_marks);
}

/// Writes the number of the chunk's last event where its header is: in the buffer or in the file.
void EventWriter::end_chunk_header() {
  const std::uint64_t field = chunk_begin_ + k_last_event_field;
  if (field >= flushed_) {
    store_u64(buffer_.get() + (field - flushed_), events_, big_endian_);
    return;
  }
  if (error_) return;
  std::uint8_t number[8];
  store_u64(number, events_, big_endian_);
  if (auto written = write_piece(path_, field, number); !written) error_ = written.error();
}

/// Fills the chunk up, as another one follows.
void EventWriter::end_chunk() {
  const std::uint64_t left = left_in_chunk();
  std::memset(at_, mark::end_of_chunk, left);
  at_ += left;
  end_chunk_header();
  flush();
}

/// Makes room for `size` bytes and the end marks: in the buffer, or in a new chunk.
void EventWriter::make_room(std::size_t size) {
  if (left_in_chunk() >= size + k_end_marks) {
    flush();
    set_limit();
    return;
  }
  end_chunk();
  begin_chunk();
}

void EventWriter::flush() {
  const std::size_t size = static_cast<std::size_t>(at_ - buffer_.get());
  if (!error_) {
    if (auto written = write_piece(path_, flushed_, {buffer_.get(), size}); !written) {
      error_ = written.error();
    }
  }
  flushed_ += size;
  at_ = buffer_.get();
}

Result<void> EventWriter::close(bool ends) {
  if (ends) {
    *at_++ = mark::end_of_file;
    *at_++ = mark::end_of_buffer;
  } else if (events_ == 0) {
    at_ = buffer_.get();  // not even a chunk
  }
  if (ends || events_ > 0) end_chunk_header();
  flush();
  buffer_.reset();
  at_ = nullptr;
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

void EventWriter::set_byte_order(bool big_endian) {
  if (big_endian == big_endian_) return;
  if (offset_of(at_) == chunk_begin_ + k_chunk_header_size) {
    at_ -= k_chunk_header_size;  // the chunk begins anew
  } else {
    end_chunk();
  }
  big_endian_ = big_endian;
  begin_chunk();
}

bool EventWriter::raw(std::uint64_t time, std::span<const std::uint8_t> record) {
  if (k_chunk_header_size + k_stamp_size + record.size() + k_end_marks > chunk_size_) return false;
  const std::size_t size = (time == last_ ? 0 : k_stamp_size) + record.size();
  if (left_in_chunk() < size + k_end_marks) make_room(size);
  put_stamp(time);
  std::copy(record.begin(), record.end(), at_);
  end(at_ + record.size());
  return true;
}

}  // namespace entrain::otf2
