// SPDX-License-Identifier: BSD-3-Clause
// How many cases the properties of this program try: the same ones in every run, 300, in `make
// soak` 1,000. To look for new ones, set RC_PARAMS, e.g. RC_PARAMS="max_success=100000"; a failure
// prints how to reproduce it.
#include <cstdlib>

#include "support/repetitions.hpp"

namespace {

[[maybe_unused]] const int k_configured = setenv(
    "RC_PARAMS",
    entrain::test::every_repetition() ? "seed=2026 max_success=1000" : "seed=2026 max_success=300",
    0);

}  // namespace
