// SPDX-License-Identifier: BSD-3-Clause
#include "base/courier.hpp"

namespace entrain {

namespace {

using std::chrono::microseconds;

/// A member that waits for so long reports it. Reports are no work for the sender but some for
/// rank 0, and in a work that goes on nobody waits for so long.
constexpr microseconds k_patience{2'000};
/// The same once there was a time when nothing went on: there may be many more.
constexpr microseconds k_short_patience{50};
/// A member that has reported looks so often whether the user wants to stop.
constexpr microseconds k_look_at_user{20'000};

}  // namespace

Courier::Courier(Team& team) : team_(team), posted_(team.size()), patience_(k_patience) {
  survey_.reports.resize(team.size());
  survey_.missing_reports = team.size();
}

void Courier::post(unsigned to, Team::Bytes parcel) {
  ++counts_.sent;
  put(to, Kind::data, std::move(parcel));
}

std::optional<Team::Parcel> Courier::poll() {
  std::int64_t before = 0;
  do {
    before = taken_;
    if (std::optional<Team::Parcel> parcel = take(microseconds(0))) return parcel;
  } while (taken_ != before);
  return std::nullopt;
}

Courier::News Courier::wait(bool at_end, const Cancel& cancel, Team::Parcel& parcel) {
  for (bool waited = at_end;; waited = true) {
    if (!stopped_ && cancel.asked()) stop();
    if (stopped_) return News::stopped;
    if (waited && !quiet_) report();
    if (quiet_) {
      end_wait();
      return News::quiet;
    }
    std::optional<Team::Parcel> arrived = take(waited ? k_look_at_user : patience_);
    if (arrived) {
      parcel = *std::move(arrived);
      return News::parcel;
    }
  }
}

/// The next parcel of data, if it arrives soon; nothing too if something else has.
std::optional<Team::Parcel> Courier::take(microseconds patience) {
  std::optional<Team::Parcel> parcel = team_.receive(patience);
  if (!parcel) return std::nullopt;
  Kind kind{};
  std::memcpy(&kind, parcel->bytes.data(), sizeof(kind));
  ++taken_;
  if (kind == Kind::data) {
    ++counts_.received;
    return parcel;
  }
  hear(kind, *parcel);
  return std::nullopt;
}

void Courier::stop() {
  stopped_ = true;
  for (unsigned r = 0; r < team_.size(); ++r) {
    if (r != team_.rank()) send(r, Kind::stop, {});
  }
}

bool Courier::close() {
  team_.reduce(Team::Reduction::sum, posted_);
  while (taken_ < posted_[team_.rank()]) {
    if (team_.receive(k_look_at_user)) ++taken_;
  }
  posted_.assign(team_.size(), 0);
  taken_ = 0;
  return team_.any(stopped_);
}

void Courier::send(unsigned to, Kind kind, const Counts& counts) {
  Team::Bytes parcel(k_header + sizeof(counts));
  std::memcpy(parcel.data() + k_header, &counts, sizeof(counts));
  put(to, kind, std::move(parcel));
}

void Courier::put(unsigned to, Kind kind, Team::Bytes parcel) {
  static_assert(sizeof(kind) == k_header);
  std::memcpy(parcel.data(), &kind, sizeof(kind));
  ++posted_[to];
  team_.post(to, std::move(parcel));
}

void Courier::hear(Kind kind, const Team::Parcel& parcel) {
  Counts counts;
  std::memcpy(&counts, parcel.bytes.data() + k_header, sizeof(counts));
  switch (kind) {
    case Kind::data:
      break;
    case Kind::report:
      hear_report(parcel.from, counts);
      break;
    case Kind::question:
      send(0, Kind::answer, counts_);
      break;
    case Kind::answer:
      hear_answer(parcel.from, counts);
      break;
    case Kind::quiet:
      quiet_ = true;
      break;
    case Kind::stop:
      stopped_ = true;
      break;
  }
}

/// Reports this member's counts if they are new; rank 0 asks when all have reported.
void Courier::report() {
  if (reported_ != counts_) {
    reported_ = counts_;
    if (team_.rank() == 0) {
      hear_report(0, counts_);
    } else {
      send(0, Kind::report, counts_);
    }
  }
  if (team_.rank() == 0 && survey_.missing_reports == 0 && survey_.missing_answers == 0) ask();
}

void Courier::hear_report(unsigned from, const Counts& counts) {
  if (!survey_.reports[from]) --survey_.missing_reports;
  survey_.reports[from] = counts;
  survey_.in_vain = true;
}

void Courier::ask() {
  Counts sum;
  for (const std::optional<Counts>& report : survey_.reports) {
    sum.sent += report->sent;
    sum.received += report->received;
  }
  if (sum.sent != sum.received) return;  // whoever receives the rest reports again
  survey_.in_vain = false;
  survey_.missing_answers = team_.size();
  for (unsigned r = 1; r < team_.size(); ++r) send(r, Kind::question, {});
  hear_answer(0, counts_);
}

void Courier::hear_answer(unsigned from, const Counts& counts) {
  if (survey_.reports[from] != counts) {
    survey_.in_vain = true;
    // It has worked since and will report again.
    if (survey_.reports[from]) ++survey_.missing_reports;
    survey_.reports[from].reset();
  }
  if (--survey_.missing_answers > 0) return;
  if (survey_.in_vain || survey_.reports[0] != counts_) return;
  quiet_ = true;
  for (unsigned r = 1; r < team_.size(); ++r) send(r, Kind::quiet, {});
}

/// All members begin to count anew who waits.
void Courier::end_wait() {
  quiet_ = false;
  reported_.reset();
  survey_.reports.assign(team_.size(), std::nullopt);
  survey_.missing_reports = team_.size();
  patience_ = k_short_patience;
}

}  // namespace entrain
