// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace entrain::record {

/// Does work in a child process: the OTF2 library ends its process on some damaged archives, and in
/// some places where it gets no memory. `work` returns "", or why it failed. Returns the same, or a
/// sentence of its own if the child could not be started or crashed. What else the work changes in
/// memory stays in the child, and what is written to standard error goes nowhere. Throws
/// std::bad_alloc if the child ran out of memory.
std::string in_child(const std::function<std::string()>& work);

}  // namespace entrain::record
