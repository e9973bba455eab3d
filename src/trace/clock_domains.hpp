// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "trace/skeleton.hpp"
#include "trace/trace.hpp"

namespace entrain::trace {

/// Which locations share one physical clock.
struct ClockDomains {
  std::vector<std::uint32_t> of;  ///< each location's domain
  /// Locations of every domain, in their order; domains are in order of their first location.
  std::vector<std::vector<LocationIndex>> members;

  [[nodiscard]] std::size_t count() const { return members.size(); }
  /// True if no two locations share a domain.
  [[nodiscard]] bool trivial() const { return members.size() == of.size(); }
};

/// Locations with equal keys share a domain. `key`: one per location.
ClockDomains domains_by(std::span<const std::uint32_t> key);

/// Every location by itself.
ClockDomains separate_domains(std::size_t locations);

/// Several locations as if they were one: number of records, first and last stamp, granule, flushes
/// in order of their begin; neither events nor clock offsets. Locations without records count
/// nothing.
LocationSkeleton extent_of(const Trace& trace, std::span<const LocationIndex> locations);

}  // namespace entrain::trace
