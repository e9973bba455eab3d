// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "base/team.hpp"

namespace entrain::verify {

/// Operations without a partner.
struct Unmatched {
  std::int64_t sends = 0;                   ///< messages sent that nobody received
  std::int64_t receives = 0;                ///< messages received that nobody sent
  std::int64_t collectives_mismatched = 0;  ///< calls from the first disagreement on
  std::int64_t collectives_incomplete = 0;  ///< instances that not every caller reaches
  std::int64_t collective_ends_without_begin = 0;
  std::int64_t thread_barriers_incomplete = 0;  ///< barriers that not every thread reaches
  std::int64_t threads = 0;                     ///< thread creations, begins and waits
  std::int64_t thread_teams = 0;                ///< teams that several threads forked
  std::int64_t thread_locks = 0;                ///< holdings of a lock by several threads at once
  std::int64_t thread_tasks = 0;                ///< tasks that were created more than once
  std::int64_t init_finalize = 0;               ///< half a call by a process, or several threads'
  std::int64_t rma_group_sync = 0;              ///< post, start, complete, wait: per partner
  std::int64_t rma_notify = 0;
};

/// Operations left out on purpose.
struct Skipped {
  std::int64_t cancelled_sends = 0;
  std::int64_t cancelled_receives = 0;
  std::int64_t alltoallv_instances = 0;
  std::int64_t rma_without_process_sync = 0;  ///< instances
  std::int64_t rma_group_sync = 0;            ///< records: role unknown, or memory only
  std::int64_t rma_locks = 0;                 ///< records
};

}  // namespace entrain::verify
