// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/big_vector.hpp"
#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "base/name_table.hpp"
#include "formats/parts/fields.hpp"

namespace entrain::spans {

/// An id of a trace or a span as it is compared: hexadecimal digits, or any other text. Leading
/// zeros and the case of digits do not count.
struct Id {
  std::uint64_t high = 0, low = 0;  ///< the number that the digits are
  std::string_view text{};          ///< any other text; a view of what was read
  bool is_empty = true;             ///< there were not even zeros

  [[nodiscard]] bool is_zero() const { return (high | low) == 0 && text.empty(); }
};

/// Digits of ids; longer ones are other text.
inline constexpr std::size_t k_trace_digits = 32, k_span_digits = 16;

/// Reads an id as it is written.
Id id_in(std::string_view text, std::size_t most_digits);
/// The same of an id that stands as bytes, at most `most_digits` / 2 of them.
Id id_in_bytes(std::string_view bytes);

/// Numbers spans by trace and id in order of their first use. Ids are hexadecimal, of 128 and 64
/// bits, or any other text; leading zeros and the case of digits do not count. Each takes 32 bytes,
/// not counting other texts.
class SpanIds {
 public:
  /// The number of a span; adds unknown ones.
  std::uint32_t number(const Id& trace, const Id& id) { return number(key_of(trace, id)); }
  /// A span, as it is looked up.
  struct Key {
    std::uint64_t high = 0, low = 0;  ///< trace; its number in `texts_`, if it is another text
    std::uint64_t id = 0;
    bool is_text = false, id_is_text = false;

    friend bool operator==(const Key&, const Key&) = default;
  };
  Key key_of(const Id& trace, const Id& id);
  /// Calls take(i, number) for each key in order. Their memory is fetched side by side: the tables
  /// of many spans do not fit into caches.
  template <class Take>
  void number_all(std::span<const Key> keys, const Take& take);
  /// Adds those of another table; returns their numbers here, in order.
  std::vector<std::uint32_t> add(const SpanIds& other);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  void reserve(std::size_t count);
  /// Trace and id of a number, as a report names them.
  [[nodiscard]] std::string trace_of(std::uint32_t number) const;
  [[nodiscard]] std::string id_of(std::uint32_t number) const;
  /// True for an id of zeros only.
  [[nodiscard]] bool is_zero(std::uint32_t number) const {
    return keys_[number].id == 0 && !keys_[number].id_is_text;
  }
  /// True if there is any such id.
  [[nodiscard]] bool has_zero() const;
  /// The same for equal ids of all tables.
  [[nodiscard]] std::uint64_t hash_of(std::uint32_t number) const;
  /// Per number: that of the same span of the whole trace, if its trace is only the lower half of
  /// exactly one whole trace's 128 bits; else k_none. Empty: there are none.
  [[nodiscard]] std::vector<std::uint32_t> wholes() const;
  /// Writes all, or reads them into an empty table; see parts::FieldWriter. Each trace stands there
  /// once, and ids, which have no pattern, in 8 bytes.
  template <class Fields>
  void visit(Fields& fields);

 private:
  /// A place in the table of numbers. Keys lie elsewhere: their table would not fit into caches.
  struct Slot {
    std::uint32_t hash = 0, number = k_none;
  };
  static std::uint64_t hash_of(const Key& key) {
    const std::uint64_t texts = (key.is_text ? 1U : 0U) + (key.id_is_text ? 2U : 0U);
    return mix(key.id + mix(key.low + mix(key.high + texts)));
  }
  std::uint32_t number(const Key& key) {
    return number(key, static_cast<std::uint32_t>(hash_of(key)));
  }
  std::uint32_t number(const Key& key, std::uint32_t hash);
  /// The slot of a key, or the one that it would take. The table must not be empty.
  [[nodiscard]] std::size_t slot_of(const Key& key, std::uint32_t hash) const;
  /// True if so many keys fill more than three quarters of the slots.
  [[nodiscard]] bool is_full(std::size_t keys) const { return keys * 4 >= slots_.size() * 3; }
  void grow();

  BigVector<Key> keys_;
  BigVector<Slot> slots_;  ///< open addressing; a power of two
  NameTable texts_;
};

template <class Take>
void SpanIds::number_all(std::span<const Key> keys, const Take& take) {
  constexpr std::size_t k_together = 32;  // their lines stay in the first cache
  std::array<std::uint32_t, k_together> hashes{};
  for (std::size_t first = 0; first < keys.size(); first += k_together) {
    const std::size_t count = std::min(keys.size() - first, k_together);
    if (is_full(keys_.size() + count)) grow();
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = static_cast<std::uint32_t>(hash_of(keys[first + i]));
      __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t known = slots_[hashes[i] & (slots_.size() - 1)].number;
      if (known != k_none) __builtin_prefetch(&keys_[known]);
    }
    for (std::size_t i = 0; i < count; ++i) take(first + i, number(keys[first + i], hashes[i]));
  }
}

template <class Fields>
void SpanIds::visit(Fields& fields) {
  std::vector<std::string> texts = texts_.all();
  parts::list(fields, texts);
  for (const std::string& text : texts) texts_.number(text);
  if (texts_.all().size() != texts.size()) return fields.refuse();  // none stands there twice
  BigVector<Key> all = keys_;
  constexpr std::size_t k_least = 10;  // bytes of an id
  fields.size(all, k_least);
  for (Key& key : all) fields(key.id_is_text);
  // Most ids are of the trace of the one before, the others of a new trace: 0, or one not far back.
  SpanIds traces;
  std::vector<std::uint64_t> back(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t known = traces.size();
    if constexpr (!Fields::k_reads) {
      const Key& key = all[i];
      back[i] = known - traces.number(Key{key.high, key.low, 0, key.is_text, false});
    }
    fields(back[i]);
    if constexpr (Fields::k_reads) {
      if (back[i] > known) return fields.refuse();
      if (back[i] == 0) traces.keys_.emplace_back();
    }
  }
  for (Key& key : traces.keys_) fields(key.is_text);
  for (Key& key : traces.keys_) fields.hash(key.high);
  for (Key& key : traces.keys_) fields.hash(key.low);
  for (Key& key : all) fields.hash(key.id);
  if constexpr (!Fields::k_reads) return;
  const auto is_in = [&](bool is_text, std::uint64_t number) {
    return !is_text || number < texts.size();
  };
  std::size_t known = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Key key = traces.keys_[back[i] == 0 ? known++ : known - back[i]];
    key.id = all[i].id;
    key.id_is_text = all[i].id_is_text;
    if (!is_in(key.is_text, key.low) || !is_in(key.id_is_text, key.id) || number(key) != i) {
      return fields.refuse();
    }
  }
}

}  // namespace entrain::spans
