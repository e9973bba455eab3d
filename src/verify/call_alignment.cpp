// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_alignment.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "verify/alignment.hpp"
#include "verify/call_order.hpp"
#include "verify/exchange_part.hpp"
#include "verify/traits.hpp"

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

/// When a process posted its messages, by partner. Those without a record count with the next one.
class MessageStamps {
 public:
  MessageStamps(const GapTable& gaps, Outline&& messages) : of_(gaps.places().process_count()) {
    for (const PostedMessage& message : posted_messages(gaps, std::move(messages))) {
      of_[message.partner].push_back({message.stamp, message.weight});
    }
    for (std::vector<Posted>& all : of_) {
      std::sort(all.begin(), all.end(),
                [](const Posted& a, const Posted& b) { return a.stamp < b.stamp; });
      for (std::size_t k = 1; k < all.size(); ++k) all[k].count += all[k - 1].count;
    }
  }

  [[nodiscard]] bool any(std::uint32_t partner) const { return !of_[partner].empty(); }
  /// Number of messages up to a stamp.
  [[nodiscard]] std::uint32_t until(std::uint32_t partner, std::uint64_t time) const {
    const auto& all = of_[partner];
    const auto later = std::partition_point(
        all.begin(), all.end(), [&](const Posted& posted) { return posted.stamp <= time; });
    return later == all.begin() ? 0 : (later - 1)->count;
  }

 private:
  struct Posted {
    std::uint64_t stamp = 0;
    std::uint32_t count = 0;  ///< up to here
  };
  std::vector<std::vector<Posted>> of_;
};

/// The calls of a reference, as they travel: to all members.
struct ReferenceHead {
  SpaceIndex space = k_none;
  std::uint32_t count = 0;
  std::uint32_t ahead_of_gaps = 0;
  bool ends_in_gap = false;
};
struct ReferenceParcel {
  std::vector<ReferenceHead> heads;
  std::vector<Trait> traits;
};

/// The positions of a reference's calls among its messages with one process, which they travel to.
struct PositionsHead {
  SpaceIndex space = k_none;
  std::uint32_t partner = k_none;
  std::uint32_t count = 0;
};
struct PositionsParcel {
  std::vector<PositionsHead> heads;
  std::vector<std::uint32_t> positions;
};

/// A row that owns its traits.
struct Calls {
  std::vector<Trait> traits;
  std::uint32_t ahead_of_gaps = 0;
  bool ends_in_gap = false;

  /// `whole`: leading calls among which none is missing.
  [[nodiscard]] Row row(std::uint32_t whole) const {
    return {.traits = traits,
            .position = traits.empty() ? 0 : traits.back().position,
            .ends_in_gap = ends_in_gap,
            .whole = whole};
  }
};

class CallAligner {
 public:
  CallAligner(const CallAlignment& to, std::span<Outline> outlines, Unmatched& unmatched)
      : gaps_(to.gaps),
        share_(gaps_.share()),
        trace_(share_.trace),
        places_(gaps_.places()),
        only_gaps_(to.only_gaps && agree_without_gaps(outlines)),
        outlines_(outlines),
        unmatched_(unmatched),
        outliner_(trace_, places_, Scope::messages, counted_before_),
        sent_references_(share_.team.size()),
        sent_positions_(share_.team.size()) {}

