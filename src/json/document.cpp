// SPDX-License-Identifier: BSD-3-Clause
#include "json/document.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_piece = std::size_t{1} << 20;
constexpr int k_gzip = 15 + 16;  // the largest window, with a gzip header
constexpr int k_memory_level = 8;
constexpr std::size_t k_beginning = std::size_t{1} << 16;
constexpr std::size_t k_room = 64;  // that parsers want behind a text

tl::unexpected<Error> damaged(const std::filesystem::path& path, const char* how) {
  return fail(ErrorKind::input, fmt::format("{} {}; unpack it with gzip to see how much is left",
                                            path.string(), how));
}

/// Zeros behind the last stream, with which some devices and tools fill up.
bool is_padding(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// Unpacks one gzip stream after the other, as gzip does.
Result<std::string> unpack(const std::filesystem::path& path, std::span<std::uint8_t> bytes) {
  std::string text;
  std::vector<char> piece(k_piece);
  z_stream stream{};
  if (inflateInit2(&stream, k_gzip) != Z_OK) return damaged(path, "cannot be unpacked");
  int state = Z_OK;
  std::size_t taken = 0;
  while (taken < bytes.size() || stream.avail_in > 0) {
    if (stream.avail_in == 0) {
      stream.next_in = bytes.data() + taken;
      stream.avail_in = static_cast<unsigned>(std::min(k_piece, bytes.size() - taken));
      taken += stream.avail_in;
    }
    if (state == Z_STREAM_END) {
      if (is_padding(std::span(stream.next_in, stream.avail_in)) &&
          is_padding(bytes.subspan(taken))) {
        break;
      }
      inflateReset(&stream);
    }
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = k_piece;
      state = inflate(&stream, Z_NO_FLUSH);
      text.append(piece.data(), k_piece - stream.avail_out);
    } while (state == Z_OK && stream.avail_out == 0 && text.size() <= k_most_text);
    if (text.size() > k_most_text ||
        (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)) {
      break;
    }
  }
  inflateEnd(&stream);
  if (text.size() > k_most_text) return damaged(path, "is too large when unpacked");
  if (state == Z_OK || state == Z_BUF_ERROR) return damaged(path, "ends inside its gzip stream");
  if (state != Z_STREAM_END) return damaged(path, "holds a damaged gzip stream");
  return text;
}

Result<void> pack(File& file, std::string_view text) {
  z_stream stream{};
  const auto refused = [&] {
    return fail(ErrorKind::output, fmt::format("{} cannot be packed", file.path().string()));
  };
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, k_gzip, k_memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return refused();
  }
  std::vector<std::uint8_t> packed(k_piece);
  Result<void> written;
  int state = Z_OK;
  while (state == Z_OK && written) {
    const std::string_view piece = text.substr(0, k_piece);
    text.remove_prefix(piece.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<unsigned>(piece.size());
    do {
      stream.next_out = packed.data();
      stream.avail_out = static_cast<unsigned>(packed.size());
      state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
      written = file.write({packed.data(), packed.size() - stream.avail_out});
    } while (written && state == Z_OK && stream.avail_out == 0);
  }
  deflateEnd(&stream);
  TRY(written);
  if (state != Z_STREAM_END) return refused();
  return {};
}

}  // namespace

bool is_document_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string_view plain =
      name.ends_with(".gz") ? std::string_view(name).substr(0, name.size() - 3) : name;
  return plain.ends_with(".json") || plain.ends_with(".jsonl") || plain.ends_with(".ndjson");
}

Result<Document> load(const std::filesystem::path& path) {
  TRY_ASSIGN(const File file, File::open_for_reading(path, k_most_text));
  TRY_ASSIGN(const std::uint64_t size, file.size());
  Document document;
  document.text.reserve(std::min(size, k_most_text) + k_room);
  document.text.resize(std::min(size, k_most_text));  // it may have grown
  const std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(document.text.data()),
                                      document.text.size());
  TRY_ASSIGN(const std::size_t read, file.read_at(0, bytes));
  document.packed = read >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
  if (document.packed) {
    TRY_ASSIGN(document.text, unpack(path, bytes.first(read)));
  } else {
    document.text.resize(read);
  }
  if (!is_utf8(document.text)) {
    return fail(ErrorKind::input,
                fmt::format("{} is no UTF-8, as JSON must be; write it again", path.string()));
  }
  return document;
}

std::string beginning(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  // Packed files have no reader by the piece for C++ streams, but zlib has one for both kinds.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return {};
  std::string text(k_beginning, '\0');
  const int size = gzread(file.get(), text.data(), static_cast<unsigned>(text.size()));
  text.resize(static_cast<std::size_t>(std::max(size, 0)));
  return text;
}

std::string patch(std::string_view text, const std::vector<Replacement>& replacements) {
  std::string result;
  result.reserve(text.size() + replacements.size() * 4);
  std::size_t done = 0;
  for (const Replacement& one : replacements) {
    result += text.substr(done, one.at - done);
    result += one.with;
    done = one.at + one.size;
  }
  result += text.substr(done);
  return result;
}

Result<void> save(const std::filesystem::path& path, std::string_view text, bool packed) {
  TRY_ASSIGN(File file, File::create(path));
  if (packed) {
    TRY(pack(file, text));
  } else {
    TRY(file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  }
  return file.close();
}

}  // namespace entrain::json
