// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/clock_table.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/names.hpp"
#include "diagnosis/clock_figures.hpp"
#include "trace/layout.hpp"
#include "trace/share.hpp"

namespace entrain::diagnosis {

namespace {

ClockState state_of(const Figures& figures, std::int64_t common, bool is_right) {
  if (is_right || stays_at(figures, common)) return ClockState::right;
  if (figures.since) return ClockState::stepped;
  if (figures.is_bent) return ClockState::bent;
  return figures.offset >= common ? ClockState::slow : ClockState::fast;
}

ClockRow row_of(const Figures& figures, std::int64_t common, bool is_right) {
  ClockRow row;
  row.state = state_of(figures, common, is_right);
  row.offset_ticks = figures.offset - common;
  row.most_ticks = stays_at(figures, common) ? 0 : size_of(figures, common);
  if (row.state != ClockState::stepped) row.drift_ppm = figures.slope * 1e6;
  if (row.state == ClockState::stepped) row.since_ticks = figures.since;
  if (row.state == ClockState::right) row.drift_ppm = 0;
  row.bound_ticks = figures.bound;
  row.worst_bound_ticks = figures.worst_bound;
  return row;
}

/// The group with the most locations, in which clocks can be compared; k_none if edges tie none to
/// another.
std::uint32_t largest_group(const std::vector<std::uint32_t>& group) {
  std::vector<std::size_t> size(group.size());
  for (const std::uint32_t g : group) ++size[g];
  const auto most = std::ranges::max_element(size);
  return *most > 1 ? static_cast<std::uint32_t>(most - size.begin()) : k_none;
}

class TableMaker {
 public:
  TableMaker(const ClocksOfTrace& of, const ClockEvidence& evidence)
      : definitions_(of.context.trace().definitions),
        evidence_(evidence),
        clocks_(of.shared),
        layout_(trace::make_layout(definitions_, clocks_)),
        names_(trace::clock_names(definitions_)),
        largest_(largest_group(evidence.group)) {}

  [[nodiscard]] const trace::Layout& layout() const { return layout_; }

  void add(std::size_t clock, const Figures& figures, std::int64_t common, ClockTable& table) {
    ClockRow& row =
        table.rows.emplace_back(row_of(figures, common, evidence_.of[figures.location].is_right));
    row.name = layout_.clocks[clock].name;
    row.machine = trace::node_name(definitions_, figures.location);
    bool is_tied = figures.is_measured;
    for (const LocationIndex l : clocks_.members[clock]) {
      add_evidence(evidence_.of[l], row);
      is_tied = is_tied || evidence_.group[l] == largest_;
    }
    if (is_tied) {
      if (row.state != ClockState::right) row.maybe_only = suspects(clock);
      return;
    }
    row.state = ClockState::untied;
    row.drift_ppm = std::nullopt;
    row.since_ticks = std::nullopt;
    row.bound_ticks = row.worst_bound_ticks = std::nullopt;
  }

 private:
  /// Names of the locations that alone may be wrong; "" if all or none may be.
  [[nodiscard]] std::string suspects(std::size_t clock) const {
    std::string names;
    for (const LocationIndex l : clocks_.members[clock]) {
      if (!evidence_.of[l].may_err_alone) continue;
      names += (names.empty() ? "" : ", ") + names_[l];
    }
    return names;
  }

  void add_evidence(const ClockEvidence::OfLocation& of, ClockRow& row) const {
    row.edges += of.edges;
    row.violations += of.violations;
    if (of.edges == 0 || (row.worst_ticks && *row.worst_ticks <= of.worst_ticks)) return;
    row.worst_ticks = of.worst_ticks;
    row.worst_with = layout_.clocks[layout_.clock_of[of.worst_with]].name;
  }

  const trace::Definitions& definitions_;
  const ClockEvidence& evidence_;
  const trace::ClockDomains& clocks_;
  trace::Layout layout_;
  std::vector<std::string> names_;  ///< index: location
  std::uint32_t largest_;           ///< group of most clocks
};

/// The wrong ones first, those furthest off before others; clocks of which nothing is known last.
void sort_rows(std::vector<ClockRow>& rows) {
  const auto key = [](const ClockRow& row) {
    if (row.state == ClockState::untied) return std::pair(2, std::int64_t{0});
    return row.state == ClockState::right ? std::pair(1, std::int64_t{0})
                                          : std::pair(0, -row.most_ticks);
  };
  std::ranges::stable_sort(rows, [&](const ClockRow& a, const ClockRow& b) {
    const auto key_a = key(a), key_b = key(b);
    return key_a != key_b ? key_a < key_b : in_natural_order(a.name, b.name);
  });
}

}  // namespace

ClockTable clock_table(const ClocksOfTrace& of, std::span<const ClockMap> corrected,
                       const ClockEvidence& evidence, const ClockBounds* bounds) {
  const trace::Share& share = of.context.share;
  const std::vector<Figures> all = all_figures(share, of.measured, corrected, bounds);
  ClockTable table;
  table.archive = share.trace.path;
  table.resolution_hz = share.trace.definitions.clock.resolution_hz;
  if (all.empty()) return table;
  table.begin_ticks = std::ranges::min_element(all, {}, &Figures::begin)->begin;
  TableMaker maker(of, evidence);
  const std::vector<std::optional<Figures>> clocks = by_clock(all, maker.layout());
  const std::int64_t common = common_distance(clocks);
  for (std::size_t c = 0; c < clocks.size(); ++c) {
    if (clocks[c]) maker.add(c, *clocks[c], common, table);
  }
  sort_rows(table.rows);
  const auto kept = std::ranges::find_if(table.rows, [](const ClockRow& row) {
    return row.state == ClockState::right && row.most_ticks == 0;
  });
  if (kept != table.rows.end()) table.reference = kept->name;
  return table;
}

ClockTable unmoved_clocks(const ClocksOfTrace& of, std::span<const std::uint32_t> groups) {
  ClockEvidence evidence;
  if (of.context.graph.first_node.empty()) {
    evidence.of.resize(of.context.trace().locations.size());
    evidence.group.assign(groups.begin(), groups.end());
  } else {
    evidence = clock_evidence(of);
  }
  return clock_table(of, of.measured, evidence, nullptr);
}

}  // namespace entrain::diagnosis
