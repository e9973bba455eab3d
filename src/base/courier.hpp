// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/team.hpp"

namespace entrain {

/// Carries parcels between members of a team that all do their own work and wait for each other's
/// news: no call here is collective but close(). It detects termination: every
/// member waits and nothing is on its way. That is the end of the work if everybody has all it
/// needs; otherwise some members wait for each other.
///
/// Members that wait for long report to rank 0 how many parcels they have sent and received. When
/// all have reported and the sums are equal, rank 0 asks everybody once more. If no number has
/// changed, nobody can have been at work when it asked, and nothing can have been on its way
/// (Mattern 1987, the method of four counters).
///
/// Example: member 0 posts one parcel to member 1, and both wait. Member 1 receives it and posts
/// one back. Member 0 receives that one and both wait again: now both get News::quiet.
class Courier {
 public:
  explicit Courier(Team& team);

  /// Room that every parcel has to leave at its beginning.
  static constexpr std::size_t k_header = 8;
  void post(unsigned to, Team::Bytes parcel);
  /// A parcel that has arrived.
  std::optional<Team::Parcel> poll();

  enum class News { parcel, quiet, stopped };
  /// Waits until a parcel arrives, which goes to `parcel`, until the work has terminated, or until
  /// a member stops. `at_end`: this member expects no parcel. If `cancel` asks to stop, this member
  /// does so. After News::quiet all members must meet in a collective call before one posts again.
  News wait(bool at_end, const Cancel& cancel, Team::Parcel& parcel);

  /// Tells all members to stop; their next wait() returns News::stopped.
  void stop();
  /// This member or another one has stopped.
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Drops all parcels that are still on their way; true if some member has stopped. Collective, to
  /// be called when the work is over.
  bool close();

 private:
  enum class Kind : std::uint64_t { data, report, question, answer, quiet, stop };
  /// Parcels of data that a member has sent and received.
  struct Counts {
    std::uint64_t sent = 0, received = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// The reports that rank 0 has, and its question to all.
  struct Survey {
    std::vector<std::optional<Counts>> reports;
    std::size_t missing_reports = 0;
    std::size_t missing_answers = 0;  ///< 0: no question is open
    bool in_vain = false;             ///< somebody has worked since the question
  };

  void send(unsigned to, Kind kind, const Counts& counts);
  void put(unsigned to, Kind kind, Team::Bytes parcel);
  std::optional<Team::Parcel> take(std::chrono::microseconds patience);
  void hear(Kind kind, const Team::Parcel& parcel);
  void report();
  void hear_report(unsigned from, const Counts& counts);
  void ask();
  void hear_answer(unsigned from, const Counts& counts);
  void end_wait();

  Team& team_;
  Counts counts_;
  std::optional<Counts> reported_;
  std::vector<std::int64_t> posted_;  ///< parcels of every kind, by receiver
  std::int64_t taken_ = 0;            ///< parcels of every kind that were taken
  Survey survey_;                     ///< survey of rank 0
  std::chrono::microseconds patience_;
  bool quiet_ = false;
  bool stopped_ = false;
};

/// Values of one trivially copyable type, which travel with a Courier in small batches.
template <class T>
class Mail {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `bytes`: the first so many of a value travel, the others arrive as those of T{}. The same at
  /// every member.
  explicit Mail(Team& team, std::size_t bytes = sizeof(T))
      : courier_(team), bytes_(bytes), batches_(team.size()) {}

  /// The value leaves when there are enough for its receiver, or with flush().
  void send(unsigned to, const T& value) {
    Team::Bytes& batch = batches_[to];
    if (batch.empty()) {
      batch.reserve(k_batch_bytes);
      batch.resize(Courier::k_header);
    }
    const std::size_t at = batch.size();
    batch.resize(at + bytes_);
    std::memcpy(batch.data() + at, &value, bytes_);
    if (batch.size() + bytes_ > k_batch_bytes) post(to);
  }
  void flush() {
    for (unsigned to = 0; to < batches_.size(); ++to) {
      if (!batches_[to].empty()) post(to);
    }
  }

  /// Calls take(from, value) for all values that have arrived; false if there are none.
  template <class Take>
  bool poll(Take take) {
    bool any = false;
    while (const std::optional<Team::Parcel> parcel = courier_.poll()) {
      open(*parcel, take);
      any = true;
    }
    return any;
  }

  /// Sends everything and waits as Courier::wait() does; calls take(from, value) for what arrives.
  template <class Take>
  Courier::News wait(bool at_end, const Cancel& cancel, Take take) {
    flush();
    Team::Parcel parcel;
    const Courier::News news = courier_.wait(at_end, cancel, parcel);
    if (news == Courier::News::parcel) open(parcel, take);
    return news;
  }

  [[nodiscard]] Courier& courier() { return courier_; }

 private:
  /// MPI libraries send up to 4 KiB at once, without asking the receiver first.
  static constexpr std::size_t k_batch_bytes = 3'840;

  void post(unsigned to) { courier_.post(to, std::exchange(batches_[to], {})); }

  template <class Take>
  void open(const Team::Parcel& parcel, Take take) {
    for (std::size_t at = Courier::k_header; at < parcel.bytes.size(); at += bytes_) {
      T value{};
      std::memcpy(&value, parcel.bytes.data() + at, bytes_);
      take(parcel.from, value);
    }
  }

  Courier courier_;
  std::size_t bytes_;
  std::vector<Team::Bytes> batches_;  ///< batch for each receiver
};

}  // namespace entrain
