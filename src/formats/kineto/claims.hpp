// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/error.hpp>

#include "formats/recording.hpp"

namespace entrain::kineto {

/// Tests the instances and edges (messages) of a run against its files. A claim holds if each rank
/// has a call of this begin and end, no other claim uses it, and the calls agree in all that their
/// kernels' events say of operation, group, number, type and size. Memory: a window of the file per
/// thread, and all calls. Errors: ErrorKind::internal, those of json::TextReader.
Result<void> verify_claims(const formats::Recording& run, unsigned threads,
                           std::uint64_t max_unpacked);

}  // namespace entrain::kineto
