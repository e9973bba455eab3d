// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/random.hpp"

namespace entrain::sim {

using entrain::RandomStream;

}  // namespace entrain::sim