  void run(SpaceCounts& spaces) {
    references_.resize(trace_.definitions.comms.size());
    calls_.resize(references_.size());
    for (const SpaceCounts::Reference& reference : spaces.references(share_.team)) {
      if (reference.space >= references_.size()) continue;
      if (trace_.definitions.comms[reference.space].inter) continue;
      references_[reference.space] = reference;
    }
    for (Outline& outline : outlines_) send_references(outline);
    receive_references();
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
  /// True if the processes without gaps call alike on every communicator. Collective.
  [[nodiscard]] bool agree_without_gaps(std::span<const Outline> outlines) const {
    const trace::Definitions& definitions = trace_.definitions;
    const SpaceCounts whole(share_.team, definitions, outlines,
                            [&](std::uint32_t process) { return !gaps_.has(process); });
    return !whole.unequal(share_.team, definitions);
  }

  /// True if the calls of a column are to be aligned.
  [[nodiscard]] bool is_aligned(const Outline::Column& column) const {
    return column.space < references_.size() && references_[column.space].process != k_none;
  }

  /// The traits of the calls of a process, per column, in order.
  std::vector<Calls> calls_of(const Outline& outline) const {
    std::vector<Calls> columns(outline.columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].traits.resize(outline.columns[c].count);
    }
    for_ordered_calls(trace_, places_, outline,
                      [&](const Outline::Call& call, std::uint32_t ordinal, const auto& end) {
                        Trait& trait = columns[call.column].traits[ordinal];
                        trait.time = end.time;
                        trait.symbol = symbol_of(outline, outline.columns[call.column], end);
                      });
    const ProcessGaps gaps = gaps_.of(outline.process);
    for (Calls& calls : columns) {
      calls.ends_in_gap = gaps.mark(calls.traits);
      calls.ahead_of_gaps = gaps.ahead(calls.traits);
    }
    return columns;
  }

  /// Stands for all that calls of one instance have in common.
  [[nodiscard]] std::uint32_t symbol_of(const Outline& outline, const Outline::Column& column,
                                        const trace::Event& end) const {
    std::uint32_t root = k_none;
    if (has_root(end.op)) root = root_of(outline.process, column.space, end.peer);
    const std::uint64_t size = is_uniform(end.op) ? end.tag : 0;
    const bool blocking = end.kind != trace::EventKind::nb_complete;
    const std::uint64_t what = std::uint64_t{end.op} | (blocking ? 0x100U : 0U);
    return static_cast<std::uint32_t>(mix(mix(what << 32 | root) + size));
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t process, SpaceIndex space,
                                      std::uint32_t stored) const {
    if (stored == trace::k_root_self) return process;
    if (stored == trace::k_root_this_group) return k_none - 1;
    if (space >= trace_.definitions.comms.size()) return k_none;  // windows are not aligned
    return process_at(trace_.definitions, trace_.definitions.comms[space], 0, stored);
  }

