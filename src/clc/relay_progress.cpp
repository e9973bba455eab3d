// SPDX-License-Identifier: BSD-3-Clause
#include "clc/relay_progress.hpp"

namespace entrain::clc {

RelayProgress::RelayProgress(const Relays& relays, std::size_t lanes, Out& out)
    : relays_(relays),
      lanes_(lanes),
      out_(out),
      heard_(relays.stage_count(), 0),
      known_(relays.relays().size() * lanes) {
  for (const Relay& relay : relays.relays()) states_.push_back({.begins_missing = relay.begins});
}

std::uint64_t RelayProgress::awaited() const {
  std::uint64_t count = 0;
  for (const Relay& relay : relays_.relays()) {
    for (const RelayStage& stage : relays_.stages(relay)) count += stage.awaited;
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
  ++heard_[relays_.relays()[relay].first_stage + stage];
  if (states_[relay].begins_missing == 0) go_on(relay);
}

/// Enters one stage after the other as long as the one before it is over.
void RelayProgress::go_on(std::uint32_t number) {
  const Relay& relay = relays_.relays()[number];
  std::uint32_t& stage = states_[number].stage;
  const auto is_over = [&] {
    return stage == k_none ||
           heard_[relay.first_stage + stage] == relays_.stages(relay)[stage].awaited;
  };
  while (stage != relay.stage_count && is_over()) {
    stage = stage == k_none ? 0 : stage + 1;
    enter(relay, stage, known(number));
  }
}

/// Does what is done at the beginning of a stage; after the last one, all is known.
void RelayProgress::enter(const Relay& relay, std::uint32_t stage, Known known) {
  if (stage == relay.stage_count) {
    for (const NodeIndex end : relays_.ends(relay)) out_.all_known(end, known);
    return;
  }
  for (const RelayTarget& target : relays_.targets(relays_.stages(relay)[stage])) {
    out_.pass_on(target, known);
  }
}

}  // namespace entrain::clc
