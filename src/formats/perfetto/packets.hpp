// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <entrain/error.hpp>

#include "formats/json/window.hpp"

namespace entrain::perfetto {

/// True if a file of this name can be a Perfetto trace: .pftrace, .perfetto-trace, .proto, and
/// these with .gz or .zst, in letters of either case.
bool is_trace_name(const std::filesystem::path& path);

/// True if a file begins as a Perfetto trace does: with a packet, and not with JSON.
bool may_hold_packets(std::string_view beginning);

/// A field of a trace, which is a packet unless it is of a later version.
struct Piece {
  std::string_view whole;  ///< the piece with tag and length
  std::string_view body;   ///< body of the packet
  bool is_packet = false;
};

/// Takes a piece off the front of a text; false if none is whole there.
bool take_piece(std::string_view& text, Piece& piece);

/// Reads the packets of a file, plain or packed, from begin to end, with less than 1 MB of it in
/// memory unless a packet is longer. One thread at a time may use it.
class Packets {
 public:
  static constexpr std::uint64_t k_most_packet = std::uint64_t{1} << 28;  ///< bytes

  /// Errors, here and in next(): those of json::Window.
  static Result<Packets> open(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);

  /// Moves to the next piece; false at the end, or where the file is cut off inside one. Errors:
  /// ErrorKind::input for what is no field, and for a packet longer than k_most_packet.
  Result<bool> next(Piece& piece);

  /// Unpacks the packets that are packed in the last piece; valid until the next call. Errors:
  /// ErrorKind::input for a damaged stream, and for one, or all of the file, that hold too much.
  Result<std::string_view> unpack(json::Packing packing, std::string_view stream);

  /// Position of the last piece in the file, unpacked.
  [[nodiscard]] std::uint64_t offset() const { return window_.offset() + begin_; }
  /// Bytes after the last whole piece, at the end.
  [[nodiscard]] std::string_view rest() const { return window_.text().substr(at_); }
  [[nodiscard]] bool cut() const { return window_.cut() || !rest().empty(); }
  [[nodiscard]] json::Packing packing() const { return window_.packing(); }
  /// See json::Window; valid at the end.
  [[nodiscard]] std::uint64_t total() const { return window_.total(); }
  [[nodiscard]] std::uint64_t hash() const { return window_.hash(); }
  /// Error for a packet that is damaged inside.
  [[nodiscard]] tl::unexpected<Error> damaged() const;

 private:
  Packets(std::filesystem::path path, json::Window window)
      : path_(std::move(path)), window_(std::move(window)) {}

  std::filesystem::path path_;
  json::Window window_;
  std::size_t begin_ = 0, at_ = 0;  ///< positions of the last piece and behind it, in the window
  std::string bundle_;              ///< packets that were packed in the last piece
  std::uint64_t unpacked_ = 0;      ///< bytes of all of these
};

}  // namespace entrain::perfetto
