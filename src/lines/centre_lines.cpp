// SPDX-License-Identifier: BSD-3-Clause
#include "lines/centre_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include "base/ids.hpp"
#include "base/strong_components.hpp"

namespace entrain::lines {

namespace {

using constraints::ClockConstraint;

/// Search of the centre; docs/decisions/49, centre_lines_test.cpp.
struct CentreThresholds {
  /// Sharpness k of the smooth minimum (sum s^-k)^(-1/k), stage by stage: each one starts from the
  /// centre before. The last one decides.
  static constexpr std::array<double, 3> sharpness{4, 16, 64};
  /// Power of 1 / L in the cost. With 1, errors of stencils and rings double; with 0, the
  /// logarithm, they grow fourfold.
  static constexpr double power = 3;
  /// Quantile of the L of all pairs that is the unit of L.
  static constexpr double unit = 0.1;
  /// Slacks are widened by this multiple of the worst violation, again as long as that falls below
  /// this share.
  static constexpr double margin = 1.25, worthwhile = 0.8;
  /// Share of the typical rate that is the standard deviation of rates about those of the stamps:
  /// costs grow as much as a pair of clocks can gain. With 1, clocks of a run whose messages stand
  /// in a short part were 65 us wrong at its other end, with 0.1 or less 5 us.
  static constexpr double tilt = 0.03;
  /// Multiple of the typical rate beyond which rates of the stamps say little of a clock: the prior
  /// of one that counts 4 % faster turned the others by 1.5 ppm.
  static constexpr double far = 10;
  /// Weight of the offsets in the prior, against that of the rates: keeps the common one
  /// well-posed.
  static constexpr double ridge = 1e-12;
  static constexpr int most_steps = 40;   ///< Newton steps of a stage
  static constexpr double enough = 1e-6;  ///< predicted decrease of the cost that ends a stage
  /// A step must lower the cost by this share of what the slope predicts.
  static constexpr double gain = 1e-4;
  static constexpr double least_step = 1e-9;   ///< share of a Newton step
  static constexpr double residual = 1e-3;     ///< relative, at which conjugate gradients end
  static constexpr int most_iterations = 400;  ///< limit of conjugate gradients
  static constexpr double most_work = 3e8;     ///< multiplications; about 0.3 s
};

/// A constraint on a pair of clocks: slack + way * (e_low(low) - e_high(high)) >= 0.
struct Bound {
  double slack = 0;          ///< ticks
  double low = 0, high = 0;  ///< times at both clocks, -1 at the begin of all and 1 at their end
  double way = 1;            ///< 1: from the lower clock to the higher one; -1: back
};

/// Two clocks that bound each other.
struct BoundedPair {
  std::uint32_t low = 0, high = 0;  ///< clocks
  std::size_t first = 0, last = 0;  ///< its bounds

  /// Places of its unknowns: offset and rate of the lower clock, then of the higher one.
  [[nodiscard]] std::array<std::size_t, 4> places() const {
    return {2 * std::size_t{low}, 2 * std::size_t{low} + 1, 2 * std::size_t{high},
            2 * std::size_t{high} + 1};
  }
};

/// Second-order model of the cost of a pair, by BoundedPair::places().
struct PairModel {
  std::array<double, 4> gradient{};
  std::array<std::array<double, 4>, 4> curvature{};
};

double slack_of(const BoundedPair& pair, const Bound& bound, std::span<const double> v) {
  const auto [low, low_rate, high, high_rate] = pair.places();
  return bound.slack +
         bound.way * (v[low] + bound.low * v[low_rate] - v[high] - bound.high * v[high_rate]);
}

/// The pairs of clocks, with the constraints that lines can touch.
class PairBounds {
 public:
  explicit PairBounds(std::span<const ClockConstraint> constraints) {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    std::vector<const ClockConstraint*> order;
    order.reserve(constraints.size());
    for (const ClockConstraint& one : constraints) {
      begin = std::min({begin, one.from_time, one.to_time});
      end = std::max({end, one.from_time, one.to_time});
      order.push_back(&one);
    }
    half = std::max(static_cast<double>(end - begin) / 2, 1.0);
    const auto key = [](const ClockConstraint* c) {
      return std::tuple(std::minmax(c->from, c->to), c->from, c->to_time, c->slack, c->from_time);
    };
    std::ranges::sort(order, [&](const auto* a, const auto* b) { return key(a) < key(b); });
    for (std::size_t i = 0, last = 0; i < order.size(); i = last) {
      const auto same = [&](const auto* c) {
        return c->from == order[i]->from && c->to == order[i]->to;
      };
      while (last < order.size() && same(order[last])) ++last;
      add(std::span(order).subspan(i, last - i));
    }
  }

