// SPDX-License-Identifier: BSD-3-Clause
#include "verify/habit.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "base/flat_map.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_memory = 4;    ///< kinds that the next one depends on
constexpr std::uint32_t k_familiar = 8;  ///< times that a context has to be seen
constexpr std::uint32_t k_longest = 6;   ///< turns without a record in a row
constexpr std::uint32_t k_crowd = 64;    ///< detours of a length that are followed
constexpr std::uint32_t k_reach = 64;    ///< turns without a record that a deed may fill
constexpr std::uint32_t k_named = 4;     ///< different kinds that are counted per context

/// The last four kinds: the oldest one first.
struct Context {
  std::array<std::uint32_t, k_memory> kinds = {k_none, k_none, k_none, k_none};

  [[nodiscard]] Context then(std::uint32_t kind) const {
    return {{kinds[1], kinds[2], kinds[3], kind}};
  }
  friend bool operator==(const Context&, const Context&) = default;
};
struct ContextHash {
  std::uint64_t operator()(const Context& c) const {
    std::uint64_t code = 0;
    for (const std::uint32_t kind : c.kinds) code = mix(code + kind + 1);
    return code;
  }
};

/// How often which kind came next.
struct Next {
  std::uint32_t all = 0;
  std::uint32_t named = 0;
  std::array<std::pair<std::uint32_t, std::uint32_t>, k_named> counts{};       ///< kind, number
  std::array<std::uint32_t, k_named> rows = {k_none, k_none, k_none, k_none};  ///< behind them

  void note(std::uint32_t kind) {
    ++all;
    const std::uint32_t column = column_of(kind);
    if (column < named) {
      ++counts[column].second;
    } else if (named < k_named) {
      counts[named++] = {kind, 1};
    }
  }
  /// `named` if the kind has none.
  [[nodiscard]] std::uint32_t column_of(std::uint32_t kind) const {
    for (std::uint32_t i = 0; i < named; ++i) {
      if (counts[i].first == kind) return i;
    }
    return named;
  }
  /// Whether the share of a kind is at least 1 / parts; unknown contexts have no shares.
  [[nodiscard]] bool at_least(std::uint32_t kind, std::uint64_t parts) const {
    return all >= k_familiar && parts * number(kind) >= all;
  }
  [[nodiscard]] std::uint64_t number(std::uint32_t kind) const {
    const std::uint32_t column = column_of(kind);
    return column < named ? counts[column].second : 0;
  }
};

/// What came next, per context. A row knows the rows behind it, so that a walk through the deeds
/// has to search for few of them.
class Rows {
 public:
  /// Where a walk stands: the context, and its row, or k_none.
  struct Stand {
    Context context;
    std::uint32_t row = k_none;
  };

  [[nodiscard]] Stand start() const { return {{}, row_of({})}; }
  [[nodiscard]] Stand after(const Stand& stand, std::uint32_t kind) const {
    const Stand next = via_link(stand, kind);
    return next.row != k_none ? next : Stand{next.context, row_of(next.context)};
  }
  [[nodiscard]] const Next& at(const Stand& stand) const {
    return stand.row == k_none ? unknown_ : rows_[stand.row];
  }
  /// Counts what came next, makes rows where there are none, and goes there.
  Stand note(const Stand& stand, std::uint32_t kind) {
    const std::uint32_t here = stand.row == k_none ? make_row(stand.context) : stand.row;
    rows_[here].note(kind);
    Stand next = via_link({stand.context, here}, kind);
    if (next.row != k_none) return next;
    next.row = make_row(next.context);
    Next& row = rows_[here];
    if (const std::uint32_t column = row.column_of(kind); column < row.named) {
      row.rows[column] = next.row;
    }
    return next;
  }

