// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/drop.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "trace/event.hpp"

namespace entrain::sim {

namespace {

/// Use of a stream of random numbers; a location has a stream for each.
enum class Purpose : std::uint64_t { records, other_records, window, end };
constexpr std::uint64_t k_purposes = 4;

RandomStream stream_of(std::uint64_t seed, std::size_t location, Purpose purpose) {
  return {seed, k_purposes * location + static_cast<std::uint64_t>(purpose)};
}

constexpr std::uint32_t bit(RecordKind kind) { return 1u << static_cast<unsigned>(kind); }

/// Kinds of call that have a short name, and the records that they write.
struct CallKind {
  std::string_view name;
  std::uint32_t kinds;
};
constexpr std::array<CallKind, 5> k_calls{
    {{"send", bit(RecordKind::send)},
     {"isend", bit(RecordKind::isend) | bit(RecordKind::isend_complete)},
     {"recv", bit(RecordKind::recv)},
     {"irecv", bit(RecordKind::irecv_request) | bit(RecordKind::irecv)},
     {"collective", bit(RecordKind::collective_begin) | bit(RecordKind::collective_end) |
                        bit(RecordKind::nb_request) | bit(RecordKind::nb_complete)}}};

Result<void> check_share(const char* name, double share) {
  if (share >= 0 && share <= 1) return {};
  return fail(ErrorKind::usage, fmt::format("{} must be a share from 0 to 1", name));
}

Result<void> check_stretch(const char* name, const DropStretch& stretch) {
  TRY(check_share(name, stretch.share));
  if (stretch.share == 0) return {};
  if (stretch.locations > 0 && stretch.locations <= 1) return {};
  return fail(ErrorKind::usage,
              fmt::format("the locations of {} must be a share above 0, up to 1", name));
}

Result<void> name_call(const trace::Definitions& definitions, const std::string& name,
                       DropPlan& plan) {
  const auto* const call = std::find_if(k_calls.begin(), k_calls.end(),
                                        [&](const CallKind& k) { return k.name == name; });
  if (call != k_calls.end()) {
    plan.kinds |= call->kinds;
    return {};
  }
  if (const auto operation = trace::find_operation(name)) {
    plan.operations |= 1u << *operation;
    return {};
  }
  bool found = false;
  for (std::size_t r = 0; r < definitions.regions.size(); ++r) {
    if (definitions.regions[r].name != name) continue;
    plan.regions.resize(definitions.regions.size());
    plan.regions[r] = found = true;
  }
  if (found) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} is neither send, isend, recv, irecv or collective, nor a collective "
                          "operation such as Allreduce, nor a region of this trace",
                          name));
}

/// The locations to which a stretch falls: those of all candidates whose number is smallest.
std::vector<LocationIndex> choose(std::span<const DropSpan> spans, const DropOptions& options,
                                  const DropStretch& stretch, Purpose purpose) {
  std::vector<std::pair<std::uint64_t, LocationIndex>> candidates;
  for (LocationIndex l = 0; l < spans.size(); ++l) {
    if (!spans[l].communicates) continue;
    candidates.emplace_back(stream_of(options.seed, l, purpose).next(), l);
  }
  const auto wanted = static_cast<std::size_t>(
      std::llround(stretch.locations * static_cast<double>(candidates.size())));
  const std::size_t count = std::min(std::max<std::size_t>(wanted, 1), candidates.size());
  std::sort(candidates.begin(), candidates.end());
  std::vector<LocationIndex> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(candidates[i].second);
  return chosen;
}

/// Ticks of a span, and how many of them a share takes, at least one.
struct Ticks {
  std::uint64_t all, taken;
};

Ticks ticks_of(const DropSpan& span, double share) {
  const std::uint64_t all = span.last - span.first + 1;
  const auto taken = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  return {all, std::clamp<std::uint64_t>(taken, 1, all)};
}

DropRange draw_window(const DropSpan& span, double share, RandomStream numbers) {
  const Ticks ticks = ticks_of(span, share);
  const std::uint64_t room = ticks.all - ticks.taken;
  numbers.next();  // the number that chose the location
  const auto drawn =
      static_cast<std::uint64_t>(numbers.uniform(0, 1) * (static_cast<double>(room) + 1));
  const std::uint64_t begin = span.first + std::min(drawn, room);
  return {begin, begin + ticks.taken};
}

}  // namespace

