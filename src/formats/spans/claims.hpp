// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/error.hpp>

#include "formats/recording.hpp"

namespace entrain::spans {

/// Tests the edges of a recording against its files. A claim holds if spans have the relation
/// (parent and child, link, or halves of one call) and these hosts and times; each relation
/// supports one edge of begins, and one of ends. Errors: ErrorKind::internal, those of
/// json::load(). O(n).
Result<void> verify_claims(const formats::Recording& recording, std::uint64_t max_unpacked);

}  // namespace entrain::spans
