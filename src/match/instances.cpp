// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/executor.hpp"
#include "base/free_memory.hpp"
#include "match/calls.hpp"
#include "match/gaps.hpp"
#include "match/incomplete_calls.hpp"
#include "match/operations.hpp"

namespace entrain::match {

namespace {

/// Number of consecutive instances of a communicator that one member matches; chosen, not measured.
constexpr std::uint32_t k_instance_block = 256;

/// Matches the calls of all communicators, or of all windows.
class InstanceMatcher {
 public:
  InstanceMatcher(Builder& builder, CallSpace space)
      : builder_(builder), team_(builder.team()), space_(space) {
    const trace::Definitions& definitions = builder.definitions();
    const std::size_t count =
        space == CallSpace::comms ? definitions.comms.size() : definitions.windows.size();
    for (std::uint32_t t = 0; t < count; ++t) {
      const CommIndex c = space == CallSpace::comms ? t : definitions.windows[t].comm;
      comms_.push_back(c == k_none ? nullptr : &definitions.comms[c]);
    }
  }

  void run(std::vector<Calls> lists) {
    for_each_in_parallel(builder_.options().threads, lists.size(),
                         [&](std::size_t i) { group(lists[i]); });
    if (choose_references(lists)) {
      Calls all = merged(std::exchange(lists, {}));
      align_calls(all);
      lists.push_back(std::move(all));
    }
    if (!builder_.options().edges && !builder_.options().collectives) return;
    take_census(lists);
    ship(std::move(lists));
    // A team of one finds disagreements while it adds the instances.
    if (team_.size() > 1) find_disagreements();
    add_instances();
    count_leftovers();
  }

 private:
  /// Counts of the calls on one communicator over the whole team.
  struct Census {
    std::int64_t processes = 0;  ///< number of processes with calls
    std::int64_t calls = 0;
    std::int64_t shortest = 0;  ///< number of calls of the process with the fewest
    std::int64_t end = 0;       ///< first instance whose calls disagree, or `shortest`
  };

  [[nodiscard]] bool one_sided() const { return space_ == CallSpace::windows; }
  [[nodiscard]] const char* incomplete_name() const {
    return one_sided() ? "rma_incomplete" : "collectives_incomplete";
  }

  /// A process of a communicator; sorted by process.
  struct Seat {
    CommProcess comm_process;
    std::uint32_t position = 0;  ///< index by rank
  };
  const std::vector<Seat>& seats(std::uint32_t t) {
    if (seats_.empty()) seats_.resize(comms_.size());
    if (!seats_[t]) {
      std::vector<Seat>& all = seats_[t].emplace();
      for (const CommProcess& p : processes_of(builder_, *comms_[t])) {
        all.push_back({p, static_cast<std::uint32_t>(all.size())});
      }
      std::ranges::sort(all, [](const Seat& a, const Seat& b) {
        return a.comm_process.process < b.comm_process.process;
      });
    }
    return *seats_[t];
  }
  const Seat* seat_of(const Call& call) {
    const std::vector<Seat>& all = seats(call.space);
    const auto process_of = [](const Seat& seat) { return seat.comm_process.process; };
    const auto found = std::ranges::lower_bound(all, call.process, {}, process_of);
    return found != all.end() && found->comm_process.process == call.process ? &*found : nullptr;
  }
  bool is_member(const Call& call) {
    return call.space < comms_.size() && comms_[call.space] != nullptr &&
           !comms_[call.space]->self && seat_of(call) != nullptr;
  }

  /// The calls of one process on one communicator in a list.
  struct Group {
    bool member = false;
    std::uint32_t count = 0;
    std::size_t begin = 0;
  };
  using Groups = std::map<std::pair<std::uint32_t, std::uint32_t>, Group>;

  /// Keeps the calls of members, sorts them by communicator and process, and numbers those of each
  /// process on each communicator. Thread-safe for different lists.
  void group(Calls& list) {
    Groups groups;
    Groups::iterator last = groups.end();
    const auto group_of = [&](const Call& call) -> Group& {
      const std::pair name(call.space, call.process);
      if (last == groups.end() || last->first != name) {
        const auto [found, is_new] = groups.try_emplace(name);
        if (is_new) {
          const std::lock_guard lock(mutex_);  // communicators are looked up on demand
          found->second.member = is_member(call);
        }
        last = found;
      }
      return last->second;
    };
    for (Call& call : list) call.number = group_of(call).count++;
    std::size_t members = 0;
    for (auto& [name, one] : groups) {
      one.begin = members;
      members += one.member ? one.count : 0;
    }
    if (members == list.size() && groups.size() < 2) return;
    Calls sorted(members);
    for (const Call& call : list) {
      const Group& of_call = group_of(call);
      if (of_call.member) sorted[of_call.begin + call.number] = call;
    }
    list.swap(sorted);
  }

