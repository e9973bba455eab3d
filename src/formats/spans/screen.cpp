// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/screen.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "base/stray_times.hpp"

namespace entrain::spans {
namespace {

constexpr double k_year_2000 = k_year_2000_s * 1e9, k_year_2100 = k_year_2100_s * 1e9;  ///< ns

/// Chosen, not measured; tests: identity_test.cpp, tests/services/situations.py.
struct ScreenThresholds {
  static constexpr std::uint64_t far = 86'400'000'000'000;  ///< ns; no call waits for a day
  static constexpr double unit_error = 1e-4;  ///< error of a ratio of times: 44 hours in 50 years
  static constexpr double short_length = 10'000;  ///< ns; calls of most runs take more
};

/// True if no clocks of this run explain when a span begins: a day or more before or after its
/// parent.
bool is_far(const Span& child, const Span& parent) {
  return child.begin + ScreenThresholds::far < parent.begin ||
         child.begin > parent.end + ScreenThresholds::far;
}

/// Calls visit(child, parent) for spans that are at about the same time: of one group, or a client
/// and its server.
template <class Visit>
void for_ties(const Spans& spans, const Family& family, const Visit& visit) {
  for (std::uint32_t i = 0; i < spans.all.size(); ++i) {
    const std::uint32_t from = family.is_ignored(i) ? k_none : family.parent_of(i);
    if (from == k_none) continue;
    const Span &child = spans.all[i], &parent = spans.all[from];
    const bool is_call = parent.role == Role::client && child.role == Role::server;
    const bool is_one = spans.group_of(child) == spans.group_of(parent) && !child.follows;
    if (is_call || is_one) visit(child, parent);
  }
}

std::string date_of(std::uint64_t time) {
  const std::chrono::sys_time<std::chrono::nanoseconds> at(
      std::chrono::nanoseconds(static_cast<std::int64_t>(time)));
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

std::string times_of_factor(double factor, const char* how) {
  return fmt::format("times that are {}: they are in another unit than the format says",
                     factor_text(factor, how));
}

void add_tie(Stretch& stretch, const Span& own, const Span& other, bool is_tie_far, bool is_whole) {
  stretch.add_tie(own.begin, other.begin, is_tie_far);
  if (!is_tie_far) return;
  if (!is_whole) --stretch.calls;
  const std::uint64_t length = std::max(own.end - own.begin, other.end - other.begin);
  stretch.longest = std::max(stretch.longest, static_cast<double>(length));
}

/// The treatment of the displaced segments of a group.
struct Judged {
  std::string name;
  std::uint64_t lost = 0, mistaken = 0;  ///< spans without a place in the run; of a wrong unit
  std::optional<double> factor{};        ///< factor of the wrong unit
  std::string example{};                 ///< date of the first of the lost ones

  void take(const Stretch& own, std::size_t number, bool is_all, Screen::Part& part,
            std::vector<std::string>& notes) {
    const bool is_old = static_cast<double>(own.last) < k_year_2000;
    const auto unit =
        is_old ? unit_factor(median(own.ratios), ScreenThresholds::unit_error) : std::nullopt;
    if (unit) {
      factor = unit;
      mistaken += own.count;
    } else if (is_all) {
      return;
    } else if (!own.is_of_one_clock()) {
      if (lost == 0) example = date_of(own.first);
      lost += own.count;
    } else {
      part.number = number + 1;
      part.name = fmt::format(" (its clock at {})", date_of(own.first));
      notes.push_back(
          fmt::format("the clock of {} was set by about {:+.0f} s: what it stamped from {} on "
                      "counts as of a clock of its own",
                      name, median(own.distances) / 1e9, date_of(own.first)));
      return;
    }
    part = {.first = part.first,
            .number = k_aside,
            .name = is_all ? "" : " (no times of this run)",
            .is_aside = true};
  }

 private:
  static constexpr std::size_t k_aside = ~std::size_t{0};
};

}  // namespace

Screen::Screen(const Spans& spans, const Family& family, Identity& identity)
    : spans_(spans), family_(family), identity_(identity), counts_(spans.groups.all().size()) {
  for (const Span& span : spans.all) ++counts_[spans.group_of(span)];
  for (const Untimed& one : spans.untimed) ++counts_[spans.facts[one.clock].group];
  note_changed();
  note_untimed();
  note_unit_of_all();
  find_far();
}

std::span<const Screen::Part> Screen::parts_of(std::uint32_t group) const {
  const auto known = parts_.find(group);
  return known == parts_.end() ? whole_ : known->second;
}

const Screen::Part* Screen::part_at(std::uint32_t group, std::uint64_t time) const {
  const std::span<const Part> parts = parts_of(group);
  const Part& part = spans::part_at(parts, time);
  return part.is_aside ? nullptr : &part;
}

void Screen::set_aside(const char* kind, std::uint32_t group, std::uint64_t count,
                       const std::string& what) {
  const std::string& name = spans_.groups.all()[group];
  const std::uint64_t total = counts_[group];
  identity_.set_aside.push_back(
      {.kind = kind,
       .clock = name,
       .records = count,
       .total = total,
       .is_decisive = matters(count, total),
       .reason = fmt::format("{} of {} {} of {} {} {}", count, total, total == 1 ? "span" : "spans",
                             name, count == 1 ? "has" : "have", what)});
}

void Screen::note_changed() {
  std::map<std::uint32_t, std::uint64_t> changed;
  for (const Span& span : spans_.all) {
    const PlaceFacts& facts = spans_.facts[span.clock];
    if (facts.is_changed) ++changed[facts.group];
  }
  for (const auto& [group, count] : changed) {
    set_aside("changed_times", group, count,
              "times that Jaeger has adjusted, as warnings say, which are no readings of a clock: "
              "export them without that adjustment");
    identity_.set_aside.back().is_decisive = true;
  }
}

void Screen::note_untimed() {
  struct Of {
    std::uint64_t count = 0, backwards = 0;
    double value = 0;
  };
  std::map<std::uint32_t, Of> groups;
  for (const Untimed& one : spans_.untimed) {
    Of& of = groups[spans_.facts[one.clock].group];
    if (of.count++ == 0) of.value = one.value;
    of.backwards += one.is_backwards ? 1 : 0;
  }
  if (groups.empty()) return;
  std::vector<double> begins{0};
  for (const Span& span : spans_.all) begins.push_back(static_cast<double>(span.begin));
  const double typical = std::max(median(std::move(begins)), 1.0);
  for (const auto& [group, of] : groups) {
    constexpr double k_sign = 9.2e18;  // 2^63
    const std::optional<double> factor =
        unit_factor(of.value / typical, ScreenThresholds::unit_error);
    set_aside(factor ? "wrong_unit" : "no_time", group, of.count,
              factor                        ? times_of_factor(*factor, "large")
              : 2 * of.backwards > of.count ? "an end before the begin"
              : of.value > k_sign           ? "a negative time, written without its sign"
                                            : "no valid time");
  }
}

/// Uptimes are small, too, but spans as short as these are of another unit.
void Screen::note_unit_of_all() {
  const auto first = std::ranges::min_element(spans_.all, {}, &Span::begin);
  if (first == spans_.all.end() || static_cast<double>(first->begin) * 1e3 >= k_year_2100) {
    return;  // no median of these is a date in another unit
  }
  std::vector<double> begins, lengths;
  for (const Span& span : spans_.all) {
    begins.push_back(static_cast<double>(span.begin));
    lengths.push_back(static_cast<double>(span.end - span.begin));
  }
  const double begin = median(std::move(begins)), length = median(std::move(lengths));
  for (const double factor : {1e3, 1e6, 1e9}) {
    const bool is_date = begin * factor >= k_year_2000 && begin * factor < k_year_2100;
    if (!is_date || length > ScreenThresholds::short_length) continue;
    identity_.set_aside.push_back(
        {.kind = "wrong_unit",
         .clock = spans_.groups.all()[spans_.group_of(spans_.all.front())],
         .records = spans_.all.size(),
         .total = spans_.all.size(),
         .is_decisive = true,
         .reason = "all spans have " + times_of_factor(factor, "small")});
  }
}

/// First the groups whose times are the smallest, of a wrong unit: what ties others to these tells
/// nothing of the others.
void Screen::find_far() {
  std::map<std::uint32_t, std::uint64_t> odd;  // groups and their last times
  for_ties(spans_, family_, [&](const Span& child, const Span& parent) {
    if (is_far(child, parent)) odd[spans_.group_of(child)] = odd[spans_.group_of(parent)] = 0;
  });
  if (odd.empty()) return;
  for (const Span& span : spans_.all) {
    const auto known = odd.find(spans_.group_of(span));
    if (known != odd.end()) known->second = std::max(known->second, span.begin);
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (const auto& [group, last] : odd) order.emplace_back(last, group);
  std::ranges::sort(order);
  for (const auto& [last, group] : order) judge(group);
}

void Screen::judge(std::uint32_t group) {
  const auto is_own = [&](const Span& span) { return spans_.group_of(span) == group; };
  std::vector<std::uint64_t> begins;
  for (const Span& span : spans_.all) {
    if (is_own(span)) begins.push_back(span.begin);
  }
  std::vector<Stretch> segments = stretches_of(std::move(begins), ScreenThresholds::far);
  for_ties(spans_, family_, [&](const Span& child, const Span& parent) {
    const bool is_call = !is_own(child) || !is_own(parent), is_tie_far = is_far(child, parent);
    const bool is_whole = is_call && child.end - child.begin <= parent.end - parent.begin;
    const auto add = [&](const Span& own, const Span& other) {
      if (!is_own(own)) return;
      Stretch& segment = spans::part_at(segments, own.begin);
      const bool is_inside = is_own(other) && &segment == &spans::part_at(segments, other.begin);
      const bool is_known = part_at(spans_.group_of(other), other.begin) != nullptr;
      if (!is_inside && is_known) add_tie(segment, own, other, is_tie_far, is_whole);
    };
    add(child, parent);
    add(parent, child);
  });
  Judged judged{.name = spans_.groups.all()[group]};
  std::vector<Part> parts;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::uint64_t before = i == 0 ? 0 : segments[i - 1].last;
    parts.push_back({.first = before + (i == 0 ? 0 : (segments[i].first - before) / 2)});
    if (segments[i].is_displaced()) {
      judged.take(segments[i], i, segments.size() == 1, parts.back(), identity_.notes);
    }
  }
  if (judged.mistaken > 0) {
    set_aside("wrong_unit", group, judged.mistaken, times_of_factor(*judged.factor, "small"));
  }
  if (judged.lost > 0) {
    set_aside("no_times_of_this_run", group, judged.lost,
              fmt::format("times that are a day or more from all calls that they belong to (the "
                          "first at {})",
                          judged.example));
  }
  if (parts.size() > 1 || parts.front().is_aside) parts_.emplace(group, std::move(parts));
}

}  // namespace entrain::spans