  std::int64_t begin = std::numeric_limits<std::int64_t>::max();  ///< first time of all, ticks
  double half = 1;                                                ///< half of their span, ticks
  std::vector<BoundedPair> pairs;
  std::vector<Bound> bounds;

 private:
  [[nodiscard]] double place(std::int64_t time) const {
    return static_cast<double>(time - begin) / half - 1;
  }

  /// Adds one direction of a pair, in order of time: the constraints on the lower hull of slacks.
  /// Lines that meet these meet all.
  void add(std::span<const ClockConstraint* const> ordered) {
    const auto [low, high] = std::minmax(ordered.front()->from, ordered.front()->to);
    if (pairs.empty() || pairs.back().low != low || pairs.back().high != high)
      pairs.push_back({low, high, bounds.size(), bounds.size()});
    const bool up = ordered.front()->from == low;
    const std::size_t first = bounds.size();
    const auto time = [&](const Bound& bound) { return up ? bound.high : bound.low; };
    for (const ClockConstraint* one : ordered) {
      const double from = place(one->from_time), to = place(one->to_time);
      const Bound next{static_cast<double>(one->slack), up ? from : to, up ? to : from,
                       up ? 1.0 : -1.0};
      if (bounds.size() > first && time(bounds.back()) == time(next)) continue;
      while (bounds.size() >= first + 2) {
        const Bound &a = bounds[bounds.size() - 2], &b = bounds.back();
        const double straight = (time(next) - time(a)) * (b.slack - a.slack);
        if ((time(b) - time(a)) * (next.slack - a.slack) > straight) break;
        bounds.pop_back();
      }
      bounds.push_back(next);
    }
    pairs.back().last = bounds.size();
  }
};

/// Newton's method for the centre. Unknowns: the error of each clock in the middle of all times,
/// and its change from there to the end, ticks.
class CentreSearch {
 public:
  CentreSearch(std::size_t clocks, const PairBounds& known, std::span<const double> rates,
               double typical)
      : known_(known), prior_(2 * clocks, 0.0), values_(2 * clocks, 0.0) {
    const double mean =
        std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(clocks);
    for (std::size_t c = 0; c < clocks; ++c) prior_[2 * c + 1] = (rates[c] - mean) * known.half;
    const double spread = CentreThresholds::tilt * typical * known.half;
    const double weight = 1 / (spread * spread);
    for (std::size_t c = 0; c < clocks; ++c) {
      const double far = CentreThresholds::far * typical * known.half;
      const double share = std::max(std::abs(prior_[2 * c + 1]) / far, 1.0);
      prior_weight_.push_back(CentreThresholds::ridge * weight);
      prior_weight_.push_back(weight / (share * share));
    }
  }

  /// The unknowns in the centre; empty if no lines meet all constraints.
  [[nodiscard]] std::vector<double> run() {
    for (double least = least_slack(); !(least > 0); least = least_slack()) {
      const double width = CentreThresholds::margin * -least + 1;
      if (width_ > 0 && width > CentreThresholds::worthwhile * width_) return {};
      width_ = width;
      follow_stages();
    }
    width_ = 0;
    follow_stages();
    return std::move(values_);
  }

 private:
  [[nodiscard]] double least_slack() const {
    double least = std::numeric_limits<double>::infinity();
    for (const BoundedPair& pair : known_.pairs) {
      for (std::size_t i = pair.first; i < pair.last; ++i)
        least = std::min(least, slack_of(pair, known_.bounds[i], values_));
    }
    return least;
  }

