// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/time_index.hpp"

#include <algorithm>

#include "formats/perfetto/message.hpp"
#include "formats/perfetto/packet_writer.hpp"

namespace entrain::kineto {
namespace {

// Bits of the first number of an event; its row stands above them.
constexpr std::uint64_t k_has_length = 1, k_has_issued = 2;
constexpr int k_row_shift = 2;

/// A difference of either sign as a small number: 0, -1, 1, -2 are 0, 1, 2, 3.
std::uint64_t folded(std::uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
std::uint64_t unfolded(std::uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

}  // namespace

void TimeIndex::add(std::uint32_t row, const EventText& event, std::string_view issued) {
  const auto place = [&](std::string_view piece) {
    return event.at + static_cast<std::uint64_t>(piece.data() - event.text.data());
  };
  const auto put = [&](std::uint64_t number) { perfetto::add_varint(bytes_, number); };
  const std::uint64_t time = place(event.time);
  put(std::uint64_t{row} << k_row_shift | (event.has_length() ? k_has_length : 0) |
      (issued.empty() ? 0 : k_has_issued));
  put(time - last_);
  if (event.has_length()) put(folded(place(event.duration) - time));
  if (!issued.empty()) put(folded(place(issued) - time));
  last_ = time;
}

bool TimeIndex::Reader::next(Entry& entry) {
  if (at_ == end_) return false;
  const auto number = [this] { return perfetto::take_varint(at_, end_); };
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
