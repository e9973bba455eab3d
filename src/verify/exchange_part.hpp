// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/team.hpp"

namespace entrain::verify {

/// Exchanges one vector of structs that hold several, one struct per member: before the call
/// parcels[r].*part is for member r, afterwards it is from member r. Collective.
template <class Parcel, class T>
void exchange_part(Team& team, std::vector<Parcel>& parcels, std::vector<T> Parcel::*part) {
  std::vector<std::vector<T>> values;
  for (Parcel& parcel : parcels) values.push_back(std::move(parcel.*part));
  values = exchange(team, std::move(values));
  for (std::size_t r = 0; r < parcels.size(); ++r) parcels[r].*part = std::move(values[r]);
}

}  // namespace entrain::verify
