// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace entrain::record {

/// Variables by which Intel Trace Collector is told how to measure clocks: VT_CONFIG, the path of a
/// file of directives, and one variable per directive (VT_SYNC_MAX_MESSAGES for SYNC-MAX-MESSAGES).
/// True if `variable`, NAME=VALUE or NAME, is one of them.
bool is_vt_variable(const std::string& variable);

/// Adds to `variables`, in the form of own_variables, the recorder's own variables for those
/// directives, unless they are set already; the environment has precedence over the file. The entry
/// k_origin_mark + NAME says where the value of the variable NAME comes from, for complaints.
///
/// Reads the file of VT_CONFIG, a relative path from the working directory. If that fails, or for a
/// directive of clock synchronisation that is not known, `problem` gets a clause. All other
/// directives mean nothing here.
std::string with_vt_settings(const std::string& variables, std::string& problem);

/// Begins the names of entries that are no variables.
inline constexpr char k_origin_mark = '@';

}  // namespace entrain::record
