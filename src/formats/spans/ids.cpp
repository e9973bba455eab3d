// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/ids.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "formats/spans/draft.hpp"

namespace entrain::spans {
namespace {

constexpr std::size_t k_digits = 16;  ///< of 64 bits

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Reads at most 16 hexadecimal digits; false for anything else.
bool read_hex(std::string_view text, std::uint64_t& number) {
  number = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) return false;
    number = number << 4 | static_cast<std::uint64_t>(digit);
  }
  return text.size() <= k_digits;
}

}  // namespace

std::uint32_t SpanIds::number(std::string_view trace, std::string_view id) {
  trace = significant(trace);
  id = significant(id);
  Key key;
  const std::size_t high = trace.size() > k_digits ? trace.size() - k_digits : 0;
  key.is_text =
      !read_hex(trace.substr(0, high), key.high) || !read_hex(trace.substr(high), key.low);
  if (key.is_text) key.high = 0, key.low = texts_.number(trace);
  key.id_is_text = !read_hex(id, key.id);
  if (key.id_is_text) key.id = texts_.number(id);
  return number(key);
}

std::vector<std::uint32_t> SpanIds::add(const SpanIds& other) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(other.size());
  for (Key key : other.keys_) {
    if (key.is_text) key.low = texts_.number(other.texts_.all()[key.low]);
    if (key.id_is_text) key.id = texts_.number(other.texts_.all()[key.id]);
    numbers.push_back(number(key));
  }
  return numbers;
}

std::uint32_t SpanIds::number(const Key& key) {
  if (keys_.size() * 2 >= slots_.size()) grow();
  const auto hash = static_cast<std::uint32_t>(hash_of(key));
  Slot& slot = slots_[slot_of(key, hash)];
  if (slot.number == k_none) {
    slot = {hash, static_cast<std::uint32_t>(keys_.size())};
    keys_.push_back(key);
  }
  return slot.number;
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
  constexpr std::size_t k_least_slots = 16;
  std::vector<Slot> old(std::max(k_least_slots, 2 * slots_.size()));
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

std::vector<std::uint32_t> SpanIds::wholes() const {
  FlatMap<std::uint64_t, std::uint64_t, IntegerHash> traces;  // halves, and the other halves
  bool any_half = false;
  for (const Key& key : keys_) {
    if (key.is_text || key.high == 0) {
      any_half |= !key.is_text;
      continue;
    }
    const auto [high, is_new] = traces.insert(key.low, key.high);
    if (!is_new && *high != key.high) *high = 0;  // a half that several share is ambiguous
  }
  if (!any_half || traces.size() == 0) return {};
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
