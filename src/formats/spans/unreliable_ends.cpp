// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>

#include "base/disjoint_sets.hpp"
#include "base/exact.hpp"
#include "base/stray_times.hpp"
#include "formats/spans/likely_clock.hpp"

namespace entrain::spans {
namespace {

/// Bits to tell that an edge does not hold; unreliable_ends_test.cpp holds these together.
struct EdgePrices {
  static constexpr std::int32_t begin = 40;  ///< two ends, before anything is known of ends
  static constexpr std::int32_t end = 20;    ///< the client did not wait: as explain::Prices::pair
  static constexpr std::int32_t link = 6;    ///< the same as explain::Prices::weak
  /// Most of an end once some are contradicted: one alone says less than that a clock is right.
  static constexpr std::int32_t doubted_end = ClockPrices::wrong - 2;
  static constexpr double prior_ends = 2;  ///< ends of all operations that count for each
};

constexpr int k_most_rounds = 16;  ///< most times that each clock is fitted
constexpr std::int64_t k_most_offset = std::int64_t{1} << 61;  ///< ns
constexpr std::int32_t k_provisional = 1 << 20;  ///< bits of a clock that is to be fitted again
constexpr std::int64_t k_least = std::numeric_limits<std::int64_t>::min();

HostPair hosts_of(const Edge& edge) { return std::minmax(edge.cause, edge.effect); }

using Operations = std::vector<DroppedEnds>;  ///< index: number; names are empty

/// The clocks that explain the edges at the least price, each given the others: coordinate descent.
class ClockSearch {
 public:
  ClockSearch(const Spans& spans, std::size_t hosts, std::span<const Edge> edges)
      : spans_(spans),
        edges_(edges),
        hosts_(hosts),
        offsets_{BigVector<std::int64_t>(edges.size()), BigVector<std::int64_t>(edges.size())},
        price_(edges.size()),
        shown_twice_(edges.size()) {
    std::vector<std::size_t> counts(hosts);
    for (const Edge& edge : edges) ++counts[edge.cause], ++counts[edge.effect];
    for (std::size_t host = 0; host < hosts; ++host) hosts_[host].bounds.reserve(counts[host]);
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].rejection != Rejection::none) continue;
      price_[e] = edges[e].is_link  ? EdgePrices::link
                  : edges[e].is_end ? EdgePrices::end
                                    : EdgePrices::begin;
      for (const std::uint32_t host : {edges[e].cause, edges[e].effect}) {
        hosts_[host].bounds.push_back(bound_of(host, e));
      }
    }
  }

  [[nodiscard]] bool is_broken(std::uint32_t e) const {
    return time(k_cause, e) > time(k_effect, e);
  }

  /// Clocks to begin with, where edges show that some are wrong: those of the largest set of hosts
  /// that agree are right, and each other one is fitted to those before it, first the one with most
  /// edges to them (Prim, 1957). Fits of one clock to all others, which may be as wrong, would need
  /// a round for each hop between hosts.
  void begin() {
    std::vector<Neighbours> neighbours;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      neighbours.push_back(neighbours_of(host));
    }
    std::vector<char> is_known(hosts_.size());
    std::vector<std::uint32_t> edges(hosts_.size());                     // to known hosts
    std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> queue;  // these, and the host
    const auto add = [&](std::uint32_t host) {
      is_known[host] = 1;
      for (const auto& [other, own] : neighbours[host]) {
        edges[other] += own.edges;
        queue.emplace(edges[other], other);
      }
    };
    for (const std::uint32_t host : agreeing_hosts(neighbours)) add(host);
    while (!queue.empty()) {
      const std::uint32_t host = queue.top().second;
      queue.pop();
      if (is_known[host] != 0) continue;
      fit_to(host, is_known);
      add(host);
    }
  }

  /// Fits the clocks, first the one whose fit gains most.
  void fit() {
    for (int round = 0; round < k_most_rounds; ++round) {
      std::vector<std::pair<std::int32_t, std::uint32_t>> gains;
      for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        const std::int32_t gain = gain_of(host);
        if (gain > 0) gains.emplace_back(-gain, host);
      }
      if (gains.empty()) return;
      std::sort(gains.begin(), gains.end());
      for (const auto& [gain, host] : gains) take(host);
    }
  }

  /// Lowers the prices of ends to what those of their operations deserve.
  void doubt(const Operations& operations) {
    double broken = 0, all = 0;
    for (const DroppedEnds& ends : operations) {
      broken += static_cast<double>(ends.dropped);
      all += static_cast<double>(ends.total);
    }
    const double prior = EdgePrices::prior_ends;
    std::vector<std::int32_t> prices;
    for (const DroppedEnds& ends : operations) {
      const double share = (static_cast<double>(ends.dropped) + prior * broken / all) /
                           (static_cast<double>(ends.total) + prior);
      prices.push_back(std::clamp(static_cast<std::int32_t>(std::lround(-std::log2(share))), 1,
                                  EdgePrices::doubted_end));
    }
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (price_[e] > 0 && edges_[e].is_end) price_[e] = prices[operation_of(e)];
    }
    for (Host& host : hosts_) {
      for (Bound& bound : host.bounds) bound.price = price_[bound.edge];
      host.is_fitted = false;
    }
  }

  /// True if an edge has an end at a time that a clock, or this one, shows twice, since it was set
  /// back.
  [[nodiscard]] bool is_shown_twice(std::uint32_t e) const { return shown_twice_[e] != 0; }
  [[nodiscard]] bool is_shown_twice(std::uint32_t e, std::uint32_t host) const {
    return (shown_twice_[e] & bit_of(host, e)) != 0;
  }

  /// Folds of clocks that were set back to before all that they showed.
  [[nodiscard]] std::vector<Fold> folds() const {
    std::vector<Fold> all;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      std::ranges::copy(folds_of(host), std::back_inserter(all));
    }
    return all;
  }

  [[nodiscard]] Operations operations() const {
    Operations operations(spans_.operations.all().size());
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (edges_[e].rejection != Rejection::none || !edges_[e].is_end || is_shown_twice(e))
        continue;
      DroppedEnds& ends = operations[operation_of(e)];
      ends.dropped += is_broken(e) ? 1U : 0U;
      ++ends.total;
    }
    return operations;
  }
  [[nodiscard]] std::uint32_t operation_of(std::uint32_t e) const {
    return spans_.all[edges_[e].child].operation;
  }
  /// True for the end of a call that lasted longer at the server than at the client, whatever their
  /// rates: unless a clock was set meanwhile, none explains it. The begin of a call precedes its
  /// end.
  [[nodiscard]] bool contradicts_its_begin(std::uint32_t e) const {
    const Edge& end = edges_[e];
    if (!end.is_end || e == 0 || edges_[e - 1].is_end || edges_[e - 1].child != end.child) {
      return false;
    }
    const Edge& begin = edges_[e - 1];
    const Int128 at_server = Int128{end.cause_time} - begin.effect_time;
    const Int128 at_client = Int128{end.effect_time} - begin.cause_time;
    constexpr std::int64_t k_ppm = ClockPrices::fast_ppm + ClockPrices::wander_ppm;
    return (at_server - at_client - 2) * 1'000'000 > at_client * k_ppm;
  }

 private:
  /// The likely clock of a host given all others, until the next fit of one of these.
  struct Host {
    BigVector<Bound> bounds;    ///< bounds that its edges set; sorted by time once it is fitted
    bool is_current = true;     ///< the times of other clocks are as in `bounds`
    std::int32_t own_bits = 0;  ///< price of the clock that it has, without edges
    bool is_fitted = false;     ///< `gain` is known, and if it is positive the others, too
    std::int32_t gain = 0;      ///< bits by which the likely clock is cheaper
    LikelyClock likely;
    std::vector<std::size_t> twice;  ///< positions there of stamps that are shown twice
  };

  /// Edges of a host with another one.
  struct EdgesWith {
    std::uint32_t edges = 0;
    std::int64_t broken_bits = 0;  ///< price of the violated ones
  };
  using Neighbours = std::map<std::uint32_t, EdgesWith>;

  static constexpr auto place_of = [](const Bound& bound) {
    return std::pair(bound.time, bound.edge);
  };
  static constexpr unsigned k_cause = 0, k_effect = 1;
  /// The end of an edge that is of a host.
  [[nodiscard]] unsigned side_of(std::uint32_t host, std::uint32_t e) const {
    return edges_[e].cause == host ? k_cause : k_effect;
  }
  [[nodiscard]] unsigned bit_of(std::uint32_t host, std::uint32_t e) const {
    return 1U << side_of(host, e);
  }
  [[nodiscard]] std::uint64_t stamp(unsigned side, std::uint32_t e) const {
    return side == k_cause ? edges_[e].cause_time : edges_[e].effect_time;
  }
  [[nodiscard]] std::int64_t time(unsigned side, std::uint32_t e) const {
    return static_cast<std::int64_t>(stamp(side, e)) + offsets_[side][e];
  }
  template <class Breaks>
  [[nodiscard]] static std::int32_t bits_of(const Host& host, const Breaks& is_broken) {
    std::int32_t bits = 0;
    for (const Bound& bound : host.bounds) bits += is_broken(bound) ? bound.price : 0;
    return bits;
  }
  [[nodiscard]] std::int32_t bits_of_edges(const Host& host) const {
    return bits_of(host, [&](const Bound& bound) { return is_broken(bound.edge); });
  }
  [[nodiscard]] std::uint64_t own_stamp(std::uint32_t host, std::uint32_t e) const {
    return stamp(side_of(host, e), e);
  }
  /// The bound that an edge sets to a clock.
  [[nodiscard]] Bound bound_of(std::uint32_t host, std::uint32_t e) const {
    const unsigned side = side_of(host, e);
    const std::int64_t other = time(1 - side, e);
    const std::int64_t offset = other - static_cast<std::int64_t>(stamp(side, e));
    return {.time = other,
            .offset = std::clamp(offset, -k_most_offset, k_most_offset),
            .is_upper = side == k_cause,
            .price = price_[e],
            .edge = e,
            .is_begin = !edges_[e].is_end && !edges_[e].is_link};
  }
  [[nodiscard]] std::uint32_t other_host(std::uint32_t host, std::uint32_t e) const {
    return edges_[e].cause == host ? edges_[e].effect : edges_[e].cause;
  }
  /// Other hosts with edges, without ends that contradict their begins.
  [[nodiscard]] Neighbours neighbours_of(std::uint32_t host) const {
    Neighbours found;
    for (const Bound& bound : hosts_[host].bounds) {
      if (contradicts_its_begin(bound.edge)) continue;
      EdgesWith& own = found[other_host(host, bound.edge)];
      ++own.edges;
      own.broken_bits += is_broken(bound.edge) ? bound.price : 0;
    }
    return found;
  }
  /// The largest set of hosts that agree, of each set that edges connect. None if all agree.
  [[nodiscard]] static std::vector<std::uint32_t> agreeing_hosts(
      std::span<const Neighbours> neighbours) {
    const auto count = static_cast<std::uint32_t>(neighbours.size());
    DisjointSets agreeing(count), connected(count);
    std::size_t sets = 0;  // of connected ones, how many more there are of agreeing ones
    for (std::uint32_t host = 0; host < count; ++host) {
      for (const auto& [other, own] : neighbours[host]) {
        sets += connected.join(host, other) ? 1 : 0;
        if (own.broken_bits > ClockPrices::wrong) continue;
        sets -= agreeing.join(host, other) ? 1 : 0;
      }
    }
    std::vector<std::uint32_t> hosts;
    if (sets == 0) return hosts;
    std::vector<std::uint32_t> sizes(count), largest = connected.all();
    for (std::uint32_t host = 0; host < count; ++host) ++sizes[agreeing.find(host)];
    for (std::uint32_t host = 0; host < count; ++host) {
      std::uint32_t& set = largest[connected.find(host)];
      if (sizes[agreeing.find(host)] > sizes[agreeing.find(set)]) set = host;
    }
    for (std::uint32_t host = 0; host < count; ++host) {
      const std::uint32_t set = largest[connected.find(host)];
      if (agreeing.find(host) == agreeing.find(set)) hosts.push_back(host);
    }
    return hosts;
  }
  /// Gives a host its likely clock by the edges to known hosts.
  void fit_to(std::uint32_t number, std::span<const char> is_known) {
    Host& host = hosts_[number];
    std::vector<Bound> bounds;
    for (const Bound& bound : host.bounds) {
      if (is_known[other_host(number, bound.edge)] == 0) continue;
      if (!contradicts_its_begin(bound.edge)) bounds.push_back(bound_of(number, bound.edge));
    }
    std::ranges::sort(bounds, {}, place_of);
    const LikelyClock clock = finder_.find(bounds).value();
    host.own_bits = clock.bits;
    std::vector<std::pair<std::uint64_t, std::int64_t>> knots;  // stamps and offsets
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      host.own_bits -= holds(bounds[i], clock.offsets[i]) ? 0 : bounds[i].price;
      knots.emplace_back(own_stamp(number, bounds[i].edge), clock.offsets[i]);
    }
    // Where it was set back, stamps have two offsets: take() sorts that out.
    if (host.own_bits >= ClockPrices::step) host.own_bits += k_provisional;
    std::ranges::sort(knots);
    for (const Bound& bound : host.bounds) {
      const unsigned side = side_of(number, bound.edge);
      offsets_[side][bound.edge] = offset_at(knots, stamp(side, bound.edge));
      hosts_[other_host(number, bound.edge)].is_current = false;
    }
  }
  /// The offset at a stamp: linear between knots; beyond them along the line through both ends, no
  /// steeper than clocks run.
  [[nodiscard]] static std::int64_t offset_at(
      std::span<const std::pair<std::uint64_t, std::int64_t>> knots, std::uint64_t stamp) {
    const auto after = std::ranges::lower_bound(knots, std::pair(stamp, k_least));
    const bool is_inside = after != knots.begin() && after != knots.end();
    const auto& [first, offset] = after == knots.begin() ? knots.front() : *std::prev(after);
    const auto& [begin, begin_offset] = is_inside ? *std::prev(after) : knots.front();
    const auto& [end, end_offset] = is_inside ? *after : knots.back();
    const Int128 passed = Int128{stamp} - first;
    Int128 rise = begin == end
                      ? Int128{0}
                      : passed * (Int128{end_offset} - begin_offset) / (Int128{end} - begin);
    const Int128 most = (passed < 0 ? -passed : passed) * ClockPrices::fast_ppm / 1'000'000;
    if (!is_inside) rise = std::clamp(rise, -most, most);
    return static_cast<std::int64_t>(
        std::clamp(offset + rise, -Int128{k_most_offset}, Int128{k_most_offset}));
  }
  /// Moves a step among bounds from `first` to `end` that hold before and after it to where stamps
  /// jump most: others would seem to be shown twice.
  static void move_to_jump(std::span<const Bound> bounds, std::span<std::int64_t> offsets,
                           std::size_t first, std::size_t end, std::size_t& step) {
    const std::int64_t before = offsets[step - 1], after = offsets[step];
    std::size_t from = step, to = step;
    while (from > first + 1 && holds(bounds[from - 1], after)) --from;
    while (to + 1 < end && holds(bounds[to], before)) ++to;
    const auto jump = [&](std::size_t i) {
      const Int128 change = Int128{bounds[i].offset} - bounds[i - 1].offset;
      return after > before ? change : -change;
    };
    std::size_t best = step;
    for (std::size_t i = from; i <= to; ++i) best = jump(i) > jump(best) ? i : best;
    for (std::size_t i = best; i < step; ++i) offsets[i] = after;
    for (std::size_t i = step; i < best; ++i) offsets[i] = before;
    step = best;
  }
  /// Gives stamps that a clock shows twice the offsets that they have later, since a map of its
  /// times can give only one. Returns the positions of their bounds.
  [[nodiscard]] std::vector<std::size_t> take_later_offsets(std::uint32_t host,
                                                            LikelyClock& clock) const {
    std::vector<std::size_t> twice;
    const BigVector<Bound>& bounds = hosts_[host].bounds;
    if (clock.bits < ClockPrices::step) return twice;
    const auto broken = [&](std::size_t i) {
      return holds(bounds[i], clock.offsets[i]) ? 0 : bounds[i].price;
    };
    std::vector<std::size_t> parts;  // where they begin, except the first one
    for (std::size_t i = 1; i < bounds.size(); ++i) {
      const std::int64_t change = clock.offsets[i] - clock.offsets[i - 1];
      const std::int64_t passed = bounds[i].time - bounds[i - 1].time;
      if (std::abs(change) > passed / 1000 + 1) parts.push_back(i);
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::size_t first = part == 0 ? 0 : parts[part - 1];
      const std::size_t end = part + 1 < parts.size() ? parts[part + 1] : bounds.size();
      move_to_jump(bounds, clock.offsets, first, end, parts[part]);
    }
    // The part that was the last to show the stamps from a key to the next one.
    std::map<std::uint64_t, std::size_t> last_part{{0, 0}};
    const auto split_at = [&](std::uint64_t stamp) {
      return last_part.emplace(stamp, std::prev(last_part.upper_bound(stamp))->second).first;
    };
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::size_t end = part + 1 < parts.size() ? parts[part + 1] : bounds.size();
      std::uint64_t first = ~std::uint64_t{0}, last = 0;
      for (std::size_t i = parts[part]; i < end; ++i) {
        const std::uint64_t stamp = own_stamp(host, bounds[i].edge);
        first = std::min(first, stamp), last = std::max(last, stamp);
      }
      const auto after = split_at(last + 1);
      const auto from = split_at(first);
      from->second = parts[part];
      last_part.erase(std::next(from), after);
    }
    for (std::size_t j = 0; j < bounds.size(); ++j) {
      const std::uint64_t stamp = own_stamp(host, bounds[j].edge);
      const std::size_t later = std::prev(last_part.upper_bound(stamp))->second;
      if (later <= j) continue;
      clock.bits -= broken(j);
      clock.offsets[j] = clock.offsets[later];
      clock.bits += broken(j);
      twice.push_back(j);
    }
    return twice;
  }

  [[nodiscard]] std::vector<Fold> folds_of(std::uint32_t number) const {
    struct Knot {
      std::uint64_t stamp = 0;
      std::int64_t time = 0, likely = 0;  ///< times by the other clock, by the likely one
      std::size_t folds = 0;              ///< up to here
    };
    const Host& host = hosts_[number];
    std::vector<Fold> folds;
    if (host.own_bits < ClockPrices::step) return folds;
    std::vector<Knot> knots;
    for (const Bound& bound : host.bounds) {
      const unsigned side = side_of(number, bound.edge);
      knots.push_back({stamp(side, bound.edge), bound.time, time(side, bound.edge)});
    }
    std::ranges::sort(knots, {}, &Knot::stamp);
    for (std::size_t i = 1; i < knots.size(); ++i) {
      const Knot &before = knots[i - 1], &knot = knots[i];
      const Int128 passed = Int128{knot.time} - before.time;
      const Int128 drift = (passed < 0 ? -passed : passed) / 1000 + knots.size();
      const std::uint64_t gap = knot.stamp - before.stamp;
      if (before.likely - knot.likely > drift) {
        folds.push_back({number, knot.stamp - gap / 2, knot.stamp});
      }
      knots[i].folds = folds.size();
    }
    // A clock is in one part at a time, and was set between two of them.
    std::ranges::sort(knots, {}, &Knot::likely);
    std::int32_t steps = 0;
    for (std::size_t i = 1; i < knots.size(); ++i) {
      steps += knots[i].folds != knots[i - 1].folds ? 1 : 0;
    }
    if (steps > host.own_bits / ClockPrices::step) folds.clear();
    return folds;
  }

  /// Finds by how many bits the likely clock of a host is cheaper than the one that it has.
  std::int32_t gain_of(std::uint32_t number) {
    Host& host = hosts_[number];
    if (host.is_fitted) return host.gain;
    host.is_fitted = true;
    host.gain = 0;
    if (!std::exchange(host.is_current, true)) {
      for (Bound& bound : host.bounds) bound = bound_of(number, bound.edge);
    }
    const bool is_right = host.own_bits == 0;
    const std::int32_t bits =
        is_right ? bits_of(host, [](const Bound& bound) { return !holds(bound, 0); })
                 : host.own_bits + bits_of_edges(host);
    if (bits == 0) return 0;
    if (!std::ranges::is_sorted(host.bounds, {}, place_of)) {
      std::ranges::sort(host.bounds, {}, place_of);
    }
    std::optional<LikelyClock> likely = finder_.find(host.bounds, bits);
    if (!likely) return 0;
    host.likely = *std::move(likely);
    host.twice = take_later_offsets(number, host.likely);
    host.gain = bits - host.likely.bits;
    if (host.gain <= 0) host.likely = {};
    return host.gain;
  }
  /// Gives a host its likely clock, if that is cheaper.
  void take(std::uint32_t number) {
    if (gain_of(number) <= 0) return;
    Host& host = hosts_[number];
    for (std::size_t i = 0; i < host.bounds.size(); ++i) {
      const std::uint32_t e = host.bounds[i].edge;
      std::int64_t& offset = offsets_[side_of(number, e)][e];
      if (offset != host.likely.offsets[i]) {
        Host& other = hosts_[other_host(number, e)];
        other.is_fitted = other.is_current = false;
      }
      offset = host.likely.offsets[i];
      shown_twice_[e] &= ~bit_of(number, e);
    }
    for (const std::size_t i : host.twice) {
      shown_twice_[host.bounds[i].edge] |= bit_of(number, host.bounds[i].edge);
    }
    host.own_bits = host.likely.bits - bits_of_edges(host);
    host.gain = 0;
    host.likely = {};
  }

  ClockFinder finder_;
  const Spans& spans_;
  std::span<const Edge> edges_;
  std::vector<Host> hosts_;
  std::array<BigVector<std::int64_t>, 2> offsets_;  ///< corrections of the ends of edges, ns
  BigVector<std::int32_t> price_;                   ///< price of each edge; 0: no evidence
  BigVector<unsigned> shown_twice_;                 ///< ends of each edge, see bit_of()
};

