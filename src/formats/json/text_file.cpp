// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/text_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/memory.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_packed_piece = std::size_t{1} << 18;
constexpr int k_gzip = 15 + 16;  // the largest window, with a gzip header
constexpr int k_memory_level = 8;

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::uint64_t most_unpacked(std::uint64_t size) {
  return std::min(k_most_text, std::max(k_any_ratio, std::min(size, k_most_text) * k_most_ratio));
}

tl::unexpected<Error> no_utf8(const std::filesystem::path& path) {
  return fail(ErrorKind::input,
              fmt::format("{} is no UTF-8, as JSON must be; write it again", path.string()));
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

struct TextReader::Source {
  explicit Source(File opened) : file(std::move(opened)) {}
  ~Source() {
    if (packed) inflateEnd(&stream);
  }

  [[nodiscard]] tl::unexpected<Error> damaged(const char* how) {
    is_damaged = true;
    return fail(ErrorKind::input, fmt::format("{} {}; unpack it with gzip to see how much is left",
                                              file.path().string(), how));
  }

  Result<void> begin() {
    std::uint8_t mark[2];
    TRY_ASSIGN(const std::size_t size, file.read_at(0, mark));
    if (size < sizeof mark || mark[0] != 0x1F || mark[1] != 0x8B) return {};
    if (unless_no_memory(inflateInit2(&stream, k_gzip)) != Z_OK)
      return damaged("cannot be unpacked");
    packed = true;
    piece.resize(k_packed_piece);
    return {};
  }

  /// Reads the next piece of the file if the last one is used up; false at the end.
  Result<bool> refill() {
    if (stream.avail_in > 0) return true;
    TRY_ASSIGN(const std::size_t size, file.read_at(at, piece));
    at += size;
    stream.next_in = piece.data();
    stream.avail_in = static_cast<unsigned>(size);
    return size > 0;
  }

  /// After the end of a stream: true if another one begins. Some devices and tools pad with zeros.
  Result<bool> next_stream() {
    TRY_ASSIGN(bool more, refill());
    if (!more) return false;
    bool is_padding = false;
    while (more && all_zero({stream.next_in, stream.avail_in})) {
      is_padding = true;
      stream.avail_in = 0;
      TRY_ASSIGN(more, refill());
    }
    if (more && is_padding) return damaged("holds a damaged gzip stream");
    if (more) inflateReset(&stream);
    return more;
  }

  Result<std::size_t> unpack(std::span<char> buffer) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<unsigned>(buffer.size());
    while (!ended && stream.avail_out > 0) {
      if (state == Z_STREAM_END) {
        TRY_ASSIGN(const bool more, next_stream());
        ended = !more;
        if (ended) break;
      }
      state = unless_no_memory(inflate(&stream, Z_NO_FLUSH));
      if (state == Z_OK || state == Z_STREAM_END) continue;
      if (state != Z_BUF_ERROR) return damaged("holds a damaged gzip stream");
      TRY_ASSIGN(const bool more, refill());
      cut = ended = !more;  // e.g. the run was killed
    }
    const std::size_t size = buffer.size() - stream.avail_out;
    given += size;
    if (given > most) return too_large();
    return size;
  }

  [[nodiscard]] tl::unexpected<Error> too_large() const {
    const std::uint64_t packed_bytes = file.size_when_opened();
    return fail(ErrorKind::input,
                fmt::format("{} has {} bytes and holds more than {} when unpacked, which is the "
                            "limit; if you trust it, allow more with --max-unpacked, or unpack it",
                            file.path().string(), packed_bytes, most));
  }

  Result<std::size_t> read_plain(std::span<char> buffer) {
    TRY_ASSIGN(const std::size_t size,
               file.read_at(at, {reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()}));
    at += size;
    return size;
  }

  File file;
  bool packed = false, ended = false, cut = false, is_damaged = false;
  int state = Z_OK;
  z_stream stream{};
  std::vector<std::uint8_t> piece;
  std::uint64_t at = 0;     ///< position in the file
  std::uint64_t given = 0;  ///< bytes that were unpacked
  std::uint64_t most = 0;   ///< limit of unpacked bytes
};

TextReader::TextReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}
TextReader::TextReader(TextReader&&) noexcept = default;
TextReader& TextReader::operator=(TextReader&&) noexcept = default;
TextReader::~TextReader() = default;

Result<TextReader> TextReader::open(const std::filesystem::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(File file, File::open_for_reading(path, k_most_text));
  auto source = std::make_unique<Source>(std::move(file));
  source->most = max_unpacked > 0 ? max_unpacked : most_unpacked(source->file.size_when_opened());
  TRY(source->begin());
  return TextReader(std::move(source));
}

Result<std::size_t> TextReader::read(std::span<char> buffer) {
  return source_->packed ? source_->unpack(buffer) : source_->read_plain(buffer);
}

bool TextReader::packed() const { return source_->packed; }
bool TextReader::cut() const { return source_->cut; }
bool TextReader::damaged() const { return source_->is_damaged; }

struct TextWriter::Target {
  explicit Target(File created) : file(std::move(created)) {}
  ~Target() {
    if (packed) deflateEnd(&stream);
  }

  [[nodiscard]] tl::unexpected<Error> refused() const {
    return fail(ErrorKind::output, fmt::format("{} cannot be packed", file.path().string()));
  }

  Result<void> begin() {
    const int begun = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, k_gzip,
                                   k_memory_level, Z_DEFAULT_STRATEGY);
    if (unless_no_memory(begun) != Z_OK) return refused();
    packed = true;
    piece.resize(k_packed_piece);
    return {};
  }

  /// `flush`: Z_NO_FLUSH, or Z_FINISH with the last text.
  Result<void> pack(std::string_view text, int flush) {
    int state = Z_OK;
    do {
      const std::string_view part = text.substr(0, k_packed_piece);
      text.remove_prefix(part.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream.avail_in = static_cast<unsigned>(part.size());
      do {
        stream.next_out = piece.data();
        stream.avail_out = static_cast<unsigned>(piece.size());
        state = deflate(&stream, text.empty() ? flush : Z_NO_FLUSH);
        TRY(file.write({piece.data(), piece.size() - stream.avail_out}));
      } while (stream.avail_out == 0);
    } while (!text.empty());
    if (state == Z_STREAM_ERROR || (flush == Z_FINISH && state != Z_STREAM_END)) return refused();
    return {};
  }

  File file;
  bool packed = false;
  z_stream stream{};
  std::vector<std::uint8_t> piece;
};

TextWriter::TextWriter(std::unique_ptr<Target> target) : target_(std::move(target)) {}
TextWriter::TextWriter(TextWriter&&) noexcept = default;
TextWriter& TextWriter::operator=(TextWriter&&) noexcept = default;
TextWriter::~TextWriter() = default;

Result<TextWriter> TextWriter::create(const std::filesystem::path& path, bool packed) {
  TRY_ASSIGN(File file, File::create(path));
  auto target = std::make_unique<Target>(std::move(file));
  if (packed) TRY(target->begin());
  return TextWriter(std::move(target));
}

Result<void> TextWriter::write(std::string_view text) {
  if (target_->packed) return target_->pack(text, Z_NO_FLUSH);
  return target_->file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<void> TextWriter::close() {
  if (target_->packed) TRY(target_->pack({}, Z_FINISH));
  return target_->file.close();
}

}  // namespace entrain::json
