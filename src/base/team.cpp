// SPDX-License-Identifier: BSD-3-Clause
#include "base/team.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/executor.hpp"
#include "base/start_thread.hpp"

namespace entrain {

namespace {

/// Others often do something soon: this many looks, some microseconds, are faster than sleeping and
/// being woken.
constexpr int k_looks = 500;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Parcels that were posted to a thread of a team and not received yet.
class Inbox {
 public:
  void put(Team::Parcel parcel) {
    {
      const std::lock_guard lock(mutex_);
      parcels_.push_back(std::move(parcel));
      filled_ = true;
    }
    changed_.notify_one();
  }
  /// Throws TeamBroken if the inbox is empty and a member has left for good.
  std::optional<Team::Parcel> take(std::chrono::microseconds patience) {
    if (patience.count() > 0) {
      for (int i = 0; i < k_looks && !filled_; ++i) relax();
    }
    if (!filled_ && patience.count() == 0 && !broken_) return std::nullopt;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return filled_ || broken_; });
    if (parcels_.empty()) {
      if (broken_) throw TeamBroken();
      return std::nullopt;
    }
    Team::Parcel parcel = std::move(parcels_.front());
    parcels_.pop_front();
    filled_ = !parcels_.empty();
    return parcel;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      broken_ = true;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Team::Parcel> parcels_;
  std::atomic<bool> filled_ = false;  ///< changes under the mutex, as does broken_
  std::atomic<bool> broken_ = false;
};

/// The memory that the threads of a team share.
class Meeting {
 public:
  explicit Meeting(unsigned count)
      : members(count), parcels(count), values(count), inboxes(count) {}

  const unsigned members;
  /// First index: sender, second: receiver. Between two waits only the sender writes its row.
  std::vector<std::vector<Team::Bytes>> parcels;
  std::vector<std::vector<std::int64_t>> values;
  std::vector<Inbox> inboxes;

  /// Returns when all members are here. Throws TeamBroken once one has left for good.
  void wait() {
    std::unique_lock lock(mutex_);
    if (broken_) throw TeamBroken();
    const std::uint64_t round = round_;
    if (++arrived_ == members) {
      arrived_ = 0;
      ++round_;
      lock.unlock();
      all_here_.notify_all();
      return;
    }
    lock.unlock();
    for (int i = 0; i < k_looks && round_ == round; ++i) relax();
    lock.lock();
    all_here_.wait(lock, [&] { return broken_ || round_ != round; });
    if (round_ == round) throw TeamBroken();
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      broken_ = true;
    }
    all_here_.notify_all();
    for (Inbox& inbox : inboxes) inbox.leave();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  unsigned arrived_ = 0;
  std::atomic<std::uint64_t> round_ = 0;  ///< changes under the mutex
  bool broken_ = false;
};

std::int64_t combine(Team::Reduction reduction, std::int64_t a, std::int64_t b) {
  if (reduction == Team::Reduction::sum) return a + b;
  return reduction == Team::Reduction::min ? std::min(a, b) : std::max(a, b);
}

class Threads final : public Team {
 public:
  Threads(Meeting& meeting, unsigned rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return meeting_.members; }

  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override {
    meeting_.parcels[rank_] = std::move(outgoing);
    meeting_.wait();
    std::vector<Bytes> received(size());
    for (unsigned r = 0; r < size(); ++r) received[r] = std::move(meeting_.parcels[r][rank_]);
    meeting_.wait();
    return received;
  }

  void reduce(Reduction reduction, std::span<std::int64_t> values) override {
    meeting_.values[rank_].assign(values.begin(), values.end());
    meeting_.wait();
    for (unsigned r = 0; r < size(); ++r) {
      if (r == rank_) continue;
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = combine(reduction, values[i], meeting_.values[r][i]);
      }
    }
    meeting_.wait();
  }
  using Team::reduce;

  void post(unsigned to, Bytes parcel) override {
    meeting_.inboxes[to].put({rank_, std::move(parcel)});
  }
  std::optional<Parcel> receive(std::chrono::microseconds patience) override {
    return meeting_.inboxes[rank_].take(patience);
  }

 private:
  Meeting& meeting_;
  unsigned rank_;
};

}  // namespace

std::optional<Team::Parcel> Solo::receive(std::chrono::microseconds) {
  if (posted_.empty()) return std::nullopt;
  Parcel parcel{0, std::move(posted_.front())};
  posted_.pop_front();
  return parcel;
}

Result<void> Team::agree(Result<void> result) {
  const auto failed = [&](unsigned r) { return result ? size() : r; };
  const auto first =
      static_cast<unsigned>(reduce(Reduction::min, static_cast<std::int64_t>(failed(rank()))));
  if (first == size()) return {};
  // Kind and message of the first error go to all.
  std::vector<std::vector<char>> parcels(size());
  if (first == rank()) {
    std::vector<char> text{static_cast<char>(result.error().kind)};
    text.insert(text.end(), result.error().message.begin(), result.error().message.end());
    std::fill(parcels.begin(), parcels.end(), text);
  }
  const auto received = entrain::exchange(*this, std::move(parcels));
  const std::vector<char>& text = received[first];
  Error error{static_cast<ErrorKind>(text.front()), std::string(text.begin() + 1, text.end())};
  return tl::unexpected<Error>(std::move(error));
}

namespace {

/// The members that run_team() starts, and how each of them ended.
class Crew {
 public:
  Crew(unsigned members, const std::function<Result<void>(Team&)>& body)
      : body_(body), errors_(members), exceptions_(members) {}

  Result<void> run(const std::function<void(unsigned)>& prepare) {
    // A member must know how many there are before it begins, and there may be fewer than wanted.
    std::vector<std::thread> threads = start_threads(errors_.size() - 1, [&](std::size_t i) {
      counted_.wait(false);
      if (meeting_) work(static_cast<unsigned>(i) + 1);
    });
    try {
      const auto members = static_cast<unsigned>(threads.size()) + 1;
      if (prepare) prepare(members);
      meeting_.emplace(members);
    } catch (...) {
      exceptions_[0] = std::current_exception();
    }
    counted_ = true;
    counted_.notify_all();
    if (meeting_) work(0);
    for (std::thread& thread : threads) thread.join();
    return outcome();
  }

 private:
  void work(unsigned rank) {
    try {
      Threads team(*meeting_, rank);
      if (auto result = body_(team); !result) {
        errors_[rank] = std::move(result).error();
        meeting_->leave();
      }
    } catch (const TeamBroken&) {  // the member that broke it has the reason
    } catch (...) {
      exceptions_[rank] = std::current_exception();
      meeting_->leave();
    }
  }

  Result<void> outcome() {
    for (const std::exception_ptr& exception : exceptions_) {
      if (exception) std::rethrow_exception(exception);
    }
    for (std::optional<Error>& error : errors_) {
      if (error) return tl::unexpected<Error>(std::move(*error));
    }
    return {};
  }

  const std::function<Result<void>(Team&)>& body_;
  std::vector<std::optional<Error>> errors_;
  std::vector<std::exception_ptr> exceptions_;
  std::atomic<bool> counted_{false};
  std::optional<Meeting> meeting_;
};

}  // namespace

Result<void> run_team(unsigned members, const std::function<Result<void>(Team&)>& body,
                      const std::function<void(unsigned)>& prepare) {
  const unsigned count = worker_count(members);
  if (count > 1) return Crew(count, body).run(prepare);
  Solo solo;
  if (prepare) prepare(1);
  return body(solo);
}

}  // namespace entrain
