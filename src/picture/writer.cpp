// SPDX-License-Identifier: BSD-3-Clause
#include "picture/writer.hpp"

#include "base/utf8.hpp"

namespace entrain::picture {

const char* name_of(Family family) {
  switch (family) {
    case Family::message:
      return "message";
    case Family::collective:
      return "collective";
    case Family::thread:
      return "thread";
    case Family::one_sided:
      return "rma";
  }
  return "";
}

const char* name_of(Family family, bool arrival) {
  switch (family) {
    case Family::message:
      return arrival ? "receive" : "send";
    case Family::collective:
      return arrival ? "collective end" : "collective begin";
    case Family::thread:
      return arrival ? "thread effect" : "thread cause";
    case Family::one_sided:
      return arrival ? "rma effect" : "rma cause";
  }
  return "";
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
