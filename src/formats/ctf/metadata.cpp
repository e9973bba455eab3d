// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/metadata.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain::ctf {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_signature = "/* CTF 1.8";
constexpr std::uint32_t k_packet_magic = 0x75d11d57;
constexpr std::size_t k_header = 37;  ///< bytes of the header of a packet
constexpr std::size_t k_content_at = 24, k_size_at = 28;

/// Replaces text from `begin` to `end`.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// Tokens of TSDL, the language of metadata: words, numbers, strings, and single signs.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  /// The next one; empty at the end.
  std::string_view next() {
    skip_space();
    begin_ = at_;
    if (at_ == text_.size()) return {};
    const char first = text_[at_++];
    if (first == '"' || first == '\'') {
      skip_quoted(first);
    } else if (is_word(first)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    }
    return text_.substr(begin_, at_ - begin_);
  }
  /// Positions of the token.
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::size_t end() const { return at_; }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
        ++at_;
      } else if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        at_ = end == std::string_view::npos ? text_.size() : at_ + end + 2;
      } else if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  void skip_quoted(char quote) {
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t begin_ = 0, at_ = 0;
};

/// The members of a clock by name, each with the place of its value: "freq = 1000;".
struct ClockBlock {
  std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>> members;
  std::size_t end = 0;  ///< place of its closing brace

  /// Reads the block behind its brace. False: it is none.
  bool read(Tokens& tokens) {
    for (;;) {
      const std::string key(tokens.next());
      end = tokens.begin();
      if (key == "}") return true;
      if (key.empty() || tokens.next() != "=" || tokens.next().empty()) return false;
      auto& [value, value_end] = members[key];
      for (value = tokens.begin();;) {
        value_end = tokens.end();
        const std::string_view token = tokens.next();
        if (token.empty()) return false;
        if (token == ";") break;
      }
    }
  }

  [[nodiscard]] std::string_view value(std::string_view text, const char* key) const {
    const auto found = members.find(key);
    if (found == members.end()) return {};
    return text.substr(found->second.first, found->second.second - found->second.first);
  }
  /// Reads a decimal number, if there is one. False: it is none.
  template <class Number>
  [[nodiscard]] bool take(std::string_view text, const char* key, Number& target) const {
    if (!members.contains(key)) return true;
    std::string_view digits = value(text, key);
    while (!digits.empty() && std::strchr("uUlL", digits.back()) != nullptr)
      digits.remove_suffix(1);
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), target);
    const bool is_octal = digits.size() > 1 && digits.front() == '0';
    return error == std::errc() && stop == digits.data() + digits.size() && !is_octal;
  }
  template <class Number>
  void set(const char* key, Number before, Number after, std::vector<Edit>& edits) const {
    if (before == after) return;
    const auto found = members.find(key);
    if (found == members.end()) {
      edits.push_back({end, end, fmt::format("{} = {}; ", key, after)});
    } else {
      edits.push_back({found->second.first, found->second.second, fmt::format("{}", after)});
    }
  }
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
  std::string result;
  std::size_t copied = 0;
  Tokens tokens(text);
  int depth = 0;
  bool is_clock = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{" && is_clock && depth == 0) {
      ClockBlock block;
      if (!block.read(tokens)) return {};
      ClockClass clock;
      if (!block.take(text, "freq", clock.frequency) || clock.frequency == 0 ||
          !block.take(text, "offset_s", clock.offset_s) ||
          !block.take(text, "offset", clock.offset)) {
        return {};
      }
      const std::string_view name = block.value(text, "name");
      clock.name = name.size() > 1 && name.front() == '"' ? name.substr(1, name.size() - 2) : name;
      const ClockClass after = retimed(clock);
      std::vector<Edit> edits;
      block.set("freq", clock.frequency, after.frequency, edits);
      block.set("offset_s", clock.offset_s, after.offset_s, edits);
      block.set("offset", clock.offset, after.offset, edits);
      std::ranges::stable_sort(edits, {}, &Edit::begin);
      for (const Edit& edit : edits) {
        result += text.substr(copied, edit.begin - copied) + edit.text;
        copied = edit.end;
      }
    } else if (token == "{") {
      ++depth;
    } else if (token == "}") {
      --depth;
    }
    is_clock = token == "clock";
  }
  return result + text.substr(copied);
}

Result<void> check_metadata(const fs::path& file) {
  TRY_ASSIGN(const std::string bytes, text_of(file));
  if (bytes.starts_with('/') || Packets::read(bytes)) return {};
  return fail(ErrorKind::input,
              fmt::format("{} ends inside a packet, or holds something else", file.string()));
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
    return fail(ErrorKind::input,
                fmt::format("{}: its clocks are not written as CTF 1.8 has them, so that none can "
                            "get another offset",
                            from.string()));
  }
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(result->data());
  return write_file(to, std::span(begin, result->size()));
}

}  // namespace entrain::ctf
