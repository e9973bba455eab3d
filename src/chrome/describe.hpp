// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "chrome/calls.hpp"
#include "chrome/events.hpp"

namespace entrain::chrome {

/// The operation that the name of a kernel, a range or a collective tells.
Operation operation_of(std::string_view name);

/// Fills what the arguments of a call say, once its operation is known. `stream`: of the kernel
/// itself.
void describe(Call& call, const Members& argument, std::string_view stream);

/// True if a call names no process group: its stream stands for it.
bool is_of_stream(const Call& call);

}  // namespace entrain::chrome
