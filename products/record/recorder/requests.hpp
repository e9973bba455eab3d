// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "record/base/partner_list.hpp"

namespace entrain::record {

/// Communicator, root and bytes of one collective call.
struct Collective {
  std::uint8_t operation = 0;              ///< OTF2_CollectiveOp
  std::uint32_t comm = 0;                  ///< local number
  std::uint32_t root = 0;                  ///< rank or OTF2_COLLECTIVE_ROOT_*
  std::uint64_t sent = 0, received = 0;    ///< bytes
  std::uint32_t partners = k_no_partners;  ///< number of the list of partners
  bool known = false;                      ///< false: on a communicator that is not recorded
};

/// An operation that was started and not yet seen complete.
struct Pending {
  enum class Kind : std::uint8_t {
    nothing,
    send,
    receive,
    both_ways,
    collective,
    new_comm,
    one_sided
  };
  Kind kind = Kind::nothing;
  bool persistent = false, active = true;
  bool cancelled = false;    ///< MPI_Cancel was called
  bool silent = false;       ///< started while nothing was recorded
  std::uint64_t number = 0;  ///< request id in the records
  std::uint32_t comm = 0;
  std::uint64_t send_number = 0;   ///< both ways: of the send; `number` is that of the receive
  std::uint64_t bytes = 0;         ///< persistent sends, both ways
  std::int32_t peer = 0, tag = 0;  ///< persistent operations, both ways
  std::uint64_t window = 0;        ///< key of the handle
  Collective collective;
};

/// Pending operations by handle. MPI libraries give operations that are complete from the beginning
/// one common handle; these are found in the order in which they were started.
class RequestTable {
 public:
  void add(std::uint64_t handle, const Pending& pending) { table_[handle].push_back(pending); }
  /// The oldest operation of that handle, or null.
  Pending* find(std::uint64_t handle) {
    const auto found = table_.find(handle);
    return found == table_.end() ? nullptr : &found->second.front();
  }
  void remove(std::uint64_t handle) {
    const auto found = table_.find(handle);
    if (found == table_.end()) return;
    found->second.erase(found->second.begin());
    if (found->second.empty()) table_.erase(found);
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Pending>> table_;
};

}  // namespace entrain::record
