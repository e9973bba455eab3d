// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/chunk_writer.hpp"

#include <cerrno>

#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

constexpr std::uint8_t k_undefined = 0xFF;
constexpr std::size_t k_stamp_size = 9;

void append_fixed(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  bytes.resize(bytes.size() + 8);
  store_u64(bytes.data() + bytes.size() - 8, value, false);
}

}  // namespace

Fields& Fields::c32(std::uint32_t value) {
  return value == ~std::uint32_t{0} ? u8(k_undefined) : c64(value);
}

Fields& Fields::c64(std::uint64_t value) {
  if (value == ~std::uint64_t{0}) return u8(k_undefined);
  std::uint8_t encoded[9];
  const std::size_t size = store_compressed(encoded, value, false);
  bytes_.insert(bytes_.end(), encoded, encoded + size);
  return *this;
}

Fields& Fields::fixed64(std::uint64_t value) {
  append_fixed(bytes_, value);
  return *this;
}

Fields& Fields::text(std::string_view value) {
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  return u8(0);
}

ChunkWriter::ChunkWriter(const std::filesystem::path& path, std::size_t chunk_size)
    : file_(std::fopen(path.c_str(), "wbx")), chunk_size_(chunk_size), failed_(file_ == nullptr) {
  begin_chunk();
}

ChunkWriter::~ChunkWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void ChunkWriter::begin_chunk() {
  buffer_.resize(k_chunk_header_size);
  store_chunk_header(buffer_.data(), k_no_events, false);  // the scanner does not read the numbers
  has_time_ = false;
}

void ChunkWriter::make_room(std::size_t size) {
  if (buffer_.size() + size + 2 <= chunk_size_) return;
  buffer_.push_back(mark::end_of_chunk);
  buffer_.resize(chunk_size_);
  write_buffer();
  begin_chunk();
}

void ChunkWriter::write_buffer() {
  if (failed_) return;
  failed_ = std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
}

void ChunkWriter::event(std::uint64_t time, std::uint8_t type, const Fields& fields,
                        const Fields& attributes) {
  make_room(k_stamp_size + 4 + fields.bytes().size() + attributes.bytes().size());
  if (!has_time_ || time != time_) {
    buffer_.push_back(mark::stamp);
    append_fixed(buffer_, time);
    time_ = time;
    has_time_ = true;
  }
  if (!attributes.bytes().empty()) {
    buffer_.push_back(mark::attribute_list);
    buffer_.push_back(static_cast<std::uint8_t>(attributes.bytes().size()));
    buffer_.insert(buffer_.end(), attributes.bytes().begin(), attributes.bytes().end());
  }
  buffer_.push_back(type);
  // The records of events that are not bare are short: a length of one byte is enough.
  if (!is_bare(type)) buffer_.push_back(static_cast<std::uint8_t>(fields.bytes().size()));
  buffer_.insert(buffer_.end(), fields.bytes().begin(), fields.bytes().end());
}

void ChunkWriter::record(std::uint8_t type, const Fields& fields) {
  const std::size_t size = framed_size(fields.bytes().size());
  if (k_chunk_header_size + size + 2 > chunk_size_) {
    failed_ = true;
    errno = EFBIG;
    return;
  }
  make_room(size);
  append_record(buffer_, type, fields.bytes(), false);
}

bool ChunkWriter::finish() {
  buffer_.push_back(mark::end_of_file);
  buffer_.push_back(mark::end_of_buffer);
  write_buffer();
  if (file_ != nullptr) failed_ = std::fclose(file_) != 0 || failed_;
  file_ = nullptr;
  return !failed_;
}

}  // namespace entrain::otf2
