// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/definitions.hpp"

namespace entrain::trace {

// Names of the properties that a corrected archive carries.
inline constexpr const char* k_property_prefix = "ENTRAIN::";
inline constexpr const char* k_property_version = "ENTRAIN::VERSION";
inline constexpr const char* k_property_correction = "ENTRAIN::CORRECTION";
inline constexpr const char* k_property_session_span = "ENTRAIN::SESSION_SPAN";

/// The recorder's proof of shared clocks: the MPI ranks that read one clock, set after set. "0-3,7
/// 4-6" says that ranks 0 to 3 and 7 read one, and ranks 4 to 6 another one. Ranks that are not
/// named have a clock of which nothing was proved.
inline constexpr const char* k_property_clocks = "ENTRAIN::CLOCKS";

/// Score-P's statement that no MPI communication is missing: "true" or "false".
inline constexpr const char* k_property_mpi_complete = "OTF2::MPI_COMMUNICATION_COMPLETE";

/// The time between the first and the last measurement of the clocks, global ticks. Outside of it
/// nothing is known of the clocks.
struct SessionSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// "BEGIN END", the form of the property ENTRAIN::SESSION_SPAN.
std::string to_property(const SessionSpan& span);
/// The span in the text of that property; nothing if the text has another form.
std::optional<SessionSpan> span_of_property(std::string_view text);

/// Value of a property, or nullptr if the trace has none of that name.
const std::string* find_property(const Definitions& definitions, std::string_view name);

/// Per process (Definitions::process_of) its MPI rank, or k_none: by the communicator with most
/// members; without communicators, processes are in the order of their ranks.
std::vector<std::uint32_t> ranks_of_processes(const Definitions& definitions);

/// Per location the number of the set in k_property_clocks that its process belongs to, or k_none;
/// Definitions::known_clocks where there are any. Empty if the trace proves nothing, or says so in
/// no form that can be understood, and for one that was corrected: its locations may have been
/// moved apart.
std::vector<std::uint32_t> proved_clocks(const Definitions& definitions);

/// The completeness that the properties of a trace state. Names ending in "_COMPLETE" with a value
/// that is false deny it; names with "FILTER" in them name a filter.
Completeness completeness_of(const Definitions& definitions);

}  // namespace entrain::trace
