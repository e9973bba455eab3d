// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/time_index.hpp"

#include <algorithm>

namespace entrain::kineto {
namespace {

// Bits of the first number of an event; its row stands above them.
constexpr std::uint64_t k_has_length = 1, k_has_issued = 2;
constexpr int k_row_shift = 2;

constexpr int k_bits_per_byte = 7;
constexpr std::uint8_t k_more = 0x80;

/// A difference of either sign as a small number: 0, -1, 1, -2 are 0, 1, 2, 3.
std::uint64_t folded(std::uint64_t difference) {
  const bool is_negative = difference >> 63 != 0;
  return is_negative ? ~(difference << 1) : difference << 1;
}
std::uint64_t unfolded(std::uint64_t number) {
  return (number & 1) != 0 ? ~(number >> 1) : number >> 1;
}

}  // namespace

void TimeIndex::put(std::uint64_t number) {
  for (; number >= k_more; number >>= k_bits_per_byte) {
    bytes_.push_back(static_cast<std::uint8_t>(number) | k_more);
  }
  bytes_.push_back(static_cast<std::uint8_t>(number));
}

void TimeIndex::add(std::uint32_t row, const EventText& event, std::string_view issued) {
  const auto place = [&](std::string_view piece) {
    return event.at + static_cast<std::uint64_t>(piece.data() - event.text.data());
  };
  const std::uint64_t time = place(event.time);
  put(std::uint64_t{row} << k_row_shift | (event.has_length() ? k_has_length : 0) |
      (issued.empty() ? 0 : k_has_issued));
  put(time - last_);
  if (event.has_length()) put(folded(place(event.duration) - time));
  if (!issued.empty()) put(folded(place(issued) - time));
  last_ = time;
}

std::uint64_t TimeIndex::Reader::number() {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += k_bits_per_byte) {
    const std::uint8_t byte = index_.bytes_[next_++];
    number |= static_cast<std::uint64_t>(byte & ~k_more) << shift;
    if ((byte & k_more) == 0) return number;
  }
}

bool TimeIndex::Reader::next(Entry& entry) {
  if (next_ == index_.bytes_.size()) return false;
  const std::uint64_t first = number();
  entry.row = static_cast<std::uint32_t>(first >> k_row_shift);
  last_ += number();
  entry.places[0] = {last_, Kind::time};
  entry.count = 1;
  if ((first & k_has_length) != 0) {
    entry.places[entry.count++] = {last_ + unfolded(number()), Kind::length};
  }
  if ((first & k_has_issued) != 0) {
    entry.places[entry.count++] = {last_ + unfolded(number()), Kind::issued};
  }
  const auto is_before = [](const Place& a, const Place& b) { return a.at < b.at; };
  if (entry.count > 1) {
    std::sort(entry.places.begin(), entry.places.begin() + entry.count, is_before);
  }
  return true;
}

}  // namespace entrain::kineto
