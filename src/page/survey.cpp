// SPDX-License-Identifier: BSD-3-Clause
#include "page/survey.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace entrain::page {

namespace {

constexpr std::int64_t k_no_margin = std::numeric_limits<std::int64_t>::max();
constexpr KeptEdge k_no_edge{k_no_margin, {}, {}, {}};
constexpr std::uint32_t k_most_slots = 16'384;

/// Sends values to rank 0 only. Collective; empty at the others.
template <class T>
std::vector<std::vector<T>> gather_first(Team& team, std::vector<T> values) {
  std::vector<std::vector<T>> outgoing(team.size());
  outgoing.front() = std::move(values);
  return exchange(team, std::move(outgoing));
}

bool smaller_hash(const SampledInstance& a, const SampledInstance& b) {
  return std::pair(a.hash, a.order) < std::pair(b.hash, b.order);
}

std::uint64_t hash_of(const verify::EdgeOrder& order) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {  // the last number is for pairs
    hash = mix(hash + order[i] + 0x9E3779B97F4A7C15u);
  }
  return hash;
}

/// Increases with family, from, to.
std::uint64_t key_of(Family family, std::uint32_t from, std::uint32_t to) {
  return static_cast<std::uint64_t>(family) << 62 | std::uint64_t{from} << 31 | to;
}

template <class Moments>
std::pair<std::int64_t, std::int64_t> range_of(const Moments& moments) {
  const auto [least, most] = std::minmax_element(
      moments.begin(), moments.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return {least->time, most->time};
}

void note_tight(std::vector<KeptEdge>& tight, std::size_t slot, const KeptEdge& edge) {
  if (edge < tight[slot]) tight[slot] = edge;
}

}  // namespace

void Cell::keep(const KeptEdge& edge) {
  std::size_t at = kept;
  while (at > 0 && edge < worst[at - 1]) --at;
  if (at == k_kept || (at > 0 && worst[at - 1] == edge)) return;
  if (kept < k_kept) ++kept;
  for (std::size_t i = kept - 1; i > at; --i) worst[i] = worst[i - 1];
  worst[at] = edge;
}

std::uint32_t SurveyScope::slices() const {
  return std::clamp<std::uint32_t>(k_most_slots / std::max(clocks, 1U), 2, 40);
}

Survey::Survey(SurveyScope scope) : scope_(std::move(scope)), slices_(scope_.slices()) {
  const double span = static_cast<double>(scope_.end) - static_cast<double>(scope_.begin) + 1;
  slices_per_tick_ = slices_ / std::max(span, 1.0);
  restart();
}

void Survey::restart() {
  cells_.clear();
  margins_ = {};
  arrivals_ = ends_ = {};
  instances_ = 0;
  into_.assign(std::size_t{scope_.clocks} * slices_, k_no_edge);
  out_of_ = into_;
  sample_.clear();
}

std::size_t Survey::slot_of(LocationIndex location, std::int64_t time) const {
  const double at = static_cast<double>(time - scope_.begin) * slices_per_tick_;
  const double slice = std::clamp(at, 0.0, static_cast<double>(slices_ - 1));
  return std::size_t{scope_.clock_of[location]} * slices_ + static_cast<std::size_t>(slice);
}

void Survey::channel(const verify::Relation& relation, const verify::MatchedChannel& channel,
                     LocationIndex from, LocationIndex to) {
  Cell& cell = cells_[key_of(Family::single, scope_.row_of[from], scope_.row_of[to])];
  Bins& bins = margins_[static_cast<std::size_t>(channel.kind())];
  const bool one_clock = scope_.clock_of[from] == scope_.clock_of[to];
  cell.count += channel.pairs;
  verify::Pair pair;
  for (std::uint32_t k = 0; k < channel.pairs; ++k) {
    const std::int64_t sent = channel.send_time(k), received = channel.receive_time(k);
    const std::int64_t ticks = margin(received, sent);
    bins.add(ticks);
    if (ticks < 0) ++cell.violations;
    const std::size_t out = slot_of(from, sent), in = slot_of(to, received);
    const bool tight =
        !one_clock && (ticks <= out_of_[out].margin_ticks || ticks <= into_[in].margin_ticks);
    if (!tight && !cell.wants(ticks)) continue;
    if (!relation.pair(channel, k, pair)) continue;
    const KeptEdge edge{ticks, pair.send, pair.receive, pair.kind};
    cell.keep(edge);
    if (one_clock) continue;
    note_tight(out_of_, out, edge);
    note_tight(into_, in, edge);
  }
}

void Survey::add(Family family, const KeptEdge& edge, std::int64_t sent, std::int64_t received) {
  const LocationIndex from = edge.send.location, to = edge.receive.location;
  Cell& cell = cells_[key_of(family, scope_.row_of[from], scope_.row_of[to])];
  ++cell.count;
  if (edge.margin_ticks < 0) ++cell.violations;
  if (cell.wants(edge.margin_ticks)) cell.keep(edge);
  margins_[static_cast<std::size_t>(edge.kind)].add(edge.margin_ticks);
  if (scope_.clock_of[from] == scope_.clock_of[to]) return;
  note_tight(out_of_, slot_of(from, sent), edge);
  note_tight(into_, slot_of(to, received), edge);
}

