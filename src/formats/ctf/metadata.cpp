// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace entrain::ctf {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_signature = "/* CTF 1.8";
constexpr std::uint32_t k_packet_magic = 0x75d11d57;
constexpr std::size_t k_header = 37;  ///< bytes of the header of a packet
constexpr std::size_t k_content_at = 24, k_size_at = 28;

/// The text of TSDL, the language of metadata, with blanks for comments and for what is in quotes:
/// every sign that is left has its place, and its meaning.
std::string code_of(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t begin = 0, end = 1;  // of what becomes blank
    const bool is_quoted = rest[0] == '"' || rest[0] == '\'';
    if (rest.starts_with("/*")) {
      end = rest.find("*/", 2);
      end = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest.starts_with("//")) {
      end = std::min(rest.find('\n'), rest.size());
    } else {
      begin = 1;
      while (is_quoted && end < rest.size() && rest[end] != rest[0])
        end += rest[end] == '\\' ? 2 : 1;
      end = std::min(end, rest.size());
    }
    std::fill(text.data() + at + begin, text.data() + at + end, ' ');
    at += end + (is_quoted ? 1 : 0);
  }
  return text;
}

constexpr std::string_view k_of_words =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/// The members of a clock by name: "freq = 1000;". Views of the code.
class ClockBlock {
 public:
  /// Reads what is between the braces. False: it is none.
  bool read(std::string_view code) {
    end_ = code.data() + code.size();
    for (; code.find(';') != std::string_view::npos; code.remove_prefix(code.find(';') + 1)) {
      const std::string_view member = code.substr(0, code.find(';'));
      const std::size_t equals = std::min(member.find('='), member.size());
      const std::string_view key = trimmed(member.substr(0, equals));
      if (key.empty() || equals == member.size()) return false;
      members_[key] = trimmed(member.substr(equals + 1));
    }
    return trimmed(code).empty();
  }
  /// The value of a member; empty without it.
  [[nodiscard]] std::string_view value(const char* key) const {
    const auto found = members_.find(key);
    return found == members_.end() ? std::string_view() : found->second;
  }
  /// Reads a decimal number, if there is one. False: it is none.
  template <class Number>
  [[nodiscard]] bool take(const char* key, Number& target) const {
    const auto found = members_.find(key);
    if (found == members_.end()) return true;
    std::string_view digits = found->second;
    digits = digits.substr(0, digits.find_last_not_of("uUlL") + 1);
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), last, target);
    const bool is_octal = digits.size() > 1 && digits.front() == '0';
    return error == std::errc() && stop == last && !is_octal;
  }
  /// Notes what is to be written, by the place of what it replaces.
  template <class Number>
  void set(const char* key, Number before, Number after,
           std::map<const char*, std::pair<const char*, std::string>>& edits) const {
    if (before == after) return;
    const auto found = members_.find(key);
    const bool is_new = found == members_.end();
    auto& [end, text] = edits[is_new ? end_ : found->second.data()];
    end = is_new ? end_ : found->second.data() + found->second.size();
    text += is_new ? fmt::format("{} = {}; ", key, after) : fmt::format("{}", after);
  }

 private:
  std::map<std::string_view, std::string_view> members_;
  const char* end_ = nullptr;  ///< the closing brace
};

/// Metadata in packets: the text of all, and the header of the first one.
struct Packets {
  std::string text, header;

  /// Empty: no packets.
  static std::optional<Packets> read(std::string_view bytes) {
    Packets packets{.text = "", .header = std::string(bytes.substr(0, k_header))};
    while (!bytes.empty()) {
      if (bytes.size() < k_header || packets.number(bytes, 0) != k_packet_magic) return {};
      const std::size_t content = packets.number(bytes, k_content_at) / 8;
      const std::size_t size = packets.number(bytes, k_size_at) / 8;
      if (content < k_header || size < content || size > bytes.size()) return {};
      packets.text += bytes.substr(k_header, content - k_header);
      bytes.remove_prefix(size);
    }
    return packets;
  }

  /// All of the text in one packet.
  [[nodiscard]] std::string joined() const {
    const auto bits = order(static_cast<std::uint32_t>((k_header + text.size()) * 8));
    std::string bytes = header + text;
    std::memcpy(bytes.data() + k_content_at, &bits, sizeof bits);
    std::memcpy(bytes.data() + k_size_at, &bits, sizeof bits);
    return bytes;
  }

