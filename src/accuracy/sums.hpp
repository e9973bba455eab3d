// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <entrain/compare.hpp>

/// Statistics of compare: how far the times of two traces of one run are apart, and how far each
/// is from the truth. Streams; memory does not grow with the trace.
///
/// With a truth the events are read twice: first into a TruthFit per location, merged in order of
/// the locations; then into a DifferenceSums per location, merged likewise. Merging in one fixed
/// order makes the result independent of the number of threads.
namespace entrain::accuracy {

/// The part of the errors that all locations have in common, by window of time: no message shows
/// it, and no correction can know it.
///
/// The run is cut into windows. The error of a location in a window is the mean over its events;
/// where it has none, straight between its windows, and level outside. The common error is the mean
/// over all locations, each weighing the same, and straight between the middles of windows.
///
/// Each location has an object that takes its events; merged in a fixed order they give the curve
/// of all.
class CommonError {
 public:
  static constexpr std::size_t k_windows = 1024;

  CommonError() = default;
  /// Times of events lie between `begin` and `end`, ticks of the truth.
  CommonError(std::int64_t begin, std::int64_t end)
      : begin_(begin), width_((end - begin) / static_cast<std::int64_t>(k_windows) + 1) {}

  /// An event of the location of this object.
  void add(std::int64_t truth, std::int64_t error);
  /// Adds a location. It must have the same span.
  void merge(const CommonError& location);

  /// The common error at a true time, ticks; 0 if no location was merged.
  [[nodiscard]] double at(std::int64_t truth) const;

 private:
  struct Window {
    std::uint64_t events = 0;
    long double sum = 0;  ///< relative to `first_error_`
  };

  [[nodiscard]] std::size_t window_of(std::int64_t truth) const {
    const std::int64_t window = (truth - begin_) / width_;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(window, 0, static_cast<std::int64_t>(k_windows) - 1));
  }

  std::int64_t begin_ = 0, width_ = 1;
  std::int64_t first_error_ = 0;   ///< first error of this location, ticks
  std::vector<Window> own_;        ///< windows of this location; empty without events
  std::vector<long double> sums_;  ///< sums of the merged locations, one for each window
  std::size_t locations_ = 0;
};

/// The traces that are compared.
enum Side : std::uint8_t { k_a, k_b };
inline constexpr std::size_t k_sides = 2;

/// Bits of LocationTimes::flags.
/// Communication inside the span: sends, receives, and ends of the application's collectives.
inline constexpr std::uint8_t k_in_communication = 1;

/// Times of events of a location in the traces compared, ticks, as a reader returns them. Vectors
/// of one size, but for a truth that is not there.
struct LocationTimes {
  std::vector<std::int64_t> a, b;
  std::vector<std::int64_t> truth{};  ///< empty without a truth
  std::vector<std::uint8_t> flags{};  ///< of each event
};

/// rms, 99th percentile, largest and mean of a stream of values.
///
/// The percentile is the value of rank ceil(0.99 n) of the absolute values. It is exact up to
/// k_exact values; beyond them it comes from a histogram with 128 bins per power of two and is
/// right to within 0.4 % (absolute values below 2^-20 count as 0). The others are always exact.
class Distribution {
 public:
  static constexpr std::size_t k_exact = std::size_t{1} << 18;

  void add(double value);
  void merge(const Distribution& other);

  /// With values in ticks of `resolution_hz` per second; all 0 without values.
  [[nodiscard]] DifferenceStatistics statistics(std::uint64_t resolution_hz) const;

 private:
  void count(double magnitude);
  void switch_to_bins();
  [[nodiscard]] double percentile_99() const;

  std::uint64_t events_ = 0;
  long double sum_ = 0;
  long double sum_of_squares_ = 0;
  double largest_ = 0;
  std::vector<double> magnitudes_;   ///< used up to k_exact values
  std::vector<std::uint64_t> bins_;  ///< else
};

/// error(t) = offset + rate * (t - origin), in ticks.
struct Affine {
  std::int64_t origin = 0;
  double offset = 0;
  double rate = 0;

  [[nodiscard]] double operator()(std::int64_t t) const {
    return offset + rate * static_cast<double>(t - origin);
  }
};

/// Least-squares line through points (truth time, error): exact to rounding whatever the distance
/// of the times from 0. Sums of a few thousand points relative to their first are folded into
/// running means and centred sums (Chan, Golub, LeVeque 1979).
class AffineFit {
 public:
  void add(std::int64_t t, std::int64_t error) {
    if (batch_.points == 0) batch_ = Batch{.first_t = t, .first_error = error};
    const auto x = static_cast<long double>(t - batch_.first_t);
    const auto y = static_cast<long double>(error - batch_.first_error);
    batch_.x += x;
    batch_.y += y;
    batch_.xx += x * x;
    batch_.xy += x * y;
    if (++batch_.points == k_batch) fold_batch();
  }
  void merge(const AffineFit& other) {
    fold_batch();
    total_.merge(other.total_);
    total_.merge(moments_of(other.batch_));
  }
  [[nodiscard]] std::uint64_t points() const { return total_.points + batch_.points; }

  /// The line, its origin near the mean time. All points at one time: rate 0. No point: zero.
  [[nodiscard]] Affine line() const;

