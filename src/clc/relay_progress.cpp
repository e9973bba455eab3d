// SPDX-License-Identifier: BSD-3-Clause
#include "clc/relay_progress.hpp"

namespace entrain::clc {

RelayProgress::RelayProgress(const Relays& relays, std::size_t lanes, Out& out)
    : relays_(relays), lanes_(lanes), out_(out), known_(relays.relays().size() * lanes) {
  for (const Relay& relay : relays.relays()) states_.push_back({.begins_missing = relay.begins});
}

std::uint64_t RelayProgress::awaited() const {
  std::uint64_t count = 0;
  for (const Relay& relay : relays_.relays()) {
    std::size_t news = 1;
    for (std::uint32_t stage = 0; news > 0; ++stage) {
      news = relays_.targets(relay, stage).size();
      count += news;
    }
  }
  return count;
}

void RelayProgress::start() {
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    if (states_[i].begins_missing == 0) go_on(i);
  }
}

void RelayProgress::begun(std::uint32_t relay, LocationIndex location,
                          std::span<const std::int64_t> times) {
  for (std::size_t i = 0; i < lanes_; ++i) known(relay)[i].add(times[i], location);
  if (--states_[relay].begins_missing == 0) go_on(relay);
}

void RelayProgress::hear(std::uint32_t relay, std::uint32_t stage, Known news) {
  for (std::size_t i = 0; i < lanes_; ++i) known(relay)[i].add(news[i]);
  ++states_[relay].heard[stage];
  if (states_[relay].begins_missing == 0) go_on(relay);
}

/// Begins one stage after the other as long as the one before it is over. After the last one, all
/// is known.
void RelayProgress::go_on(std::uint32_t number) {
  const Relay& relay = relays_.relays()[number];
  State& state = states_[number];
  const auto is_over = [&](std::uint32_t stage) {
    return state.heard[stage] == relays_.targets(relay, stage).size();
  };
  while (state.stages == 0 || is_over(state.stages - 1)) {
    const std::uint32_t stage = state.stages++;
    const std::span<const RelayTarget> targets = relays_.targets(relay, stage);
    for (const RelayTarget& target : targets) out_.pass_on(target, stage, known(number));
    if (!targets.empty()) continue;
    for (const NodeIndex end : relays_.ends(relay)) out_.all_known(end, known(number));
    return;
  }
}

}  // namespace entrain::clc
