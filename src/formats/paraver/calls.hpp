// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/edge_list.hpp"
#include "base/ids.hpp"
#include "formats/paraver/records.hpp"
#include "trace/collectives.hpp"

namespace entrain::paraver {

/// Types of events that Extrae writes.
namespace type {
inline constexpr std::uint64_t collective = 50'000'002;  ///< value: the operation; 0 at its end
inline constexpr std::uint64_t other = 50'000'003;       ///< other calls of MPI
/// Calls of MPI have types from `first_call` to `last_call`.
inline constexpr std::uint64_t first_call = 50'000'001, last_call = 50'000'005;
inline constexpr std::uint64_t sent = 50'100'001;          ///< bytes that a member gives
inline constexpr std::uint64_t received = 50'100'002;      ///< bytes that a member takes
inline constexpr std::uint64_t root = 50'100'003;          ///< only at the root
inline constexpr std::uint64_t communicator = 50'100'004;  ///< value: its id
}  // namespace type

/// Value of type::other for MPI_Init.
inline constexpr std::uint64_t k_init = 31;

struct Operation {
  std::uint64_t value = 0;         ///< value of type::collective
  const char* name = "Other";      ///< nonblocking ones, and those that are not known
  std::optional<EdgeKind> kind{};  ///< empty: nobody waits in the call, or nobody knows for whom
  bool is_sparse = false;          ///< each waits for some that no event names
};
const Operation& operation_of(std::uint64_t value);

/// Operation::value of MPI_Barrier, whose ends are about simultaneous.
inline constexpr std::uint64_t k_barrier = 8;

/// A call of a collective.
struct Call {
  static constexpr std::uint64_t k_endless = ~std::uint64_t{0};
  std::uint64_t begin = 0, end = k_endless;  ///< ticks
  std::uint64_t operation = 0;               ///< value of type::collective
  std::uint32_t task = 0;                    ///< position in Header::tasks
  std::uint32_t communicator = k_none;       ///< position in Calls::communicators
  bool is_root = false;
  bool gives = true, takes = true;  ///< false: 0 bytes
};

/// The calls of a trace.
struct Calls {
  BigVector<Call> all;
  std::vector<Communicator> communicators;
  std::vector<char> has_init;  ///< per task: 1 if its MPI_Init was recorded
  bool is_cut = false;         ///< the file ends too early
};

/// Calls that are one collective.
struct Instance {
  std::uint64_t first = 0;    ///< position of its first member in Instances::members
  std::uint32_t members = 0;  ///< number of members: all ranks, in order
  std::uint32_t communicator = 0;
  std::uint64_t operation = 0;
};

struct Instances {
  BigVector<Instance> all;
  BigVector<std::uint32_t> members;  ///< positions in Calls::all
  std::uint64_t ambiguous = 0;       ///< calls that may belong to several instances
  std::uint64_t without_group = 0;   ///< calls without a known communicator, or of no member of it

  [[nodiscard]] std::span<const std::uint32_t> of(const Instance& one) const {
    return std::span(members).subspan(one.first, one.members);
  }
};

/// Pairs calls: MPI wants all members of a communicator to call its collectives in one order, so
/// that the calls of one number are one instance. All calls of a communicator are ambiguous if
///
/// * a member has no MPI_Init: the recording may begin later than the run;
/// * members have not as many calls: some are lost. Of a file that is cut only the last ones are;
/// * calls of one number are of several operations;
/// * calls of a member overlap in time: its threads have no order, or an end is lost.
///
/// O(n log n).
Instances pair_calls(const Calls& calls);

/// Drops the instances that calls contradict; returns the number of their calls. It verifies from
/// the calls alone: how they were paired plays no part in it (McConnell et al. 2011, "Certifying
/// algorithms"). An instance holds if
///
/// * its calls exist, are of the tasks of its communicator, in order, and of no other instance;
/// * all are of its operation and its communicator, and none ends before it begins;
/// * no task calls it before an earlier one of the same communicator.
///
/// O(n).
std::uint64_t drop_refuted(Instances& instances, const Calls& calls);

/// Numbers of calls without edges.
struct WithoutEdges {
  std::uint64_t sparse = 0;      ///< calls of Alltoallv and Alltoallw
  std::uint64_t rootless = 0;    ///< calls with no root, or several
  std::uint64_t others = 0;      ///< nonblocking, or unknown
  std::uint64_t with_edges = 0;  ///< calls that have edges
};

/// Adds the edges of instances between clocks.
WithoutEdges add_edges(const Calls& calls, const Instances& instances, const Header& header,
                       EdgeList& list);

/// The instances with those that give and take data; scans and calls without an end are left out.
trace::Collectives collectives_of(const Calls& calls, const Instances& instances,
                                  const Header& header);

}  // namespace entrain::paraver
