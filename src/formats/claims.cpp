// SPDX-License-Identifier: BSD-3-Clause
#include "formats/claims.hpp"

#include <fmt/core.h>

namespace entrain::formats {

void RecordIndex::add(std::uint64_t hash, std::uint32_t record) {
  const auto [last, is_new] = last_.insert(hash, 0);
  entries_.push_back({record, *last});
  *last = static_cast<std::uint32_t>(entries_.size() - 1);
}

Result<void> verdict(const Clocks& clocks, const Refutation& refutation) {
  if (refutation.why == nullptr) return {};
  const bool is_known = refutation.clock < clocks.clocks.size();
  return fail(ErrorKind::internal,
              fmt::format("{}: records contradict the pairing of {} at {}: {}; this is an error of "
                          "Entrain and not of the trace: please report it",
                          clocks.name, is_known ? clocks.clocks[refutation.clock].name : "a clock",
                          refutation.time, refutation.why));
}

}  // namespace entrain::formats
