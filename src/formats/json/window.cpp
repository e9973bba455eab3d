// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/window.hpp"

#include <algorithm>

#include "base/flat_map.hpp"
#include "base/memory_room.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace entrain::json {
namespace {

/// Bytes per read; fits into the L2 cache of most processors.
constexpr std::size_t k_window_piece = std::size_t{1} << 18;

}  // namespace

Result<Window> Window::open(const std::filesystem::path& path, std::uint64_t max_unpacked,
                            Content content) {
  TRY_ASSIGN(TextReader reader, TextReader::open(path, max_unpacked));
  Window window(path, std::move(reader), content);
  TRY(window.advance(0));
  return window;
}

Result<void> Window::advance(std::size_t done) {
  size_ -= done;
  offset_ += done;
  checked_ -= done;
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(done), size_, bytes_.begin());
  // Reads pieces at fixed positions of the file, so that the hash does not depend on the reader.
  const std::size_t pieces = std::max<std::size_t>(size_ / k_window_piece, 1);
  const std::size_t wanted = size_ + pieces * k_window_piece;
  if (size_ > k_most_kept) {
    return input_error("{}: the value at byte {} has more than {} bytes; split it, or take it out",
                       path_.string(), offset_, k_most_kept);
  }
  const bool grows = bytes_.size() < wanted;
  TRY(check_memory_room(path_, grows ? wanted : 0));
  if (grows) bytes_.resize(wanted);
  for (std::size_t i = 0; i < pieces && !ended_; ++i) {
    TRY_ASSIGN(const std::size_t read, reader_.read({bytes_.data() + size_, k_window_piece}));
    hash_ = mix(hash_ + text_hash({bytes_.data() + size_, read}));
    size_ += read;
    ended_ = read < k_window_piece;
  }
  return check_encoding();
}

Result<void> Window::check_encoding() {
  if (content_ == Content::bytes) {
    checked_ = size_;
    return {};
  }
  const std::string_view unchecked(bytes_.data() + checked_, size_ - checked_);
  const std::string_view whole = whole_characters(unchecked);
  if (!is_utf8(whole)) return no_utf8(path_);
  // A text that was cut off may end inside a character.
  checked_ += ended_ ? unchecked.size() : whole.size();
  return {};
}

}  // namespace entrain::json