  /// The prior of a stage is the centre before, so that wide pairs do not drift.
  void follow_stages() {
    const std::vector<double> prior = prior_;
    for (const double sharpness : CentreThresholds::sharpness) {
      sharpness_ = sharpness;
      set_unit();
      double before = cost(values_);
      for (int n = 0; n < CentreThresholds::most_steps && step(before); ++n) {
      }
      prior_ = values_;
    }
    prior_ = prior;
  }

  /// Logarithm of 1 / L of a pair; infinite if a slack is not above 0. Leaves the slacks.
  double log_inverse(const BoundedPair& pair, std::span<const double> v) {
    double least = std::numeric_limits<double>::infinity();
    slacks_.clear();
    for (std::size_t i = pair.first; i < pair.last; ++i) {
      slacks_.push_back(slack_of(pair, known_.bounds[i], v) + width_);
      least = std::min(least, slacks_.back());
    }
    if (!(least > 0)) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const double s : slacks_) sum += std::pow(least / s, sharpness_);
    return std::log(sum) / sharpness_ - std::log(least);
  }

  void set_unit() {
    std::vector<double> all;
    for (const BoundedPair& pair : known_.pairs) all.push_back(-log_inverse(pair, values_));
    const auto at =
        static_cast<std::ptrdiff_t>(CentreThresholds::unit * static_cast<double>(all.size()));
    std::nth_element(all.begin(), all.begin() + at, all.end());
    log_unit_ = all[static_cast<std::size_t>(at)];
  }

  [[nodiscard]] double cost_of(double log_inverse) const {
    return std::exp(CentreThresholds::power * (log_inverse + log_unit_));
  }

  double cost(std::span<const double> v) {
    double sum = 0;
    for (const BoundedPair& pair : known_.pairs) sum += cost_of(log_inverse(pair, v));
    for (std::size_t i = 0; i < v.size(); ++i)
      sum += prior_weight_[i] * (v[i] - prior_[i]) * (v[i] - prior_[i]) / 2;
    work_ += 20 * static_cast<double>(known_.bounds.size());
    return sum;
  }