/// Pairs of clocks with ends that do not hold although other clocks would explain each, and that
/// are more than a few of those of the pair or of one of its clocks, and cost as much as a step. An
/// operation that mostly does not wait is no evidence if another one of the same clocks waits.
std::vector<DoubtfulPair> doubtful_pairs(const ClockSearch& clocks, std::size_t hosts,
                                         std::span<const Edge> edges) {
  struct Ends {
    std::uint64_t doubtful = 0, broken = 0, held = 0;
  };
  std::map<HostPair, std::map<std::uint32_t, Ends>> pairs;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (!edges[e].is_end || edges[e].rejection != Rejection::none) continue;
    if (clocks.is_shown_twice(e)) continue;
    Ends& ends = pairs[hosts_of(edges[e])][clocks.operation_of(e)];
    const bool is_broken = clocks.is_broken(e);
    ++(is_broken ? ends.broken : ends.held);
    ends.doubtful += is_broken && !clocks.contradicts_its_begin(e) ? 1 : 0;
  }
  std::vector<DoubtfulPair> doubtful;
  std::vector<DoubtfulPair> of_hosts(hosts);
  for (const auto& [pair, operations] : pairs) {
    const auto waits = [](const auto& one) { return one.second.broken <= one.second.held; };
    const bool any_waits = std::ranges::any_of(operations, waits);
    DoubtfulPair& found = doubtful.emplace_back(DoubtfulPair{pair});
    for (const auto& one : operations) {
      if (any_waits && !waits(one)) continue;
      found.ends += one.second.doubtful;
      found.total += one.second.doubtful + one.second.held;
    }
    for (const std::uint32_t host : {pair.first, pair.second}) {
      of_hosts[host].ends += found.ends;
      of_hosts[host].total += found.total;
    }
  }
  const auto is_evidence = [](const DoubtfulPair& one) {
    return matters(one.ends, one.total) && one.ends * EdgePrices::end >= ClockPrices::step;
  };
  std::erase_if(doubtful, [&](const DoubtfulPair& one) {
    return one.ends == 0 || !(is_evidence(one) || is_evidence(of_hosts[one.hosts.first]) ||
                              is_evidence(of_hosts[one.hosts.second]));
  });
  return doubtful;
}

