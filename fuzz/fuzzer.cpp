// SPDX-License-Identifier: BSD-3-Clause
// The entry point of libFuzzer; the build says which target it is.
#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  entrain::fuzz::ENTRAIN_FUZZ_TARGET({data, size}, entrain::fuzz::Compare::sometimes);
  return 0;
}