  /// Merges the lists, in which the calls of a process on a communicator are adjacent; sorted by
  /// communicator and process.
  static Calls merged(const std::vector<Calls>& lists) {
    std::vector<std::span<const Call>> columns;
    std::size_t count = 0;
    for (const Calls& list : lists) {
      count += list.size();
      for_columns(list, [&](std::span<const Call> column) { columns.push_back(column); });
    }
    std::ranges::stable_sort(columns, {}, [](std::span<const Call> column) {
      return std::pair(column[0].space, column[0].process);
    });
    Calls all;
    all.reserve(count);
    for (const auto& column : columns) all.insert(all.end(), column.begin(), column.end());
    return all;
  }

  /// Calls `use(call, last)` for all calls; `last`: the last call of its process on its
  /// communicator.
  template <class Use>
  static void for_calls(const std::vector<Calls>& lists, Use use) {
    for (const Calls& list : lists) {
      for_columns(list, [&](std::span<const Call> column) {
        for (const Call& call : column) use(call, &call == &column.back());
      });
    }
  }

  /// Summary of the calls on one communicator, of all processes or of those without gaps.
  struct Summary {
    std::int64_t most = -k_many;    ///< calls of a process << 31 | index by rank, reversed
    std::int64_t fewest = -k_many;  ///< least number of calls, negated
    std::int64_t code = -k_many, smallest = -k_many;  ///< extreme hashes; negated

    [[nodiscard]] bool calls() const { return most >= 0; }
    [[nodiscard]] bool agree() const { return most >> 31 == -fewest && code == -smallest; }
    [[nodiscard]] std::uint32_t longest() const { return static_cast<std::uint32_t>(most >> 31); }
    [[nodiscard]] std::uint32_t first_position() const {
      return static_cast<std::uint32_t>(k_last_position - (most & k_last_position));
    }
  };
  static constexpr std::int64_t k_last_position = 0x7FFFFFFF;

  /// Summarises the calls per communicator of processes with `use(process)`. Collective.
  template <class Use>
  std::vector<Summary> summarise(const std::vector<Calls>& lists, Use use) {
    constexpr std::size_t k_fields = sizeof(Summary) / sizeof(std::int64_t);
    std::vector<std::int64_t> largest(k_fields * comms_.size(), -k_many);
    std::int64_t code = 0;
    for_calls(lists, [&](const Call& call, bool last) {
      code = call.number == 0 ? 0 : code;
      code = static_cast<std::int64_t>(
          (static_cast<std::uint64_t>(code) ^ what_code(call)) * 0x9E3779B97F4A7C15u >> 2);
      if (!last || !use(call.process)) return;
      std::int64_t* of = largest.data() + k_fields * call.space;
      const std::int64_t number = std::int64_t{call.number} + 1;
      of[0] = std::max(of[0], number << 31 | (k_last_position - seat_of(call)->position));
      of[1] = std::max(of[1], -number);
      of[2] = std::max(of[2], code);
      of[3] = std::max(of[3], -code);
    });
    team_.reduce(Team::Reduction::max, largest);
    std::vector<Summary> all(comms_.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      const std::int64_t* of = largest.data() + k_fields * t;
      all[t] = {of[0], of[1], of[2], of[3]};
    }
    return all;
  }
  static bool all_agree(std::span<const Summary> all) {
    return std::ranges::all_of(all, [](const Summary& one) { return !one.calls() || one.agree(); });
  }

