// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/flat_map.hpp"
#include "base/ids.hpp"

namespace entrain {

/// Numbers names in order of their first use. Short ones, of at most 8 bytes, cost about 10 ns.
class NameTable {
 public:
  /// The number of a name; adds unknown names.
  std::uint32_t number(std::string_view name) {
    const auto next = static_cast<std::uint32_t>(names_.size());
    if (is_short(name)) {
      const auto [number, is_new] = short_.insert(key_of(name), next);
      if (is_new) names_.emplace_back(name);
      return *number;
    }
    if (const auto known = long_.find(name); known != long_.end()) return known->second;
    long_.emplace(name, next);
    names_.emplace_back(name);
    return next;
  }
  /// The number of a name; k_none for an unknown one.
  [[nodiscard]] std::uint32_t find(std::string_view name) const {
    if (is_short(name)) {
      const std::uint32_t* const known = short_.find(key_of(name));
      return known == nullptr ? k_none : *known;
    }
    const auto known = long_.find(name);
    return known == long_.end() ? k_none : known->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

 private:
  /// Zeros pad short names, so a name with a zero byte is a long one.
  static bool is_short(std::string_view name) {
    return name.size() <= 8 && name.find('\0') == std::string_view::npos;
  }
  static std::uint64_t key_of(std::string_view name) {
    std::uint64_t key = 0;
    if (!name.empty()) std::memcpy(&key, name.data(), name.size());
    return key;
  }

  struct TextHash {
    using is_transparent = void;  ///< finds views
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::vector<std::string> names_;
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> short_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> long_;
};

}  // namespace entrain
