// SPDX-License-Identifier: BSD-3-Clause
#include "difference/least_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace entrain::difference {

namespace {

/// Limits of the search; `LeastLimits.*`. Chosen, not measured.
struct SearchLimits {
  /// Systems that are searched for cycles. Of more clocks than these can settle, the limit found is
  /// enough, but may not be the least one.
  static constexpr int rounds = 400;
  /// Steps of a search for the least limit, together and per node; then one that is enough does.
  static constexpr std::uint64_t steps = 100'000'000, steps_per_node = 100;
  static constexpr std::uint64_t multiplications = 8;  ///< number that takes as long as a step
  /// Multiplications per step beyond which each active row cannot be projected once more.
  static constexpr std::uint64_t settling = 16;
  /// The price of a ppb of the limit, in ppb squared of distance from the means that are near. It
  /// grows where that holds the limit up, to what leaves digits enough to the means.
  static constexpr double price = 1e7, growth = 16, most_price = 1e14;
  static constexpr double tolerance = 1e-3;   ///< largest violation of a row, ppb
  static constexpr double most_ppb = 1e18;    ///< ppb that integers hold; no clock is so fast
  static constexpr double dependent = 1e-10;  ///< squared share of a row that others do not explain
};

/// Values x_0, x_1, ..., and the last one, z, which is to be as small as possible; of several
/// solutions the one whose others are nearest to a given point. The rows are inequalities.
///
/// A dual active set method: rows that are violated are added to those that hold with equality, one
/// at a time, and those that hold anyway are let go (D. Goldfarb, A. Idnani: *A numerically stable
/// dual method for solving strictly convex quadratic programs*, 1983).
class NearestLeast {
 public:
  using Terms = std::vector<std::pair<std::size_t, double>>;  ///< indices of values, and factors

  explicit NearestLeast(std::vector<double> near) { begin_near(std::move(near)); }

  void begin_near(std::vector<double> near) {
    x_ = std::move(near);
    x_.push_back(
        -std::exchange(price_, std::min(price_ * SearchLimits::growth, SearchLimits::most_price)));
    active_.clear();
    prices_.clear();
    basis_.clear();
    factors_.clear();
  }

  [[nodiscard]] std::size_t last() const { return x_.size() - 1; }
  [[nodiscard]] std::span<const double> values() const { return {x_.data(), last()}; }
  [[nodiscard]] double least() const { return x_.back(); }

  /// Adds a row: the sum of the terms is `least` or more.
  void add(Terms terms, double least) { rows_.push_back({std::move(terms), least}); }

  enum class Outcome : std::uint8_t { solved, impossible, too_long };
  /// Too long: after more steps than those that are left, which are counted down.
  Outcome solve(std::uint64_t& left) {
    for (std::optional<std::size_t> row; (row = most_violated());) {
      double price = 0;
      while (true) {
        // Each active row that goes may come again: so many do not settle in the steps left.
        const std::uint64_t active = active_.size() + 1;
        if (active * active * x_.size() / SearchLimits::settling > left) return Outcome::too_long;
        const auto step = try_step(*row, price);
        if (!step) break;
        if (!*step) return Outcome::impossible;
        const std::uint64_t spent =
            std::exchange(multiplied_, 0) / SearchLimits::multiplications + rows_.size();
        if (spent > left) return Outcome::too_long;
        left -= spent;
      }
    }
    return Outcome::solved;
  }

 private:
  struct Row {
    Terms terms;
    double least = 0;
  };

  [[nodiscard]] double excess(const Row& row) const {
    double sum = -row.least;
    for (const auto& [i, factor] : row.terms) sum += factor * x_[i];
    return sum;
  }

  [[nodiscard]] std::optional<std::size_t> most_violated() const {
    std::optional<std::size_t> worst;
    double least = -SearchLimits::tolerance;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double own = excess(rows_[r]);
      if (own < least) least = own, worst = r;
    }
    return worst;
  }

