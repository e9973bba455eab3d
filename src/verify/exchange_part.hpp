// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/free_memory.hpp"
#include "base/team.hpp"

namespace entrain::verify {

/// Exchanges one vector of structs that hold several, one struct per member: before the call
/// parcels[r].*part is for member r, afterwards it is from member r. Collective.
template <class Parcel, class T, class Allocator>
void exchange_part(Team& team, std::vector<Parcel>& parcels,
                   std::vector<T, Allocator> Parcel::*part) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<Team::Bytes> bytes(parcels.size());
  for (std::size_t r = 0; r < parcels.size(); ++r) {
    if (r == team.rank()) continue;
    std::vector<T, Allocator>& values = parcels[r].*part;
    const auto all = std::as_bytes(std::span<const T>(values.data(), values.size()));
    bytes[r].assign(all.begin(), all.end());
    free_memory(values);
  }
  if (team.size() == 1) return;
  bytes = team.exchange(std::move(bytes));
  for (std::size_t r = 0; r < parcels.size(); ++r) {
    if (r == team.rank()) continue;
    std::vector<T, Allocator>& values = parcels[r].*part;
    values.resize(bytes[r].size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(static_cast<void*>(values.data()), bytes[r].data(), values.size() * sizeof(T));
    }
    free_memory(bytes[r]);
  }
}

}  // namespace entrain::verify
