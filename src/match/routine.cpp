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
    if (const std::uint32_t i = index_of(kind); i < count_) {
      ++times_[i];
    } else if (count_ < kinds_.size()) {
      kinds_[count_] = kind;
      times_[count_++] = 1;
    }
  }
  [[nodiscard]] bool known() const { return total_ >= k_seen; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t kind(std::uint32_t i) const { return kinds_[i]; }
  /// Which of the few a kind is; count() if it is none of them.
  [[nodiscard]] std::uint32_t index_of(std::uint32_t kind) const {
    std::uint32_t i = 0;
    while (i < count_ && kinds_[i] != kind) ++i;
    return i;
  }
  [[nodiscard]] std::uint64_t times(std::uint32_t kind) const {
    const std::uint32_t i = index_of(kind);
    return i < count_ ? times_[i] : 0;
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

/// A place among the operations of a process.
struct Place {
  Recent recent = k_nothing;
  std::uint32_t number = k_none;  ///< of what follows there, in Habits; k_none: not known
};

/// Operations that might be missing, and what they lead to.
struct Way {
  Place place;
  std::array<std::uint32_t, k_most_missing> missing{};
  std::size_t count = 0;
};

/// What follows what. Places that follow each other know each other, so that operations are walked
/// through without a search for each.
class Habits {
 public:
  explicit Habits(std::span<const std::uint32_t> kinds) {
    Place place{k_nothing, number_of(k_nothing)};
    for (const std::uint32_t kind : kinds) {
      entries_[place.number].followers.add(kind);
      const std::uint32_t from = place.number;
      place = step(place, kind);
      if (place.number == k_none) {
        place.number = number_of(place.recent);
        Entry& entry = entries_[from];
        const std::uint32_t i = entry.followers.index_of(kind);
        if (i < entry.followers.count()) entry.next[i] = place.number;
      }
    }
  }

  [[nodiscard]] Place begin() const { return {k_nothing, find(k_nothing)}; }
  [[nodiscard]] Place behind(const Place& place, std::uint32_t kind) const {
    Place next = step(place, kind);
    if (next.number == k_none) next.number = find(next.recent);
    return next;
  }
  [[nodiscard]] const Followers& after(const Place& place) const {
    return place.number == k_none ? nobody_ : entries_[place.number].followers;
  }

  /// The shortest common way from `place` to one where `kind` is common, if there is one only.
  [[nodiscard]] std::optional<Way> way(const Place& place, std::uint32_t kind) const {
    std::vector<Way> ways = {{.place = place}};
    for (std::size_t step = 0; step < k_most_missing && !ways.empty(); ++step) {
      std::vector<Way> longer;
      std::optional<Way> found;
      for (const Way& one : ways) {
        const Followers& next = after(one.place);
        for (std::uint32_t i = 0; i < next.count(); ++i) {
          if (!next.common(next.kind(i))) continue;
          Way on = one;
          on.missing[on.count++] = next.kind(i);
          on.place = behind(on.place, next.kind(i));
          if (after(on.place).common(kind)) {
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
  struct Entry {
    Followers followers;
    std::array<std::uint32_t, 4> next = k_nothing;  ///< numbers, per follower
  };

  /// The next place, without its number where no step to it is known yet.
  [[nodiscard]] Place step(const Place& place, std::uint32_t kind) const {
    Place next{match::behind(place.recent, kind), k_none};
    if (place.number != k_none) {
      const Entry& entry = entries_[place.number];
      const std::uint32_t i = entry.followers.index_of(kind);
      if (i < entry.followers.count()) next.number = entry.next[i];
    }
    return next;
  }
  std::uint32_t number_of(const Recent& recent) {
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const auto [number, is_new] = numbers_.insert(recent, next);
    if (is_new) entries_.emplace_back();
    return *number;
  }
  [[nodiscard]] std::uint32_t find(const Recent& recent) const {
    const std::uint32_t* found = numbers_.find(recent);
    return found == nullptr ? k_none : *found;
  }

  FlatMap<Recent, std::uint32_t, RecentHash> numbers_;
  std::vector<Entry> entries_;
  Followers nobody_;
};

/// Per kind: true if it is hardly ever common where it occurs, as what a program does once in a
/// while. Its place says nothing of the operations around it.
std::vector<bool> find_occasional(std::span<const std::uint32_t> kinds, const Habits& habits) {
  std::vector<std::uint32_t> times, uncommon;
  Place place = habits.begin();
  for (const std::uint32_t kind : kinds) {
    if (kind >= times.size()) {
      times.resize(kind + std::size_t{1});
      uncommon.resize(times.size());
    }
    ++times[kind];
    if (!habits.after(place).common(kind)) ++uncommon[kind];
    place = habits.behind(place, kind);
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
  Place place = habits.begin();
  for (std::uint32_t at = 0; at < kinds.size(); ++at) {
    const Followers& next = habits.after(place);
    if (!next.usual(kinds[at]) && ++unusual * k_unusual > all) return {};
    if (next.odd(kinds[at])) {
      if (const std::optional<Way> way = habits.way(place, kinds[at])) {
        for (std::size_t i = 0; i < way->count; ++i) {
          routine.missing.push_back({at, way->missing[i]});
        }
        place = way->place;
      } else if (at + 1 < kinds.size() && next.common(kinds[at + 1])) {
        continue;  // carried out out of turn
      } else {
        ++unclear;
        if (unclear * k_unclear > all) return {};
      }
    }
    place = habits.behind(place, kinds[at]);
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
