// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/sessions.hpp"

namespace entrain::record {

void Sessions::set_up_first() {
  tree_.set_up(setup_.sync, world_.comm(), setup_.clock_identity, journal_);
  const SyncSettings& sync = setup_.sync;
  period_.set_up(tree_.any() ? sync.period_s : 0,
                 {.every = sync.every,
                  .exchanges = sync.max_messages,
                  .budget_share = sync.budget_percent / 100,
                  .tree_levels = tree_.most_levels()},
                 {.decides = world_.rank() == 0,
                  .now_ns = [] { return timer.now().truth; },
                  .broadcast = [this](int* first, int count) { world_.broadcast(first, count); }});
  periodic = period_.on();
  // Each process asks for a level of threads on its own, but all must count alike.
  world_only_ = !world_.all_agree(!setup_.several_threads);
}

void Sessions::measure(const std::optional<SessionSize>& due) {
  if (count_ == 0) set_up_first();
  const Stamp begin = timer.now();
  const SessionSize size = due.value_or(SessionSize{.exchanges = setup_.sync.max_messages});
  const std::uint64_t exchanges = tree_.measure(count_++, size, journal_);
  period_.session_over(timer.now().truth - begin.truth, exchanges, due.has_value());
}

}  // namespace entrain::record