 private:
  /// A number in the order of bytes of the first magic number.
  [[nodiscard]] std::uint32_t order(std::uint32_t number) const {
    std::uint32_t magic = 0;
    std::memcpy(&magic, header.data(), sizeof magic);
    return magic == k_packet_magic ? number : __builtin_bswap32(number);
  }
  [[nodiscard]] std::uint32_t number(std::string_view bytes, std::size_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return order(value);
  }
};

Result<std::string> text_of(const fs::path& file) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 30;
  TRY_ASSIGN(const std::vector<std::uint8_t> bytes, read_file(file, k_most));
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

bool is_metadata(const fs::path& file) {
  const Result<File> open = File::open_for_reading(file);
  if (!open) return false;
  std::array<std::uint8_t, k_signature.size()> begin{};
  const Result<std::size_t> size = open->read_at(0, begin);
  if (!size || *size < begin.size()) return false;
  std::uint32_t magic = 0;
  std::memcpy(&magic, begin.data(), sizeof magic);
  return magic == k_packet_magic || magic == __builtin_bswap32(k_packet_magic) ||
         std::memcmp(begin.data(), k_signature.data(), begin.size()) == 0;
}

std::optional<std::string> with_clocks(
    const std::string& text, const std::function<ClockClass(const ClockClass&)>& retimed) {
  const std::string code = code_of(text);
  std::map<const char*, std::pair<const char*, std::string>> edits;
  int depth = 0;
  for (std::size_t at = 0, last = 0; (at = code.find_first_of("{}", last)) < code.size();) {
    const std::string_view before = trimmed(std::string_view(code).substr(last, at - last));
    const bool is_clock = code[at] == '{' && depth == 0 &&
                          before.substr(before.find_last_not_of(k_of_words) + 1) == "clock";
    last = at + 1;
    depth += code[at] == '{' ? 1 : -1;
    if (!is_clock) continue;
    const std::size_t end = code.find('}', last);
    ClockBlock block;
    ClockClass clock;
    if (end == std::string::npos || !block.read(std::string_view(code).substr(last, end - last)) ||
        !block.take("freq", clock.frequency) || clock.frequency == 0 ||
        !block.take("offset_s", clock.offset_s) || !block.take("offset", clock.offset)) {
      return {};
    }
    if (const std::string_view name = block.value("name"); !name.empty()) {
      const auto place = static_cast<std::size_t>(name.data() - code.data());
      clock.name = text.substr(place, name.size());
      if (clock.name.starts_with('"')) clock.name = clock.name.substr(1, name.size() - 2);
    }
    const ClockClass after = retimed(clock);
    block.set("freq", clock.frequency, after.frequency, edits);
    block.set("offset_s", clock.offset_s, after.offset_s, edits);
    block.set("offset", clock.offset, after.offset, edits);
  }
  std::string result;
  const char* copied = code.data();
  const auto copy_to = [&](const char* end) {
    result.append(text, static_cast<std::size_t>(copied - code.data()),
                  static_cast<std::size_t>(end - copied));
  };
  for (const auto& [begin, edit] : edits) {
    copy_to(begin);
    result += edit.second;
    copied = edit.first;
  }
  copy_to(code.data() + code.size());
  return result;
}

Result<void> check_metadata(const fs::path& file) {
  TRY_ASSIGN(const std::string bytes, text_of(file));
  if (bytes.starts_with('/') || Packets::read(bytes)) return {};
  return input_error("{} ends inside a packet, or holds something else", file.string());
}

Result<void> copy_metadata(const fs::path& from, const fs::path& to,
                           const std::function<ClockClass(const ClockClass&)>& retimed) {
  TRY_ASSIGN(const std::string bytes, text_of(from));
  std::optional<Packets> packets = Packets::read(bytes);
  std::optional<std::string> result = with_clocks(packets ? packets->text : bytes, retimed);
  if (packets && result && *result != packets->text) {
    packets->text = *std::move(result);
    result = packets->joined();
  } else if (packets && result) {
    result = bytes;
  }
  if (!result) {
    return input_error(
        "{}: its clocks are not written as CTF 1.8 has them, so that none can get another offset",
        from.string());
  }
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(result->data());
  return write_file(to, std::span(begin, result->size()));
}

}  // namespace entrain::ctf
