// SPDX-License-Identifier: BSD-3-Clause
#include "match/routine.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "base/flat_map.hpp"
#include "base/ids.hpp"

namespace entrain::match {

namespace {

constexpr std::size_t k_most_missing = 6;  ///< at one place
constexpr std::size_t k_most_ways = 64;    ///< that are followed at once
constexpr std::uint32_t k_seen = 8;        ///< times that something must be seen to be known
constexpr std::uint64_t k_odd = 16;        ///< odd is what follows less often than once in so many
constexpr std::uint64_t k_common = 8;      ///< common is what follows at least once in so many

constexpr std::uint64_t k_unusual = 10;  ///< one of so many may not be what usually follows
constexpr std::uint64_t k_unclear = 50;  ///< one of so many may be odd for no known reason

/// The last operations, the latest one first.
using Recent = std::array<std::uint32_t, 4>;
constexpr Recent k_nothing = {k_none, k_none, k_none, k_none};

struct RecentHash {
  std::uint64_t operator()(const Recent& recent) const {
    return mix(mix(std::uint64_t{recent[0]} << 32 | recent[1]) ^
               (std::uint64_t{recent[2]} << 32 | recent[3]));
  }
};

Recent behind(Recent recent, std::uint32_t kind) {
  std::shift_right(recent.begin(), recent.end(), 1);
  recent[0] = kind;
  return recent;
}

/// What follows some operations: the first few different kinds, and how often.
class Followers {
 public:
  void add(std::uint32_t kind) {
    ++total_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (kinds_[i] == kind) {
        ++times_[i];
        return;
      }
    }
    if (count_ == kinds_.size()) return;
    kinds_[count_] = kind;
    times_[count_++] = 1;
  }
  [[nodiscard]] bool known() const { return total_ >= k_seen; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t kind(std::uint32_t i) const { return kinds_[i]; }
  [[nodiscard]] std::uint64_t times(std::uint32_t kind) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (kinds_[i] == kind) return times_[i];
    }
    return 0;
  }
  [[nodiscard]] bool odd(std::uint32_t kind) const {
    return known() && times(kind) * k_odd < total_;
  }
  [[nodiscard]] bool common(std::uint32_t kind) const {
    return known() && times(kind) * k_common >= total_;
  }
  [[nodiscard]] bool usual(std::uint32_t kind) const {
    return known() && times(kind) * 2 >= total_;
  }

 private:
  std::uint32_t total_ = 0, count_ = 0;
  std::array<std::uint32_t, 4> kinds_{}, times_{};
};

/// Operations that might be missing, and what they lead to.
struct Way {
  Recent recent;
  std::array<std::uint32_t, k_most_missing> missing{};
  std::size_t count = 0;
};

class Habits {
 public:
  explicit Habits(std::span<const std::uint32_t> kinds) {
    Recent recent = k_nothing;
    for (const std::uint32_t kind : kinds) {
      followers_.insert(recent, {}).first->add(kind);
      recent = behind(recent, kind);
    }
  }

  [[nodiscard]] const Followers& after(const Recent& recent) const {
    const Followers* found = followers_.find(recent);
    return found == nullptr ? nobody_ : *found;
  }

  /// The shortest common way from `recent` to a place where `kind` is common, if there is one only.
  [[nodiscard]] std::optional<Way> way(const Recent& recent, std::uint32_t kind) const {
    std::vector<Way> ways = {{.recent = recent}};
    for (std::size_t step = 0; step < k_most_missing && !ways.empty(); ++step) {
      std::vector<Way> longer;
      std::optional<Way> found;
      for (const Way& one : ways) {
        const Followers& next = after(one.recent);
        for (std::uint32_t i = 0; i < next.count(); ++i) {
          if (!next.common(next.kind(i))) continue;
          Way on = one;
          on.missing[on.count++] = next.kind(i);
          on.recent = behind(on.recent, next.kind(i));
          if (after(on.recent).common(kind)) {
            if (found) return std::nullopt;
            found = on;
          } else if (longer.size() < k_most_ways) {
            longer.push_back(on);
          }
        }
      }
      if (found) return found;
      ways = std::move(longer);
    }
    return std::nullopt;
  }

