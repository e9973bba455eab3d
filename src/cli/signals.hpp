// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain::cli {

/// Makes SIGINT and SIGTERM a request to stop, see interrupted(); a second one ends the
/// process at once. Writing to a closed pipe becomes an error of the write instead of a signal.
void install_signal_handlers();

/// True once the user asked to stop. May be called from any thread.
bool interrupted();

}  // namespace entrain::cli
