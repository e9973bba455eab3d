// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/disjoint_sets.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/sequences.hpp"

namespace entrain::kineto {
namespace {

constexpr std::int64_t k_spread = Threshold::end_spread_ns;

/// Sender and receiver of a message; a call names the other one, or both.
struct Direction {
  std::uint32_t from = k_no_rank, to = k_no_rank;
};
Direction direction_of(const Call& call, std::uint32_t own) {
  return {.from = call.from != k_no_rank ? call.from : own,
          .to = call.to != k_no_rank ? call.to : own};
}

/// A call without a partner in the reference sequence.
struct Leftover : Member {
  std::int64_t end = 0;  ///< time by the reference clock, ns
};

/// The calls of one group of ranks.
struct Group {
  bool ends_coincide = true;
  std::map<std::uint32_t, Sequence> sequences;  ///< key: file
  std::uint32_t reference = 0;           ///< file of the longest sequence; the others align with it
  std::vector<Instance> instances;       ///< one per call of the reference, then of leftovers
  std::vector<std::uint32_t> unaligned;  ///< files
  /// Offsets at which the calls of a file fit, of those with a strong candidate.
  std::map<std::uint32_t, std::vector<std::int64_t>> ambiguous;
  std::vector<Leftover> leftovers;
};

class Matcher {
 public:
  explicit Matcher(const std::vector<RankFile>& files) : files_(files) {
    for (std::uint32_t f = 0; f < files.size(); ++f) file_of_rank_[files[f].rank] = f;
  }

  Matches run() {
    group_calls();
    match_numbers();
    for (auto& [name, group] : groups_) {
      begin(group);
      if (group.ends_coincide) align(group);
    }
    index_instances();
    for (auto& [name, group] : groups_) {
      if (group.ends_coincide) align_by_known_offsets(group);
    }
    for (auto& [name, group] : groups_) {
      if (!group.ends_coincide) align(group);
    }
    for (auto& [name, group] : groups_) finish(group);
    note_apart();
    return std::move(result_);
  }

 private:
  void group_calls() {
    for (std::uint32_t f = 0; f < files_.size(); ++f) {
      for (std::uint32_t c = 0; c < files_[f].calls.size(); ++c) {
        const Call& call = files_[f].calls[c];
        if (call.operation == Operation::send_receive) {
          add_message(f, c);
        } else if (call.operation == Operation::other ||
                   (!synchronises(call.operation) && call.root == k_no_rank)) {
          ++result_.without_edges;
        } else if (call.number != 0) {
          numbered_.push_back({call.number, {f, c}});
        } else if (synchronises(call.operation)) {
          add_to_group(call.group, true, f, c);
        } else {  // ends need not coincide: groups of their own, aligned last
          add_to_group(fmt::format("{} {}", name_of(call.operation), call.group), false, f, c);
        }
      }
    }
  }

  /// Each direction between two ranks of a group is a sequence of its own. "Seq" is ignored: a rank
  /// counts its sends and receives together.
  void add_message(std::uint32_t f, std::uint32_t c) {
    const Call& call = files_[f].calls[c];
    const auto [from, to] = direction_of(call, files_[f].rank);
    if (from == to || (from != files_[f].rank && to != files_[f].rank)) {
      ++result_.without_edges;
      return;
    }
    add_to_group(fmt::format("from {} to {} in {}", from, to, call.group), false, f, c);
  }

  void add_to_group(const std::string& name, bool ends_coincide, std::uint32_t f, std::uint32_t c) {
    Group& group = groups_[name];
    group.ends_coincide = ends_coincide;
    Sequence& sequence = group.sequences[f];
    sequence.file = &files_[f];
    sequence.calls.push_back(c);
  }

