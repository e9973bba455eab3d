// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/base/journal.hpp"
#include "record/base/partners.hpp"
#include "record/mpi/world.hpp"
#include "record/recorder/comm.hpp"
#include "record/recorder/requests.hpp"
#include "record/recorder/window.hpp"

namespace entrain::record {

/// The recorder's tables of the program's MPI handles: communicators, RMA windows, groups,
/// pending requests and matched messages. New communicators, windows and groups get local numbers
/// and a line in the journal.
///
/// Where several threads may call MPI at once, hold lock() around every use of this object and of
/// what its functions return. Members that say so need no lock.
class Handles {
 public:
  Handles(const World& world, Journal& journal)
      : partner_lists(journal), world_(world), journal_(journal) {}

  /// Once, when `world` has been joined. Registers MPI_COMM_WORLD, which gets the number 0, and
  /// MPI_COMM_SELF.
  void set_up();
  /// Once, before any other thread calls MPI.
  void expect_several_threads(bool expected) { several_threads_ = expected; }

  /// The lock; it locks nothing while only one thread may call MPI. Never hold it while processes
  /// wait for each other: a thread that waits for it may be the one that another process waits for.
  std::unique_lock<std::recursive_mutex> lock() {
    return several_threads_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }
  /// Needs no lock.
  [[nodiscard]] bool several_threads() const { return several_threads_; }

  /// Communicator of a handle, or null if it is not recorded. Valid until it is freed.
  Comm* comm(MPI_Comm handle) {
    const auto found = comms_.find(key_of(handle));
    return found == comms_.end() || found->second->foreign ? nullptr : found->second.get();
  }
  /// Registers a new communicator under `key`. `parent`, which may be null: the one from which, or
  /// through which, it was made. Its members are those of `like`, if given: some handles cannot be
  /// asked yet. Null if it has members outside of the recorded world: it is not recorded then.
  Comm* add_comm(MPI_Comm handle, const std::string& key, const Comm* parent = nullptr,
                 MPI_Comm like = MPI_COMM_NULL);
  /// A key made of `prefix` and the members of a communicator, the same in all of them.
  [[nodiscard]] std::string members_key(const std::string& prefix, MPI_Comm handle) const;
  void forget_comm(MPI_Comm handle) { comms_.erase(key_of(handle)); }
  void name_comm(const Comm& comm, const std::string& name);

  /// Window of a handle's key, or null if it is not recorded.
  Window* window(std::uint64_t key) {
    const auto found = windows_.find(key);
    return found == windows_.end() ? nullptr : &found->second;
  }
  /// Registers a new window over the members of `comm`.
  Window& add_window(std::uint64_t key, Comm& comm);
  void forget_window(std::uint64_t key) { windows_.erase(key); }
  void name_window(const Window& window, const std::string& name);

  /// Local number of a group of processes of the world.
  std::uint32_t group(MPI_Group handle);
  /// A new number for a request or a one-sided operation, from 1 on.
  [[nodiscard]] std::uint64_t next_number() { return next_number_++; }
  /// Counts the calls that all members make with the same key: 0 for the first one.
  [[nodiscard]] std::uint64_t ordinal(const std::string& key) { return ordinals_[key]++; }

  RequestTable requests;
  PartnerLists partner_lists;
  std::unordered_map<std::uint64_t, Pending> messages;  ///< matched probes by message handle

 private:
  /// Ranks in the world; `others` is the remote group of an inter-communicator.
  struct Members {
    std::vector<int> own, others;
  };
  [[nodiscard]] Members members_of(MPI_Comm handle) const;
  void note_comm(const Comm& comm, const Members& members, bool second, const Comm* parent);

  const World& world_;
  Journal& journal_;
  bool several_threads_ = false;
  std::recursive_mutex mutex_;
  std::string whole_world_;  ///< all its ranks, as of join_ranks
  std::unordered_map<std::uint64_t, std::unique_ptr<Comm>> comms_;
  std::unordered_map<std::uint64_t, Window> windows_;
  std::unordered_map<std::string, std::uint32_t> groups_;
  std::unordered_map<std::string, std::uint64_t> ordinals_;
  std::uint32_t next_comm_ = 0, next_window_ = 0;
  std::uint64_t next_number_ = 1;
};

}  // namespace entrain::record
