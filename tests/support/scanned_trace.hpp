// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace entrain::test {

/// Everything that the product's scanner reads from an archive. Throws std::runtime_error with the
/// error's message.
trace::Trace scanned_trace(const std::filesystem::path& anchor);

/// The same of an open source.
trace::Trace scanned_trace(const trace::EventReader& source);

}  // namespace entrain::test
