// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/ids.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>

#include <fmt/format.h>

namespace entrain::spans {
namespace {

constexpr std::size_t k_digits = 16;  ///< hexadecimal digits of 64 bits

constexpr auto k_digit_of = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::size_t i = 0; i < k_digits; ++i) {
    digits[static_cast<std::size_t>("0123456789abcdef"[i])] = static_cast<std::int8_t>(i);
    digits[static_cast<std::size_t>("0123456789ABCDEF"[i])] = static_cast<std::int8_t>(i);
  }
  return digits;
}();

/// Reads exactly 16 digits, without a chain of dependent steps.
bool read_16_digits(const char* text, std::uint64_t& number) {
  std::uint64_t sum = 0;
  int all = 0;
  for (std::size_t i = 0; i < k_digits; ++i) {
    const int digit = k_digit_of[static_cast<unsigned char>(text[i])];
    all |= digit;
    sum |= static_cast<std::uint64_t>(digit & 15) << (4 * (k_digits - 1 - i));
  }
  number = sum;
  return all >= 0;
}

/// A number of 8 bytes, the highest first.
std::uint64_t big_endian(const char* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

/// The significant digits of an id. Some tracers write ids of 64 bits with leading zeros.
/// Protobuf's own JSON has base64 instead of hexadecimal digits, where the letter A is zero.
std::string_view significant(std::string_view id) {
  if (id.ends_with('=')) return id.find_first_not_of("A=") == std::string_view::npos ? "" : id;
  id.remove_prefix(std::min(id.find_first_not_of('0'), id.size()));
  return id;
}

}  // namespace

Id id_in(std::string_view text, std::size_t most_digits) {
  Id id{.is_empty = text.empty()};
  const bool is_long = text.size() == k_trace_digits && text.size() <= most_digits;
  if (text.size() == k_digits || is_long) {
    const char* const low = text.data() + text.size() - k_digits;
    if ((!is_long || read_16_digits(text.data(), id.high)) && read_16_digits(low, id.low)) {
      return id;
    }
  }
  text = significant(text);
  std::array<char, k_trace_digits> digits{};
  digits.fill('0');
  if (text.size() <= most_digits) std::ranges::copy_backward(text, digits.end());
  if (text.size() <= most_digits && read_16_digits(digits.data(), id.high) &&
      read_16_digits(digits.data() + k_digits, id.low)) {
    return id;
  }
  return {.text = text, .is_empty = false};
}

Id id_in_bytes(std::string_view bytes) {
  Id id{.is_empty = bytes.empty()};
  const std::size_t first = bytes.size() - std::min(bytes.size(), sizeof id.low);
  if (first % sizeof id.low == 0 && first + sizeof id.low == bytes.size()) {  // nearly all
    id.low = big_endian(bytes.data() + first);
    id.high = first == 0 ? 0 : big_endian(bytes.data());
    return id;
  }
  for (const char byte : bytes) {
    id.high = id.high << 8 | id.low >> 56;
    id.low = id.low << 8 | static_cast<unsigned char>(byte);
  }
  return id;
}

SpanIds::Key SpanIds::key_of(const Id& trace, const Id& id) {
  Key key{.high = trace.high,
          .low = trace.low,
          .id = id.low,
          .is_text = !trace.text.empty(),
          .id_is_text = !id.text.empty()};
  if (key.is_text) key.low = texts_.number(trace.text);
  if (key.id_is_text) key.id = texts_.number(id.text);
  return key;
}

std::vector<std::uint32_t> SpanIds::add(const SpanIds& other) {
  std::vector<std::uint32_t> numbers(other.size());
  BigVector<Key> keys = other.keys_;
  for (Key& key : keys) {
    if (key.is_text) key.low = texts_.number(other.texts_.all()[key.low]);
    if (key.id_is_text) key.id = texts_.number(other.texts_.all()[key.id]);
  }
  number_all(keys, [&](std::size_t i, std::uint32_t number) { numbers[i] = number; });
  return numbers;
}

std::uint32_t SpanIds::number(const Key& key, std::uint32_t hash) {
  if (is_full(keys_.size())) grow();
  Slot& slot = slots_[slot_of(key, hash)];
  if (slot.number == k_none) {
    slot = {hash, static_cast<std::uint32_t>(keys_.size())};
    keys_.push_back(key);
  }
  return slot.number;
}

void SpanIds::reserve(std::size_t count) {
  keys_.reserve(count);
  while (is_full(count)) grow();
}

std::size_t SpanIds::slot_of(const Key& key, std::uint32_t hash) const {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].number != k_none &&
         (slots_[at].hash != hash || !(keys_[slots_[at].number] == key))) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

void SpanIds::grow() {
  constexpr std::size_t k_least_slots = 128;
  BigVector<Slot> old(std::max(k_least_slots, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number == k_none) continue;
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].number != k_none) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::string SpanIds::trace_of(std::uint32_t number) const {
  const Key& key = keys_[number];
  if (key.is_text) return texts_.all()[key.low];
  if (key.high == 0) return fmt::format("{:x}", key.low);
  return fmt::format("{:x}{:016x}", key.high, key.low);
}

std::string SpanIds::id_of(std::uint32_t number) const {
  const Key& key = keys_[number];
  if (key.id_is_text) return texts_.all()[key.id];
  return fmt::format("{:x}", key.id);
}

std::uint64_t SpanIds::hash_of(std::uint32_t number) const {
  Key key = keys_[number];
  const auto hash_of_text = [&](std::uint64_t text) {
    return std::hash<std::string>{}(texts_.all()[text]);
  };
  if (key.is_text) key.low = hash_of_text(key.low);
  if (key.id_is_text) key.id = hash_of_text(key.id);
  return hash_of(key);
}

bool SpanIds::has_zero() const {
  return std::ranges::any_of(keys_, [](const Key& key) { return key.id == 0 && !key.id_is_text; });
}

std::vector<std::uint32_t> SpanIds::wholes() const {
  const auto is_half = [](const Key& key) { return !key.is_text && key.high == 0; };
  if (std::ranges::none_of(keys_, is_half)) return {};
  FlatMap<std::uint64_t, std::uint64_t, IntegerHash> traces;  // halves, and the other halves
  for (const Key& key : keys_) {
    if (key.is_text || key.high == 0) continue;
    const auto [high, is_new] = traces.insert(key.low, key.high);
    if (!is_new && *high != key.high) *high = 0;  // a half that several share is ambiguous
  }
  if (traces.size() == 0) return {};
  std::vector<std::uint32_t> whole_of(keys_.size(), k_none);
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    if (key.is_text || key.high == 0 || *traces.find(key.low) != key.high) continue;
    Key half = key;
    half.high = 0;
    const std::uint32_t number =
        slots_[slot_of(half, static_cast<std::uint32_t>(hash_of(half)))].number;
    if (number != k_none) whole_of[number] = i;
  }
  return whole_of;
}

}  // namespace entrain::spans
