// SPDX-License-Identifier: BSD-3-Clause
#include "match/routine.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/flat_map.hpp"
#include "base/ids.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the search for missing operations; shares are inverse. A successor is frequent
/// from 1 in `frequent` occurrences of its context on, rare below 1 in `rare`. routine_test.cpp
/// exercises them; chosen, not measured.
struct RoutineLimits {
  static constexpr std::size_t most_missing = 6;    ///< operations at one place
  static constexpr std::size_t most_paths = 64;     ///< paths of one length that are followed
  static constexpr std::uint32_t occurrences = 8;   ///< least number for a context to count
  static constexpr std::uint64_t rare = 16;         ///< share of occurrences
  static constexpr std::uint64_t frequent = 8;      ///< share of occurrences
  static constexpr std::uint64_t unusual = 10;      ///< largest share of non-majority operations
  static constexpr std::uint64_t unexplained = 50;  ///< largest share of rare ones without path
};

/// Kinds of the last operations, the latest first.
using Context = std::array<std::uint32_t, 4>;
constexpr Context k_nothing = {k_none, k_none, k_none, k_none};

struct ContextHash {
  std::uint64_t operator()(const Context& context) const {
    return mix(mix(std::uint64_t{context[0]} << 32 | context[1]) ^
               (std::uint64_t{context[2]} << 32 | context[3]));
  }
};

Context extended(Context context, std::uint32_t kind) {
  std::shift_right(context.begin(), context.end(), 1);
  context[0] = kind;
  return context;
}

/// Kinds that follow a context, the first four different ones, with their frequencies.
class Successors {
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
  [[nodiscard]] bool is_known() const { return total_ >= RoutineLimits::occurrences; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t kind(std::uint32_t i) const { return kinds_[i]; }
  /// Index of a kind; count() if it is not among them.
  [[nodiscard]] std::uint32_t index_of(std::uint32_t kind) const {
    std::uint32_t i = 0;
    while (i < count_ && kinds_[i] != kind) ++i;
    return i;
  }
  [[nodiscard]] std::uint64_t times(std::uint32_t kind) const {
    const std::uint32_t i = index_of(kind);
    return i < count_ ? times_[i] : 0;
  }
  [[nodiscard]] bool is_rare(std::uint32_t kind) const {
    return is_known() && times(kind) * RoutineLimits::rare < total_;
  }
  [[nodiscard]] bool is_frequent(std::uint32_t kind) const {
    return is_known() && times(kind) * RoutineLimits::frequent >= total_;
  }
  [[nodiscard]] bool is_majority(std::uint32_t kind) const {
    return is_known() && times(kind) * 2 >= total_;
  }

 private:
  std::uint32_t total_ = 0, count_ = 0;
  std::array<std::uint32_t, 4> kinds_{}, times_{};
};

/// A state of the model: a context, with its entry.
struct State {
  Context context = k_nothing;
  std::uint32_t number = k_none;  ///< position in MarkovModel's entries; k_none: unseen
};

/// Operations that might be missing, and the state they lead to.
struct Path {
  State state;
  std::array<std::uint32_t, RoutineLimits::most_missing> missing{};
  std::size_t count = 0;
};

/// Markov model of order four of a process's operations. Entries point to their successors, so a
/// walk needs no search per operation.
class MarkovModel {
 public:
  explicit MarkovModel(std::span<const std::uint32_t> kinds) {
    State state{k_nothing, number_of(k_nothing)};
    for (const std::uint32_t kind : kinds) {
      entries_[state.number].successors.add(kind);
      const std::uint32_t from = state.number;
      state = step(state, kind);
      if (state.number == k_none) {
        state.number = number_of(state.context);
        Entry& entry = entries_[from];
        const std::uint32_t i = entry.successors.index_of(kind);
        if (i < entry.successors.count()) entry.next[i] = state.number;
      }
    }
  }

  [[nodiscard]] State begin() const { return {k_nothing, find(k_nothing)}; }
  [[nodiscard]] State next(const State& state, std::uint32_t kind) const {
    State next = step(state, kind);
    if (next.number == k_none) next.number = find(next.context);
    return next;
  }
  [[nodiscard]] const Successors& after(const State& state) const {
    return state.number == k_none ? none_ : entries_[state.number].successors;
  }