  /// True if records of messages or calls are missing: then the calls on every communicator or
  /// window are aligned to those of the process with the most calls.
  bool choose_references(const std::vector<Calls>& lists) {
    const std::vector<Summary> all = summarise(lists, [](std::uint32_t) { return true; });
    builder_.calls_incomplete = builder_.calls_incomplete || builder_.incomplete || !all_agree(all);
    if (!builder_.calls_incomplete) return false;
    find_gaps(builder_);
    only_gaps_ =
        (!builder_.incomplete || builder_.only_gaps) &&
        all_agree(summarise(lists, [&](std::uint32_t p) { return !builder_.has_gaps[p]; }));
    for (std::uint32_t t = 0; t < all.size(); ++t) {
      references_.push_back({});
      if (!all[t].calls()) continue;
      for (const Seat& seat : seats(t)) {
        if (seat.position == all[t].first_position()) {
          references_[t].reference = seat.comm_process.process;
        }
      }
      references_[t].calls = all[t].longest();
      references_[t].name = one_sided() ? name_of_window(builder_.definitions(), t) : t;
      references_[t].one_root = !comms_[t]->inter;
    }
    return true;
  }
  /// Hash of the fields on which all calls of an instance agree in any trace.
  static std::uint64_t what_code(const Call& call) {
    return std::uint64_t{call.op} << 1 | (call.non_blocking ? 1 : 0);
  }

  void align_calls(Calls& calls) {
    const std::size_t before = calls.size();
    const CallFates fates = number_by_reference(builder_, calls, references_, only_gaps_);
    builder_.count_unmatched(incomplete_name(), before - calls.size());
    builder_.count_unmatched("ambiguous_calls", fates.ambiguous);
    builder_.count_unmatched("calls_in_gaps", fates.in_gaps);
  }
  [[nodiscard]] bool is_aligned(std::uint32_t t) const {
    return !references_.empty() && references_[t].reference != k_none;
  }

  void take_census(const std::vector<Calls>& lists) {
    std::vector<std::int64_t> sums(2 * comms_.size(), 0);
    std::vector<std::int64_t> shortest(comms_.size(), k_many);
    for_calls(lists, [&](const Call& call, bool last) {
      if (!last) return;
      ++sums[2 * call.space];
      sums[2 * call.space + 1] += call.number + 1;
      shortest[call.space] = std::min<std::int64_t>(shortest[call.space], call.number + 1);
    });
    team_.reduce(Team::Reduction::sum, sums);
    team_.reduce(Team::Reduction::min, shortest);
    for (std::size_t t = 0; t < comms_.size(); ++t) {
      Census census{.processes = sums[2 * t],
                    .calls = sums[2 * t + 1],
                    .shortest = shortest[t],
                    .end = shortest[t]};
      if (is_aligned(static_cast<std::uint32_t>(t))) {
        census.shortest = census.end = references_[t].calls;
      }
      if (census.processes < 2) census = {};
      census_.push_back(census);
    }
  }

  [[nodiscard]] std::uint32_t home(const Call& call) const {
    return (call.number / k_instance_block + call.space) % team_.size();
  }

  /// Sends every call that can be part of an instance to its home.
  void ship(std::vector<Calls> lists) {
    for (Calls& list : lists) {
      std::erase_if(list, [&](const Call& call) {
        return std::int64_t{call.number} >= census_[call.space].shortest;
      });
    }
    if (team_.size() > 1) {
      std::vector<std::vector<Call>> parcels(team_.size());
      for (Calls& list : lists) {
        for (const Call& call : list) parcels[home(call)].push_back(call);
        free_memory(list);
      }
      lists.clear();
      for (const std::vector<Call>& parcel : exchange(team_, std::move(parcels))) {
        lists.emplace_back(parcel.begin(), parcel.end());
      }
    }
    calls_ = std::move(lists);
    list_columns();
  }

  /// The calls of one process on one communicator whose home is this member, sorted by number.
  struct Column {
    std::uint32_t space = k_none;
    Seat seat;
    std::span<const Call> calls;
  };
  /// Lists the columns by communicator, then by rank.
  void list_columns() {
    for (Calls& list : calls_) {
      for_columns(list, [&](std::span<Call> column) {
        if (!std::ranges::is_sorted(column, {}, &Call::number)) {
          std::ranges::stable_sort(column, {}, &Call::number);
        }
        columns_.push_back({column.front().space, *seat_of(column.front()), column});
      });
    }
    std::ranges::sort(columns_, [](const Column& a, const Column& b) {
      return a.space != b.space ? a.space < b.space : a.seat.position < b.seat.position;
    });
  }

  /// An instance: its calls and their processes, sorted by rank.
  struct Instance {
    std::uint32_t space = k_none, number = 0;
    std::vector<Call> calls;
    std::vector<CommProcess> members;
  };

