// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "base/uncopied.hpp"

/// Packed texts: gzip and zstd.
namespace entrain::json {

/// `deflate`: of parts of a file (zlib), never of a whole one.
enum class Packing : std::uint8_t { none, gzip, zstd, deflate };

/// Bytes by which packing_of() tells.
inline constexpr std::size_t k_packing_mark = 4;

/// How a file is packed that begins with these bytes.
Packing packing_of(std::span<const std::uint8_t> begin);

/// How a file is packed. Errors: ErrorKind::input.
Result<Packing> packing_of(const std::filesystem::path& file);

/// True if a name ends so, in small letters or capitals: "RUN.JSON" ends with ".json".
bool has_ending(std::string_view name, std::string_view ending);

/// The name of a file packed so: with that ending in place of its own.
std::string packed_name(std::string_view name, Packing packing);

/// The name without the ending that tells of packing, .gz or .zst.
std::string_view without_packing(std::string_view name);

/// True if the name of a file, plain or packed, has one of these endings.
bool is_named(const std::filesystem::path& file, std::initializer_list<std::string_view> endings);

/// Unpacks one stream after the other. Throws std::bad_alloc.
class Unpacker : public Uncopied {
 public:
  enum class State : std::uint8_t { more, end_of_stream, damaged };

  /// Null for Packing::none.
  static std::unique_ptr<Unpacker> make(Packing packing);

  /// Takes bytes off the front of `from`, and unpacks them to the front of `to`, which loses what
  /// is filled. `more`: one of the two is empty.
  virtual State unpack(std::span<const std::uint8_t>& from, std::span<char>& to) = 0;
  /// Begins the next stream.
  virtual void restart() = 0;
  /// "gzip" or "zstd".
  [[nodiscard]] virtual const char* name() const = 0;
};

/// Packs a stream. Throws std::bad_alloc.
class Packer : public Uncopied {
 public:
  static std::unique_ptr<Packer> make(Packing packing);

  enum class State : std::uint8_t { more, done, failed };
  /// Takes bytes off the front of `from`, and fills `to` from its front, which loses what is
  /// filled. `last`: nothing follows `from`. `done`: all bytes are packed, and written if `last`.
  virtual State pack(std::string_view& from, bool last, std::span<std::uint8_t>& to) = 0;
};

/// Unpacks a stream with all that it holds. `more`: it holds more than `most` bytes, or is cut off.
/// `damaged` also where something follows it.
Unpacker::State unpack(Packing packing, std::string_view stream, std::size_t most,
                       std::string& text);

/// Packs a text as one stream. Errors: ErrorKind::output. Throws std::bad_alloc.
Result<std::string> pack(Packing packing, std::string_view text);

}  // namespace entrain::json
