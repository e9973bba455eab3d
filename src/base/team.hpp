// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/free_memory.hpp"

namespace entrain {

/// Workers that run the same code on their own shares of the data. The members are threads of this
/// process or MPI processes (session/mpi). All members make the same calls in the same order; every
/// call below is collective: it returns when all members have made it. Only post() and receive()
/// are not.
///
/// Example: three members each hold some numbers, and member (n mod 3) is responsible for number n.
/// Member 0 holds {1, 3, 5} and calls exchange() with outgoing = {{3}, {1}, {5}}. Member 1 holds
/// {4} and passes {{}, {4}, {}}; member 2 holds {2, 9} and passes {{9}, {}, {2}}. exchange()
/// returns, one entry per sender:
///
///     at member 0: {{3}, {}, {9}}     at member 1: {{1}, {4}, {}}     at member 2: {{5}, {}, {2}}
///
/// reduce(sum, count) with counts 3, 1 and 2 then returns 6 at all three.
///
/// Each member's view of the team is used by one thread only.
class Team {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Team() = default;

  [[nodiscard]] virtual unsigned rank() const = 0;  ///< rank of this member, in [0, size)
  [[nodiscard]] virtual unsigned size() const = 0;  ///< members, at least 1

  /// Sends outgoing[r] to member r, one entry per member; returns the received parcels, one entry
  /// per sender. Empty parcels cost nothing; the parcel to the member itself is moved.
  virtual std::vector<Bytes> exchange(std::vector<Bytes> outgoing) = 0;

  enum class Reduction { sum, min, max };
  /// Combines `values` element by element over all members; everybody gets the result.
  virtual void reduce(Reduction reduction, std::span<std::int64_t> values) = 0;

  /// The same for one value.
  std::int64_t reduce(Reduction reduction, std::int64_t value) {
    reduce(reduction, std::span(&value, 1));
    return value;
  }
  /// A parcel that another member has posted.
  struct Parcel {
    unsigned from = 0;
    Bytes bytes;
  };
  /// Sends a parcel to another member, or to this one, and returns at once. Parcels from one member
  /// to another arrive in their order. Each must be received before the team ends; Courier
  /// (base/courier.hpp) sees to that. Small parcels (some kilobytes) are the fast ones.
  virtual void post(unsigned to, Bytes parcel) = 0;
  /// The next parcel that was posted to this member. Where none is there, it waits for one, but no
  /// longer than `patience`.
  virtual std::optional<Parcel> receive(std::chrono::microseconds patience) = 0;

  /// True at every member if `value` is true at one of them.
  bool any(bool value) { return reduce(Reduction::max, value ? 1 : 0) != 0; }

  /// If some members pass an error, every member returns the error of the lowest such rank.
  Result<void> agree(Result<void> result);
};

/// Thrown out of a call of a Team when another member has left it for good.
class TeamBroken : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "another worker has stopped"; }
};

/// Team::exchange for vectors of trivially copyable values.
template <class Vector>
std::vector<Vector> exchange(Team& team, std::vector<Vector> outgoing) {
  using T = typename Vector::value_type;
  static_assert(std::is_trivially_copyable_v<T>);
  if (team.size() == 1) return outgoing;
  const unsigned self = team.rank();
  Vector own = std::move(outgoing[self]);
  std::vector<Team::Bytes> parcels(outgoing.size());
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    if (r == self || outgoing[r].empty()) continue;
    const auto bytes = std::as_bytes(std::span<const T>(outgoing[r].data(), outgoing[r].size()));
    parcels[r].assign(bytes.begin(), bytes.end());
    free_memory(outgoing[r]);
  }
  std::vector<Team::Bytes> received = team.exchange(std::move(parcels));
  std::vector<Vector> result(received.size());
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

/// Exchanges one vector of structs that hold several, one struct per member: before the call
/// parcels[r].*part is for member r, afterwards it is from member r. Collective.
template <class Parcel, class Vector>
void exchange_part(Team& team, std::vector<Parcel>& parcels, Vector Parcel::*part) {
  std::vector<Vector> vectors;
  for (Parcel& parcel : parcels) vectors.push_back(std::move(parcel.*part));
  vectors = exchange(team, std::move(vectors));
  for (std::size_t r = 0; r < parcels.size(); ++r) parcels[r].*part = std::move(vectors[r]);
}

/// The values of all members at all members, in order of rank.
template <class T>
std::vector<T> gather_everywhere(Team& team, const std::vector<T>& values) {
  const auto parts = exchange(team, std::vector<std::vector<T>>(team.size(), values));
  std::vector<T> all;
  for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// For a step that may fail at some members only: every member keeps its value if no member failed;
/// otherwise every member returns the error of the lowest rank that failed. Collective.
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
  void post(unsigned, Bytes parcel) override { posted_.push_back(std::move(parcel)); }
  std::optional<Parcel> receive(std::chrono::microseconds) override;

 private:
  std::deque<Bytes> posted_;
};

/// Runs `body` in `members` threads of this process (0: all cores), which communicate through
/// shared memory; in fewer where the system gives fewer threads. When a member fails or throws, the
/// others do not wait for it any longer: their next call of the team throws TeamBroken. Returns the
/// error of the lowest rank whose own body failed. Exceptions of `body` (out of memory) are passed
/// on. `prepare`, if there is one, gets the number of members that there are, before any begins.
Result<void> run_team(unsigned members, const std::function<Result<void>(Team&)>& body,
                      const std::function<void(unsigned)>& prepare = {});

}  // namespace entrain
