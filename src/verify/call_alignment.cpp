// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_alignment.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "verify/alignment.hpp"
#include "verify/call_couples.hpp"
#include "verify/call_links.hpp"
#include "verify/call_order.hpp"
#include "verify/exchange_part.hpp"
#include "verify/odd_couples.hpp"

namespace entrain::verify {

namespace {

namespace op = trace::op;

bool has_root(std::uint8_t operation) {
  switch (operation) {
    case op::bcast:
    case op::scatter:
    case op::scatterv:
    case op::gather:
    case op::gatherv:
    case op::reduce:
      return true;
    default:
      return false;
  }
}

/// Whether all callers contribute the same number of bytes, which Event::tag then stands for.
bool is_uniform(std::uint8_t operation) {
  return operation == op::allreduce || operation == op::allgather || operation == op::alltoall ||
         operation == op::reduce_scatter_block;
}

/// The Conduct of a process of this member that calls.
class Surroundings {
 public:
  explicit Surroundings(Conduct&& conduct) : conduct_(std::move(conduct)) {}

  [[nodiscard]] const Conduct& conduct() const { return conduct_; }
  /// Per partner the number of messages.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> messages() const {
    std::map<std::uint32_t, std::uint32_t> counts;
    for (const auto& [partner, stamps] : conduct_.messages) {
      counts[partner] = static_cast<std::uint32_t>(stamps.size());
    }
    return counts;
  }
  /// Number of messages with a partner up to a stamp.
  [[nodiscard]] std::uint32_t until(std::uint32_t partner, std::uint64_t time) const {
    const auto of = conduct_.messages.find(partner);
    if (of == conduct_.messages.end()) return 0;
    const auto later = std::upper_bound(of->second.begin(), of->second.end(), time);
    return static_cast<std::uint32_t>(later - of->second.begin());
  }
  /// A row beside the messages with a partner. `unlisted`: stamps.
  [[nodiscard]] CallRow beside(std::uint32_t partner, CallRow row,
                               std::span<const std::uint64_t> unlisted) const {
    for (Trait& trait : row.traits) trait.position = until(partner, trait.time);
    for (const std::uint64_t stamp : unlisted) row.unlisted.push_back(until(partner, stamp));
    const auto all = conduct_.messages.find(partner);
    if (all != conduct_.messages.end())
      row.messages = static_cast<std::uint32_t>(all->second.size());
    return row;
  }

 private:
  Conduct conduct_;
};

/// The calls of a process of this member in one space.
struct OwnCalls {
  CallRow row;                           ///< beside no messages; its times are stamps
  std::vector<LocationIndex> locations;  ///< per call: of its end
  std::vector<std::uint64_t> unlisted;   ///< stamps, as Conduct::Calls::unlisted
  std::vector<std::uint32_t> numbers;    ///< per call; k_none: unknown
};

/// The row of calls of a process, beside its messages with another one, on its way there.
struct RowHead {
  SpaceIndex space = k_none;
  std::uint32_t process = k_none;
  std::uint32_t partner = k_none;
  std::uint32_t calls = 0, unlisted = 0, stops = 0;
  std::uint32_t messages = 0, kinds = 0, trust = 0, ahead_of_gaps = 0;
  bool ends_in_gap = false;
};
struct RowParcel {
  std::vector<RowHead> heads;
  std::vector<Trait> traits;
  std::vector<std::uint32_t> unlisted;
  std::vector<Stop> stops;
};

/// The numbers of the calls of a process, on their way to those who couple with it.
struct NumbersHead {
  SpaceIndex space = k_none;
  std::uint32_t process = k_none;
  std::uint32_t calls = 0;
};
struct NumbersParcel {
  std::vector<NumbersHead> heads;
  std::vector<std::uint32_t> numbers;
};

/// Who calls where and how often.
struct CallerCount {
  SpaceIndex space = k_none;
  std::uint32_t process = k_none;
  std::uint32_t calls = 0;
};
/// How many messages a process counts with another one.
struct MessageCount {
  std::uint32_t process = k_none;
  std::uint32_t partner = k_none;
  std::uint32_t messages = 0;
};

class CallAligner {
 public:
  CallAligner(const CallAlignment& to, std::span<Outline> outlines, Unmatched& unmatched)
      : gaps_(to.gaps),
        share_(gaps_.share()),
        trace_(share_.trace),
        places_(gaps_.places()),
        comms_(static_cast<SpaceIndex>(trace_.definitions.comms.size())),
        spaces_(comms_ + static_cast<SpaceIndex>(trace_.definitions.windows.size())),
        only_windows_(to.only_windows),
        only_gaps_(to.only_gaps && agree_without_gaps(outlines, 0, comms_)),
        only_gaps_on_windows_(to.only_gaps && agree_without_gaps(outlines, comms_, spaces_)),
        outlines_(outlines),
        conducts_(to.conducts),
        deliveries_(to.deliveries),
        unmatched_(unmatched),
        outliner_(trace_, places_, Scope::messages, counted_before_) {}

