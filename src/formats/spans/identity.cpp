// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/identity.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "formats/spans/replicas.hpp"
#include "formats/spans/screen.hpp"

namespace entrain::spans {

std::uint32_t Identity::host_of(std::uint32_t clock, std::uint64_t time) const {
  const std::vector<Period>& own = periods[clock];
  const auto next = std::find_if(own.begin(), own.end(),
                                 [&](const Period& period) { return period.first > time; });
  return next == own.begin() ? own.front().host : std::prev(next)->host;
}

namespace {

/// A clock, before it has a position: a group or a place, and the part of its times.
using HostKey = std::tuple<bool, std::uint32_t, std::size_t>;

class Naming {
 public:
  Naming(const Spans& spans, const Screen& screen, const Replicas& replicas, Identity& result)
      : spans_(spans), screen_(screen), replicas_(replicas), result_(result) {}

  void run(Spans& spans) {
    result_.periods.resize(spans.clocks.all().size());
    for (Span& span : spans.all) {
      add_periods(span.clock);
      span.host = result_.host_of(span.clock, span.begin);
      StampRange& range = *result_.clocks.clocks[span.host].events;
      if (range.first > range.last) range = {span.begin, span.end};
      range = {std::min(range.first, span.begin), std::max(range.last, span.end)};
    }
    // A damaged span may hold times of a place that has no span.
    for (std::uint32_t place = 0; place < result_.periods.size(); ++place) add_periods(place);
  }

 private:
  void add_periods(std::uint32_t place) {
    std::vector<Period>& own = result_.periods[place];
    if (!own.empty()) return;
    const PlaceFacts& facts = spans_.facts[place];
    const bool is_split = replicas_.is_split[facts.group];
    const std::uint32_t number = is_split || facts.is_changed ? place : facts.group;
    const std::string& name = is_split || facts.is_changed ? spans_.clocks.all()[place]
                                                           : spans_.groups.all()[facts.group];
    for (const Screen::Part& part : screen_.parts_of(facts.group)) {
      const HostKey key{is_split || facts.is_changed, number, part.number};
      const auto next = static_cast<std::uint32_t>(result_.clocks.clocks.size());
      const auto [known, is_new] = hosts_.emplace(key, next);
      if (is_new) {
        result_.clocks.clocks.push_back({.name = name + part.name,
                                         .kind = ClockKind::wall,
                                         .events = StampRange{1, 0},
                                         .granule = spans_.microseconds ? 1000U : 0U});
        result_.aside.push_back(facts.is_changed || part.is_aside);
      }
      own.push_back({part.first, known->second});
    }
  }

  const Spans& spans_;
  const Screen& screen_;
  const Replicas& replicas_;
  Identity& result_;
  std::map<HostKey, std::uint32_t> hosts_;
};

/// Clocks of which no span was used have no range of times.
void drop_empty_ranges(Clocks& clocks) {
  for (Clock& clock : clocks.clocks) {
    if (clock.events->first > clock.events->last) clock.events.reset();
  }
}

void name_several(const Spans& spans, const Replicas& replicas, Identity& identity) {
  std::map<std::string, std::vector<std::uint32_t>> hosts;
  for (std::uint32_t h = 0; h < identity.clocks.clocks.size(); ++h) {
    hosts[identity.clocks.clocks[h].name].push_back(h);
  }
  for (const auto& [a, b] : replicas.unresolved) {
    for (const std::uint32_t x : hosts[spans.groups.all()[a]]) {
      for (const std::uint32_t y : hosts[spans.groups.all()[b]])
        identity.several.emplace(std::minmax(x, y));
    }
  }
}

}  // namespace

Identity identify(Spans& spans, const Family& family) {
  Identity result;
  const Screen screen(spans, family);
  const Replicas replicas(spans, family, screen);
  Naming(spans, screen, replicas, result).run(spans);
  drop_empty_ranges(result.clocks);
  name_several(spans, replicas, result);
  for (const auto* part : {&screen.set_aside, &replicas.set_aside}) {
    result.set_aside.insert(result.set_aside.end(), part->begin(), part->end());
  }
  for (const auto* part : {&screen.notes, &replicas.notes}) {
    result.notes.insert(result.notes.end(), part->begin(), part->end());
  }
  return result;
}

}  // namespace entrain::spans
