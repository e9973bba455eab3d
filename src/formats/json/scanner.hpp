// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace entrain::json {

/// Largest number of nested brackets; no profiler writes more, and other readers may crash.
inline constexpr std::size_t k_most_depth = 1024;

/// Byte order mark, which some editors put before UTF-8.
inline constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

/// Scans a JSON text without building anything: values are views of the text, so that their
/// positions are known. Checks only as much as it must to find their ends. A function that returns
/// false has met the end of the text or invalid JSON; the scanner must not be used afterwards.
///
/// Example: over {"ts": 12.5, "args": {}} the loop
///     for (scanner.open('{'); scanner.next_key(key);) scanner.value(value);
/// sees ts with 12.5 and args with {}.
class Scanner {
 public:
  /// Skips a byte order mark.
  explicit Scanner(std::string_view text)
      : begin_(text.data()),
        at_(begin_ + (text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0)),
        end_(begin_ + text.size()) {}

  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  /// True if next_key() or next_element() ended because of invalid JSON, not at a bracket.
  [[nodiscard]] bool failed() const { return failed_; }
  /// True if it failed in a value with more than k_most_depth brackets around it.
  [[nodiscard]] bool too_deep() const { return too_deep_; }

  /// Continues in `text`, which begins at the current position: the same text, moved and extended.
  void continue_in(std::string_view text) {
    begin_ = at_ = text.data();
    end_ = begin_ + text.size();
  }

  /// Skips blanks; returns the first byte of the next token, 0 at the end.
  char peek() {
    for (; at_ < end_; ++at_) {
      const char sign = *at_;
      if (static_cast<unsigned char>(sign) > ' ') return sign;  // nearly all of them
      if (sign != ' ' && sign != '\n' && sign != '\r' && sign != '\t') return sign;
    }
    return '\0';
  }
  /// Enters an object or an array.
  bool open(char bracket) {
    if (peek() != bracket) return fail();
    ++at_;
    first_ = true;
    return true;
  }
  /// Reads the next key of an open object and moves to its value; false after the last one.
  bool next_key(std::string_view& key) {
    if (!next('}')) return false;
    if (!string(key) || peek() != ':') return fail();
    ++at_;
    return true;
  }
  /// Moves to the next element of an open array; false after the last one.
  bool next_element() { return next(']'); }
  /// Reads a string without its quotes; keeps escapes.
  bool string(std::string_view& text) {
    if (peek() != '"') return fail();
    const char* const from = ++at_;
    for (;;) {
      skip_plain<'"', '\\'>();
      if (at_ == end_) return fail();
      if (*at_ == '"') break;
      at_ += end_ - at_ > 1 ? 2 : 1;  // a backslash and the escaped byte
    }
    text = {from, static_cast<std::size_t>(at_++ - from)};
    first_ = false;
    return true;
  }
  /// Reads a value of any kind as written.
  bool value(std::string_view& text) {
    const char first = peek();
    const char* const from = at_;
    std::string_view inner;
    if (first == '"') {
      if (!string(inner)) return false;
    } else if (first == '{' || first == '[') {
      if (!skip_nested()) return false;
    } else {
      skip_scalar();
      if (at_ == from || at_ == end_) return fail();
    }
    text = {from, static_cast<std::size_t>(at_ - from)};
    first_ = false;
    return true;
  }

 private:
  /// Moves to the first byte that is one of these.
  template <char... Signs>
  void skip_plain() {
#if defined(__SSE2__)
    const auto found = [](__m128i bytes) {
      return (_mm_cmpeq_epi8(bytes, _mm_set1_epi8(Signs)) | ...);
    };
    if (skip_blocks(found)) return;
#endif
    while (at_ < end_ && ((*at_ != Signs) && ...)) ++at_;
  }
  /// Moves to the end of a number or a word: a comma, a bracket, or a byte up to the blank.
  void skip_scalar() {
#if defined(__SSE2__)
    const auto found = [](__m128i bytes) {
      return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')) | _mm_cmpeq_epi8(bytes, _mm_set1_epi8('}')) |
             _mm_cmpeq_epi8(bytes, _mm_set1_epi8(']')) |
             _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ' + 1));
    };
    if (skip_blocks(found)) return;
#endif
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ > ' ') ++at_;
  }
#if defined(__SSE2__)
  /// Moves by 16 bytes at a time to the first one for which `found` sets bits; false if there is
  /// none before the last 15 bytes.
  template <class Found>
  bool skip_blocks(const Found& found) {
    constexpr std::ptrdiff_t k_bytes = sizeof(__m128i);
    while (end_ - at_ >= k_bytes) {
      const int bits =
          _mm_movemask_epi8(found(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at_))));
      if (bits != 0) {
        at_ += __builtin_ctz(static_cast<unsigned>(bits));
        return true;
      }
      at_ += k_bytes;
    }
    return false;
  }
#endif

  bool fail() {
    failed_ = true;
    return false;
  }
  bool next(char bracket) {
    const char sign = peek();
    if (failed_) return false;
    if (sign == bracket) {
      ++at_;
      first_ = false;
      return false;
    }
    if (!first_) {
      if (sign != ',') return fail();
      ++at_;
      if (peek() == bracket) return fail();
    }
    first_ = false;
    return peek() != '\0' || fail();
  }
  bool skip_nested() {
    std::size_t depth = 0;
    std::string_view inner;
    do {
      skip_plain<'"', '{', '}', '[', ']'>();
      if (at_ == end_) return fail();
      switch (*at_) {
        case '"':
          if (!string(inner)) return false;
          continue;
        case '{':
        case '[':
          too_deep_ = ++depth > k_most_depth;
          if (too_deep_) return fail();
          break;
        case '}':
        case ']':
          --depth;
          break;
        default:
          break;
      }
      ++at_;
    } while (depth > 0);
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool first_ = true;  ///< true: no comma is expected
  bool failed_ = false, too_deep_ = false;
};

}  // namespace entrain::json