  void add(Instance instance) {
    const std::vector<Member>& members = instance.members;
    const Call& first = call_of(files_, members.front());
    instance.operation = first.operation;
    bool zero = false, one_root = true, one_size = true;
    std::uint64_t size = 0;
    for (const Member& one : members) {
      const Call& call = call_of(files_, one);
      zero |= call.zero_splits;
      one_root &= call.root == first.root;
      one_size &= size == 0 || call.size == 0 || call.size == size;
      size = call.size != 0 ? call.size : size;
      const std::uint32_t own = files_[one.file].rank;
      if (call.operation == Operation::send_receive && direction_of(call, own).from == own) {
        instance.root = one.file;
      }
    }
    if (members.size() < 2) {
      ++result_.alone;
    } else if (!one_size) {
      result_.ambiguous += members.size();  // each is like the first one, of unknown size
    } else if (zero) {
      result_.zero_splits += members.size();
    } else if (first.root != k_no_rank && !(one_root && find_root(first.root, instance))) {
      result_.without_edges += members.size();  // "Rank" may be that of each member itself
    } else {
      result_.instances.push_back(std::move(instance));
    }
  }
  /// Returns false if the root is no member of the instance.
  bool find_root(std::uint32_t rank, Instance& instance) const {
    const auto file = file_of_rank_.find(rank);
    if (file == file_of_rank_.end()) return false;
    instance.root = file->second;
    return instance.of(instance.root) != nullptr;
  }

  /// Pairs calls of one number. They must be one per rank, of one group, operation and size.
  void match_numbers() {
    std::sort(numbered_.begin(), numbered_.end());
    std::vector<Instance> found;
    for (std::size_t first = 0, last = 0; first < numbered_.size(); first = last) {
      Instance& instance = found.emplace_back();
      for (; last < numbered_.size() && numbered_[last].first == numbered_[first].first; ++last) {
        instance.members.push_back(numbered_[last].second);
      }
    }
    const auto position = [](const Instance& one) { return one.members.front(); };
    std::ranges::sort(found, {}, position);
    for (Instance& instance : found) {
      const Call& first = call_of(files_, instance.members.front());
      const bool agree = std::ranges::adjacent_find(instance.members, {}, &Member::file) ==
                             instance.members.end() &&
                         std::ranges::all_of(instance.members, [&](const Member& one) {
                           const Call& call = call_of(files_, one);
                           return call.group == first.group && alike(call, first);
                         });
      if (agree) {
        add(std::move(instance));
      } else {
        result_.ambiguous += instance.members.size();
      }
    }
  }

  /// Sorts the calls by their ends, and makes the longest sequence the reference.
  void begin(Group& group) const {
    for (auto& [f, sequence] : group.sequences) {
      Sequence& own = sequence;  // clang 14 and 15 capture no structured bindings
      std::ranges::stable_sort(own.calls, {}, [&](std::uint32_t call) { return own.end_of(call); });
    }
    const auto longest = std::ranges::max_element(
        group.sequences, {}, [](const auto& one) { return one.second.size(); });
    group.reference = longest->first;
    const Sequence& reference = longest->second;
    for (const std::uint32_t call : reference.calls) {
      group.instances.push_back({.members = {{group.reference, call}}});
    }
    for (const auto& [f, own] : group.sequences) {
      if (f != group.reference) group.unaligned.push_back(f);
    }
  }

  /// Aligns the sequences that have one plausible alignment. Where ends need not coincide, that
  /// they do counts only if it is confirmed.
  void align(Group& group) {
    const Sequence& reference = group.sequences[group.reference];
    std::erase_if(group.unaligned, [&](std::uint32_t f) {
      AlignmentResult result = align_sequences(group.sequences[f], reference, group.ends_coincide);
      if (!result.offsets.empty()) group.ambiguous[f] = std::move(result.offsets);
      if (!result.alignment) return false;
      if (!group.ends_coincide && !is_confirmed(group, f, *result.alignment)) return false;
      apply(group, f, *result.alignment);
      return true;
    });
  }

  /// True if the known offsets agree, or, without any, if no call is lost.
  bool is_confirmed(Group& group, std::uint32_t f, const Alignment& alignment) const {
    const std::vector<KnownOffset> known = known_offsets(f, group.reference);
    if (known.empty()) return alignment.covers_one && alignment.lost == 0;
    const std::vector<KnownOffset> offsets =
        offsets_of(group.sequences[f], group.sequences[group.reference], alignment);
    return std::ranges::all_of(offsets, [&](const KnownOffset& one) {
      const NearOffset near = offset_near(known, one.time);
      return std::abs(one.offset - near.offset) <= end_tolerance_at(near.distance);
    });
  }

