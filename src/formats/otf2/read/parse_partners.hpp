// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "trace/partners.hpp"

namespace entrain::otf2 {

/// The two sets of ranks of a text like "to 0-3,7 from 2" (k_partners_attribute).
struct NamedPartners {
  trace::RankSet to, from;
};

/// Nothing if the text has another form.
std::optional<NamedPartners> parse_partners(std::string_view text);

}  // namespace entrain::otf2
