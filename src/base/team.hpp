// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/free_memory.hpp"

namespace entrain {

/// Workers that run the same program on their own parts of the data: threads of this process, or
/// processes (engine/mpi). All of them make the same calls in the same order; every call below is
/// such a common one and returns when all members have made it.
///
/// Used by one thread per member.
class Team {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Team() = default;

  [[nodiscard]] virtual unsigned rank() const = 0;  ///< of this member, in [0, size)
  [[nodiscard]] virtual unsigned size() const = 0;  ///< members, at least 1

  /// Sends outgoing[r] to member r, one entry per member; returns what came, by sender. Empty
  /// parcels cost nothing, a member's own one is moved.
  virtual std::vector<Bytes> exchange(std::vector<Bytes> outgoing) = 0;

  enum class Reduction { sum, min, max };
  /// Combines `values` element by element over all members; everybody gets the result.
  virtual void reduce(Reduction reduction, std::span<std::int64_t> values) = 0;

  /// The same for one value.
  std::int64_t reduce(Reduction reduction, std::int64_t value) {
    reduce(reduction, std::span(&value, 1));
    return value;
  }
  /// True if any member says so.
  bool any(bool value) { return reduce(Reduction::max, value ? 1 : 0) != 0; }

  /// Makes an error of one member an error of all: that of the lowest rank.
  Result<void> agree(Result<void> result);
};

/// Thrown out of a call of a Team when another member has left it for good.
class TeamBroken : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "another worker has stopped"; }
};

/// Team::exchange for values of one trivially copyable type.
template <class T>
std::vector<std::vector<T>> exchange(Team& team, std::vector<std::vector<T>> outgoing) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (team.size() == 1) return outgoing;
  const unsigned self = team.rank();
  std::vector<T> own = std::move(outgoing[self]);
  std::vector<Team::Bytes> parcels(outgoing.size());
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    if (r == self || outgoing[r].empty()) continue;
    const auto bytes = std::as_bytes(std::span(outgoing[r]));
    parcels[r].assign(bytes.begin(), bytes.end());
    free_memory(outgoing[r]);
  }
  std::vector<Team::Bytes> received = team.exchange(std::move(parcels));
  std::vector<std::vector<T>> result(received.size());
  for (std::size_t r = 0; r < received.size(); ++r) {
    result[r].resize(received[r].size() / sizeof(T));
    if (!result[r].empty()) {
      std::memcpy(static_cast<void*>(result[r].data()), received[r].data(),
                  result[r].size() * sizeof(T));
    }
    free_memory(received[r]);
  }
  result[self] = std::move(own);
  return result;
}

/// The values of all members at all members, in order of rank.
template <class T>
std::vector<T> gather_everywhere(Team& team, const std::vector<T>& values) {
  const auto parts = exchange(team, std::vector<std::vector<T>>(team.size(), values));
  std::vector<T> all;
  for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// The result of a step that may fail on some members only: its value if it failed on none.
template <class T>
Result<T> agree(Team& team, Result<T> result) {
  Result<void> status;
  if (!result) status = tl::unexpected<Error>(result.error());
  if (auto all = team.agree(std::move(status)); !all) {
    return tl::unexpected<Error>(std::move(all).error());
  }
  return result;
}

/// A team of one.
class Solo final : public Team {
 public:
  [[nodiscard]] unsigned rank() const override { return 0; }
  [[nodiscard]] unsigned size() const override { return 1; }
  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override { return outgoing; }
  void reduce(Reduction, std::span<std::int64_t>) override {}
  using Team::reduce;
};

/// Runs `body` as `members` threads of this process (0: all cores), which talk through shared
/// memory. Returns the error of the lowest rank that has one of its own; a member that fails or
/// throws releases the others. Exceptions of `body` (out of memory) are passed on.
Result<void> run_team(unsigned members, const std::function<Result<void>(Team&)>& body);

}  // namespace entrain
