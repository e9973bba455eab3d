// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/text_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/packing.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_packed_piece = std::size_t{1} << 18;

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
  return fail(
      ErrorKind::input,
      fmt::format("{} is UTF-16; write it as UTF-8 (iconv -f UTF-16 -t UTF-8)", path.string()));
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

  [[nodiscard]] tl::unexpected<Error> damaged() {
    is_damaged = true;
    const char* const other =
        packing == Packing::zstd ? ", or one with a window above 128 MiB" : "";
    return fail(ErrorKind::input,
                fmt::format("{} holds a damaged {} stream{}; unpack it with {} to see how much is "
                            "left",
                            file.path().string(), unpacker->name(), other, unpacker->name()));
  }

  Result<void> begin() {
    std::uint8_t mark[k_packing_mark];
    TRY_ASSIGN(const std::size_t size, file.read_at(0, mark));
    packing = packing_of(std::span<const std::uint8_t>(mark, size));
    unpacker = Unpacker::make(packing);
    if (unpacker) piece.resize(k_packed_piece);
    return {};
  }

  /// Reads the next piece of the file if the last one is used up; false at the end.
  Result<bool> refill() {
    if (!rest.empty()) return true;
    TRY_ASSIGN(const std::size_t size, file.read_at(at, piece));
    at += size;
    rest = std::span(piece).first(size);
    return size > 0;
  }

  /// After the end of a stream: true if another one begins. Some devices and tools pad with zeros.
  Result<bool> next_stream() {
    TRY_ASSIGN(bool more, refill());
    if (!more) return false;
    bool is_padding = false;
    while (more && all_zero(rest)) {
      is_padding = true;
      rest = {};
      TRY_ASSIGN(more, refill());
    }
    if (more && is_padding) return damaged();
    if (more) unpacker->restart();
    return more;
  }

  Result<std::size_t> unpack(std::span<char> buffer) {
    std::span<char> to = buffer;
    while (!ended && !to.empty()) {
      if (state == Unpacker::State::end_of_stream) {
        TRY_ASSIGN(const bool more, next_stream());
        ended = !more;
        if (ended) break;
      }
      state = unpacker->unpack(rest, to);
      if (state == Unpacker::State::damaged) return damaged();
      if (state == Unpacker::State::end_of_stream || to.empty()) continue;
      TRY_ASSIGN(const bool more, refill());
      cut = ended = !more;  // e.g. the run was killed
    }
    const std::size_t size = buffer.size() - to.size();
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
  Packing packing = Packing::none;
  std::unique_ptr<Unpacker> unpacker;  ///< null: the file is plain
  bool ended = false, cut = false, is_damaged = false;
  Unpacker::State state = Unpacker::State::more;
  std::vector<std::uint8_t> piece;
  std::span<const std::uint8_t> rest;  ///< rest of the piece, to be unpacked
  std::uint64_t at = 0;                ///< position in the file
  std::uint64_t given = 0;             ///< bytes that were unpacked
  std::uint64_t most = 0;              ///< limit of unpacked bytes
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
  const bool is_first = source_->at == 0;
  TRY_ASSIGN(const std::size_t size,
             source_->unpacker ? source_->unpack(buffer) : source_->read_plain(buffer));
  if (is_first && is_utf16({buffer.data(), size})) return no_utf16(source_->file.path());
  return size;
}

Packing TextReader::packing() const { return source_->packing; }
bool TextReader::cut() const { return source_->cut; }
bool TextReader::damaged() const { return source_->is_damaged; }

struct TextWriter::Target {
  Target(File created, Packing packing) : file(std::move(created)), packer(Packer::make(packing)) {
    if (packer) piece.resize(k_packed_piece);
  }

  Result<void> pack(std::string_view text, bool last) {
    for (auto state = Packer::State::more; state == Packer::State::more;) {
      std::span<std::uint8_t> room(piece);
      state = packer->pack(text, last, room);
      if (state == Packer::State::failed) {
        return fail(ErrorKind::output, fmt::format("{} cannot be packed", file.path().string()));
      }
      TRY(file.write({piece.data(), piece.size() - room.size()}));
    }
    return {};
  }

  File file;
  std::unique_ptr<Packer> packer;  ///< null: the file is plain
  std::vector<std::uint8_t> piece;
};

TextWriter::TextWriter(std::unique_ptr<Target> target) : target_(std::move(target)) {}
TextWriter::TextWriter(TextWriter&&) noexcept = default;
TextWriter& TextWriter::operator=(TextWriter&&) noexcept = default;
TextWriter::~TextWriter() = default;

Result<TextWriter> TextWriter::create(const std::filesystem::path& path, Packing packing) {
  TRY_ASSIGN(File file, File::create(path));
  return TextWriter(std::make_unique<Target>(std::move(file), packing));
}

Result<void> TextWriter::write(std::string_view text) {
  if (target_->packer) return target_->pack(text, false);
  return target_->file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<void> TextWriter::close() {
  if (target_->packer) TRY(target_->pack({}, true));
  return target_->file.close();
}

}  // namespace entrain::json
