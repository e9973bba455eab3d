// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/packets.hpp"

#include <algorithm>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "formats/json/packing.hpp"
#include "formats/json/scanner.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {
namespace {

constexpr std::uint64_t k_packet_tag = static_cast<std::uint64_t>(TraceField::packet) << 3 | 2;

/// Tag and length of a piece.
struct PieceHead {
  enum class State : std::uint8_t { whole, cut, damaged } state = State::cut;
  std::uint64_t tag = 0;
  std::uint64_t size = 0, body_at = 0;  ///< bytes from the begin of the piece
};

PieceHead head_of(std::string_view text) {
  PieceHead head;
  const char* at = text.data();
  const char* const end = at + text.size();
  try {
    std::uint64_t size = 0;
    head.tag = take_varint(at, end);
    head.state = PieceHead::State::damaged;
    if (head.tag >> 3 == 0) return head;
    switch (static_cast<protozero::pbf_wire_type>(head.tag & 7)) {
      case protozero::pbf_wire_type::varint:
        take_varint(at, end);
        break;
      case protozero::pbf_wire_type::fixed64:
        size = sizeof(std::uint64_t);
        break;
      case protozero::pbf_wire_type::fixed32:
        size = sizeof(std::uint32_t);
        break;
      case protozero::pbf_wire_type::length_delimited:
        size = take_varint(at, end);
        break;
      default:
        return head;
    }
    head.body_at = static_cast<std::uint64_t>(at - text.data());
    head.size = size > Packets::k_most_packet ? size : head.body_at + size;
    head.state = head.size <= text.size() ? PieceHead::State::whole : PieceHead::State::cut;
  } catch (const protozero::end_of_buffer_exception&) {
    head.state = PieceHead::State::cut;
  } catch (const protozero::exception&) {
    head.state = PieceHead::State::damaged;
  }
  return head;
}

Piece piece_of(std::string_view text, const PieceHead& head) {
  return {.whole = text.substr(0, head.size),
          .body = text.substr(head.body_at, head.size - head.body_at),
          .is_packet = head.tag == k_packet_tag};
}

}  // namespace

bool take_piece(std::string_view& text, Piece& piece) {
  const PieceHead head = head_of(text);
  if (head.state != PieceHead::State::whole) return false;
  piece = piece_of(text, head);
  text.remove_prefix(head.size);
  return true;
}

bool is_trace_name(const std::filesystem::path& path) {
  return json::is_named(path, {".pftrace", ".perfetto-trace", ".proto"});
}

bool may_hold_packets(std::string_view beginning) {
  // The tag of a packet is a line feed.
  if (!beginning.starts_with(static_cast<char>(k_packet_tag))) return false;
  json::Scanner scanner(beginning);
  std::string_view key;
  const char first = scanner.peek();
  if (first == '\0' && scanner.at_end()) return false;  // blanks
  if (first == '[' && scanner.open('[') && (scanner.peek() == '{' || scanner.peek() == ']')) {
    return false;
  }
  if (first == '{' && scanner.open('{') && (scanner.peek() == '}' || scanner.next_key(key))) {
    return false;
  }
  const PieceHead head = head_of(beginning);
  if (head.state == PieceHead::State::damaged || head.size > Packets::k_most_packet) return false;
  if (head.state == PieceHead::State::cut) return true;
  try {
    for_each_field<PacketField>(beginning.substr(head.body_at, head.size - head.body_at),
                                [](PacketField, const Value&) {});
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

Result<Packets> Packets::open(const std::filesystem::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(json::Window window, json::Window::open(path, max_unpacked, json::Content::bytes));
  return Packets(path, std::move(window));
}

Result<bool> Packets::next(Piece& piece) {
  for (;;) {
    const std::string_view rest = window_.text().substr(at_);
    const PieceHead head = rest.empty() ? PieceHead{} : head_of(rest);
    begin_ = at_;
    if (head.state == PieceHead::State::damaged) {
      return input_error("{}: no packet can begin at byte {}; the file is damaged there",
                         path_.string(), offset());
    }
    if (head.size > k_most_packet) {
      return input_error(
          "{}: the packet at byte {} has more than {} bytes by its own word; the file is damaged "
          "there",
          path_.string(), offset(), k_most_packet);
    }
    if (head.state == PieceHead::State::whole) {
      piece = piece_of(rest, head);
      at_ += head.size;
      return true;
    }
    if (window_.ended()) return false;
    TRY(window_.advance(at_));
    at_ = 0;
  }
}

Result<std::string_view> Packets::unpack(json::Packing packing, std::string_view stream) {
  const std::uint64_t left = window_.limit() - unpacked_;
  const std::uint64_t most = std::min(left, k_most_packet);
  const json::Unpacker::State state = json::unpack(packing, stream, most + 1, bundle_);
  unpacked_ += bundle_.size();
  if (bundle_.size() > most) {
    return input_error(
        "{}: the packet at byte {} holds packed ones of more than {} bytes, which is the limit{}",
        path_.string(), offset(), most,
        left > k_most_packet
            ? " of one"
            : " of what is left to all; if you trust it, allow more with --max-unpacked");
  }
  if (state != json::Unpacker::State::end_of_stream) {
    return input_error("{}: the packet at byte {} holds packed ones whose {} stream is damaged",
                       path_.string(), offset(), packing == json::Packing::zstd ? "zstd" : "zlib");
  }
  TRY(check_memory_room(path_));
  return std::string_view(bundle_);
}

tl::unexpected<Error> Packets::damaged() const {
  return input_error("{}: the packet at byte {} is damaged: what it holds are no fields",
                     path_.string(), offset());
}

}  // namespace entrain::perfetto
