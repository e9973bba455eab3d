// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

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

/// Who waits for whom in a collective.
enum class Shape : std::uint8_t {
  all,        ///< each waits for all
  from_root,  ///< all wait for the root
  to_root,    ///< the root waits for all
  scan,       ///< each waits for lower ranks
  sparse,     ///< each waits for some that no event names
  none,       ///< nobody waits in the call, or nobody knows
};

struct Operation {
  std::string name;
  Shape shape = Shape::none;
};

/// The operation of a value of type::collective.
Operation operation_of(std::uint64_t value);

/// True for MPI_Barrier, whose ends are about simultaneous.
bool is_barrier(std::uint64_t value);

}  // namespace entrain::paraver