  void run(SpaceCounts& spaces) {
    references_.resize(spaces_);
    for (const SpaceCounts::Reference& reference : spaces.references(share_.team)) {
      if (only_windows_ && reference.space < comms_) continue;
      references_[reference.space] = reference;
    }
    for (const Outline& outline : outlines_) list(outline);
    sort_deliveries();
    find_links();
    exchange_rows();
    couple();
    std::map<std::uint32_t, std::vector<Follower>> by_hops;
    for_links([&](SpaceIndex space, std::uint32_t process, const CallLink& link) {
      by_hops[link.hops].push_back({space, process, link.next});
    });
    for (const auto& [hops, followers] : by_hops) follow(followers);
    callers_.assign(references_.size(), 0);
    for (Outline& outline : outlines_) number(outline);
    share_.team.reduce(Team::Reduction::sum, callers_);
    std::erase_if(references_, [](const auto& reference) { return reference.space == k_none; });
    for (SpaceCounts::Reference& reference : references_) {
      if (callers_[reference.space] < 2) reference.calls = 0;
    }
    spaces.align(references_);
  }

 private:
  /// (space, process)
  using Name = std::pair<SpaceIndex, std::uint32_t>;
  /// A caller that couples with the process `next`.
  struct Follower {
    SpaceIndex space = k_none;
    std::uint32_t process = k_none, next = k_none;
  };

  /// True if the processes without gaps call alike in every space of [first, end). Collective.
  [[nodiscard]] bool agree_without_gaps(std::span<const Outline> outlines, SpaceIndex first,
                                        SpaceIndex end) const {
    const SpaceCounts whole(share_.team, trace_.definitions, outlines,
                            [&](std::uint32_t process) { return !gaps_.has(process); });
    return !whole.unequal(share_.team, first, end);
  }
  /// Whether calls are missing in gaps only, in this space and its like.
  [[nodiscard]] bool only_gaps(SpaceIndex space) const {
    return space < comms_ ? only_gaps_ : only_gaps_on_windows_;
  }
  [[nodiscard]] const trace::Comm& comm_of(SpaceIndex space) const {
    const trace::Definitions& definitions = trace_.definitions;
    return definitions.comms[space < comms_ ? space : definitions.windows[space - comms_].comm];
  }

  /// True if the calls of a column are to be aligned.
  [[nodiscard]] bool is_aligned(const Outline::Column& column) const {
    return column.space < references_.size() && references_[column.space].process != k_none;
  }

  /// Lists the calls of a process that are to be aligned, and what it did beside them.
  void list(const Outline& outline) {
    if (std::none_of(outline.columns.begin(), outline.columns.end(),
                     [&](const Outline::Column& column) { return is_aligned(column); })) {
      return;
    }
    std::vector<CallRow> rows(outline.columns.size());
    std::vector<std::vector<std::pair<LocationIndex, std::uint64_t>>> ends(rows.size());
    for (std::size_t c = 0; c < rows.size(); ++c) {
      rows[c].traits.resize(outline.columns[c].count);
      ends[c].resize(outline.columns[c].count);
    }
    for_ordered_calls(
        trace_, places_, outline,
        [&](const Outline::Call& call, std::uint32_t ordinal, const trace::Event& end) {
          Trait& trait = rows[call.column].traits[ordinal];
          trait.time = end.time;
          trait.symbol = symbol_of(outline, outline.columns[call.column], end);
          trait.stay = stay_of(outline, call, end);
          ends[call.column][ordinal] = {places_.event(outline.process, call.event).location,
                                        end.time};
        });
    const auto known_conduct = conducts_.find(outline.process);
    const Surroundings& around =
        around_
            .emplace(outline.process, known_conduct != conducts_.end()
                                          ? std::move(known_conduct->second)
                                          : conduct_of(gaps_, outliner_.outline(outline.process)))
            .first->second;
    const ProcessGaps gaps = gaps_.of(outline.process);
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const SpaceIndex space = outline.columns[c].space;
      if (!is_aligned(outline.columns[c])) continue;
      OwnCalls& own = own_[{space, outline.process}];
      own.row = std::move(rows[c]);
      own.row.ends_in_gap = gaps.mark(own.row.traits);
      own.row.ahead_of_gaps = gaps.ahead(own.row.traits);
      own.numbers.assign(own.row.traits.size(), k_none);
      for (const auto& [location, stamp] : ends[c]) own.locations.push_back(location);
      // Habits know of blocking calls only.
      const auto known = around.conduct().calls.find(space);
      if (known == around.conduct().calls.end() || known->second.ends != ends[c]) continue;
      own.row.stops = known->second.stops;
      own.row.kinds = around.conduct().kinds;
      own.row.trust = around.conduct().trust;
      own.unlisted = known->second.unlisted;
    }
  }

