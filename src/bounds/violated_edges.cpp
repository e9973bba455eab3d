// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/violated_edges.hpp"

#include <algorithm>
#include <bit>

#include "base/exact.hpp"
#include "bounds/binding_edges.hpp"
#include "constraints/edge_constraints.hpp"

namespace entrain::bounds {

namespace {

/// Sizes; tests/bounds/prove_test.cpp. Chosen, not measured: the result does not depend on them.
struct GenerationSizes {
  static constexpr std::uint32_t coarsest = 4, first = 64, finest = 1U << 20;  ///< windows
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
    : setting_(setting),
      graph_(binding_edges(context, setting.clock_of, on_lines(context), setting.limits)),
      context_{.share = context.share,
               .graph = graph_,
               .mu = context.mu,
               .prior = context.prior,
               .reference = context.reference,
               .threads = context.threads,
               .progress = context.progress},
      bits_(bits_for(setting.end - setting.begin, setting.most_error)),
      windows_(GenerationSizes::coarsest),
      times_(on_lines(context_)) {}

/// Times of the nodes of a context along base lines.
BigVector<std::int64_t> ViolatedEdges::on_lines(const constraints::Context& context) const {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return setting_.lines[setting_.clock_of[l]]; });
  return times;
}

void ViolatedEdges::begin_anew() {
  windows_ = GenerationSizes::first;
  near_ = 1;
}

/// Windows in which errors change by about what edges may be near: of more edges of a pair in one
/// of them the tightest says nearly all.
void ViolatedEdges::choose_windows(std::int64_t rate_ppb) {
  const Int128 change = (static_cast<Int128>(setting_.end - setting_.begin) << bits_) * rate_ppb;
  const Int128 windows = change / k_billion / near_;
  windows_ = static_cast<std::uint32_t>(std::clamp<Int128>(
      windows, std::min(2 * windows_, GenerationSizes::finest), GenerationSizes::finest));
}

bool ViolatedEdges::collect(std::int64_t most_slack, std::int64_t rate_ppb) {
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
  options.most_slack = most_slack;
  options.margins = setting_.margins;
  options.threads = context_.threads;
  const auto found = constraints::collect_violated(context_.team(), context_.graph, options);
  double worst = 0;
  for (const auto& [one, slack] : found) worst = std::min(worst, slack);
  if (worst >= 0 && most_slack == near_) return false;
  near_ = static_cast<std::int64_t>(-worst) / 32 + 1;
  choose_windows(rate_ppb);
  return keep(found);
}

bool ViolatedEdges::keep(std::span<const constraints::LimitingEdge> found) {
  const std::size_t before = edges_.size();
  for (const auto& [one, slack] : found) {
    edges_.push_back({.cause = {one.from, one.from_time - setting_.begin},
                      .effect = {one.to, one.to_time - setting_.begin},
                      .delay = one.to_time - one.from_time - one.slack});
  }
  const auto added = edges_.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(added, edges_.end());
  std::inplace_merge(edges_.begin(), added, edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  return edges_.size() > before;
}

}  // namespace entrain::bounds
