// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/sums.hpp"

#include <cmath>

#include "base/free_memory.hpp"

namespace entrain::accuracy {

namespace {

constexpr int k_bins_per_octave = 128;
constexpr int k_smallest_exponent = -20;  // magnitudes below 2^-20 share bin 0
constexpr int k_largest_exponent = 66;
constexpr std::size_t k_bins =
    1 + static_cast<std::size_t>(k_bins_per_octave * (k_largest_exponent - k_smallest_exponent));

std::size_t bin_of(double magnitude) {
  int exponent = 0;
  const double mantissa = std::frexp(magnitude, &exponent);  // [0.5, 1) * 2^exponent
  --exponent;                                                // [1, 2) * 2^exponent
  if (magnitude == 0 || exponent < k_smallest_exponent) return 0;
  if (exponent >= k_largest_exponent) return k_bins - 1;
  const int octave = exponent - k_smallest_exponent;
  const int within = static_cast<int>((2 * mantissa - 1) * k_bins_per_octave);
  return 1 + static_cast<std::size_t>(octave * k_bins_per_octave + within);
}

double middle_of(std::size_t bin) {
  if (bin == 0) return 0;
  const int index = static_cast<int>(bin) - 1;
  const double within = (index % k_bins_per_octave + 0.5) / k_bins_per_octave;
  return std::ldexp(1 + within, k_smallest_exponent + index / k_bins_per_octave);
}

}  // namespace

// ---- Distribution --------------------------------------------------------------------------

void Distribution::add(double value) {
  ++events_;
  sum_ += value;
  sum_of_squares_ += static_cast<long double>(value) * value;
  const double magnitude = std::fabs(value);
  largest_ = std::max(largest_, magnitude);
  count(magnitude);
}

void Distribution::count(double magnitude) {
  if (bins_.empty() && magnitudes_.size() < k_exact) {
    magnitudes_.push_back(magnitude);
    return;
  }
  switch_to_bins();
  ++bins_[bin_of(magnitude)];
}

void Distribution::switch_to_bins() {
  if (!bins_.empty()) return;
  bins_.resize(k_bins);
  for (const double magnitude : magnitudes_) ++bins_[bin_of(magnitude)];
  free_memory(magnitudes_);
}

void Distribution::merge(const Distribution& other) {
  events_ += other.events_;
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
  largest_ = std::max(largest_, other.largest_);
  if (!other.bins_.empty() || magnitudes_.size() + other.magnitudes_.size() > k_exact) {
    switch_to_bins();
  }
  for (const double magnitude : other.magnitudes_) count(magnitude);
  for (std::size_t i = 0; i < other.bins_.size(); ++i) bins_[i] += other.bins_[i];
}

double Distribution::percentile_99() const {
  const std::uint64_t rank = events_ - events_ / 100;  // ceil(0.99 n), from 1
  if (bins_.empty()) {
    std::vector<double> sorted = magnitudes_;
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(sorted.begin(), nth, sorted.end());
    return *nth;
  }
  std::uint64_t below = 0;
  std::size_t bin = 0;
  while (bin + 1 < bins_.size() && below + bins_[bin] < rank) below += bins_[bin++];
  return std::min(middle_of(bin), largest_);
}

DifferenceStatistics Distribution::statistics(std::uint64_t resolution_hz) const {
  DifferenceStatistics result;
  result.events = events_;
  if (events_ == 0) return result;
  const auto n = static_cast<long double>(events_);
  const auto tick_s = 1.0L / static_cast<long double>(std::max<std::uint64_t>(resolution_hz, 1));
  result.rms_s = static_cast<double>(std::sqrt(sum_of_squares_ / n) * tick_s);
  result.mean_s = static_cast<double>(sum_ / n * tick_s);
  result.max_s = static_cast<double>(largest_ * tick_s);
  result.p99_s = static_cast<double>(percentile_99() * tick_s);
  return result;
}

// ---- AffineFit -----------------------------------------------------------------------------

AffineFit::Moments AffineFit::moments_of(const Batch& batch) {
  Moments result{
      .points = batch.points, .first_t = batch.first_t, .first_error = batch.first_error};
  if (batch.points == 0) return result;
  const auto n = static_cast<long double>(batch.points);
  result.mean_t = batch.x / n;
  result.mean_error = batch.y / n;
  result.tt = std::max(0.0L, batch.xx - batch.x * result.mean_t);
  result.te = batch.xy - batch.x * result.mean_error;
  return result;
}

void AffineFit::Moments::merge(const Moments& other) {
  if (other.points == 0) return;
  if (points == 0) {
    *this = other;
    return;
  }
  const auto n = static_cast<long double>(points);
  const auto m = static_cast<long double>(other.points);
  const long double dt = static_cast<long double>(other.first_t - first_t) + other.mean_t - mean_t;
  const long double de =
      static_cast<long double>(other.first_error - first_error) + other.mean_error - mean_error;
  const long double weight = n * m / (n + m);
  tt += other.tt + weight * dt * dt;
  te += other.te + weight * dt * de;
  mean_t += dt * m / (n + m);
  mean_error += de * m / (n + m);
  points += other.points;
}

Affine AffineFit::line() const {
  Moments all = total_;
  all.merge(moments_of(batch_));
  Affine line;
  if (all.points == 0) return line;
  const long double rate = all.tt > 0 ? all.te / all.tt : 0.0L;
  const long double whole = std::rint(all.mean_t);
  line.origin = all.first_t + static_cast<std::int64_t>(whole);
  line.rate = static_cast<double>(rate);
  line.offset = static_cast<double>(static_cast<long double>(all.first_error) + all.mean_error +
                                    rate * (whole - all.mean_t));
  return line;
}

// ---- TruthFit ------------------------------------------------------------------------------

void TruthFit::add(const LocationTimes& block) {
  assert(block.truth.size() == block.a.size() && block.truth.size() == block.b.size());
  for (std::size_t i = 0; i < block.truth.size(); ++i) {
    const std::int64_t t = block.truth[i];
    for (const Side side : {k_a, k_b}) {
      const std::int64_t error = (side == k_a ? block.a : block.b)[i] - t;
      fits_[side].all.add(t, error);
      fits_[side].common.add(t, error);
      if ((block.flags[i] & k_in_communication) != 0) fits_[side].communication.add(t, error);
    }
    first_truth_ = std::min(first_truth_.value_or(t), t);
  }
}

void TruthFit::merge(const TruthFit& other) {
  for (const Side side : {k_a, k_b}) {
    fits_[side].all.merge(other.fits_[side].all);
    fits_[side].communication.merge(other.fits_[side].communication);
    fits_[side].common.merge(other.fits_[side].common);
  }
  if (other.first_truth_) {
    first_truth_ = std::min(first_truth_.value_or(*other.first_truth_), *other.first_truth_);
  }
}

// ---- DifferenceSums ------------------------------------------------------------------------

void DifferenceSums::Error::add(std::int64_t time, std::int64_t truth, bool communicates) {
  const double whole = of(time, truth), shared = in_all(truth);
  sums.add(whole, communicates);
  between.add(whole - shared, communicates);
  in_common.add(shared, communicates);
}

void DifferenceSums::Error::merge(const Error& other) {
  sums.merge(other.sums);
  between.merge(other.between);
  in_common.merge(other.in_common);
}

void DifferenceSums::add(const LocationTimes& block) {
  assert(block.a.size() == block.b.size() && block.a.size() == block.flags.size());
  assert(errors_.empty() || block.truth.size() == block.a.size());
  for (std::size_t i = 0; i < block.a.size(); ++i) {
    const bool communicates = (block.flags[i] & k_in_communication) != 0;
    difference_.add(distance(block.b[i], block.a[i]), communicates);
    if (errors_.empty()) continue;
    errors_[k_a].add(block.a[i], block.truth[i], communicates);
    errors_[k_b].add(block.b[i], block.truth[i], communicates);
  }
}

TruthError DifferenceSums::truth_error(const Error& error, std::uint64_t resolution_hz) const {
  TruthError result;
  result.all = error.sums.all.statistics(resolution_hz);
  result.communication = error.sums.communication.statistics(resolution_hz);
  result.between_clocks = {error.between.all.statistics(resolution_hz),
                           error.between.communication.statistics(resolution_hz)};
  result.common = {error.in_common.all.statistics(resolution_hz),
                   error.in_common.communication.statistics(resolution_hz)};
  result.affine_offset_s =
      error.removed(first_truth_) / static_cast<double>(std::max<std::uint64_t>(resolution_hz, 1));
  result.affine_ppm = error.removed.rate * 1e6;
  return result;
}

void CommonError::add(std::int64_t truth, std::int64_t error) {
  if (own_.empty()) {
    own_.resize(k_windows);
    first_error_ = error;
  }
  Window& window = own_[window_of(truth)];
  ++window.events;
  window.sum += static_cast<long double>(error - first_error_);
}

void CommonError::merge(const CommonError& location) {
  if (location.own_.empty()) return;
  sums_.resize(k_windows, 0);
  ++locations_;
  const auto mean = [&](std::size_t w) {
    return static_cast<long double>(location.first_error_) +
           location.own_[w].sum / static_cast<long double>(location.own_[w].events);
  };
  const auto known = [&](std::size_t w) { return location.own_[w].events > 0; };
  std::size_t last = k_windows;  // the latest window with events
  for (std::size_t w = 0; w < k_windows; ++w) {
    if (!known(w)) continue;
    const std::size_t from = last == k_windows ? 0 : last + 1;
    for (std::size_t gap = from; gap < w; ++gap) {
      const long double share = last == k_windows ? 1
                                                  : static_cast<long double>(gap - last) /
                                                        static_cast<long double>(w - last);
      const long double before = last == k_windows ? mean(w) : mean(last);
      sums_[gap] += before + share * (mean(w) - before);
    }
    sums_[w] += mean(w);
    last = w;
  }
  for (std::size_t w = last + 1; w < k_windows; ++w) sums_[w] += mean(last);
}

double CommonError::at(std::int64_t truth) const {
  if (locations_ == 0) return 0;
  const auto n = static_cast<long double>(locations_);
  // In windows, from the middle of the first one on.
  const long double place =
      static_cast<long double>(truth - begin_) / static_cast<long double>(width_) - 0.5L;
  if (place <= 0) return static_cast<double>(sums_.front() / n);
  const auto before = static_cast<std::size_t>(place);
  if (before + 1 >= k_windows) return static_cast<double>(sums_.back() / n);
  const long double share = place - static_cast<long double>(before);
  return static_cast<double>((sums_[before] + share * (sums_[before + 1] - sums_[before])) / n);
}

}  // namespace entrain::accuracy
