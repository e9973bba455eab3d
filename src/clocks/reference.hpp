// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "base/ids.hpp"
#include "clocks/rate_prior.hpp"
#include "trace/definitions.hpp"

namespace entrain::clocks {

/// The clock by which others are set that nobody measured.
struct Reference {
  bool consensus = false;           ///< the time of most clocks
  LocationIndex location = k_none;  ///< location whose clock it is; k_none: not chosen
};

/// Reads CheckOptions::reference. ErrorKind::input if no location has that id or name.
Result<Reference> find_reference(const trace::Definitions& definitions, std::string_view text,
                                 ClockKind kind);

}  // namespace entrain::clocks
