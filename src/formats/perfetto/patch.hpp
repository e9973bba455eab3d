// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {

/// New numbers for a packet. A varint keeps its width if the number fits, filled up as protobuf
/// allows; else it grows, and with it the lengths around it.
class Patch {
 public:
  /// `packet`: with its tag and length. Views of it are those that set() and enter() take.
  void begin(std::string_view packet, std::string_view body);
  /// The length around fields of a message inside the packet, for `inside` below; `inside`: that
  /// around the message itself, 0: the packet's.
  std::size_t enter(std::string_view message, std::size_t inside = 0);
  /// Replaces a number.
  void set(const Value& old, std::uint64_t number, std::size_t inside = 0);
  /// The packet with its new numbers; valid until the next call. As it was without any.
  std::string_view result();

 private:
  struct Spot {
    std::size_t at = 0, width = 0;  ///< in the packet, bytes
    std::uint64_t number = 0;
    std::size_t inside = 0;  ///< position of the length around it
    bool is_fixed = false;
    std::size_t growth = 0;  ///< of what a length is of, bytes
  };
  void widen();

  std::string_view packet_;
  std::vector<Spot> lengths_, numbers_;
  std::string text_;
};

}  // namespace entrain::perfetto