  /// Ticks that a caller stayed in a call that nobody leaves before all have come.
  [[nodiscard]] std::uint32_t stay_of(const Outline& outline, const Outline::Call& call,
                                      const trace::Event& end) const {
    constexpr std::uint32_t k_unknown = trace::RecordedClock::k_unknown;
    const SpaceIndex space = outline.columns[call.column].space;
    const bool all_wait =
        end.op == op::barrier || (is_uniform(end.op) && (end.flags & trace::k_sent) != 0 &&
                                  (end.flags & trace::k_received) != 0);
    if (space >= comms_ || comm_of(space).inter || !all_wait || call.begin == k_none) {
      return k_unknown;
    }
    const EventRef begin = places_.event(outline.process, call.begin);
    const std::uint64_t came = trace_.locations[begin.location].events.time(begin.event);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(end.time - came, k_unknown));
  }

  /// Orders deliveries by their arrival; each then tells the last one sent of those up to it.
  void sort_deliveries() {
    for (auto& [processes, delivered] : deliveries_) {
      std::sort(delivered.begin(), delivered.end(), [](const Delivery& a, const Delivery& b) {
        return std::pair(a.arrived, a.sent) < std::pair(b.arrived, b.sent);
      });
      std::uint64_t sent = 0;
      for (Delivery& one : delivered) one.sent = sent = std::max(sent, one.sent);
    }
  }
  [[nodiscard]] std::uint64_t last_news(std::uint32_t process, std::uint32_t partner,
                                        std::uint64_t time) const {
    const auto found = deliveries_.find({process, partner});
    if (found == deliveries_.end()) return 0;
    const auto after =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const Delivery& one) { return one.arrived <= time; });
    return after == found->second.begin() ? 0 : (after - 1)->sent;
  }

  /// What clocks say replaces the stamps of the calls of a process, beside messages of a partner.
  void read_clocks(const Name& name, std::uint32_t partner, CallRow& row) const {
    const OwnCalls& own = own_.at(name);
    const trace::RecordedClocks clocks(trace_, places_.locations(name.second));
    for (std::size_t k = 0; k < row.traits.size(); ++k) {
      const trace::RecordedClock& clock = clocks[own.locations[k]];
      const Trait& stamped = own.row.traits[k];
      if (stamped.stay != trace::RecordedClock::k_unknown) {
        row.traits[k].news =
            last_news(name.second, partner, clock.time(stamped.time - stamped.stay));
      }
      row.traits[k].doubt = clock.doubt(own.row.traits[k].time);
      row.traits[k].time = clock.time(own.row.traits[k].time);
    }
  }

  /// Stands for all that calls of one instance have in common.
  [[nodiscard]] std::uint32_t symbol_of(const Outline& outline, const Outline::Column& column,
                                        const trace::Event& end) const {
    std::uint32_t root = k_none;
    // The groups of an inter-communicator name a root in different ways.
    if (has_root(end.op) && !comm_of(column.space).inter) {
      root = root_of(outline.process, column.space, end.peer);
    }
    const std::uint64_t size = column.space < comms_ && is_uniform(end.op) ? end.tag : 0;
    const bool blocking = end.kind != trace::EventKind::nb_complete;
    const std::uint64_t what = std::uint64_t{end.op} | (blocking ? 0x100U : 0U);
    return static_cast<std::uint32_t>(mix(mix(what << 32 | root) + size));
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t process, SpaceIndex space,
                                      std::uint32_t stored) const {
    if (stored == trace::k_root_self) return process;
    if (stored == trace::k_root_this_group) return k_none - 1;
    return process_at(trace_.definitions, comm_of(space), 0, stored);
  }

  /// Finds out whose calls each caller's are coupled with. Collective.
  void find_links() {
    std::vector<CallerCount> counts;
    for (const auto& [name, own] : own_) {
      counts.push_back(
          {name.first, name.second, static_cast<std::uint32_t>(own.row.traits.size())});
    }
    std::map<SpaceIndex, CallCounts> callers;
    for (const CallerCount& count : gather_everywhere(share_.team, counts)) {
      callers[count.space][count.process] = count.calls;
    }
    std::vector<MessageCount> with;
    for (const auto& [process, around] : around_) {
      if (!around.conduct().firm) continue;
      for (const auto& [partner, messages] : around.messages()) {
        with.push_back({process, partner, messages});
      }
    }
    MessageCounts messages;
    for (const MessageCount& count : gather_everywhere(share_.team, with)) {
      messages[count.process][count.partner] = count.messages;
    }
    const MessageCounts nothing;
    for (const auto& [space, counted] : callers) {
      links_[space] = lead_to_reference(counted, only_gaps(space) ? nothing : messages,
                                        references_[space].process);
    }
  }

  [[nodiscard]] bool owns(std::uint32_t process) const {
    return places_.owner(process) == share_.team.rank();
  }
  /// Calls `use(space, process, link)` for all callers but the references.
  template <class Use>
  void for_links(Use use) const {
    for (const auto& [space, links] : links_) {
      for (const auto& [process, link] : links) {
        if (link.hops > 0) use(space, process, link);
      }
    }
  }

  /// Sends rows to those who couple with them. Collective.
  void exchange_rows() {
    std::vector<RowParcel> parcels(share_.team.size());
    for_links([&](SpaceIndex space, std::uint32_t process, const CallLink& link) {
      if (!owns(link.next)) return;
      const OwnCalls& own = own_.at({space, link.next});
      CallRow row = around_.at(link.next).beside(process, own.row, own.unlisted);
      read_clocks({space, link.next}, process, row);
      RowParcel& parcel = parcels[places_.owner(process)];
      parcel.heads.push_back({.space = space,
                              .process = link.next,
                              .partner = process,
                              .calls = static_cast<std::uint32_t>(row.traits.size()),
                              .unlisted = static_cast<std::uint32_t>(row.unlisted.size()),
                              .stops = static_cast<std::uint32_t>(row.stops.size()),
                              .messages = row.messages,
                              .kinds = row.kinds,
                              .trust = row.trust,
                              .ahead_of_gaps = row.ahead_of_gaps,
                              .ends_in_gap = row.ends_in_gap});
      parcel.traits.insert(parcel.traits.end(), row.traits.begin(), row.traits.end());
      parcel.unlisted.insert(parcel.unlisted.end(), row.unlisted.begin(), row.unlisted.end());
      parcel.stops.insert(parcel.stops.end(), row.stops.begin(), row.stops.end());
    });
    exchange_part(share_.team, parcels, &RowParcel::heads);
    exchange_part(share_.team, parcels, &RowParcel::traits);
    exchange_part(share_.team, parcels, &RowParcel::unlisted);
    exchange_part(share_.team, parcels, &RowParcel::stops);
    for (const RowParcel& parcel : parcels) unpack(parcel);
  }
  void unpack(const RowParcel& parcel) {
    auto trait = parcel.traits.begin();
    auto unlisted = parcel.unlisted.begin();
    auto stop = parcel.stops.begin();
    for (const RowHead& head : parcel.heads) {
      CallRow& row = others_[{head.space, head.partner}];
      row = {.traits = {trait, trait + head.calls},
             .unlisted = {unlisted, unlisted + head.unlisted},
             .stops = {stop, stop + head.stops},
             .messages = head.messages,
             .kinds = head.kinds,
             .trust = head.trust,
             .ahead_of_gaps = head.ahead_of_gaps,
             .ends_in_gap = head.ends_in_gap};
      trait += head.calls;
      unlisted += head.unlisted;
      stop += head.stops;
    }
  }

  /// Numbers the calls of references as they are, and those of others as what they couple with.
  void couple() {
    for (auto& [name, own] : own_) {
      const CallLink& link = links_.at(name.first).at(name.second);
      if (link.hops == 0) {
        std::iota(own.numbers.begin(), own.numbers.end(), 0u);
        continue;
      }
      const CallRow& other = others_.at(name);
      CallRow row = around_.at(name.second).beside(link.next, own.row, own.unlisted);
      read_clocks(name, link.next, row);
      Alignment aligned;
      if (only_gaps(name.first)) {
        const std::uint32_t whole = whole_calls(other, row);
        aligned = align_rows(other.row(whole), row.row(whole));
      } else {
        aligned = couple_calls(other, row);
        give_up_odd_calls(other.row(0), row.row(0), aligned);
      }
      for (const Alignment::Couple& couple : aligned.couples) {
        own.numbers[couple.receive] = couple.send;
      }
      unmatched_.ambiguous_calls += aligned.ambiguous;
      unmatched_.calls_in_gaps += aligned.sends_in_gaps + aligned.receives_in_gaps;
    }
  }

  /// Replaces the numbers of these callers, which are among the calls of the next process, by those
  /// of the reference's calls, which that process knows. Collective.
  void follow(std::span<const Follower> followers) {
    std::vector<NumbersParcel> parcels(share_.team.size());
    std::set<std::pair<Name, std::uint32_t>> sent;
    for (const auto& [space, process, next] : followers) {
      const std::uint32_t owner = places_.owner(process);
      if (!owns(next) || !sent.insert({{space, next}, owner}).second) continue;
      const std::vector<std::uint32_t>& numbers = own_.at({space, next}).numbers;
      parcels[owner].heads.push_back({space, next, static_cast<std::uint32_t>(numbers.size())});
      parcels[owner].numbers.insert(parcels[owner].numbers.end(), numbers.begin(), numbers.end());
    }
    exchange_part(share_.team, parcels, &NumbersParcel::heads);
    exchange_part(share_.team, parcels, &NumbersParcel::numbers);
    std::map<Name, std::span<const std::uint32_t>> numbers;
    for (const NumbersParcel& parcel : parcels) {
      std::span<const std::uint32_t> rest = parcel.numbers;
      for (const NumbersHead& head : parcel.heads) {
        numbers[{head.space, head.process}] = rest.first(head.calls);
        rest = rest.subspan(head.calls);
      }
    }
    for (const auto& [space, process, next] : followers) {
      if (!owns(process)) continue;
      const std::span<const std::uint32_t> of_next = numbers.at({space, next});
      for (std::uint32_t& number : own_.at({space, process}).numbers) {
        if (number != k_none) number = of_next[number];
      }
    }
  }

  /// Gives the calls of a process their numbers.
  void number(Outline& outline) {
    std::vector<std::uint32_t> next(outline.columns.size(), 0);
    for (Outline::Call& call : outline.calls) {
      const Outline::Column& column = outline.columns[call.column];
      if (!is_aligned(column)) continue;
      call.order = own_.at({column.space, outline.process})
                       .numbers[column.disordered ? call.order : next[call.column]++];
      if (call.order == k_none) ++unmatched_.collectives_incomplete;
    }
    for (Outline::Column& column : outline.columns) {
      if (!is_aligned(column)) continue;
      const std::vector<std::uint32_t>& numbers = own_.at({column.space, outline.process}).numbers;
      const bool calls = std::any_of(numbers.begin(), numbers.end(),
                                     [](std::uint32_t number) { return number != k_none; });
      column.disordered = true;
      column.count = calls ? references_[column.space].calls : 0;
      callers_[column.space] += calls ? 1 : 0;
    }
  }

  /// The leading calls of both sides of which none is missing.
  static std::uint32_t whole_calls(const CallRow& a, const CallRow& b) {
    const std::uint32_t ahead = std::min(a.ahead_of_gaps, b.ahead_of_gaps);
    const bool alike =
        std::equal(a.traits.begin(), a.traits.begin() + ahead, b.traits.begin(),
                   [](const Trait& x, const Trait& y) { return x.symbol == y.symbol; });
    return alike ? ahead : 0;
  }

  const GapTable& gaps_;
  const trace::Share& share_;
  const trace::Trace& trace_;
  const Places& places_;
  const SpaceIndex comms_, spaces_;  ///< their number; windows follow communicators
  const bool only_windows_;
  const bool only_gaps_, only_gaps_on_windows_;  ///< calls are missing in gaps only
  std::span<Outline> outlines_;
  std::map<std::uint32_t, Conduct>& conducts_;
  Deliveries& deliveries_;
  Unmatched& unmatched_;
  LeftOut counted_before_;
  Outliner outliner_;
  std::vector<SpaceCounts::Reference> references_;  ///< by space, until they are aligned
  std::map<std::uint32_t, Surroundings> around_;    ///< by process of this member that calls
  std::map<Name, OwnCalls> own_;                    ///< of these
  std::map<SpaceIndex, std::map<std::uint32_t, CallLink>> links_;  ///< of all callers
  std::map<Name, CallRow> others_;     ///< by caller of this member: what it couples with
  std::vector<std::int64_t> callers_;  ///< by space: processes that have calls left
};

}  // namespace

void align_calls(const CallAlignment& to, std::span<Outline> outlines, Unmatched& unmatched) {
  CallAligner(to, outlines, unmatched).run(to.spaces);
}

}  // namespace entrain::verify
