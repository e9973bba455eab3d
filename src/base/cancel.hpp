// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/team.hpp"

namespace entrain {

/// Whether the user wants the work to end: the one way in which every step asks.
///
/// Loops ask asked() now and then and leave early; the step itself then returns the error of
/// check(), or of agree() where a team works together: all members of a team must take the same
/// way, but the user's signal may reach them at different moments.
///
/// Cheap to copy; const functions may be called from any thread. The Progress must outlive it.
class Cancel {
 public:
  /// `progress` may be null: then nothing is cancelled.
  explicit Cancel(const Progress* progress) : progress_(progress) {}

  /// True once the user asked to stop, from then on.
  [[nodiscard]] bool asked() const { return progress_ != nullptr && progress_->cancelled(); }

  /// ErrorKind::interrupted once the user asked to stop.
  [[nodiscard]] Result<void> check() const { return asked() ? error() : Result<void>(); }

  /// True at every member of the team if one of them was asked to stop. Collective.
  [[nodiscard]] bool asked_any(Team& team) const { return team.any(asked()); }

  /// The same as check(), with the same result at every member of the team. Collective.
  [[nodiscard]] Result<void> agree(Team& team) const {
    return asked_any(team) ? error() : Result<void>();
  }

  /// The error that a cancelled step returns.
  [[nodiscard]] static tl::unexpected<Error> error() {
    return fail(ErrorKind::interrupted, "interrupted; nothing was written");
  }

 private:
  const Progress* progress_;
};

}  // namespace entrain
