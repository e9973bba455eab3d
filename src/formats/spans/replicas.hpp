// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/report.hpp>

#include "formats/spans/family.hpp"
#include "formats/spans/screen.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Groups of places that are several clocks; see identify().
class Replicas {
 public:
  Replicas(const Spans& spans, const Family& family, const Screen& screen);

  std::vector<bool> is_split;  ///< per group: each of its places is a clock
  /// Groups of which one is several clocks, and nothing tells these apart.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unresolved;
  std::vector<SetAside> set_aside;
  std::vector<std::string> notes;

 private:
  void note_split(const Spans& spans, std::uint32_t group, const std::string& name);
  void tell(const std::string& name, std::uint64_t calls, std::uint64_t all);
};

}  // namespace entrain::spans
