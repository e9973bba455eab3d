// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/kineto/collective_calls.hpp"
#include "formats/perfetto/message.hpp"
#include "formats/perfetto/packet_writer.hpp"

namespace entrain::kineto {

/// Where the times of a file stand in its text, so that copying and comparing need not scan the
/// text again. Some 4 bytes per event.
class TimeIndex {
 public:
  enum Kind : std::uint8_t { k_time, k_length, k_issued, k_kinds };
  /// A time in the text: its position, bytes.
  struct Place {
    std::uint64_t at = 0;
    Kind kind = k_time;
  };
  /// An event with a time.
  struct Entry {
    std::uint32_t row = 0;  ///< position in `rows`
    std::uint32_t count = 0;
    std::array<Place, k_kinds> places{};
    /// Its places in order of the text.
    [[nodiscard]] std::span<const Place> all() const { return {places.data(), count}; }
  };

  /// Takes the next event of a text. `issued`: issue_time_of() it.
  void add(std::uint32_t row, const EventText& event, std::string_view issued) {
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
  /// Forgets all events.
  void clear() {
    bytes_.clear();
    last_ = 0;
  }

  /// Goes through all events in order.
  class Reader {
   public:
    explicit Reader(const TimeIndex& index)
        : at_(index.bytes_.data()), end_(at_ + index.bytes_.size()) {}
    /// False after the last one.
    bool next(Entry& entry) {
      if (at_ == end_) return false;
      const auto number = [this] { return perfetto::take_varint(at_, end_); };
      const std::uint64_t first = number();
      last_ += number();
      entry = {.row = static_cast<std::uint32_t>(first >> k_row_shift), .count = 1};
      entry.places[0].at = last_;
      const auto add = [&](Kind kind) {
        entry.places[entry.count++] = {last_ + unfolded(number()), kind};
      };
      if ((first & k_has_length) != 0) add(k_length);
      if ((first & k_has_issued) != 0) add(k_issued);
      std::ranges::sort(std::span(entry.places).first(entry.count), {}, &Place::at);
      return true;
    }

   private:
    const char *at_, *end_;
    std::uint64_t last_ = 0;
  };

  std::vector<RowClock> rows;

 private:
  // Bits of the first number of an event; its row stands above them.
  static constexpr std::uint64_t k_has_length = 1, k_has_issued = 2;
  static constexpr int k_row_shift = 2;

  /// A difference of either sign as a small number: 0, -1, 1, -2 are 0, 1, 2, 3.
  static std::uint64_t folded(std::uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
  }
  static std::uint64_t unfolded(std::uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

  std::string bytes_;
  std::uint64_t last_ = 0;  ///< position of the time of the last event
};

}  // namespace entrain::kineto