Result<DropPlan> plan_drop(const trace::Definitions& definitions, const DropOptions& options) {
  TRY(check_share("the loss at random", options.random));
  TRY(check_stretch("windows", options.windows));
  TRY(check_stretch("the tail", options.tail));
  DropPlan plan;
  plan.seed = options.seed;
  plan.random = options.random;
  plan.locations.resize(definitions.locations.size());
  for (const std::string& name : options.calls) TRY(name_call(definitions, name, plan));
  return plan;
}

bool has_stretches(const DropOptions& options) {
  return options.windows.share > 0 || options.tail.share > 0;
}

void draw_stretches(DropPlan& plan, std::span<const DropSpan> spans, const DropOptions& options) {
  if (options.windows.share > 0) {
    for (const LocationIndex l : choose(spans, options, options.windows, Purpose::window)) {
      plan.locations[l].window =
          draw_window(spans[l], options.windows.share, stream_of(options.seed, l, Purpose::window));
    }
  }
  if (options.tail.share > 0) {
    for (const LocationIndex l : choose(spans, options, options.tail, Purpose::end)) {
      plan.locations[l].end = spans[l].last + 1 - ticks_of(spans[l], options.tail.share).taken;
    }
  }
}

void NamedBeginnings::add(const DropRecord& record) {
  const bool is_named = record.op < 32 && (operations_ >> record.op & 1) != 0;
  switch (record.kind) {
    case RecordKind::collective_begin:
      open_ = named_.size();
      named_.push_back(false);
      return;
    case RecordKind::nb_request:
      requests_[record.request] = named_.size();
      named_.push_back(false);
      return;
    case RecordKind::collective_end:
      if (open_ != k_none_open) named_[open_] = is_named;
      open_ = k_none_open;
      return;
    case RecordKind::nb_complete: {
      const auto found = requests_.find(record.request);
      if (found == requests_.end()) return;
      named_[found->second] = is_named;
      requests_.erase(found);
      return;
    }
    default:
      return;
  }
}

DropStream::DropStream(const DropPlan& plan, LocationIndex location, std::vector<bool> beginnings)
    : plan_(plan),
      location_(plan.locations[location]),
      beginnings_(std::move(beginnings)),
      numbers_(stream_of(plan.seed, location, Purpose::records)),
      other_numbers_(stream_of(plan.seed, location, Purpose::other_records)) {}

bool DropStream::loses(const DropRecord& record) {
  DropCount& count = kinds_[static_cast<std::size_t>(record.kind)];
  ++count.records;
  const bool lost = decide(record);
  if (lost) ++count.lost;
  return lost;
}

bool DropStream::loses_other(std::uint64_t time) {
  if (!location_.end || time < *location_.end) return false;
  ++others_lost_;
  return true;
}

/// Every record draws its number and takes its place among the beginnings, also if it is lost
/// anyway: what one way loses must not change what another one does.
bool DropStream::decide(const DropRecord& record) {
  const bool by_chance =
      (in_skeletons(record.kind) ? numbers_ : other_numbers_).uniform(0, 1) < plan_.random;
  const bool by_name = named(record);
  const auto& window = location_.window;
  return by_chance || by_name ||
         (window && record.time >= window->begin && record.time < window->end) ||
         (location_.end && record.time >= *location_.end);
}

bool DropStream::named(const DropRecord& record) {
  bool result = (plan_.kinds & bit(record.kind)) != 0;
  switch (record.kind) {
    case RecordKind::collective_begin:
    case RecordKind::nb_request:
      result |= next_beginning_ < beginnings_.size() && beginnings_[next_beginning_];
      ++next_beginning_;
      break;
    case RecordKind::collective_end:
    case RecordKind::nb_complete:
      result |= record.op < 32 && (plan_.operations >> record.op & 1) != 0;
      break;
    default:
      break;
  }
  return result || (record.region < plan_.regions.size() && plan_.regions[record.region]);
}

void add_location(DropReport& report, const trace::Definitions& definitions,
                  const LocationDrop& drop, const DropStream& stream) {
  const auto l = static_cast<LocationIndex>(report.locations.size());
  DropLocation& line = report.locations.emplace_back();
  line.id = definitions.locations[l].id;
  line.name = definitions.locations[l].name;
  line.process = trace::process_name(definitions, l);
  line.window = drop.window;
  line.end = drop.end;
  line.others_lost = stream.others_lost();
  for (std::size_t k = 0; k < k_record_kinds; ++k) {
    const DropCount& count = stream.kinds()[k];
    line.communication.records += count.records;
    line.communication.lost += count.lost;
    report.kinds[k].records += count.records;
    report.kinds[k].lost += count.lost;
  }
  report.lost += line.communication.lost + line.others_lost;
}

}  // namespace entrain::sim