 private:
  FlatMap<Recent, Followers, RecentHash> followers_;
  Followers nobody_;
};

/// Per kind: true if it is hardly ever common where it occurs, as what a program does once in a
/// while. Its place says nothing of the operations around it.
std::vector<bool> find_occasional(std::span<const std::uint32_t> kinds, const Habits& habits) {
  std::vector<std::uint32_t> times, uncommon;
  Recent recent = k_nothing;
  for (const std::uint32_t kind : kinds) {
    if (kind >= times.size()) {
      times.resize(kind + std::size_t{1});
      uncommon.resize(times.size());
    }
    ++times[kind];
    if (!habits.after(recent).common(kind)) ++uncommon[kind];
    recent = behind(recent, kind);
  }
  std::vector<bool> occasional(times.size());
  for (std::size_t k = 0; k < times.size(); ++k) occasional[k] = uncommon[k] > times[k] / 2;
  return occasional;
}

/// The routine of operations of which none is occasional; so many more are.
Routine find_steady_routine(std::span<const std::uint32_t> kinds, const Habits& habits,
                            std::uint64_t occasional) {
  const std::uint64_t all = kinds.size() + occasional;
  if (occasional * k_unusual > all) return {};
  Routine routine;
  std::uint64_t unusual = occasional, unclear = 0;
  Recent recent = k_nothing;
  for (std::uint32_t at = 0; at < kinds.size(); ++at) {
    const Followers& next = habits.after(recent);
    if (!next.usual(kinds[at]) && ++unusual * k_unusual > all) return {};
    if (next.odd(kinds[at])) {
      if (const std::optional<Way> way = habits.way(recent, kinds[at])) {
        for (std::size_t i = 0; i < way->count; ++i) {
          routine.missing.push_back({at, way->missing[i]});
        }
        recent = way->recent;
      } else if (at + 1 < kinds.size() && next.common(kinds[at + 1])) {
        continue;  // carried out out of turn
      } else {
        ++unclear;
        if (unclear * k_unclear > all) return {};
      }
    }
    recent = behind(recent, kinds[at]);
  }
  routine.is_reliable = true;
  return routine;
}

/// Some of the operations of a process.
struct Operations {
  std::vector<std::uint32_t> kinds;
  std::vector<std::uint32_t> places;  ///< among all

  /// Leaves out those of some kinds.
  void leave_out(const std::vector<bool>& left_out) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (left_out[kinds[k]]) continue;
      kinds[kept] = kinds[k];
      places[kept++] = places[k];
    }
    kinds.resize(kept);
    places.resize(kept);
  }
};

Routine routine_of(Operations operations) {
  const std::size_t all = operations.kinds.size();
  std::optional<Habits> habits(operations.kinds);
  operations.leave_out(find_occasional(operations.kinds, *habits));
  if (operations.kinds.size() < all) habits.emplace(operations.kinds);
  Routine routine = find_steady_routine(operations.kinds, *habits, all - operations.kinds.size());
  for (Missing& one : routine.missing) one.before = operations.places[one.before];
  return routine;
}

}  // namespace

Routine find_routine(std::span<const std::uint32_t> kinds, const std::vector<bool>& calls) {
  Operations operations{{kinds.begin(), kinds.end()}, std::vector<std::uint32_t>(kinds.size())};
  std::iota(operations.places.begin(), operations.places.end(), 0u);
  Routine routine = routine_of(operations);
  if (routine.is_reliable) return routine;
  // Calls may follow a rhythm of their own.
  operations.leave_out(calls);
  const std::size_t messages = operations.kinds.size();
  if (messages == kinds.size() || messages == 0) return routine;
  return routine_of(std::move(operations));
}

}  // namespace entrain::match
