// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"

namespace entrain::kineto {

/// The operation that the name of a kernel, a range or a collective stands for.
Operation operation_of(std::string_view name);

/// Sets the members of a call that its arguments give, once its operation is known. `stream`: the
/// kernel's own.
void describe(Call& call, Members& argument, std::string_view stream);

/// A kernel as a viewer shows it, "ncclDevKernel_AllReduce on stream 24", of its name and stream
/// as written; a stream of "" is not known.
std::string label_of(std::string_view name, std::string_view stream);

/// True if a call names no process group: its stream replaces the group.
bool is_grouped_by_stream(const Call& call);

}  // namespace entrain::kineto
