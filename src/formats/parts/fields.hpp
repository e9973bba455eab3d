// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

/// Values as compact bytes. A function that visits the fields of an object, as by `fields(object.a,
/// object.b)`, writes it with a FieldWriter and reads it with a FieldReader: one description of
/// both.
namespace entrain::parts {

/// Appends values to a text. Whole numbers take a byte per 7 bits.
class FieldWriter {
 public:
  static constexpr bool k_reads = false;

  template <class Value>
  requires std::integral<Value> || std::is_enum_v<Value>
  void operator()(const Value& value) {
    const auto bits = static_cast<std::uint64_t>(value);
    put(std::is_signed_v<Value> ? bits << 1 ^ (value < Value{} ? ~std::uint64_t{0} : 0) : bits);
  }
  void operator()(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    put(value ? 1 : 0);
    if (value) (*this)(*value);
  }
  template <class... Values>
  requires(sizeof...(Values) > 1) void operator()(const Values&... values) {
    ((*this)(values), ...);
  }
  /// A number without a pattern, in 8 bytes.
  void hash(const std::uint64_t& value) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes_ += static_cast<char>(value >> shift & 0xFF);
    }
  }
  /// A number by its distance from the one before, modulo 2^64.
  void delta(std::uint64_t& before, const std::uint64_t& value) {
    (*this)(static_cast<std::int64_t>(value - before));
    before = value;
  }
  /// The size of a list. `least`: bytes that an element takes at least.
  template <class List>
  void size(const List& list, std::size_t least = 1) {
    static_cast<void>(least);
    put(list.size());
  }
  /// A text of which there are few, or many equal ones one after the other.
  void repeated(const std::string& text) {
    const auto [known, is_new] = numbers_.try_emplace(text, numbers_.size());
    put(known->second);
    if (is_new) (*this)(text);
  }
  [[nodiscard]] bool fine() const { return true; }
  void refuse() {}
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

/// Reads what a FieldWriter has written. After damage all values are 0 or empty, and fine() is
/// false. The text must outlive it.
class FieldReader {
 public:
  static constexpr bool k_reads = true;

  explicit FieldReader(std::string_view text) : text_(text) {}

  template <class Value>
  requires std::integral<Value> || std::is_enum_v<Value>
  void operator()(Value& value) {
    std::uint64_t bits = get();
    if (std::is_signed_v<Value>) bits = bits >> 1 ^ (~(bits & 1) + 1);
    value = static_cast<Value>(bits);
    if (static_cast<std::uint64_t>(value) != bits) refuse();
  }
  void operator()(std::string& text) {
    const std::uint64_t size = get();
    if (size > text_.size()) return refuse();
    text.assign(text_.substr(0, size));
    text_.remove_prefix(size);
  }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    value.reset();
    if (get() != 0) (*this)(value.emplace());
  }
  template <class... Values>
  requires(sizeof...(Values) > 1) void operator()(Values&... values) { ((*this)(values), ...); }
  void hash(std::uint64_t& value) {
    value = 0;
    if (text_.size() < 8) return refuse();
    for (unsigned i = 0; i < 8; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(text_[i])} << (8 * i);
    }
    text_.remove_prefix(8);
  }
  void delta(std::uint64_t& before, std::uint64_t& value) {
    std::int64_t step = 0;
    (*this)(step);
    value = before += static_cast<std::uint64_t>(step);
  }
  /// Damage does not ask for more memory than the text has room for.
  template <class List>
  void size(List& list, std::size_t least = 1) {
    const std::uint64_t size = get();
    if (size > text_.size() / least) return refuse();
    list.resize(size);
  }
  void repeated(std::string& text) {
    const std::uint64_t number = get();
    if (number > texts_.size()) return refuse();
    if (number == texts_.size()) (*this)(texts_.emplace_back());
    text = texts_[number];
  }
  /// False if something was damaged.
  [[nodiscard]] bool fine() const { return fine_; }
  /// True if all was read.
  [[nodiscard]] bool at_end() const { return fine_ && text_.empty(); }
  void refuse() {
    fine_ = false;
    text_ = {};
  }

 private:
  std::uint64_t get() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !text_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(text_.front());
      text_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
    return 0;
  }

  std::string_view text_;
  std::vector<std::string> texts_;
  bool fine_ = true;
};

/// A number of each row of a list, which has its size, by its distance from that of the row before:
/// `get(row)`, and `set(row, number)` where it is read. Neighbours of a column are alike.
template <class Fields, class Rows, class Get, class Set>
void column(Fields& fields, Rows& rows, const Get& get, const Set& set) {
  std::uint64_t before = 0;
  for (auto& row : rows) {
    std::uint64_t value = Fields::k_reads ? 0 : get(row);
    fields.delta(before, value);
    if constexpr (Fields::k_reads) set(row, value);
  }
}

/// Members of the rows of a list, one column after the other.
template <class Fields, class Rows, class... Members>
void columns(Fields& fields, Rows& rows, Members... members) {
  const auto one = [&](auto member) {
    using Row = typename Rows::value_type;
    using Value = std::decay_t<decltype(std::declval<Row&>().*member)>;
    column(
        fields, rows, [&](const Row& row) { return static_cast<std::uint64_t>(row.*member); },
        [&](Row& row, std::uint64_t value) {
          row.*member = static_cast<Value>(value);
          if (static_cast<std::uint64_t>(row.*member) != value) fields.refuse();
        });
  };
  (one(members), ...);
}

/// A list of objects, with `visit(fields, object)` for each.
template <class Fields, class List, class Visit>
void list(Fields& fields, List& list, const Visit& visit) {
  fields.size(list);
  for (auto& one : list) visit(fields, one);
}

/// A list of values, or of objects of which all members are values.
template <class Fields, class List, class... Members>
requires(std::is_member_object_pointer_v<Members>&&...) void list(Fields& fields, List& list,
                                                                  Members... members) {
  fields.size(list);
  for (auto& one : list) {
    if constexpr (sizeof...(Members) > 0) {
      fields((one.*members)...);
    } else {
      fields(one);
    }
  }
}

/// A map, with `visit(fields, key, value)` for each entry.
template <class Fields, class Key, class Value, class Less, class Visit>
void entries(Fields& fields, std::map<Key, Value, Less>& map, const Visit& visit) {
  std::vector<std::pair<Key, Value>> all;
  if constexpr (!Fields::k_reads) all.assign(map.begin(), map.end());
  fields.size(all);
  for (auto& [key, value] : all) {
    visit(fields, key, value);
    if constexpr (Fields::k_reads) map.emplace(std::move(key), std::move(value));
  }
}
/// A map of values.
template <class Fields, class Map>
void entries(Fields& fields, Map& map) {
  entries(fields, map, [](Fields& inner, auto& key, auto& value) { inner(key, value); });
}

}  // namespace entrain::parts
