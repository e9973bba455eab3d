// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/otf2/read/read_definitions.hpp"
#include "trace/partners.hpp"

/// Names of definitions that say something about communication.
namespace entrain::otf2 {

/// The role of a region with this name, OTF2_RegionRole and OTF2_Paradigm.
RegionRole role_of(std::string_view name, std::uint8_t region_role, std::uint8_t paradigm);

/// The two sets of ranks of a text like "to 0-3,7 from 2" (k_partners_attribute).
struct NamedPartners {
  trace::RankSet to, from;
};

/// Nothing if the text has another form.
std::optional<NamedPartners> parse_partners(std::string_view text);

}  // namespace entrain::otf2
