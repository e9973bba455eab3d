// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// The position of each post of a process in its channel. If the posts of a channel are stored in
/// posting order, they are simply counted.
class PostPositions {
 public:
  PostPositions(const trace::Trace& trace, const Places& places, Outline& outline);

  /// To be called once per post, in order.
  std::uint32_t operator()(const Outline::Post& post) {
    return channels_[post.channel].disordered ? post.order : next_[post.channel]++;
  }

 private:
  const std::vector<Outline::Channel>& channels_;
  std::vector<std::uint32_t> next_;
};

}  // namespace entrain::verify
