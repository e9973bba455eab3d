// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "chrome/calls.hpp"

namespace entrain::chrome {
namespace {

/// Calls that must agree by their ends before a shift counts for anything.
constexpr std::int64_t k_least_overlap = 3;
/// Ends of one collective coincide: they may differ by this, ns, and by what clocks drift.
constexpr std::int64_t k_spread = 100'000;
constexpr std::int64_t k_drift_divisor = 1000;  // 1,000 ppm: two wall clocks that are both slewed
/// Wall clocks are right to this, ns: a shift that puts them further apart is none, even if it is
/// the only one. Windows of different steps of one loop look alike.
constexpr std::int64_t k_wall = 50'000'000;

using Sequence = std::vector<std::uint32_t>;  ///< positions in RankFile::calls

/// Neither says anything that denies that both are calls of one collective.
bool alike(const Call& a, const Call& b) {
  const auto differ = [](std::uint64_t x, std::uint64_t y) { return x != 0 && y != 0 && x != y; };
  return a.operation == b.operation && !differ(a.size, b.size) && !differ(a.step, b.step);
}

/// Sender and receiver of a message; a call names the other one, or both.
struct Way {
  std::uint32_t from = k_no_rank, to = k_no_rank;
};
Way way_of(const Call& call, std::uint32_t own) {
  return {.from = call.from != k_no_rank ? call.from : own,
          .to = call.to != k_no_rank ? call.to : own};
}

/// True if too few calls fall into the time of the other file, so that none need have partners: the
/// ranks were recorded one after the other, unless their clocks are wrong.
bool may_be_apart(const RankFile& file, const Sequence& sequence, const RankFile& other) {
  const auto inside = std::count_if(sequence.begin(), sequence.end(), [&](std::uint32_t c) {
    return file.calls[c].begin >= other.first && file.calls[c].end <= other.last;
  });
  return inside < k_least_overlap;
}

/// How the k-th call of one sequence lies to call k + shift of another one.
struct Shift {
  std::int64_t shift = 0;
  std::int64_t offset = 0;  ///< by how much its ends are later, ns, at the least
};

class Aligner {
 public:
  Aligner(const RankFile& file, const Sequence& sequence, const RankFile& other,
          const Sequence& others)
      : file_(file), sequence_(sequence), other_(other), others_(others) {}

  /// All shifts under which every call has an equal partner and ends coincide.
  [[nodiscard]] std::vector<Shift> candidates() const {
    std::vector<Shift> found;
    const auto n = static_cast<std::int64_t>(sequence_.size());
    const auto m = static_cast<std::int64_t>(others_.size());
    // Also of a window that fits as a whole, one or two calls are no evidence.
    if (n < k_least_overlap) return found;
    for (std::int64_t shift = k_least_overlap - n; shift <= m - k_least_overlap; ++shift) {
      if (const auto offset = fits(shift)) found.push_back({shift, *offset});
    }
    return found;
  }

  /// The tail of one sequence looks like the head of another one of the same loop: that is no
  /// evidence where the clocks, as they are, say that neither saw the other.
  [[nodiscard]] bool is_doubtful(const Shift& shift) const {
    const auto n = static_cast<std::int64_t>(sequence_.size());
    const auto m = static_cast<std::int64_t>(others_.size());
    const std::int64_t overlap =
        std::min(n, m - shift.shift) - std::max<std::int64_t>(0, -shift.shift);
    return overlap < std::min(n, m) &&
           (may_be_apart(file_, sequence_, other_) || may_be_apart(other_, others_, file_));
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> fits(std::int64_t shift) const {
    const std::int64_t first = std::max<std::int64_t>(0, -shift);
    const std::int64_t last = std::min(static_cast<std::int64_t>(sequence_.size()),
                                       static_cast<std::int64_t>(others_.size()) - shift);
    std::int64_t least = 0, most = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const Call& a = file_.calls[sequence_[static_cast<std::size_t>(k)]];
      const Call& b = other_.calls[others_[static_cast<std::size_t>(k + shift)]];
      if (!alike(a, b)) return std::nullopt;
      const auto distance = static_cast<std::int64_t>(a.end - b.end);
      least = k == first ? distance : std::min(least, distance);
      most = k == first ? distance : std::max(most, distance);
      const std::int64_t span =
          static_cast<std::int64_t>(a.end) -
          static_cast<std::int64_t>(file_.calls[sequence_[static_cast<std::size_t>(first)]].end);
      if (most - least > k_spread + span / k_drift_divisor) return std::nullopt;
    }
    return least;
  }

  const RankFile& file_;
  const Sequence& sequence_;
  const RankFile& other_;
  const Sequence& others_;
};

/// The one shift that can be; none if there is none, or several.
std::optional<Shift> decide(const std::vector<Shift>& candidates) {
  std::optional<Shift> near;
  for (const Shift& one : candidates) {
    if (std::abs(one.offset) > k_wall) continue;
    if (near) return std::nullopt;
    near = one;
  }
  return near;
}

class Matcher {
 public:
  explicit Matcher(const std::vector<RankFile>& files) : files_(files) {
    for (std::uint32_t f = 0; f < files.size(); ++f) file_of_rank_[files[f].rank] = f;
  }