 private:
  static constexpr std::uint64_t k_batch = 4096;
  struct Batch {
    std::uint64_t points = 0;
    std::int64_t first_t = 0, first_error = 0;
    long double x = 0, y = 0, xx = 0, xy = 0;  ///< sums relative to the first point
  };
  struct Moments {
    std::uint64_t points = 0;
    std::int64_t first_t = 0, first_error = 0;  ///< the means are relative to these
    long double mean_t = 0, mean_error = 0;
    long double tt = 0, te = 0;  ///< sums of (t - mean)^2 and (t - mean) * (error - mean)
    void merge(const Moments& other);
  };
  static Moments moments_of(const Batch& batch);
  void fold_batch() {
    total_.merge(moments_of(batch_));
    batch_ = {};
  }

  Batch batch_;
  Moments total_;
};

/// First pass, only with a truth: the common affine function of the errors of A and of B.
///
/// The choice of the master clock is free, so one function common to all locations is no error.
/// It is fitted by least squares, all events weighing the same, over the communication events
/// inside the span, and over all events if there are none of those. The same function is removed
/// from the errors of all events.
///
/// Besides, what the errors have in common at each moment.
class TruthFit {
 public:
  TruthFit() : TruthFit(0, 0) {}
  /// The truth's times lie between `begin` and `end`.
  TruthFit(std::int64_t begin, std::int64_t end)
      : fits_{Fit{.common = {begin, end}}, Fit{.common = {begin, end}}} {}
  void add(const LocationTimes& block);
  void merge(const TruthFit& other);

  [[nodiscard]] Affine line(Side side) const { return fits_[side].line(); }
  [[nodiscard]] const CommonError& common(Side side) const { return fits_[side].common; }
  /// Smallest time of the truth; 0 without events.
  [[nodiscard]] std::int64_t first_truth() const { return first_truth_.value_or(0); }

 private:
  struct Fit {
    AffineFit communication{}, all{};
    CommonError common{};
    [[nodiscard]] Affine line() const {
      return communication.points() > 0 ? communication.line() : all.line();
    }
  };
  std::array<Fit, k_sides> fits_;
  std::optional<std::int64_t> first_truth_;
};

/// Second (or, without a truth, the only) pass. Differences are B - A, errors trace - truth - fit.
class DifferenceSums {
 public:
  /// Without a truth.
  DifferenceSums() = default;
  /// `fit`: of all locations together; it must outlive this.
  explicit DifferenceSums(const TruthFit& fit) : first_truth_(fit.first_truth()) {
    for (const Side side : {k_a, k_b}) {
      errors_.push_back({.removed = fit.line(side), .common = &fit.common(side)});
    }
  }

  /// Blocks must carry a truth if and only if a fit was given.
  void add(const LocationTimes& block);
  void merge(const DifferenceSums& other) {
    assert(errors_.size() == other.errors_.size());
    difference_.merge(other.difference_);
    for (std::size_t side = 0; side < errors_.size(); ++side) {
      errors_[side].merge(other.errors_[side]);
    }
  }

  /// The difference over all events added: per location before merging, overall afterwards.
  [[nodiscard]] DifferenceStatistics difference(std::uint64_t resolution_hz) const {
    return difference_.all.statistics(resolution_hz);
  }

  /// Error of a time of A or B whose truth is `truth`, ticks; only with a truth.
  [[nodiscard]] double error_of(Side side, std::int64_t time, std::int64_t truth) const {
    return errors_[side].of(time, truth);
  }
  /// The part of these errors that all locations have in common at that moment.
  [[nodiscard]] double common_of(Side side, std::int64_t truth) const {
    return errors_[side].in_all(truth);
  }

  /// Fills `all`, `communication`, `a_error`, `b_error` of a report.
  void fill(CompareReport& report, std::uint64_t resolution_hz) const {
    report.all = difference_.all.statistics(resolution_hz);
    report.communication = difference_.communication.statistics(resolution_hz);
    if (errors_.empty()) return;
    report.a_error = truth_error(errors_[k_a], resolution_hz);
    report.b_error = truth_error(errors_[k_b], resolution_hz);
  }

 private:
  /// a - b for times that may be anywhere in the range of int64.
  static double distance(std::int64_t a, std::int64_t b) {
    return static_cast<double>(static_cast<long double>(a) - static_cast<long double>(b));
  }

  struct Pair {
    Distribution all, communication;
    void add(double value, bool communicates) {
      all.add(value);
      if (communicates) communication.add(value);
    }
    void merge(const Pair& other) {
      all.merge(other.all);
      communication.merge(other.communication);
    }
  };
  struct Error {
    Affine removed;
    const CommonError* common;  ///< common error of the fit
    Pair sums{}, between{}, in_common{};
    /// Error of a time, and the part of it that all locations have in common, ticks.
    [[nodiscard]] double of(std::int64_t time, std::int64_t truth) const {
      return distance(time, truth) - removed(truth);
    }
    [[nodiscard]] double in_all(std::int64_t truth) const {
      return common->at(truth) - removed(truth);
    }
    void add(std::int64_t time, std::int64_t truth, bool communicates);
    void merge(const Error& other);
  };
  [[nodiscard]] TruthError truth_error(const Error& error, std::uint64_t resolution_hz) const;

  Pair difference_;
  std::vector<Error> errors_;  ///< errors of each Side; empty without a truth
  std::int64_t first_truth_ = 0;
};

}  // namespace entrain::accuracy