  /// Returns the shortest path of frequent operations from `state` to one where `kind` is frequent;
  /// nothing if there is none or more than one.
  [[nodiscard]] std::optional<Path> shortest_path(const State& state, std::uint32_t kind) const {
    std::vector<Path> paths = {{.state = state}};
    for (std::size_t step = 0; step < RoutineLimits::most_missing && !paths.empty(); ++step) {
      std::vector<Path> longer;
      std::optional<Path> found;
      for (const Path& one : paths) {
        const Successors& next = after(one.state);
        for (std::uint32_t i = 0; i < next.count(); ++i) {
          if (!next.is_frequent(next.kind(i))) continue;
          Path on = one;
          on.missing[on.count++] = next.kind(i);
          on.state = this->next(on.state, next.kind(i));
          if (after(on.state).is_frequent(kind)) {
            if (found) return std::nullopt;
            found = on;
          } else if (longer.size() < RoutineLimits::most_paths) {
            longer.push_back(on);
          }
        }
      }
      if (found) return found;
      paths = std::move(longer);
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    Successors successors;
    std::array<std::uint32_t, 4> next = k_nothing;  ///< entries, per successor
  };

  /// Returns the next state, without its number if no step to it is known yet.
  [[nodiscard]] State step(const State& state, std::uint32_t kind) const {
    State next{extended(state.context, kind), k_none};
    if (state.number != k_none) {
      const Entry& entry = entries_[state.number];
      const std::uint32_t i = entry.successors.index_of(kind);
      if (i < entry.successors.count()) next.number = entry.next[i];
    }
    return next;
  }
  std::uint32_t number_of(const Context& context) {
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const auto [number, is_new] = numbers_.insert(context, next);
    if (is_new) entries_.emplace_back();
    return *number;
  }
  [[nodiscard]] std::uint32_t find(const Context& context) const {
    const std::uint32_t* found = numbers_.find(context);
    return found == nullptr ? k_none : *found;
  }

  FlatMap<Context, std::uint32_t, ContextHash> numbers_;
  std::vector<Entry> entries_;
  Successors none_;
};

/// Returns, per kind, true if it is not frequent in most of its contexts, such as a reduction every
/// tenth round. Such operations are no context for others.
std::vector<bool> find_occasional(std::span<const std::uint32_t> kinds, const MarkovModel& model) {
  std::vector<std::uint32_t> times, infrequent;
  State state = model.begin();
  for (const std::uint32_t kind : kinds) {
    if (kind >= times.size()) {
      times.resize(kind + std::size_t{1});
      infrequent.resize(times.size());
    }
    ++times[kind];
    if (!model.after(state).is_frequent(kind)) ++infrequent[kind];
    state = model.next(state, kind);
  }
  std::vector<bool> occasional(times.size());
  for (std::size_t k = 0; k < times.size(); ++k) occasional[k] = infrequent[k] > times[k] / 2;
  return occasional;
}

/// Finds the routine of operations that are not occasional; `occasional` more are.
Routine find_steady_routine(std::span<const std::uint32_t> kinds, const MarkovModel& model,
                            std::uint64_t occasional) {
  const std::uint64_t all = kinds.size() + occasional;
  if (occasional * RoutineLimits::unusual > all) return {};
  Routine routine;
  std::uint64_t unusual = occasional, unexplained = 0;
  State state = model.begin();
  for (std::uint32_t at = 0; at < kinds.size(); ++at) {
    const Successors& next = model.after(state);
    if (!next.is_majority(kinds[at]) && ++unusual * RoutineLimits::unusual > all) return {};
    if (next.is_rare(kinds[at])) {
      if (const std::optional<Path> path = model.shortest_path(state, kinds[at])) {
        for (std::size_t i = 0; i < path->count; ++i) {
          routine.missing.push_back({at, path->missing[i]});
        }
        state = path->state;
      } else if (at + 1 < kinds.size() && next.is_frequent(kinds[at + 1])) {
        continue;  // executed out of order
      } else {
        ++unexplained;
        if (unexplained * RoutineLimits::unexplained > all) return {};
      }
    }
    state = model.next(state, kinds[at]);
  }
  routine.is_reliable = true;
  return routine;
}

/// What `find` returns for the operations without those of some kinds.
template <class Find>
Routine routine_without(const std::vector<bool>& removed, std::span<const std::uint32_t> kinds,
                        Find find) {
  std::vector<std::uint32_t> rest, places;
  for (std::uint32_t at = 0; at < kinds.size(); ++at) {
    if (removed[kinds[at]]) continue;
    rest.push_back(kinds[at]);
    places.push_back(at);
  }
  Routine routine = find(std::span<const std::uint32_t>(rest));
  for (Missing& one : routine.missing) one.before = places[one.before];
  return routine;
}

Routine routine_of(std::span<const std::uint32_t> kinds) {
  std::optional<MarkovModel> model(kinds);
  const std::vector<bool> occasional = find_occasional(kinds, *model);
  if (std::ranges::find(occasional, true) == occasional.end()) {
    return find_steady_routine(kinds, *model, 0);
  }
  return routine_without(occasional, kinds, [&](std::span<const std::uint32_t> steady) {
    model.emplace(steady);
    return find_steady_routine(steady, *model, kinds.size() - steady.size());
  });
}

}  // namespace

Routine find_routine(std::span<const std::uint32_t> kinds, const std::vector<bool>& calls) {
  Routine routine = routine_of(kinds);
  const auto is_call = [&](std::uint32_t kind) { return calls[kind]; };
  if (routine.is_reliable || std::ranges::none_of(kinds, is_call) ||
      std::ranges::all_of(kinds, is_call)) {
    return routine;
  }
  // Calls may repeat with a period of their own.
  return routine_without(calls, kinds, routine_of);
}

}  // namespace entrain::match