  Matches run() {
    sort_calls();
    for (const auto& [number, calls] : numbered_) match_number(calls);
    for (const auto& [group, sequences] : sequences_) match_sequences(sequences);
    return std::move(result_);
  }

 private:
  using Sequences = std::map<std::uint32_t, Sequence>;  ///< by file

  void sort_calls() {
    for (std::uint32_t f = 0; f < files_.size(); ++f) {
      for (std::uint32_t c = 0; c < files_[f].calls.size(); ++c) {
        const Call& call = files_[f].calls[c];
        if (call.operation == Operation::send_receive) {
          sort_message(f, c);
        } else if (call.operation == Operation::other) {
          ++result_.without_edges;
        } else if (!synchronises(call.operation) && call.root == k_no_rank) {
          ++result_.without_edges;
        } else if (!call.number.empty()) {
          numbered_[call.number][f].push_back(c);
        } else if (synchronises(call.operation)) {
          sequences_[call.group][f].push_back(c);
        } else {  // whose ends need not coincide, so that they do not decide about the others
          sequences_[fmt::format("{} {}", name_of(call.operation), call.group)][f].push_back(c);
        }
      }
    }
  }

  /// Each way between two ranks of a group is a sequence of its own. "Seq" says nothing: each rank
  /// counts its sends and receives together.
  void sort_message(std::uint32_t f, std::uint32_t c) {
    const Call& call = files_[f].calls[c];
    const Way way = way_of(call, files_[f].rank);
    if (way.from == way.to || (way.from != files_[f].rank && way.to != files_[f].rank)) {
      ++result_.without_edges;
      return;
    }
    sequences_[fmt::format("from {} to {} in {}", way.from, way.to, call.group)][f].push_back(c);
  }

  [[nodiscard]] Instance nobody() const {
    return {.call = std::vector<std::uint32_t>(files_.size(), Instance::k_absent)};
  }

  void add(Instance instance) {
    std::uint64_t members = 0;
    bool zero = false, one_root = true;
    std::uint32_t root = k_no_rank;
    for (std::uint32_t f = 0; f < files_.size(); ++f) {
      if (instance.call[f] == Instance::k_absent) continue;
      const Call& call = files_[f].calls[instance.call[f]];
      zero |= call.zero_splits;
      if (members++ == 0) {
        instance.operation = call.operation;
        root = call.root;
      }
      one_root &= call.root == root;
      const std::uint32_t own = files_[f].rank;
      if (call.operation == Operation::send_receive && way_of(call, own).from == own) {
        instance.root = f;
      }
    }
    if (members < 2) {
      result_.alone += members;
    } else if (zero) {
      result_.zero_splits += members;
    } else if (root != k_no_rank && !(one_root && find_root(root, instance))) {
      result_.without_edges += members;  // "Rank" may be that of each member itself
    } else {
      result_.instances.push_back(std::move(instance));
    }
  }
  /// False if the root is none of the members that are there.
  bool find_root(std::uint32_t rank, Instance& instance) const {
    const auto file = file_of_rank_.find(rank);
    if (file == file_of_rank_.end()) return false;
    instance.root = file->second;
    return instance.call[instance.root] != Instance::k_absent;
  }

  /// Calls of one number: one per rank, of one operation and size, else none is believed.
  void match_number(const Sequences& calls) {
    Instance instance = nobody();
    const auto& [first_file, first_calls] = *calls.begin();
    const Call& first = files_[first_file].calls[first_calls.front()];
    std::uint64_t all = 0;
    bool agree = true;
    for (const auto& [f, own] : calls) {
      all += own.size();
      const Call& call = files_[f].calls[own.front()];
      agree &= own.size() == 1 && call.group == first.group && alike(call, first);
      instance.call[f] = own.front();
    }
    if (agree) {
      add(instance);
    } else {
      result_.ambiguous += all;
    }
  }

  /// All sequences are aligned with the longest one.
  void match_sequences(const Sequences& sequences) {
    const auto longest = std::max_element(
        sequences.begin(), sequences.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const auto& [other, others] = *longest;
    std::vector<Instance> instances(others.size(), nobody());
    for (std::size_t k = 0; k < others.size(); ++k) instances[k].call[other] = others[k];
    for (const auto& [f, own] : sequences) {
      if (f == other) continue;
      const Aligner aligner(files_[f], own, files_[other], others);
      const auto candidates = aligner.candidates();
      const auto shift = decide(candidates);
      if (!shift || aligner.is_doubtful(*shift)) {
        (candidates.empty() ? result_.alone : result_.ambiguous) += own.size();
        continue;
      }
      for (std::size_t k = 0; k < own.size(); ++k) {
        const std::int64_t to = static_cast<std::int64_t>(k) + shift->shift;
        if (to < 0 || to >= static_cast<std::int64_t>(others.size())) {
          ++result_.alone;
        } else {
          instances[static_cast<std::size_t>(to)].call[f] = own[k];
        }
      }
    }
    for (const Instance& instance : instances) add(instance);
  }

  const std::vector<RankFile>& files_;
  std::map<std::uint32_t, std::uint32_t> file_of_rank_;
  std::map<std::string, Sequences> numbered_, sequences_;
  Matches result_;
};

}  // namespace

Matches match_calls(const std::vector<RankFile>& files) { return Matcher(files).run(); }

}  // namespace entrain::chrome
