// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Positions of the posts of a process in their channels; counted if stored in posting order.
class PostPositions {
 public:
  PostPositions(const trace::Trace& trace, const Places& places, Outline& outline);

  /// Returns the position of a post; call it once per post, in order.
  std::uint32_t operator()(const Outline::Post& post) {
    return channels_[post.channel].disordered ? post.order : next_[post.channel]++;
  }

 private:
  const std::vector<Outline::Channel>& channels_;
  std::vector<std::uint32_t> next_;
};

}  // namespace entrain::verify