void Survey::pair(const verify::Pair& pair) {
  add(Family::single,
      {margin(pair.receive_time, pair.send_time), pair.send, pair.receive, pair.kind},
      pair.send_time, pair.receive_time);
}

void Survey::instance(const verify::Instance& instance,
                      std::span<const verify::WorstPair> deciding) {
  for (const verify::WorstPair& pair : deciding) {
    const verify::Moment& send = instance.sends[pair.send];
    const verify::Moment& receive = instance.receives[pair.receive];
    add(Family::collective, {pair.margin_ticks, send.event, receive.event, instance.kind},
        send.time, receive.time);
  }
  if (instance.kind != EdgeKind::n_to_n || instance.sends.size() < 2) return;
  if (instance.receives.size() >= 2) note_sample(instance);
}

void Survey::note_sample(const verify::Instance& instance) {
  const auto [first_begin, last_begin] = range_of(instance.sends);
  const auto [first_end, last_end] = range_of(instance.receives);
  SampledInstance sampled;
  sampled.arrival = margin(last_begin, first_begin);
  sampled.ends = margin(last_end, first_end);
  ++instances_;
  arrivals_.add(sampled.arrival);
  ends_.add(sampled.ends);
  sampled.order = instance.order;
  sampled.order.back() = 0;
  sampled.hash = hash_of(instance.order);
  if (sample_.size() == k_sample && !smaller_hash(sampled, sample_.front())) return;
  sampled.time = first_begin;
  sampled.worst = margin(first_end, last_begin);
  const std::size_t all = instance.sends.size();
  sampled.processes = static_cast<std::uint32_t>(all);
  sampled.shown = std::min(sampled.processes, SampledInstance::k_shown);
  for (std::uint32_t i = 0; i < sampled.shown; ++i) {
    sampled.begins[i] = instance.sends[i * all / sampled.shown].time;
  }
  keep_sample(sampled);
}

void Survey::keep_sample(const SampledInstance& instance) {
  if (sample_.size() == k_sample) {
    if (!smaller_hash(instance, sample_.front())) return;
    std::pop_heap(sample_.begin(), sample_.end(), smaller_hash);
    sample_.pop_back();
  }
  sample_.push_back(instance);
  std::push_heap(sample_.begin(), sample_.end(), smaller_hash);
}

void Survey::gather(Team& team) {
  if (team.size() == 1) return;
  for (Bins& bins : margins_) team.reduce(Team::Reduction::sum, bins.counts());
  team.reduce(Team::Reduction::sum, arrivals_.counts());
  team.reduce(Team::Reduction::sum, ends_.counts());
  instances_ = static_cast<std::uint64_t>(
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(instances_)));
  std::vector<MatrixCell> rows;
  if (team.rank() != 0) rows = cells();
  for (const auto& part : gather_first(team, std::move(rows))) {
    for (const MatrixCell& row : part) {
      Cell& cell = cells_[key_of(row.family, row.from, row.to)];
      cell.count += row.cell.count;
      cell.violations += row.cell.violations;
      for (std::uint32_t i = 0; i < row.cell.kept; ++i) cell.keep(row.cell.worst[i]);
    }
  }
  for (std::vector<KeptEdge>* tight : {&into_, &out_of_}) {
    for (const auto& part : gather_first(team, *tight)) {
      for (std::size_t i = 0; i < part.size(); ++i) note_tight(*tight, i, part[i]);
    }
  }
  std::vector<SampledInstance> own;
  if (team.rank() != 0) own = sample_;
  for (const auto& part : gather_first(team, std::move(own))) {
    for (const SampledInstance& instance : part) keep_sample(instance);
  }
}

std::vector<MatrixCell> Survey::cells() const {
  constexpr std::uint64_t k_row = (std::uint64_t{1} << 31) - 1;
  std::vector<MatrixCell> cells;
  for (const auto& [key, cell] : cells_) {
    cells.push_back({.from = static_cast<std::uint32_t>(key >> 31 & k_row),
                     .to = static_cast<std::uint32_t>(key & k_row),
                     .family = static_cast<Family>(key >> 62),
                     .cell = cell});
  }
  std::ranges::sort(cells, {}, [](const MatrixCell& c) { return key_of(c.family, c.from, c.to); });
  return cells;
}

std::vector<SampledInstance> Survey::sample() const {
  std::vector<SampledInstance> sorted = sample_;
  std::ranges::sort(sorted, [](const SampledInstance& a, const SampledInstance& b) {
    return std::pair(a.time, a.order) < std::pair(b.time, b.order);
  });
  return sorted;
}

std::vector<KeptEdge> Survey::tightest(std::uint32_t clock, bool receiving) const {
  std::vector<KeptEdge> found;
  const std::vector<KeptEdge>& tight = receiving ? into_ : out_of_;
  for (std::uint32_t s = 0; s < slices_; ++s) {
    const KeptEdge& edge = tight[std::size_t{clock} * slices_ + s];
    if (edge.margin_ticks != k_no_margin) found.push_back(edge);
  }
  return found;
}

}  // namespace entrain::page
