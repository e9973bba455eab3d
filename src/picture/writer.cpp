// SPDX-License-Identifier: BSD-3-Clause
#include "picture/writer.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"

namespace entrain::picture {

namespace {

/// Names of a family, of its departures and of its arrivals, in the order of Family.
struct FamilyNames {
  const char *own, *departure, *arrival;
};
constexpr std::array<FamilyNames, k_families> k_family_names{
    {{"message", "send", "receive"},
     {"collective", "collective begin", "collective end"},
     {"thread", "thread cause", "thread effect"},
     {"rma", "rma cause", "rma effect"}}};

const FamilyNames& names_of(Family family) {
  return k_family_names[static_cast<std::size_t>(family)];
}

}  // namespace

const char* name_of(Family family) { return names_of(family).own; }

const char* name_of(Family family, bool arrival) {
  return arrival ? names_of(family).arrival : names_of(family).departure;
}

void Writer::take(const Titles& titles) {
  definitions_ = &titles.definitions;
  for (LocationIndex l = 0; l < definitions_->locations.size(); ++l) {
    processes_ = std::max(processes_, definitions_->process_of[l] + 1);
    process_names_.push_back(shown_name(trace::process_name(*definitions_, l), l));
  }
}

std::string shown_name(const std::string& name, std::uint32_t number) {
  return is_utf8(name) ? name : std::to_string(number);
}

std::string region_name(const trace::Definitions& definitions, std::uint32_t region) {
  if (region >= definitions.regions.size()) return "(unknown region)";
  const std::string& name = definitions.regions[region].name;
  return is_utf8(name) ? name : "(region " + std::to_string(region) + ")";
}

}  // namespace entrain::picture
