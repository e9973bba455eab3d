// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/kineto/events.hpp"

namespace entrain::kineto {

/// Where the times of a file stand in its text, so that copying and comparing need not scan the
/// text again. Some 4 bytes per event.
class TimeIndex {
 public:
  enum class Kind : std::uint8_t { time, length, issued };
  static constexpr std::size_t k_kinds = 3;
  /// A time in the text: its position, bytes.
  struct Place {
    std::uint64_t at = 0;
    Kind kind = Kind::time;
  };
  /// An event with a time; its places in order of the text.
  struct Entry {
    std::uint32_t row = 0;  ///< position in `rows`
    std::uint32_t count = 0;
    std::array<Place, k_kinds> places{};
    [[nodiscard]] std::span<const Place> all() const { return {places.data(), count}; }
  };
  struct RowFacts {
    std::uint32_t clock = 0;       ///< position in RankFile::clocks
    bool is_out_of_order = false;  ///< its order tells nothing of where its clock was set back
  };

  /// Takes the next event of a text. `issued`: issue_time_of() it.
  void add(std::uint32_t row, const EventText& event, std::string_view issued);
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
    bool next(Entry& entry);

   private:
    const char *at_, *end_;
    std::uint64_t last_ = 0;
  };

  std::vector<RowFacts> rows;

 private:
  std::string bytes_;
  std::uint64_t last_ = 0;  ///< position of the time of the last event
};

}  // namespace entrain::kineto