  /// Moves towards a row as far as the prices of active ones allow. Empty: it is met, and active.
  /// False: no values meet it.
  std::optional<bool> try_step(std::size_t added, double& price) {
    auto [direction, parts] = project(rows_[added]);
    const double square = square_of(direction, rows_[added]);
    const std::vector<double> shares = shares_of(parts);
    double step = std::numeric_limits<double>::max();
    std::size_t blocking = active_.size();
    for (std::size_t a = 0; a < active_.size(); ++a) {
      if (shares[a] <= 0 || prices_[a] / shares[a] >= step) continue;
      step = prices_[a] / shares[a];
      blocking = a;
    }
    const bool can_move = square > 0;
    const double whole = can_move ? std::max(0.0, -excess(rows_[added]) / square) : step;
    const bool is_met = can_move && whole <= step;
    if (!can_move && blocking == active_.size()) return false;
    step = std::min(step, whole);
    for (std::size_t i = 0; can_move && i < x_.size(); ++i) x_[i] += step * direction[i];
    for (std::size_t a = 0; a < active_.size(); ++a) prices_[a] -= step * shares[a];
    price += step;
    if (is_met) {
      active_.push_back(added);
      prices_.push_back(price);
      const double length = std::sqrt(square);
      for (double& d : direction) d /= length;
      parts.push_back(length);
      basis_.push_back(std::move(direction));
      factors_.push_back(std::move(parts));
      return std::nullopt;
    }
    remove(blocking);
    return true;
  }

  /// Lets an active row go: rotations of two vectors of the basis each make the factors of those
  /// behind it triangular again.
  void remove(std::size_t place) {
    const auto at = static_cast<std::ptrdiff_t>(place);
    active_.erase(active_.begin() + at);
    prices_.erase(prices_.begin() + at);
    factors_.erase(factors_.begin() + at);
    const auto rotate = [](double cosine, double sine, double& a, double& b) {
      const double before = a;
      a = cosine * a + sine * b;
      b = cosine * b - sine * before;
    };
    for (std::size_t a = place; a < factors_.size(); ++a) {
      const double length = std::hypot(factors_[a][a], factors_[a][a + 1]);
      const double cosine = factors_[a][a] / length, sine = factors_[a][a + 1] / length;
      for (std::size_t b = a; b < factors_.size(); ++b) {
        rotate(cosine, sine, factors_[b][a], factors_[b][a + 1]);
      }
      factors_[a].pop_back();
      for (std::size_t i = 0; i < x_.size(); ++i) {
        rotate(cosine, sine, basis_[a][i], basis_[a + 1][i]);
      }
      multiplied_ += 2 * (x_.size() + factors_.size() - a);
    }
    basis_.pop_back();
  }

  /// The squared length of a row's part that is orthogonal to the active ones; 0: there is none.
  [[nodiscard]] static double square_of(std::span<const double> direction, const Row& row) {
    double before = 0, square = 0;
    for (const auto& [i, factor] : row.terms) before += factor * factor;
    for (const double d : direction) square += d * d;
    return square > SearchLimits::dependent * before ? square : 0;
  }
  /// The combination of active rows that has these parts along the basis.
  [[nodiscard]] std::vector<double> shares_of(std::vector<double> parts) const {
    multiplied_ += parts.size() * parts.size() / 2;
    for (std::size_t b = parts.size(); b-- > 0;) {
      parts[b] /= factors_[b][b];
      for (std::size_t a = 0; a < b; ++a) parts[a] -= factors_[b][a] * parts[b];
    }
    return parts;
  }

  /// A row without its parts along the orthonormal basis of the active ones, and these parts
  /// (modified Gram and Schmidt).
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> project(const Row& row) const {
    multiplied_ += (basis_.size() + 1) * x_.size();
    std::vector<double> rest(x_.size(), 0), parts;
    for (const auto& [i, factor] : row.terms) rest[i] += factor;
    for (const std::vector<double>& one : basis_) {
      const double part = std::transform_reduce(one.begin(), one.end(), rest.begin(), 0.0);
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= part * one[i];
      parts.push_back(part);
    }
    return {std::move(rest), std::move(parts)};
  }