  /// Aligns the remaining sequences by the offsets that calls of other groups show.
  void align_by_known_offsets(Group& group) {
    const Sequence& reference = group.sequences[group.reference];
    std::erase_if(group.unaligned, [&](std::uint32_t f) {
      const std::vector<KnownOffset> known = known_offsets(f, group.reference);
      if (known.empty()) return false;
      apply(group, f, align_by_offsets(group.sequences[f], reference, known));
      return true;
    });
  }

  /// Adds the calls of file f to the instances of their partners.
  void apply(Group& group, std::uint32_t f, const Alignment& alignment) {
    const Sequence& own = group.sequences[f];
    const Sequence& reference = group.sequences[group.reference];
    const std::vector<std::uint32_t>& partner = alignment.partner;
    const std::vector<KnownOffset> known = offsets_of(own, reference, alignment);
    for (const std::size_t i : paired_calls(alignment)) {
      group.instances[partner[i]].insert({f, own.calls[i]});
    }
    for (const OpenEnd& end : open_ends_of(own, reference, alignment)) {
      if (!group.ends_coincide || end.common < Threshold::least_open) continue;
      result_.apart.push_back({.file = f,
                               .other = group.reference,
                               .offsets = {},
                               .calls = end.common,
                               .is_head = end.is_head});
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (is_partner(partner[i])) continue;
      if (partner[i] == k_several_partners || known.empty()) {
        ++result_.ambiguous;
      } else {
        const std::int64_t offset = offset_near(known, own.end(i)).offset;
        group.leftovers.push_back({{f, own.calls[i]}, own.end(i) - offset});
      }
    }
  }

  /// Pairs leftovers that end together, if nothing else is near: the reference lost this call.
  void pair_leftovers(Group& group) {
    std::vector<Leftover>& all = group.leftovers;
    std::ranges::stable_sort(all, {}, &Leftover::end);
    const auto is_near = [&](std::size_t k) { return all[k].end - all[k - 1].end <= 2 * k_spread; };
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      for (last = first + 1; last < all.size() && is_near(last);) ++last;
      const std::span<const Leftover> together(&all[first], last - first);
      if (group.ends_coincide && are_one_call(group, together)) {
        Instance& instance = group.instances.emplace_back();
        for (const Leftover& one : together) instance.insert(one);
      } else {
        result_.alone += together.size();
      }
    }
  }

  [[nodiscard]] bool are_one_call(Group& group, std::span<const Leftover> together) const {
    if (together.back().end - together.front().end > k_spread) return false;
    std::set<std::uint32_t> ranks;
    for (const Leftover& one : together) {
      if (!alike(call_of(files_, one), call_of(files_, together.front()))) return false;
      if (!ranks.insert(one.file).second) return false;
    }
    const Sequence& reference = group.sequences[group.reference];
    const auto end = [&](std::uint32_t call) { return reference.end_of(call); };
    const auto near =
        std::ranges::lower_bound(reference.calls, together.front().end - 2 * k_spread, {}, end);
    return near == reference.calls.end() || end(*near) > together.back().end + 2 * k_spread;
  }

  void finish(Group& group) {
    pair_leftovers(group);
    for (const std::uint32_t f : group.unaligned) {
      const bool is_ambiguous = group.ambiguous.count(f) > 0;
      (is_ambiguous ? result_.ambiguous : result_.alone) += group.sequences[f].size();
    }
    for (const Instance& instance : group.instances) add(instance);
  }

  /// Notes files of common groups between which nothing was paired, directly or by way of others.
  void note_apart() {
    DisjointSets tied = tied_files();
    std::map<std::uint32_t, ApartFile> apart;
    std::map<std::string_view, std::set<std::uint32_t>> files_of_groups;
    for (std::uint32_t f = 0; f < files_.size(); ++f) {
      for (const Call& call : files_[f].calls) {
        if (call.operation != Operation::other) files_of_groups[call.group].insert(f);
      }
    }
    for (const auto& [name, files] : files_of_groups) {
      const std::uint32_t reference = of_most(tied, files);
      const auto group = groups_.find(std::string(name));
      for (const std::uint32_t f : files) {
        if (tied.find(f) == tied.find(reference)) continue;
        ApartFile& own = apart.try_emplace(f, ApartFile{f, reference, {}}).first->second;
        if (group == groups_.end()) continue;
        const auto several = group->second.ambiguous.find(f);
        if (several == group->second.ambiguous.end() ||
            own.offsets.size() >= several->second.size()) {
          continue;
        }
        own = {f, group->second.reference, several->second};
      }
    }
    for (auto& [f, own] : apart) result_.apart.push_back(std::move(own));
  }