  void send_references(const Outline& outline) {
    const auto is_reference = [&](const Outline::Column& column) {
      return is_aligned(column) && references_[column.space].process == outline.process;
    };
    if (std::none_of(outline.columns.begin(), outline.columns.end(), is_reference)) return;
    const std::vector<Calls> columns = calls_of(outline);
    const MessageStamps messages(gaps_, outliner_.outline(outline.process));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Outline::Column& column = outline.columns[c];
      if (!is_reference(column)) continue;
      const std::vector<Trait>& traits = columns[c].traits;
      for (ReferenceParcel& parcel : sent_references_) {
        parcel.heads.push_back({.space = column.space,
                                .count = column.count,
                                .ahead_of_gaps = columns[c].ahead_of_gaps,
                                .ends_in_gap = columns[c].ends_in_gap});
        parcel.traits.insert(parcel.traits.end(), traits.begin(), traits.end());
      }
      for (std::uint32_t partner = 0; partner < places_.process_count(); ++partner) {
        if (!messages.any(partner)) continue;
        PositionsParcel& parcel = sent_positions_[places_.owner(partner)];
        parcel.heads.push_back({column.space, partner, column.count});
        for (const Trait& trait : traits) {
          parcel.positions.push_back(messages.until(partner, trait.time));
        }
      }
    }
  }

  void receive_references() {
    exchange_part(share_.team, sent_references_, &ReferenceParcel::heads);
    exchange_part(share_.team, sent_references_, &ReferenceParcel::traits);
    exchange_part(share_.team, sent_positions_, &PositionsParcel::heads);
    exchange_part(share_.team, sent_positions_, &PositionsParcel::positions);
    for (const ReferenceParcel& parcel : sent_references_) {
      auto trait = parcel.traits.begin();
      for (const ReferenceHead& head : parcel.heads) {
        calls_[head.space].traits.assign(trait, trait + head.count);
        calls_[head.space].ahead_of_gaps = head.ahead_of_gaps;
        calls_[head.space].ends_in_gap = head.ends_in_gap;
        trait += head.count;
      }
    }
    for (const PositionsParcel& parcel : sent_positions_) {
      const std::uint32_t* first = parcel.positions.data();
      for (const PositionsHead& head : parcel.heads) {
        *positions_.insert(std::uint64_t{head.space} << 32 | head.partner, nullptr).first = first;
        first += head.count;
      }
    }
  }

  /// Gives the calls of a process their numbers.
  void number(Outline& outline) {
    if (std::none_of(outline.columns.begin(), outline.columns.end(),
                     [&](const Outline::Column& column) { return is_aligned(column); })) {
      return;
    }
    std::vector<Calls> columns = calls_of(outline);
    const MessageStamps messages(gaps_, outliner_.outline(outline.process));
    std::vector<std::vector<std::uint32_t>> numbers(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (is_aligned(outline.columns[c])) {
        numbers[c] = numbers_of(outline.process, outline.columns[c], columns[c], messages);
      }
    }
    std::vector<std::uint32_t> next(columns.size(), 0);
    for (Outline::Call& call : outline.calls) {
      const Outline::Column& column = outline.columns[call.column];
      if (!is_aligned(column)) continue;
      call.order = numbers[call.column][column.disordered ? call.order : next[call.column]++];
      if (call.order == k_none) ++unmatched_.collectives_incomplete;
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Outline::Column& column = outline.columns[c];
      if (!is_aligned(column)) continue;
      const bool calls = std::any_of(numbers[c].begin(), numbers[c].end(),
                                     [](std::uint32_t number) { return number != k_none; });
      column.disordered = true;
      column.count = calls ? references_[column.space].calls : 0;
      callers_[column.space] += calls ? 1 : 0;
    }
  }

  /// The numbers of the calls in a column.
  std::vector<std::uint32_t> numbers_of(std::uint32_t process, const Outline::Column& column,
                                        Calls& calls, const MessageStamps& messages) {
    const std::uint32_t reference_process = references_[column.space].process;
    std::vector<std::uint32_t> numbers(column.count, k_none);
    if (process == reference_process) {
      for (std::uint32_t k = 0; k < column.count; ++k) numbers[k] = k;
      return numbers;
    }
    Calls reference = calls_[column.space];
    const auto* positions = positions_.find(std::uint64_t{column.space} << 32 | process);
    if (positions != nullptr) {
      for (std::size_t k = 0; k < reference.traits.size(); ++k) {
        reference.traits[k].position = (*positions)[k];
      }
      for (Trait& trait : calls.traits) {
        trait.position = messages.until(reference_process, trait.time);
      }
    }
    const std::uint32_t whole = only_gaps_ ? whole_calls(reference, calls) : 0;
    const Alignment aligned = align_rows(reference.row(whole), calls.row(whole));
    for (const Alignment::Couple& couple : aligned.couples) numbers[couple.receive] = couple.send;
    unmatched_.ambiguous_calls += aligned.ambiguous;
    unmatched_.calls_in_gaps += aligned.sends_in_gaps + aligned.receives_in_gaps;
    return numbers;
  }

  /// The leading calls of both sides of which none is missing.
  static std::uint32_t whole_calls(const Calls& a, const Calls& b) {
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
  const bool only_gaps_;  ///< calls are missing in gaps only
  std::span<Outline> outlines_;
  Unmatched& unmatched_;
  LeftOut counted_before_;
  Outliner outliner_;
  std::vector<SpaceCounts::Reference> references_;  ///< by communicator, until they are aligned
  std::vector<Calls> calls_;                        ///< of the references, by communicator
  std::vector<std::int64_t> callers_;  ///< by communicator: processes that have calls left
  std::vector<ReferenceParcel> sent_references_;  ///< by member
  std::vector<PositionsParcel> sent_positions_;   ///< by member
  /// By communicator and process; they point into the parcels.
  FlatMap<std::uint64_t, const std::uint32_t*, IntegerHash> positions_;
};

}  // namespace

void align_calls(const CallAlignment& to, std::span<Outline> outlines, Unmatched& unmatched) {
  CallAligner(to, outlines, unmatched).run(to.spaces);
}

}  // namespace entrain::verify
