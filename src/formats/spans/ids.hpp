// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "base/name_table.hpp"
#include "formats/parts/fields.hpp"

namespace entrain::spans {

/// Numbers spans by trace and id in order of their first use. Ids are hexadecimal, of 128 and 64
/// bits, or any other text; leading zeros and the case of digits do not count. Each takes 32 bytes,
/// not counting other texts.
class SpanIds {
 public:
  /// The number of a span; adds unknown ones.
  std::uint32_t number(std::string_view trace, std::string_view id);
  /// Adds those of another table; returns their numbers here, in order.
  std::vector<std::uint32_t> add(const SpanIds& other);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  /// Trace and id of a number, as a report names them.
  [[nodiscard]] std::string trace_of(std::uint32_t number) const;
  [[nodiscard]] std::string id_of(std::uint32_t number) const;
  /// True for an id of zeros only.
  [[nodiscard]] bool is_zero(std::uint32_t number) const {
    return keys_[number].id == 0 && !keys_[number].id_is_text;
  }
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
  struct Key {
    std::uint64_t high = 0, low = 0;  ///< trace; its number in `texts_`, if it is another text
    std::uint64_t id = 0;
    bool is_text = false, id_is_text = false;

    friend bool operator==(const Key&, const Key&) = default;
  };
  /// A place in the table of numbers. Keys lie elsewhere: their table would not fit into caches.
  struct Slot {
    std::uint32_t hash = 0, number = k_none;
  };
  static std::uint64_t hash_of(const Key& key) {
    const std::uint64_t texts = (key.is_text ? 1U : 0U) + (key.id_is_text ? 2U : 0U);
    return mix(key.id + mix(key.low + mix(key.high + texts)));
  }
  std::uint32_t number(const Key& key);
  /// The slot of a key, or the one that it would take. The table must not be empty.
  [[nodiscard]] std::size_t slot_of(const Key& key, std::uint32_t hash) const;
  void grow();

  std::vector<Key> keys_;
  std::vector<Slot> slots_;  ///< open addressing; a power of two
  NameTable texts_;
};

template <class Fields>
void SpanIds::visit(Fields& fields) {
  std::vector<std::string> texts = texts_.all();
  parts::list(fields, texts, [](Fields& inner, std::string& text) { inner(text); });
  for (const std::string& text : texts) texts_.number(text);
  std::vector<Key> all = keys_;
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
