// SPDX-License-Identifier: BSD-3-Clause
#include "causal/violated_edges.hpp"

#include <algorithm>
#include <bit>

#include "constraints/edge_constraints.hpp"

namespace entrain::causal {

namespace {

/// Sizes; tests/bounds/prove_test.cpp. Chosen, not measured: the result does not depend on them.
struct GenerationSizes {
  static constexpr std::uint32_t least_windows = 16, most_windows = 256;
  static constexpr std::uint32_t windows_times_clocks = 1U << 16;
  static constexpr int most_bits = 8;
};

/// Parts of a tick such that all times fit into 62 bits.
unsigned bits_for(std::int64_t span, std::int64_t most_error) {
  const auto used = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(span) +
                                                    2 * static_cast<std::uint64_t>(most_error)));
  return static_cast<unsigned>(std::clamp(62 - used, 0, GenerationSizes::most_bits));
}

}  // namespace

ViolatedEdges::ViolatedEdges(const constraints::Context& context, const Setting& setting)
    : context_(context),
      setting_(setting),
      bits_(bits_for(setting.end - setting.begin, setting.most_error)),
      windows_(std::clamp(GenerationSizes::windows_times_clocks / std::max(setting.clocks, 1U),
                          GenerationSizes::least_windows, GenerationSizes::most_windows)) {
  constraints::evaluate_nodes(context_, times_, [&](LocationIndex l) {
    return setting_.lines[setting_.clock_of[l]];
  });
}

bool ViolatedEdges::collect(std::int64_t margin) {
  constraints::ConstraintOptions options;
  options.times = times_;
  options.clock_of = setting_.clock_of;
  options.clocks = setting_.clocks;
  options.mu = setting_.mu;
  options.begin = setting_.begin;
  options.end = setting_.end;
  options.windows = windows_;
  options.corrected = corrected_;
  options.bits = bits_;
  options.most_slack = margin > k_all >> bits_ ? k_all : margin << bits_;
  options.margins = setting_.margins;
  options.threads = context_.threads;
  const auto found = constraints::collect_constraints(context_.team(), context_.graph, options);
  for (const constraints::ClockConstraint& one : found) {
    edges_.push_back({.cause = {one.from, one.from_time - setting_.begin},
                      .effect = {one.to, one.to_time - setting_.begin},
                      .delay = one.to_time - one.from_time - one.slack});
  }
  return !found.empty();
}

}  // namespace entrain::causal
