// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/spans/family.hpp"
#include "formats/spans/identity.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Times that are none of this run, before anything is concluded from times; see identify().
class Screen {
 public:
  /// Times of a group that are of one clock.
  struct Part {
    std::uint64_t first = 0;  ///< ns; from here on
    std::size_t number = 0;   ///< equal ones are of one clock
    std::string name{};       ///< what the name of the clock gets
    bool is_aside = false;    ///< no times of this run
  };

  /// Adds what it finds to `identity`. All must outlive it.
  Screen(const Spans& spans, const Family& family, Identity& identity);

  /// In order of time; at least one.
  [[nodiscard]] std::span<const Part> parts_of(std::uint32_t group) const;
  /// The part of a time, else null if it is no time of this run.
  [[nodiscard]] const Part* part_at(std::uint32_t group, std::uint64_t time) const;

 private:
  /// Notes that so many spans of a group have something.
  void set_aside(const char* kind, std::uint32_t group, std::uint64_t count,
                 const std::string& what);
  void note_changed();
  void note_untimed();
  void note_unit_of_all();
  void find_far();
  void judge(std::uint32_t group);

  const Spans& spans_;
  const Family& family_;
  Identity& identity_;
  std::vector<Part> whole_{Part()};
  std::map<std::uint32_t, std::vector<Part>> parts_;  ///< parts of the groups that have several
  std::vector<std::uint64_t> counts_;                 ///< spans of each group, ignored ones too
};

}  // namespace entrain::spans