 private:
  [[nodiscard]] Stand via_link(const Stand& stand, std::uint32_t kind) const {
    Stand next{stand.context.then(kind), k_none};
    if (stand.row == k_none) return next;
    const Next& row = rows_[stand.row];
    if (const std::uint32_t column = row.column_of(kind); column < row.named) {
      next.row = row.rows[column];
    }
    return next;
  }
  [[nodiscard]] std::uint32_t row_of(const Context& context) const {
    const std::uint32_t* found = numbers_.find(context);
    return found == nullptr ? k_none : *found;
  }
  std::uint32_t make_row(const Context& context) {
    const auto [row, is_new] = numbers_.insert(context, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) rows_.emplace_back();
    return *row;
  }

  FlatMap<Context, std::uint32_t, ContextHash> numbers_;
  std::vector<Next> rows_;
  Next unknown_;
};

class Finder {
 public:
  /// `with_calls`: else calls are listed, but nothing follows them.
  Finder(std::span<const Deed> deeds, bool with_calls) : deeds_(deeds) {
    for (const Deed& deed : deeds) {
      kinds_ = std::max<std::uint64_t>(kinds_, std::uint64_t{deed.kind} + 1);
      if (!deed.displaced && (with_calls || !deed.call)) ++listed_;
    }
    apart_.resize(kinds_);
    for (const Deed& deed : deeds) apart_[deed.kind] = deed.call && !with_calls;
    seldom_ = apart_;
    note_all();
    find_seldom();
    if (seldom_ == apart_) return;
    rows_ = {};
    note_all();
  }

  Habit run() {
    std::uint64_t inexplicable = 0, listed = 0;
    auto unexpected = static_cast<std::uint64_t>(
        std::count_if(deeds_.begin(), deeds_.end(), [&](const Deed& deed) {
          return !deed.displaced && is_seldom(deed) && !apart_[deed.kind];
        }));
    if (10 * unexpected > listed_) return {};
    Rows::Stand stand = rows_.start();
    for (std::uint32_t d = 0; d < deeds_.size(); ++d) {
      const std::uint32_t kind = deeds_[d].kind;
      if (deeds_[d].displaced) {
        waiting_.push_back({d, listed});
        continue;
      }
      if (is_seldom(deeds_[d])) {
        place_waiting();
        habit_.turns.push_back({d, kind});
        ++listed;
        continue;
      }
      const Next& next = rows_.at(stand);
      if (!next.at_least(kind, 2) && 10 * ++unexpected > listed_) return {};
      const bool unusual = next.all >= k_familiar && !next.at_least(kind, 16);
      bool remembered = true;
      if (unusual) {
        const std::vector<std::uint32_t> detour = only_detour(stand, kind);
        for (const std::uint32_t between : detour) {
          unfilled_.push_back({habit_.turns.size(), listed});
          habit_.turns.push_back({k_none, between});
          stand = rows_.after(stand, between);
          ++habit_.unlisted;
        }
        if (detour.empty()) {
          const std::uint32_t following = listed_after(d);
          remembered = following == k_none || !next.at_least(following, 8);
          if (remembered) ++inexplicable;
          if (50 * inexplicable > listed_) return {};
        }
      }
      place_waiting();
      habit_.turns.push_back({d, kind});
      ++listed;
      if (remembered) stand = rows_.after(stand, kind);
    }
    place_waiting();
    habit_.firm = true;
    return std::move(habit_);
  }

 private:
  [[nodiscard]] bool is_seldom(const Deed& deed) const { return seldom_[deed.kind]; }
  /// Counts what follows what among the deeds whose places tell something.
  void note_all() {
    Rows::Stand stand;
    for (const Deed& deed : deeds_) {
      if (!deed.displaced && !is_seldom(deed)) stand = rows_.note(stand, deed.kind);
    }
  }
  /// A process does some things only now and then, at no place that is theirs: most of the times
  /// they come, something else comes far more often.
  void find_seldom() {
    std::vector<std::int64_t> balance(kinds_, 0);  // times with a small share, less the others
    Rows::Stand stand = rows_.start();
    for (const Deed& deed : deeds_) {
      if (deed.displaced || apart_[deed.kind]) continue;
      balance[deed.kind] += rows_.at(stand).at_least(deed.kind, 8) ? -1 : 1;
      stand = rows_.after(stand, deed.kind);
    }
    for (std::size_t kind = 0; kind < balance.size(); ++kind) {
      seldom_[kind] = apart_[kind] || balance[kind] > 0;
    }
  }
  /// Kind of the first deed after `d` whose place tells something, or k_none.
  [[nodiscard]] std::uint32_t listed_after(std::uint32_t d) const {
    while (++d < deeds_.size()) {
      if (!deeds_[d].displaced && !is_seldom(deeds_[d])) return deeds_[d].kind;
    }
    return k_none;
  }