  std::vector<Row> rows_;
  std::vector<double> x_;
  double price_ = SearchLimits::price;        ///< price of the last value, when it begins anew
  std::vector<std::size_t> active_;           ///< rows that hold with equality
  std::vector<double> prices_;                ///< their multipliers, 0 or more
  std::vector<std::vector<double>> basis_;    ///< orthonormal, of the active rows
  std::vector<std::vector<double>> factors_;  ///< parts of each active row along the basis
  mutable std::uint64_t multiplied_ = 0;
};

class LeastSearch {
 public:
  /// `wander_ppb`: empty if it is what has to be found.
  LeastSearch(System& system, std::span<const RateRange> means,
              std::optional<std::int64_t> wander_ppb, std::span<const std::int64_t> near,
              Effort& effort, std::vector<Cycle>* known)
      : system_(system),
        means_(means),
        wander_ppb_(wander_ppb),
        near_(near),
        effort_(effort),
        known_(known),
        left_(std::min(effort.most,
                       SearchLimits::steps + SearchLimits::steps_per_node * system.nodes())),
        program_(std::vector<double>(near.begin(), near.end())) {
    const std::size_t z = program_.last();
    program_.add({{z, 1.0}}, 0);
    for (std::size_t c = 0; c < means.size(); ++c) {
      const auto& [lower, upper] = means[c];
      const bool grows = wander_ppb_ && lower < upper;
      program_.add({{c, 1.0}, {z, grows ? 1.0 : 0.0}}, static_cast<double>(lower));
      program_.add({{c, -1.0}, {z, grows ? 1.0 : 0.0}}, -static_cast<double>(upper));
    }
    if (known == nullptr) return;
    for (const Cycle& cycle : *known) add(cycle);
  }

  Solved<LeastLimits> run() {
    double before = std::numeric_limits<double>::max();
    Failure last{.certificate = Certificate()};
    for (int round = 0;; ++round) {
      const auto outcome = program_.solve(left_);
      if (outcome == NearestLeast::Outcome::impossible) break;
      if (program_.least() > SearchLimits::most_ppb) break;
      if (outcome == NearestLeast::Outcome::too_long || round >= SearchLimits::rounds) {
        return enough();
      }
      LeastLimits found = set_limits();
      const std::uint64_t before_search = effort_.spent;
      effort_.more_cycles = true;
      auto solved = greatest_below(system_, Values(system_.nodes(), 0), effort_);
      effort_.more_cycles = false;
      left_ -= std::min(left_, effort_.spent - before_search);
      if (solved) {
        // Nearer means cost less, so that the limit may fall once more.
        if (program_.least() > before - 0.5) {
          return with(std::move(found), *std::move(solved), *std::move(last.certificate));
        }
        before = program_.least();
        program_.begin_near({program_.values().begin(), program_.values().end()});
        continue;
      }
      last = std::move(solved.error());
      if (!last.certificate) break;
      if (!take(*last.certificate)) break;
      for (const Certificate& one : last.more) take(one);
    }
    return tl::unexpected(std::move(last));
  }

 private:
  /// The limits by the program. What is set has room for the rounding of means.
  LeastLimits set_limits() {
    const double least = std::ceil(program_.least() - SearchLimits::tolerance);
    LeastLimits found{.ppb = static_cast<std::int64_t>(least), .means = {}, .solution = {}};
    const std::int64_t wander_ppb = wander_ppb_.value_or(found.ppb) + 1;
    for (std::uint32_t c = 0; c < system_.clocks(); ++c) {
      const std::int64_t mean = std::llround(program_.values()[c]);
      found.means.push_back(mean);
      system_.set_rate(c, {mean - wander_ppb, mean + wander_ppb});
      system_.set_mean(c, {mean - 1, mean + 1});
    }
    return found;
  }

  [[nodiscard]] Cycle cycle_of(const Certificate& certificate) const {
    Cycle cycle;
    std::map<std::uint32_t, std::int64_t> ticks;
    for (const Certificate::Step& step : certificate.steps) {
      const bool is_rate = step.kind == Certificate::Kind::rate;
      if (!is_rate && step.kind != Certificate::Kind::mean) {
        cycle.length += step.length;
        continue;
      }
      const std::int64_t way = system_.stamp(step.to) - system_.stamp(step.from);
      ticks[step.position] += way;
      if (is_rate) cycle.along += std::abs(way);
      if (!is_rate) cycle.length += Exact{system_.limits(step.position).mean->slack_ticks} * k_tick;
    }
    cycle.ticks.assign(ticks.begin(), ticks.end());
    return cycle;
  }
  bool take(const Certificate& certificate) {
    Cycle cycle = cycle_of(certificate);
    const bool is_added = add(cycle);
    if (known_ != nullptr) known_->push_back(std::move(cycle));
    return is_added;
  }

