// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/packed_messages.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "base/fail.hpp"
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

bool is_json(std::string_view text) { return text.starts_with('{') || text.starts_with('['); }

}  // namespace

bool are_packed_messages(std::string_view beginning) {
  return beginning.size() > k_fixed_size && !is_json(beginning) &&
         json::packing_of(bytes_of(beginning.substr(k_fixed_size))) == json::Packing::zstd;
}

std::string first_message(std::string_view beginning) {
  std::string text;
  json::unpack(json::Packing::zstd, beginning.substr(k_fixed_size, fixed_size_of(beginning)),
               json::k_beginning, text);
  return text;
}

Result<UnpackedMessages> unpack_messages(std::string_view packed, std::uint64_t most,
                                         const std::filesystem::path& file) {
  UnpackedMessages result;
  std::string message;
  Messages messages(packed, Framing::fixed32);
  while (messages.next()) {
    TRY(check_memory_room(file, result.text.capacity() + messages.message().size()));
    const std::uint64_t left = most - std::min<std::uint64_t>(most, result.text.size());
    const std::uint64_t limit =
        std::min<std::uint64_t>(left, std::numeric_limits<std::uint32_t>::max());
    if (json::unpack(json::Packing::zstd, messages.message(), limit, message) !=
        json::Unpacker::State::end_of_stream) {
      return input_error(
          "{}: the message at byte {} is no zstd stream, or the file holds more than {} bytes when "
          "unpacked; if you trust it, allow more with --max-unpacked",
          file.string(), messages.offset(), most);
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

Result<std::string> pack_messages(std::string_view text, std::span<const std::size_t> sizes) {
  std::string result;
  const auto add = [&](std::string_view message) -> Result<void> {
    TRY_ASSIGN(const std::string packed, json::pack(json::Packing::zstd, message));
    append_fixed_size(packed.size(), result);
    result += packed;
    return {};
  };
  if (!is_json(text)) {
    for (Messages messages(text, Framing::fixed32); messages.next();) TRY(add(messages.message()));
    return result;
  }
  for (const std::size_t size : sizes) {
    TRY(add(text.substr(0, size - 1)));
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace entrain::spans
