// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::json {

/// A JSON value and all in it, for checks: a second way to read, which shares nothing with simdjson
/// and Scanner. Views of the text, valid until the next parse().
class Tree {
 public:
  using Node = std::uint32_t;               ///< position in the tree; 0 is the root
  static constexpr Node k_none = ~Node{0};  ///< a value that is not there, and has no members

  /// Parses the value at a position. Returns the position after it, npos if it is cut off or
  /// damaged.
  std::size_t parse(std::string_view text, std::size_t at);

  /// The last member of an object that has one of these names; k_none if there is none.
  [[nodiscard]] Node find(Node object, std::initializer_list<std::string_view> names) const;
  /// Text of a string, unescaped, or of a number or word; empty for any other value.
  [[nodiscard]] std::string_view text(Node node) const;
  [[nodiscard]] std::string_view text(Node object,
                                      std::initializer_list<std::string_view> names) const {
    return text(find(object, names));
  }
  [[nodiscard]] std::string_view key(Node member) const { return nodes_[member].key; }
  [[nodiscard]] bool is_object(Node node) const {
    return node != k_none && nodes_[node].kind == '{';
  }
  [[nodiscard]] bool is_list(Node node) const { return node != k_none && nodes_[node].kind == '['; }

  /// Calls `see` with all members of an object, or elements of a list.
  template <class See>
  void for_each(Node parent, const See& see) const {
    if (parent == k_none) return;
    for (Node node = parent + 1; node < nodes_[parent].end; node = nodes_[node].end) see(node);
  }

 private:
  struct Element {
    std::string_view key, text;
    char kind = 0;  ///< first character
    Node end = 0;   ///< position after all that is in it
  };
  std::size_t string(std::string_view text, std::size_t at, std::string_view& result);

  std::vector<Element> nodes_;
  std::deque<std::string> unescaped_;
  std::vector<Node> open_;
};

/// The number at the begin of a text in units of 10^-decimals; digits after these are cut off.
/// Empty for no number, and for 2^62 units or more.
///
/// Example: 12.3456 with 3 decimals is 12345.
std::optional<std::int64_t> scaled(std::string_view text, int decimals);

}  // namespace entrain::json