  PairModel model_of(const BoundedPair& pair) {
    const double log_least = log_inverse(pair, values_);
    PairModel model;
    for (std::size_t i = 0; i < slacks_.size(); ++i) {
      const Bound& bound = known_.bounds[pair.first + i];
      const double s = slacks_[i], share = std::exp(-sharpness_ * (std::log(s) + log_least));
      const std::array<double, 4> along{bound.way, bound.way * bound.low, -bound.way,
                                        -bound.way * bound.high};
      for (std::size_t a = 0; a < 4; ++a) {
        model.gradient[a] -= share / s * along[a];
        for (std::size_t b = 0; b < 4; ++b)
          model.curvature[a][b] += share * (1 + sharpness_) / (s * s) * along[a] * along[b];
      }
    }
    const double scale = CentreThresholds::power * cost_of(log_least);
    const double rest = CentreThresholds::power - sharpness_;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        double& entry = model.curvature[a][b];
        entry = scale * (entry + rest * model.gradient[a] * model.gradient[b]);
      }
    }
    for (double& g : model.gradient) g *= scale;
    return model;
  }

  /// A step of Newton's method. False if it lowers the cost no more.
  bool step(double& before) {
    if (work_ > CentreThresholds::most_work) return false;
    std::vector<double> gradient(values_.size());
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] = prior_weight_[i] * (values_[i] - prior_[i]);
    models_.clear();
    for (const BoundedPair& pair : known_.pairs) {
      models_.push_back(model_of(pair));
      for (std::size_t a = 0; a < 4; ++a) gradient[pair.places()[a]] += models_.back().gradient[a];
    }
    work_ += 60 * static_cast<double>(known_.bounds.size());
    const std::vector<double> step = solve(gradient);
    const double slope = std::inner_product(gradient.begin(), gradient.end(), step.begin(), 0.0);
    return slope < -CentreThresholds::enough && search_line(step, slope, before);
  }

  bool search_line(std::span<const double> step, double slope, double& before) {
    for (double length = 1; length > CentreThresholds::least_step; length /= 2) {
      std::vector<double> there = values_;
      for (std::size_t i = 0; i < there.size(); ++i) there[i] += length * step[i];
      const double after = cost(there);
      if (!(after < before + CentreThresholds::gain * length * slope)) continue;
      values_ = std::move(there);
      before = after;
      return true;
    }
    return false;
  }

  /// Newton step, by conjugate gradients.
  std::vector<double> solve(std::span<const double> gradient) {
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      entries.emplace_back(static_cast<int>(i), static_cast<int>(i), prior_weight_[i]);
    for (std::size_t p = 0; p < models_.size(); ++p) {
      const auto at = known_.pairs[p].places();
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b)
          entries.emplace_back(static_cast<int>(at[a]), static_cast<int>(at[b]),
                               models_[p].curvature[a][b]);
      }
    }
    const auto size = static_cast<Eigen::Index>(gradient.size());
    Eigen::SparseMatrix<double> curvature(size, size);
    curvature.setFromTriplets(entries.begin(), entries.end());
    Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
    solver.setMaxIterations(CentreThresholds::most_iterations);
    solver.setTolerance(CentreThresholds::residual);
    solver.compute(curvature);
    const Eigen::VectorXd step =
        -solver.solve(Eigen::Map<const Eigen::VectorXd>(gradient.data(), size));
    work_ += static_cast<double>(solver.iterations()) * static_cast<double>(curvature.nonZeros());
    return {step.data(), step.data() + size};
  }

  const PairBounds& known_;
  std::vector<double> prior_;         ///< what the unknowns are without constraints
  std::vector<double> prior_weight_;  ///< 1 / variance about that
  std::vector<double> values_;
  double width_ = 0;      ///< what is added to all slacks, ticks
  double sharpness_ = 1;  ///< sharpness of this stage
  double log_unit_ = 0;   ///< logarithm of the unit of L
  double work_ = 0;       ///< multiplications so far
  std::vector<double> slacks_;
  std::vector<PairModel> models_;  ///< those of this step
};

/// First clock of the component of each clock, in which clocks bound each other in both directions,
/// directly or around a cycle.
std::vector<std::uint32_t> strong_components(std::size_t clocks,
                                             std::span<const ClockConstraint> constraints) {
  StrongComponents components(clocks);
  components.find(constraints, [](const ClockConstraint& one) { return Arc{one.from, one.to}; });
  std::vector<std::uint32_t> first_of(clocks, k_none), component(clocks);
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::uint32_t of = components.of(c) == k_none ? c : components.of(c);
    if (first_of[of] == k_none) first_of[of] = c;
    component[c] = first_of[of];
  }
  return component;
}

}  // namespace

std::optional<std::vector<ClockLine>> find_centre_lines(
    std::size_t clocks, std::span<const ClockConstraint> constraints, std::span<const double> rates,
    double typical) {
  const std::vector<std::uint32_t> first_of = strong_components(clocks, constraints);
  std::vector<ClockConstraint> inside;
  for (const ClockConstraint& one : constraints) {
    if (first_of[one.from] == first_of[one.to]) inside.push_back(one);
  }
  std::vector<ClockLine> lines(clocks);
  for (std::uint32_t c = 0; c < clocks; ++c) lines[c].component = first_of[c];
  if (inside.empty()) return lines;
  const PairBounds known(inside);
  const std::vector<double> values = CentreSearch(clocks, known, rates, typical).run();
  if (values.empty()) return std::nullopt;
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::uint32_t first = first_of[c];
    const double offset = values[2 * first] - values[2 * c];
    const double change = values[2 * first + 1] - values[2 * c + 1];
    lines[c] = {known.begin, std::llround(offset - change), change / known.half, first};
  }
  return lines;
}

}  // namespace entrain::lines
