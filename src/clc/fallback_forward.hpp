// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "clc/forward.hpp"

namespace entrain::clc {

/// The first of several ways that can make a pass. A way that cannot is given up for good.
class FallbackForward final : public Forward {
 public:
  explicit FallbackForward(std::vector<std::unique_ptr<Forward>> ways) : ways_(std::move(ways)) {}

  /// Empty if no way is left.
  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) override;

 private:
  std::vector<std::unique_ptr<Forward>> ways_;
};

}  // namespace entrain::clc