  /// Adds what a cycle demands. False if no limits meet that.
  bool add(const Cycle& cycle) {
    const Exact length = cycle.length + (wander_ppb_ ? cycle.along * *wander_ppb_ : 0);
    double scale = wander_ppb_ ? 0 : static_cast<double>(cycle.along);
    for (const auto& [clock, way] : cycle.ticks) {
      scale = std::max(scale, std::abs(static_cast<double>(way)));
    }
    if (scale == 0) return false;
    NearestLeast::Terms terms;
    for (const auto& [clock, way] : cycle.ticks) {
      terms.emplace_back(clock, static_cast<double>(way) / scale);
    }
    if (!wander_ppb_) {
      terms.emplace_back(program_.last(), static_cast<double>(cycle.along) / scale);
    }
    program_.add(std::move(terms), -static_cast<double>(length) / scale);
    return true;
  }

  /// A wander that suffices, though it may not be the least one: rates differ by no more than half
  /// of it from those that were near at first, so by no more than it from any of their means.
  Solved<LeastLimits> enough() {
    if (wander_ppb_) return tl::unexpected(Failure());
    LeastLimits found{.means = {}, .solution = {}, .shown = {}, .is_least = false};
    for (std::size_t c = 0; c < means_.size(); ++c) {
      found.means.push_back(std::clamp(near_[c], means_[c].lower_ppb, means_[c].upper_ppb));
    }
    for (std::int64_t half = 0;;) {
      for (std::uint32_t c = 0; c < system_.clocks(); ++c) {
        system_.set_rate(c, {found.means[c] - half, found.means[c] + half});
        system_.set_mean(c, means_[c]);
      }
      auto solved = greatest_below(system_, Values(system_.nodes(), 0), effort_);
      if (solved) {
        found.ppb = 2 * half;
        take_means(*solved, found.means);
        return with(std::move(found), *std::move(solved), Certificate());
      }
      const auto& certificate = solved.error().certificate;
      if (!certificate || certificate->rate_ticks == 0) return tl::unexpected(solved.error());
      half += certificate->least_raise();
    }
  }
  /// Mean rates of a solution over the lives that have one.
  void take_means(const Values& solution, std::vector<std::int64_t>& means) const {
    for (std::uint32_t c = 0; c < system_.clocks(); ++c) {
      const auto& life = system_.limits(c).mean;
      if (!life || system_.begin(c) == system_.end(c)) continue;
      const auto first = system_.find({c, life->first}), last = system_.find({c, life->last});
      if (!first || !last || life->first >= life->last) continue;
      means[c] = static_cast<std::int64_t>(
          floor_div(solution[*last] - solution[*first], Exact{life->last} - life->first));
    }
  }

  static LeastLimits with(LeastLimits found, Values solution, Certificate shown) {
    found.shown = std::move(shown);
    const Exact of_reference = solution[0];
    for (Exact& value : solution) value -= of_reference;
    found.solution = std::move(solution);
    return found;
  }

  System& system_;
  std::span<const RateRange> means_;
  std::optional<std::int64_t> wander_ppb_;
  std::span<const std::int64_t> near_;
  Effort& effort_;
  std::vector<Cycle>* known_;
  std::uint64_t left_;  ///< steps that the search for the least limit may still take
  NearestLeast program_;
};

}  // namespace

Solved<LeastLimits> find_least_limits(System& system, std::span<const RateRange> means,
                                      std::optional<std::int64_t> wander_ppb,
                                      std::span<const std::int64_t> near, Effort& effort,
                                      std::vector<Cycle>* known) {
  return LeastSearch(system, means, wander_ppb, near, effort, known).run();
}

}  // namespace entrain::difference