  /// Calls `body(instance)` for every instance whose home is this member, sorted by communicator
  /// and number.
  template <class Body>
  void for_instances(Body body) const {
    Instance instance;
    for (auto first = columns_.begin(); first != columns_.end();) {
      const auto last = std::find_if(first, columns_.end(), [&](const Column& column) {
        return column.space != first->space;
      });
      instance.space = first->space;
      std::vector<Column> left(first, last);
      for (std::uint64_t taken = 0; take_next(left, instance); ++taken) {
        if (taken % k_instance_block == 0 && builder_.cancel().asked()) return;
        body(instance);
      }
      first = last;
    }
  }
  /// Takes the calls of the smallest number left; false if none is left.
  static bool take_next(std::vector<Column>& left, Instance& instance) {
    instance.number = k_none;
    for (const Column& column : left) {
      if (!column.calls.empty()) {
        instance.number = std::min(instance.number, column.calls.front().number);
      }
    }
    instance.calls.clear();
    instance.members.clear();
    bool any_done = false;
    for (Column& column : left) {
      if (column.calls.empty() || column.calls.front().number != instance.number) continue;
      instance.calls.push_back(column.calls.front());
      instance.members.push_back(column.seat.comm_process);
      column.calls = column.calls.subspan(1);
      any_done |= column.calls.empty();
    }
    // Removes processes that stopped early, which would cost time per call of the others.
    if (any_done) std::erase_if(left, [](const Column& column) { return column.calls.empty(); });
    return !instance.calls.empty();
  }

  void find_disagreements() {
    std::vector<std::int64_t> first_bad(comms_.size(), k_many);
    for_instances([&](const Instance& instance) {
      if (agree(instance.calls)) return;
      std::int64_t& bad = first_bad[instance.space];
      bad = std::min<std::int64_t>(bad, instance.number);
    });
    team_.reduce(Team::Reduction::min, first_bad);
    for (std::size_t t = 0; t < comms_.size(); ++t) {
      census_[t].end = std::min(census_[t].end, first_bad[t]);
    }
  }

  void add_instances() {
    std::size_t calls_here = 0;
    for (const Calls& list : calls_) calls_here += list.size();
    builder_.expect_participants(2 * calls_here);
    for_instances([&](const Instance& instance) {
      const std::vector<Call>& calls = instance.calls;
      std::int64_t& end = census_[instance.space].end;
      if (team_.size() == 1 && instance.number < end && !agree(calls)) end = instance.number;
      if (instance.number >= end) return;
      if (!std::ranges::all_of(calls, [](const Call& c) { return c.synchronises; })) {
        builder_.count_skipped("rma_without_process_sync");
        return;
      }
      if (is_aligned(instance.space) && calls.size() < 2) {
        builder_.count_unmatched(incomplete_name());
        return;
      }
      add_instance(builder_, instance.members, calls, *comms_[instance.space], one_sided());
    });
    free_memory(calls_);
  }

  void count_leftovers() {
    if (team_.rank() != 0) return;
    for (std::uint32_t t = 0; t < census_.size(); ++t) {
      if (is_aligned(t)) continue;  // counted by align_calls()
      const Census& census = census_[t];
      const bool incomplete = census.end == census.shortest;
      builder_.count_unmatched(
          incomplete ? incomplete_name()
                     : (one_sided() ? "rma_mismatched" : "collectives_mismatched"),
          static_cast<std::uint64_t>(census.calls - census.end * census.processes));
    }
  }

  static constexpr std::int64_t k_many = std::int64_t{1} << 62;
  Builder& builder_;
  Team& team_;
  CallSpace space_;
  std::vector<const trace::Comm*> comms_;  ///< one per communicator or window; null: undefined
  std::mutex mutex_;
  std::vector<std::optional<std::vector<Seat>>> seats_;  ///< one per space, on demand
  std::vector<AlignedSpace> references_;  ///< one per communicator or window; empty: complete
  bool only_gaps_ = false;                ///< calls are missing in gaps only
  std::vector<Census> census_;
  std::vector<Calls> calls_;     ///< calls whose home is this member
  std::vector<Column> columns_;  ///< columns of calls_
};

}  // namespace

void match_calls(Builder& builder, std::vector<Calls> lists, CallSpace space) {
  InstanceMatcher(builder, space).run(std::move(lists));
}

}  // namespace entrain::match