  [[nodiscard]] DisjointSets tied_files() const {
    DisjointSets tied(static_cast<std::uint32_t>(files_.size()));
    for (const Instance& instance : result_.instances) {
      for (const Member& one : instance.members) tied.join(instance.members.front().file, one.file);
    }
    return tied;
  }

  /// The first of those of the files that most of them are tied to.
  static std::uint32_t of_most(DisjointSets& tied, const std::set<std::uint32_t>& files) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t f : files) ++counts[tied.find(f)];
    return *std::max_element(files.begin(), files.end(), [&](std::uint32_t a, std::uint32_t b) {
      return counts[tied.find(a)] < counts[tied.find(b)];
    });
  }

  /// Lists the instances whose ends coincide, per file.
  void index_instances() {
    instances_.resize(files_.size());
    const auto add_to_files = [&](const Instance& instance) {
      for (const Member& one : instance.members) instances_[one.file].push_back(&instance);
    };
    for (const Instance& one : result_.instances) {
      if (synchronises(one.operation)) add_to_files(one);
    }
    for (const auto& [name, group] : groups_) {
      if (!group.ends_coincide) continue;
      for (const Instance& one : group.instances) add_to_files(one);
    }
  }

  /// Offsets of the clock of a file to that of another one, from calls of both.
  [[nodiscard]] std::vector<KnownOffset> known_offsets(std::uint32_t f, std::uint32_t other) const {
    std::vector<KnownOffset> known;
    for (const Instance* instance : instances_[f]) {
      const Member* const there = instance->of(other);
      if (there == nullptr) continue;
      const auto end = static_cast<std::int64_t>(call_of(files_, *instance->of(f)).end);
      known.push_back({end, end - static_cast<std::int64_t>(call_of(files_, *there).end)});
    }
    std::ranges::sort(known, {},
                      [](const KnownOffset& one) { return std::pair(one.time, one.offset); });
    return known;
  }

  const std::vector<RankFile>& files_;
  std::map<std::uint32_t, std::uint32_t> file_of_rank_;
  std::vector<std::pair<std::uint64_t, Member>> numbered_;  ///< calls with their numbers
  std::map<std::string, Group> groups_;
  std::vector<std::vector<const Instance*>> instances_;  ///< index: file
  Matches result_;
};

/// The calls of a file as they are once it is written with maps. Times before 1970 become 0.
RankFile moved(const RankFile& file, std::span<const ClockMap> maps) {
  RankFile result;
  result.rank = file.rank;
  result.calls = file.calls;
  for (Call& call : result.calls) {
    for (std::uint64_t* const time : {&call.begin, &call.end}) {
      *time = static_cast<std::uint64_t>(std::max<std::int64_t>(0, maps[call.clock](*time)));
    }
  }
  sort_calls(result);
  return result;
}

}  // namespace

Matches match_calls(const std::vector<RankFile>& files) { return Matcher(files).run(); }

Matches match_calls_after(const std::vector<RankFile>& files, std::span<const ClockMap> maps) {
  std::vector<RankFile> later;
  std::vector<std::vector<std::uint32_t>> order;  // positions of calls by their places in the text
  for (const RankFile& file : files) {
    later.push_back(moved(file, maps_of(file, maps)));
    std::vector<std::uint32_t>& own = order.emplace_back(file.calls.size());
    for (std::uint32_t c = 0; c < own.size(); ++c) own[file.calls[c].place] = c;
  }
  Matches matches = match_calls(later);
  for (Instance& instance : matches.instances) {
    for (auto& [f, call] : instance.members) call = order[f][later[f].calls[call].place];
  }
  return matches;
}

}  // namespace entrain::kineto