/// Rejects all edges of doubtful pairs, the ends that do not hold, and all of operations of which
/// most do not.
RejectedEnds reject(const Spans& spans, const ClockSearch& clocks, std::size_t hosts,
                    BigVector<Edge>& edges) {
  RejectedEnds rejected;
  rejected.doubtful = doubtful_pairs(clocks, hosts, edges);
  for (Edge& edge : edges) {
    const bool is_doubtful =
        std::ranges::binary_search(rejected.doubtful, hosts_of(edge), {}, &DoubtfulPair::hosts);
    if (is_doubtful) edge.rejection = Rejection::doubtful;
  }
  const Operations operations = clocks.operations();
  std::vector<ClockShownTwice> shown(hosts);
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    Edge& edge = edges[e];
    if (edge.rejection != Rejection::none) continue;
    for (const std::uint32_t host : {edge.cause, edge.effect}) {
      shown[host].host = host;
      shown[host].edges += clocks.is_shown_twice(e, host) ? 1 : 0;
      ++shown[host].total;
    }
    const DroppedEnds& ends = operations[clocks.operation_of(e)];
    if (clocks.is_broken(e) && clocks.is_shown_twice(e)) {
      edge.rejection = Rejection::shown_twice;
      ++rejected.shown_twice;
    } else if (edge.is_end && clocks.is_broken(e)) {
      edge.rejection = Rejection::contradicted;
      ++rejected.contradicted;
    } else if (edge.is_end && 2 * ends.dropped > ends.total) {
      edge.rejection = Rejection::operation;
      ++rejected.asynchronous;
    }
  }
  std::ranges::copy_if(shown, std::back_inserter(rejected.clocks_shown_twice),
                       [](const ClockShownTwice& one) { return matters(one.edges, one.total); });
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].dropped == 0) continue;
    rejected.operations.push_back(operations[i]);
    rejected.operations.back().operation = spans.operations.all()[i];
  }
  std::ranges::stable_sort(rejected.operations, std::greater(), &DroppedEnds::dropped);
  return rejected;
}

}  // namespace

RejectedEnds mark_unreliable_ends(const Spans& spans, std::size_t hosts, BigVector<Edge>& edges) {
  ClockSearch clocks(spans, hosts, edges);
  clocks.begin();
  clocks.fit();
  const Operations before = clocks.operations();
  if (std::ranges::any_of(before, [](const DroppedEnds& ends) { return ends.dropped > 0; })) {
    clocks.doubt(before);
    clocks.fit();
  }
  RejectedEnds rejected = reject(spans, clocks, hosts, edges);
  rejected.folds = clocks.folds();
  return rejected;
}

}  // namespace entrain::spans
