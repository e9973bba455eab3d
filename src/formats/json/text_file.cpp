// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/text_file.hpp"

#include <algorithm>
#include <iterator>

#include "base/try.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_packed_piece = std::size_t{1} << 18;

}  // namespace

std::uint64_t most_unpacked(std::uint64_t size) {
  return std::min(k_most_text, std::max(k_any_ratio, std::min(size, k_most_text) * k_most_ratio));
}

tl::unexpected<Error> no_utf8(const std::filesystem::path& path) {
  return input_error("{} is no UTF-8, as JSON must be; write it again", path.string());
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t k_seen = 4;  // two characters, which are ASCII in a table and in JSON
  if (text.size() < k_seen) return false;
  const auto has_zeros_at = [&](std::size_t i) {
    return text[i] == '\0' && text[i + 2] == '\0' && text[1 - i] != '\0' && text[3 - i] != '\0';
  };
  return has_zeros_at(0) || has_zeros_at(1);
}

tl::unexpected<Error> no_utf16(const std::filesystem::path& path) {
  return input_error("{} is UTF-16; write it as UTF-8 (iconv -f UTF-16 -t UTF-8)", path.string());
}

std::string_view whole_characters(std::string_view text) {
  constexpr std::size_t k_longest = 4;
  for (std::size_t back = 1; back < k_longest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte >= 0xC0) return text.substr(0, text.size() - back);
  }
  return text;
}

Result<TextReader> TextReader::open(const std::filesystem::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(File file, File::open_for_reading(path, k_most_text));
  TextReader reader(std::move(file));
  reader.most_ = max_unpacked > 0 ? max_unpacked : most_unpacked(reader.file_.size_when_opened());
  std::uint8_t mark[k_packing_mark];
  TRY_ASSIGN(const std::size_t size, reader.file_.read_at(0, mark));
  reader.packing_ = packing_of(std::span<const std::uint8_t>(mark, size));
  reader.unpacker_ = Unpacker::make(reader.packing_);
  if (reader.unpacker_) reader.piece_.resize(k_packed_piece);
  return reader;
}

tl::unexpected<Error> TextReader::damage() {
  is_damaged_ = true;
  const char* const other = packing_ == Packing::zstd ? ", or one with a window above 128 MiB" : "";
  return input_error("{} holds a damaged {} stream{}; unpack it with {} to see how much is left",
                     file_.path().string(), unpacker_->name(), other, unpacker_->name());
}

/// Reads the next piece of the file if the last one is used up; false at the end.
Result<bool> TextReader::refill() {
  if (!rest_.empty()) return true;
  TRY_ASSIGN(const std::size_t size, file_.read_at(at_, piece_));
  at_ += size;
  rest_ = std::span(piece_).first(size);
  return size > 0;
}

/// After the end of a stream: true if another one begins. Some devices and tools pad with zeros.
Result<bool> TextReader::next_stream() {
  TRY_ASSIGN(bool more, refill());
  if (!more) return false;
  bool is_padding = false;
  while (more && std::ranges::count(rest_, 0) == std::ssize(rest_)) {
    is_padding = true;
    rest_ = {};
    TRY_ASSIGN(more, refill());
  }
  if (more && is_padding) return damage();
  if (more) unpacker_->restart();
  return more;
}

Result<std::size_t> TextReader::unpack(std::span<char> buffer) {
  std::span<char> to = buffer;
  while (!ended_ && !to.empty()) {
    if (state_ == Unpacker::State::end_of_stream) {
      TRY_ASSIGN(const bool more, next_stream());
      ended_ = !more;
      if (ended_) break;
    }
    state_ = unpacker_->unpack(rest_, to);
    if (state_ == Unpacker::State::damaged) return damage();
    if (state_ == Unpacker::State::end_of_stream || to.empty()) continue;
    TRY_ASSIGN(const bool more, refill());
    cut_ = ended_ = !more;  // e.g. the run was killed
  }
  const std::size_t size = buffer.size() - to.size();
  given_ += size;
  if (given_ > most_) {
    return input_error(
        "{} has {} bytes and holds more than {} when unpacked, which is the limit; if you trust "
        "it, allow more with --max-unpacked, or unpack it",
        file_.path().string(), file_.size_when_opened(), most_);
  }
  if (cut_ && given_ == 0) {
    return input_error(
        "{} is cut off after {} bytes, inside the first block of its {} stream: nothing of it can "
        "be unpacked",
        file_.path().string(), file_.size_when_opened(), unpacker_->name());
  }
  return size;
}

Result<std::size_t> TextReader::read(std::span<char> buffer) {
  const bool is_first = at_ == 0;
  std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size());
  TRY_ASSIGN(const std::size_t size, unpacker_ ? unpack(buffer) : file_.read_at(at_, bytes));
  if (!unpacker_) at_ += size;
  if (is_first && is_utf16({buffer.data(), size})) return no_utf16(file_.path());
  return size;
}

TextWriter::TextWriter(File file, Packing packing)
    : file_(std::move(file)), packer_(Packer::make(packing)) {
  if (packer_) piece_.resize(k_packed_piece);
}

Result<TextWriter> TextWriter::create(const std::filesystem::path& path, Packing packing) {
  TRY_ASSIGN(File file, File::create(path));
  return TextWriter(std::move(file), packing);
}

Result<void> TextWriter::pack(std::string_view text, bool last) {
  for (auto state = Packer::State::more; state == Packer::State::more;) {
    std::span<std::uint8_t> room(piece_);
    state = packer_->pack(text, last, room);
    if (state == Packer::State::failed) {
      return output_error("{} cannot be packed", file_.path().string());
    }
    TRY(file_.write({piece_.data(), piece_.size() - room.size()}));
  }
  return {};
}

Result<void> TextWriter::write(std::string_view text) {
  if (packer_) return pack(text, false);
  return file_.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<void> TextWriter::close() {
  if (packer_) TRY(pack({}, true));
  return file_.close();
}

}  // namespace entrain::json