  struct Detour {
    Rows::Stand stand;
    std::vector<std::uint32_t> kinds;
  };
  /// The kinds that lead from a stand to one where `kind` is frequent, all frequent themselves.
  /// Empty if there are none, or several equally short ways. Goes breadth first.
  [[nodiscard]] std::vector<std::uint32_t> only_detour(const Rows::Stand& from,
                                                       std::uint32_t kind) const {
    std::deque<Detour> open = {{from, {}}};
    std::vector<std::uint32_t> found;
    std::size_t length = 0;  // of the detours that are being made longer
    std::uint32_t crowd = 0;
    while (!open.empty()) {
      const Detour detour = std::move(open.front());
      open.pop_front();
      if (detour.kinds.size() > length) {
        if (!found.empty()) break;
        length = detour.kinds.size();
        crowd = 0;
      }
      if (length == k_longest) break;
      const Next& next = rows_.at(detour.stand);
      for (std::uint32_t i = 0; i < next.named; ++i) {
        const std::uint32_t between = next.counts[i].first;
        if (!next.at_least(between, 8)) continue;
        Detour longer = {rows_.after(detour.stand, between), detour.kinds};
        longer.kinds.push_back(between);
        if (rows_.at(longer.stand).at_least(kind, 8)) {
          if (!found.empty()) return {};
          found = longer.kinds;
        } else if (crowd++ < k_crowd) {
          open.push_back(std::move(longer));
        }
      }
    }
    return found;
  }

  /// Displaced deeds fill the last turns of their kinds without a record, if no more deeds than
  /// there are kinds lie between; also those found out by the next deed that is listed in its
  /// place.
  void place_waiting() {
    for (const auto& [d, listed] : waiting_) {
      const std::size_t first = unfilled_.size() - std::min<std::size_t>(unfilled_.size(), k_reach);
      for (std::size_t u = unfilled_.size(); u-- > first;) {
        if (unfilled_[u].second + kinds_ < listed) break;
        Turn& turn = habit_.turns[unfilled_[u].first];
        if (turn.deed != k_none || turn.kind != deeds_[d].kind) continue;
        turn.deed = d;
        break;
      }
    }
    waiting_.clear();
  }

  std::span<const Deed> deeds_;
  std::uint64_t listed_ = 0;  ///< deeds that are not displaced
  Rows rows_;
  Habit habit_;
  std::uint64_t kinds_ = 0;   ///< of all deeds
  std::vector<bool> apart_;   ///< per kind: a call that is left out of what follows what
  std::vector<bool> seldom_;  ///< per kind
  /// Displaced deeds, and turns that had no record when they were made. Second: listed deeds
  /// before.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting_;
  std::vector<std::pair<std::size_t, std::uint64_t>> unfilled_;
};

}  // namespace

Habit find_habit(std::span<const Deed> deeds) {
  Habit habit = Finder(deeds, true).run();
  if (habit.firm) return habit;
  const auto matters = [&](bool call) {
    return std::any_of(deeds.begin(), deeds.end(),
                       [&](const Deed& deed) { return !deed.displaced && deed.call == call; });
  };
  // Calls may have a habit of their own.
  return matters(true) && matters(false) ? Finder(deeds, false).run() : habit;
}

}  // namespace entrain::verify
