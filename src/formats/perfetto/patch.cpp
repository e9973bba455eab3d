// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/patch.hpp"

#include <algorithm>

namespace entrain::perfetto {
namespace {

std::size_t width_of(std::uint64_t number) {
  return static_cast<std::size_t>(protozero::length_of_varint(number));
}

/// Adds a varint of this width, which holds the number.
void add_wide(std::uint64_t number, std::size_t width, std::string& to) {
  for (std::size_t i = 1; i < width; ++i, number >>= 7) {
    to += static_cast<char>((number & 0x7F) | 0x80);
  }
  to += static_cast<char>(number & 0x7F);
}

void add_narrow(std::uint64_t number, std::size_t width, std::string& to) {
  for (std::size_t i = 0; i < width; ++i, number >>= 8) to += static_cast<char>(number & 0xFF);
}

}  // namespace

void Patch::begin(std::string_view packet, std::string_view body) {
  packet_ = packet;
  numbers_.clear();
  lengths_.clear();
  // The tag of a packet, which a varint may write longer, precedes the length.
  std::size_t tag = 1;
  while ((static_cast<unsigned char>(packet[tag - 1]) & 0x80) != 0) ++tag;
  lengths_.push_back(
      {.at = tag, .width = packet.size() - body.size() - tag, .number = body.size()});
}

std::size_t Patch::enter(std::string_view message, std::size_t inside) {
  if (message.data() == nullptr) return inside;  // a number in its place: nothing moves in it
  // The length ends where the message begins; the byte before it ends the tag.
  const auto end = static_cast<std::size_t>(message.data() - packet_.data());
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(packet_[at - 1]) & 0x80) != 0) --at;
  lengths_.push_back({.at = at, .width = end - at, .number = message.size(), .inside = inside});
  return lengths_.size() - 1;
}

void Patch::set(const Value& old, std::uint64_t number, std::size_t inside) {
  if (old.number == number) return;
  const bool is_fixed = old.fixed_size != 0;
  numbers_.push_back({.at = static_cast<std::size_t>(old.at - packet_.data()),
                      .width = is_fixed ? old.fixed_size : old.width,
                      .number = number,
                      .inside = inside,
                      .is_fixed = is_fixed});
}

/// Makes room for numbers, and for the lengths around them.
void Patch::widen() {
  const auto grow = [&](const Spot& spot) {
    const std::size_t width = std::max(spot.width, width_of(spot.number));
    lengths_[spot.inside].growth += spot.growth + width - spot.width;
  };
  for (const Spot& spot : numbers_) {
    if (!spot.is_fixed) grow(spot);
  }
  // A length is entered after those around it.
  for (std::size_t i = lengths_.size(); i-- > 0;) {
    lengths_[i].number += lengths_[i].growth;
    if (i > 0) grow(lengths_[i]);
  }
}

std::string_view Patch::result() {
  if (numbers_.empty()) return packet_;
  widen();
  numbers_.insert(numbers_.end(), lengths_.begin(), lengths_.end());
  std::sort(numbers_.begin(), numbers_.end(),
            [](const Spot& a, const Spot& b) { return a.at < b.at; });
  text_.clear();
  std::size_t done = 0;
  for (const Spot& spot : numbers_) {
    text_ += packet_.substr(done, spot.at - done);
    if (spot.is_fixed) {
      add_narrow(spot.number, spot.width, text_);
    } else {
      add_wide(spot.number, std::max(spot.width, width_of(spot.number)), text_);
    }
    done = spot.at + spot.width;
  }
  text_ += packet_.substr(done);
  return text_;
}

}  // namespace entrain::perfetto
