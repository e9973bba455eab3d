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
  explicit Courier(Team& team) : team_(team), posted_(team.size()), patience_(k_patience) {
    survey_.reports.resize(team.size());
    survey_.missing_reports = team.size();
  }

  /// Room that every parcel has to leave at its beginning.
  static constexpr std::size_t k_header = 8;
  void post(unsigned to, Team::Bytes parcel) {
    ++counts_.sent;
    put(to, Kind::data, std::move(parcel));
  }
  /// A parcel that has arrived.
  std::optional<Team::Parcel> poll() {
    std::int64_t before = 0;
    do {
      before = taken_;
      if (std::optional<Team::Parcel> parcel = take(microseconds(0))) return parcel;
    } while (taken_ != before);
    return std::nullopt;
  }

  enum class News { parcel, quiet, stopped };
  /// Waits until a parcel arrives, which goes to `parcel`, until the work has terminated, or until
  /// a member stops. `at_end`: this member expects no parcel. If `cancel` asks to stop, this member
  /// does so. After News::quiet all members must meet in a collective call before one posts again.
  News wait(bool at_end, const Cancel& cancel, Team::Parcel& parcel) {
    for (bool waited = at_end;; waited = true) {
      if (!stopped_ && cancel.asked()) stop();
      if (stopped_) return News::stopped;
      if (waited && !quiet_) report();
      if (quiet_) {
        end_wait();
        return News::quiet;
      }
      std::optional<Team::Parcel> arrived = take(waited ? k_look_at_user : patience_);
      if (arrived) {
        parcel = *std::move(arrived);
        return News::parcel;
      }
    }
  }

  /// Tells all members to stop; their next wait() returns News::stopped.
  void stop() {
    stopped_ = true;
    for (unsigned r = 0; r < team_.size(); ++r) {
      if (r != team_.rank()) send(r, Kind::stop, {});
    }
  }
  /// This member or another one has stopped.
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Drops all parcels that are still on their way; true if some member has stopped. Collective, to
  /// be called when the work is over.
  bool close() {
    team_.reduce(Team::Reduction::sum, posted_);
    while (taken_ < posted_[team_.rank()]) {
      if (team_.receive(k_look_at_user)) ++taken_;
    }
    posted_.assign(team_.size(), 0);
    taken_ = 0;
    return team_.any(stopped_);
  }

 private:
  using microseconds = std::chrono::microseconds;

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

  void send(unsigned to, Kind kind, const Counts& counts) {
    Team::Bytes parcel(k_header + sizeof(counts));
    std::memcpy(parcel.data() + k_header, &counts, sizeof(counts));
    put(to, kind, std::move(parcel));
  }
  void put(unsigned to, Kind kind, Team::Bytes parcel) {
    static_assert(sizeof(kind) == k_header);
    std::memcpy(parcel.data(), &kind, sizeof(kind));
    ++posted_[to];
    team_.post(to, std::move(parcel));
  }
  /// The next parcel of data, if it arrives soon; nothing too if something else has.
  std::optional<Team::Parcel> take(microseconds patience) {
    std::optional<Team::Parcel> parcel = team_.receive(patience);
    if (!parcel) return std::nullopt;
    Kind kind{};
    std::memcpy(&kind, parcel->bytes.data(), sizeof(kind));
    ++taken_;
    if (kind == Kind::data) {
      ++counts_.received;
      return parcel;
    }
    hear(kind, *parcel);
    return std::nullopt;
  }
  void hear(Kind kind, const Team::Parcel& parcel) {
    Counts counts;
    std::memcpy(&counts, parcel.bytes.data() + k_header, sizeof(counts));
    switch (kind) {
      case Kind::data:
        break;
      case Kind::report:
        hear_report(parcel.from, counts);
        break;
      case Kind::question:
        send(0, Kind::answer, counts_);
        break;
      case Kind::answer:
        hear_answer(parcel.from, counts);
        break;
      case Kind::quiet:
        quiet_ = true;
        break;
      case Kind::stop:
        stopped_ = true;
        break;
    }
  }
  /// Reports this member's counts if they are new; rank 0 asks when all have reported.
  void report() {
    if (reported_ != counts_) {
      reported_ = counts_;
      if (team_.rank() == 0) {
        hear_report(0, counts_);
      } else {
        send(0, Kind::report, counts_);
      }
    }
    if (team_.rank() == 0 && survey_.missing_reports == 0 && survey_.missing_answers == 0) ask();
  }
  void hear_report(unsigned from, const Counts& counts) {
    if (!survey_.reports[from]) --survey_.missing_reports;
    survey_.reports[from] = counts;
    survey_.in_vain = true;
  }
  void ask() {
    Counts sum;
    for (const std::optional<Counts>& report : survey_.reports) {
      sum.sent += report->sent;
      sum.received += report->received;
    }
    if (sum.sent != sum.received) return;  // whoever receives the rest reports again
    survey_.in_vain = false;
    survey_.missing_answers = team_.size();
    for (unsigned r = 1; r < team_.size(); ++r) send(r, Kind::question, {});
    hear_answer(0, counts_);
  }
  void hear_answer(unsigned from, const Counts& counts) {
    if (survey_.reports[from] != counts) {
      survey_.in_vain = true;
      // It has worked since and will report again.
      if (survey_.reports[from]) ++survey_.missing_reports;
      survey_.reports[from].reset();
    }
    if (--survey_.missing_answers > 0) return;
    if (survey_.in_vain || survey_.reports[0] != counts_) return;
    quiet_ = true;
    for (unsigned r = 1; r < team_.size(); ++r) send(r, Kind::quiet, {});
  }
  /// All members begin to count anew who waits.
  void end_wait() {
    quiet_ = false;
    reported_.reset();
    survey_.reports.assign(team_.size(), std::nullopt);
    survey_.missing_reports = team_.size();
    patience_ = k_short_patience;
  }

  /// A member that waits for so long reports it. Reports are no work for the sender but some for
  /// rank 0, and in a work that goes on nobody waits for so long.
  static constexpr microseconds k_patience{2'000};
  /// The same once there was a time when nothing went on: there may be many more.
  static constexpr microseconds k_short_patience{50};
  /// A member that has reported looks so often whether the user wants to stop.
  static constexpr microseconds k_look_at_user{20'000};

  Team& team_;
  Counts counts_;
  std::optional<Counts> reported_;
  std::vector<std::int64_t> posted_;  ///< parcels of every kind, by receiver
  std::int64_t taken_ = 0;            ///< parcels of every kind that were taken
  Survey survey_;                     ///< survey of rank 0
  microseconds patience_;
  bool quiet_ = false;
  bool stopped_ = false;
};

/// Values of one trivially copyable type, which travel with a Courier in small batches.
template <class T>
class Mail : public Courier {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `bytes`: the first so many of a value travel, the others arrive as those of T{}. The same at
  /// every member.
  explicit Mail(Team& team, std::size_t bytes = sizeof(T))
      : Courier(team), bytes_(bytes), batches_(team.size()) {}

  /// The value leaves when there are enough for its receiver, or with flush().
  void send(unsigned to, const T& value) {
    Team::Bytes& batch = batches_[to];
    if (batch.empty()) {
      batch.reserve(k_batch_bytes);
      batch.resize(k_header);
    }
    const std::size_t at = batch.size();
    batch.resize(at + bytes_);
    std::memcpy(batch.data() + at, &value, bytes_);
    if (batch.size() + bytes_ > k_batch_bytes) post_batch(to);
  }
  void flush() {
    for (unsigned to = 0; to < batches_.size(); ++to) {
      if (!batches_[to].empty()) post_batch(to);
    }
  }

  /// Calls take(from, value) for all values that have arrived; false if there are none.
  template <class Take>
  bool poll(Take take) {
    bool any = false;
    while (const std::optional<Team::Parcel> parcel = Courier::poll()) {
      open(*parcel, take);
      any = true;
    }
    return any;
  }

  /// Sends everything and waits as Courier::wait() does; calls take(from, value) for what arrives.
  template <class Take>
  News wait(bool at_end, const Cancel& cancel, Take take) {
    flush();
    Team::Parcel parcel;
    const News news = Courier::wait(at_end, cancel, parcel);
    if (news == News::parcel) open(parcel, take);
    return news;
  }

 private:
  /// MPI libraries send up to 4 KiB at once, without asking the receiver first.
  static constexpr std::size_t k_batch_bytes = 3'840;

  void post_batch(unsigned to) { post(to, std::exchange(batches_[to], {})); }

  template <class Take>
  void open(const Team::Parcel& parcel, Take take) {
    for (std::size_t at = k_header; at < parcel.bytes.size(); at += bytes_) {
      T value{};
      std::memcpy(&value, parcel.bytes.data() + at, bytes_);
      take(parcel.from, value);
    }
  }

  std::size_t bytes_;
  std::vector<Team::Bytes> batches_;  ///< batch for each receiver
};

}  // namespace entrain
