// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/sessions.hpp"

namespace entrain::record {

void Sessions::set_up_first() {
  tree_.set_up(setup_.sync, world_.comm(), setup_.clock_identity, journal_);
  period_.set_up(tree_.any() ? setup_.sync.period_s : 0, setup_.sync.every,
                 {.decides = world_.rank() == 0,
                  .now_ns = [] { return timer.now().truth; },
                  .broadcast = [this](int* first, int count) { world_.broadcast(first, count); }});
  periodic = period_.on();
  // Each process asks for a level of threads on its own, but all must count alike.
  world_only_ = !world_.all_agree(!setup_.several_threads);
}

void Sessions::measure() {
  if (count_ == 0) set_up_first();
  tree_.measure(count_++, journal_);
}

void Sessions::session_over(const Stamp& begin, bool was_due) {
  period_.session_over(timer.now().truth - begin.truth, was_due);
}

}  // namespace entrain::record
