// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/team.hpp"

namespace entrain {

/// A member of a team whose parcels arrive late and which is now and then held up itself, both at
/// random. Parcels of one sender stay in their order; those of different senders do not.
class DelayedTeam final : public Team {
 public:
  DelayedTeam(Team& team, std::uint64_t seed)
      : team_(team), random_(seed, team.rank()), held_(team.size()) {}

  [[nodiscard]] unsigned rank() const override { return team_.rank(); }
  [[nodiscard]] unsigned size() const override { return team_.size(); }
  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override {
    dawdle();
    return team_.exchange(std::move(outgoing));
  }
  void reduce(Reduction reduction, std::span<std::int64_t> values) override {
    dawdle();
    team_.reduce(reduction, values);
  }
  using Team::reduce;
  void post(unsigned to, Bytes parcel) override {
    dawdle();
    team_.post(to, std::move(parcel));
  }

  std::optional<Parcel> receive(std::chrono::microseconds patience) override {
    dawdle();
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
      while (std::optional<Parcel> parcel = team_.receive(std::chrono::microseconds(0))) {
        held_[parcel->from].push_back({*std::move(parcel), random_.below(8)});
      }
      if (std::optional<Parcel> parcel = release()) return parcel;
      if (std::chrono::steady_clock::now() >= end) return std::nullopt;
      std::this_thread::yield();
    }
  }

 private:
  struct Held {
    Parcel parcel;
    std::uint64_t looks = 0;  ///< number of looks without seeing it
  };

  void dawdle() {
    if (random_.below(16) == 0) std::this_thread::yield();
    if (random_.below(64) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(50)));
    }
  }

  std::optional<Parcel> release() {
    const std::uint64_t first = random_.below(held_.size());
    for (std::size_t i = 0; i < held_.size(); ++i) {
      std::deque<Held>& parcels = held_[(first + i) % held_.size()];
      if (parcels.empty() || parcels.front().looks-- > 0) continue;
      Parcel parcel = std::move(parcels.front().parcel);
      parcels.pop_front();
      return parcel;
    }
    return std::nullopt;
  }

  Team& team_;
  RandomStream random_;
  std::vector<std::deque<Held>> held_;  ///< one queue per sender
};

}  // namespace entrain
