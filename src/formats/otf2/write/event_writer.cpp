// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/event_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/try.hpp"

namespace entrain::otf2 {

EventWriter::EventWriter(std::filesystem::path path, std::uint64_t chunk_size,
                         std::size_t buffer_size)
    : chunk_size_(chunk_size),
      buffer_size_(std::clamp<std::size_t>(buffer_size, k_least_buffer, chunk_size)),
      buffer_(std::make_unique_for_overwrite<std::uint8_t[]>(buffer_size_ + k_largest_event +
                                                             k_end_marks)),
      path_(std::move(path)) {
  at_ = buffer_.get();
  begin_chunk();
}

void EventWriter::begin_chunk() {
  chunk_begin_ = offset_of(at_);
  store_chunk_header(at_, {events_ + 1, events_}, false);
  at_ += k_chunk_header_size;
  last_ = k_no_time;  // every chunk can be read alone
  set_limit();
}

void EventWriter::set_limit() {
  const std::uint64_t left_in_chunk = chunk_begin_ + chunk_size_ - flushed_;
  const std::size_t room = std::min<std::uint64_t>(buffer_size_, left_in_chunk);
  limit_ = buffer_.get() + room - k_largest_event - k_end_marks;
}

/// Writes the number of the chunk's last event where its header is: in the buffer or in the file.
void EventWriter::end_chunk_header() {
  const std::uint64_t field = chunk_begin_ + k_last_event_field;
  if (field >= flushed_) {
    store_u64(buffer_.get() + (field - flushed_), events_, false);
    return;
  }
  if (error_) return;
  std::uint8_t number[8];
  store_u64(number, events_, false);
  if (auto written = write_piece(path_, field, number); !written) error_ = written.error();
}

void EventWriter::make_room() {
  const std::uint64_t chunk_end = chunk_begin_ + chunk_size_;
  const std::uint64_t left = chunk_end - offset_of(at_);
  if (left >= k_largest_event + k_end_marks) {
    flush();
    set_limit();
    return;
  }
  std::memset(at_, mark::end_of_chunk, left);
  at_ += left;
  end_chunk_header();
  flush();
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

Result<void> EventWriter::close() {
  *at_++ = mark::end_of_file;
  *at_++ = mark::end_of_buffer;
  end_chunk_header();
  flush();
  buffer_.reset();
  at_ = nullptr;
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

void EventWriter::put_message(std::uint8_t type, std::uint64_t time,
                              const trace::Message& message) {
  std::uint8_t* const record = begin(time);
  std::uint8_t* out = put(record + 2, message.peer);
  out = put(put(put(out, message.comm), message.tag), message.length);
  record[0] = type;
  record[1] = static_cast<std::uint8_t>(out - record - 2);
  end(out);
}

void EventWriter::put_message(std::uint8_t type, std::uint64_t time, const trace::Message& message,
                              std::uint64_t request) {
  std::uint8_t* const record = begin(time);
  std::uint8_t* out = put(record + 2, message.peer);
  out = put(put(put(put(out, message.comm), message.tag), message.length), request);
  record[0] = type;
  record[1] = static_cast<std::uint8_t>(out - record - 2);
  end(out);
}

void EventWriter::mpi_collective_begin(std::uint64_t time) {
  std::uint8_t* const record = begin(time);
  record[0] = event::mpi_collective_begin;
  record[1] = 0;
  end(record + 2);
}

void EventWriter::mpi_collective_end(std::uint64_t time, const trace::Collective& collective) {
  std::uint8_t* const record = begin(time);
  record[2] = collective.op;
  std::uint8_t* out = put_reference(put(record + 3, collective.comm), collective.root);
  out = put(put(out, collective.sent), collective.received);
  record[0] = event::mpi_collective_end;
  record[1] = static_cast<std::uint8_t>(out - record - 2);
  end(out);
}

void EventWriter::nb_collective_request(std::uint64_t time, std::uint64_t request) {
  std::uint8_t* const record = begin(time);
  std::uint8_t* const out = put(record + 2, request);
  record[0] = event::nb_collective_request;
  record[1] = static_cast<std::uint8_t>(out - record - 2);
  end(out);
}

void EventWriter::nb_collective_complete(std::uint64_t time, const trace::Collective& collective,
                                         std::uint64_t request) {
  std::uint8_t* const record = begin(time);
  record[2] = collective.op;
  std::uint8_t* out = put_reference(put(record + 3, collective.comm), collective.root);
  out = put(put(put(out, collective.sent), collective.received), request);
  record[0] = event::nb_collective_complete;
  record[1] = static_cast<std::uint8_t>(out - record - 2);
  end(out);
}

}  // namespace entrain::otf2
