// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/packed_messages.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/core.h>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/packing.hpp"
#include "formats/spans/protobuf.hpp"

namespace entrain::spans {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Unpacks a stream to the end of a text, at most `most` bytes; false if it does not end there.
bool unpack_to(std::string& text, std::string_view stream, std::uint64_t most) {
  constexpr std::size_t k_step = std::size_t{1} << 16;
  const auto unpacker = json::Unpacker::make(json::Packing::zstd);
  std::span<const std::uint8_t> from = bytes_of(stream);
  auto state = json::Unpacker::State::more;
  for (std::size_t room = k_step; state == json::Unpacker::State::more && most > 0; room *= 2) {
    const std::size_t before = text.size(), size = std::min<std::uint64_t>(room, most);
    text.resize(before + size);
    std::span<char> to(text.data() + before, size);
    state = unpacker->unpack(from, to);
    text.resize(before + size - to.size());
    most -= size - to.size();
    if (from.empty() && !to.empty()) break;
  }
  return state == json::Unpacker::State::end_of_stream && from.empty();
}

bool is_json(std::string_view text) { return text.starts_with('{') || text.starts_with('['); }

}  // namespace

bool are_packed_messages(std::string_view beginning) {
  return beginning.size() > k_fixed_size && !is_json(beginning) &&
         json::packing_of(bytes_of(beginning.substr(k_fixed_size))) == json::Packing::zstd;
}

std::string first_message(std::string_view beginning) {
  std::string text;
  unpack_to(text, beginning.substr(k_fixed_size, fixed_size_of(beginning)), json::k_beginning);
  return text;
}

Result<UnpackedMessages> unpack_messages(std::string_view packed, std::uint64_t most,
                                         const std::filesystem::path& file) {
  UnpackedMessages result;
  std::string message;
  Messages messages(packed, Framing::fixed32);
  while (messages.next()) {
    message.clear();
    TRY(check_memory_room(file, result.text.capacity() + messages.message().size()));
    const std::uint64_t left = most - std::min<std::uint64_t>(most, result.text.size());
    const std::uint64_t limit =
        std::min<std::uint64_t>(left, std::numeric_limits<std::uint32_t>::max());
    if (!unpack_to(message, messages.message(), limit)) {
      return fail(
          ErrorKind::input,
          fmt::format("{}: the message at byte {} is no zstd stream, or the file holds more "
                      "than {} bytes when unpacked; if you trust it, allow more with "
                      "--max-unpacked",
                      file.string(), messages.offset(), most));
    }
    if (!is_json(message)) append_fixed_size(message.size(), result.text);
    result.text += message;
    if (!is_json(message)) continue;
    result.text += '\n';
    result.sizes.push_back(message.size() + 1);
  }
  result.rest = packed.substr(messages.done());
  return result;
}

std::string pack_messages(std::string_view text, std::span<const std::size_t> sizes) {
  std::string result;
  const auto add = [&](std::string_view message) {
    constexpr std::size_t k_step = std::size_t{1} << 18;
    const auto packer = json::Packer::make(json::Packing::zstd);
    std::string packed;
    auto state = json::Packer::State::more;
    while (state == json::Packer::State::more) {
      const std::size_t before = packed.size();
      packed.resize(before + k_step);
      std::span<std::uint8_t> to(reinterpret_cast<std::uint8_t*>(packed.data()) + before, k_step);
      state = packer->pack(message, true, to);
      packed.resize(packed.size() - to.size());
    }
    append_fixed_size(packed.size(), result);
    result += packed;
  };
  if (!is_json(text)) {
    Messages messages(text, Framing::fixed32);
    while (messages.next()) add(messages.message());
    return result;
  }
  for (const std::size_t size : sizes) {
    add(text.substr(0, size - 1));
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace entrain::spans
