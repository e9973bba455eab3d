// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "trace/definitions.hpp"

namespace entrain::trace {

// Names of the properties that a corrected archive carries.
inline constexpr const char* k_property_prefix = "ENTRAIN::";
inline constexpr const char* k_property_version = "ENTRAIN::VERSION";
inline constexpr const char* k_property_correction = "ENTRAIN::CORRECTION";
inline constexpr const char* k_property_session_span = "ENTRAIN::SESSION_SPAN";

/// Score-P's statement that no MPI communication is missing: "true" or "false".
inline constexpr const char* k_property_mpi_complete = "OTF2::MPI_COMMUNICATION_COMPLETE";

/// Value of a property, or nullptr if the trace has none of that name.
const std::string* find_property(const Definitions& definitions, std::string_view name);

/// The completeness that the properties of a trace state. Names ending in "_COMPLETE" with a value
/// that is false deny it; names with "FILTER" in them name a filter.
Completeness completeness_of(const Definitions& definitions);

}  // namespace entrain::trace
