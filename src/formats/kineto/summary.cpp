// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/run.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "formats/perfetto/reader.hpp"

namespace entrain::kineto {
namespace {

template <class Fields>
void visit_facts(Fields& fields, FileFacts& facts) {
  fields(facts.base, facts.rank, facts.world_size, facts.has_events, facts.truncated, facts.packing,
         facts.bytes);
  fields.hash(facts.hash);
  bool is_perfetto = facts.survey != nullptr;
  fields(facts.unit, facts.clock, is_perfetto);
  if constexpr (Fields::k_reads) {
    if (facts.unit == 0) fields.refuse();
    if (is_perfetto) facts.survey = std::make_shared<perfetto::Survey>();
  }
  fields(facts.lost_events, facts.holds_other_times, facts.ties_machines);
  parts::entries(fields, facts.lost);
}

template <class Fields>
void visit_clock(Fields& fields, FileClock& clock) {
  fields(clock.process, clock.events, clock.first, clock.last, clock.times);
  parts::list(fields, clock.none, &NoTimes::first, &NoTimes::last, &NoTimes::count);
  fields(clock.part);
  using Fall = RowOrder::Fall;
  parts::list(fields, clock.falls.all, &Fall::from, &Fall::to, &Fall::until, &Fall::ahead);
  fields.size(clock.edges);
  parts::columns(fields, clock.edges, &InnerEdge::from_host, &InnerEdge::host);
  parts::column(
      fields, clock.edges, [](const InnerEdge& edge) { return edge.device - edge.host; },
      [](InnerEdge& edge, std::uint64_t later) { edge.device = edge.host + later; });
}

/// The names of kernels, of which equal ones share a text.
template <class Fields>
void visit_labels(Fields& fields, std::vector<Call>& calls) {
  std::map<std::string, std::shared_ptr<const std::string>> shared;
  for (Call& call : calls) {
    std::string text = call.label == nullptr ? std::string() : *call.label;
    fields.repeated(text);
    if constexpr (Fields::k_reads) {
      if (text.empty()) continue;
      auto& label = shared[text];
      if (label == nullptr) label = std::make_shared<const std::string>(text);
      call.label = label;
    }
  }
}

template <class Fields>
void visit_calls(Fields& fields, std::vector<Call>& calls) {
  constexpr std::size_t k_least = 23;  // bytes of a call: 13 columns, two names, 8 of its number
  fields.size(calls, k_least);
  parts::columns(fields, calls, &Call::begin);
  parts::column(
      fields, calls, [](const Call& call) { return call.end - call.begin; },
      [](Call& call, std::uint64_t length) { call.end = call.begin + length; });
  parts::columns(fields, calls, &Call::size, &Call::step, &Call::correlation, &Call::place,
                 &Call::clock, &Call::root, &Call::from, &Call::to, &Call::operation,
                 &Call::group_size, &Call::zero_splits);
  for (Call& call : calls) fields.repeated(call.group);
  for (Call& call : calls) fields.hash(call.number);
  visit_labels(fields, calls);
}

template <class Fields>
void visit_file(Fields& fields, RankFile& file) {
  std::string path = file.path.string();
  fields(path);
  if constexpr (Fields::k_reads) file.path = path;
  fields(file.max_unpacked);
  visit_facts(fields, file.facts);
  fields(file.rank, file.events);
  parts::list(fields, file.clocks,
              [](Fields& inner, FileClock& clock) { visit_clock(inner, clock); });
  fields(file.parts);
  parts::entries(fields, file.rows, [](Fields& inner, auto& row, std::uint32_t& clock) {
    inner(row.first, row.second, clock);
  });
  parts::entries(fields, file.machines);
  parts::list(fields, file.numbers);
  fields(file.zeros, file.cut_times, file.endless_calls, file.timeless_calls, file.mixed_calls,
         file.one_stream, file.whole_us, file.calls_read);
  visit_calls(fields, file.calls);
  fields.size(file.arrows);
  parts::columns(fields, file.arrows, &Arrow::key, &Arrow::time, &Arrow::clock, &Arrow::part);
}

bool is_time(std::uint64_t time) { return time <= static_cast<std::uint64_t>(k_last_time); }

/// True if all numbers are in their ranges.
bool is_sound(const RankFile& file) {
  const std::size_t count = file.clocks.size();
  const auto is_clock = [count](std::uint32_t clock) { return clock < count; };
  const auto fits = [&](const FileClock& clock) {
    return clock.part < file.parts && clock.first <= clock.last && is_time(clock.last) &&
           std::ranges::all_of(clock.edges, [](const InnerEdge& edge) {
             return is_time(edge.host) && is_time(edge.device);
           });
  };
  return file.parts > 0 && file.parts <= count && count <= std::numeric_limits<int>::max() &&
         std::ranges::all_of(file.clocks, fits) &&
         std::ranges::all_of(file.rows, [&](const auto& row) { return is_clock(row.second); }) &&
         std::ranges::all_of(file.machines,
                             [&](const auto& one) { return is_clock(one.second); }) &&
         std::ranges::all_of(file.calls,
                             [&](const Call& call) {
                               return is_clock(call.clock) && call.begin <= call.end &&
                                      is_time(call.end) && call.operation <= Operation::other;
                             }) &&
         std::ranges::all_of(file.arrows, [&](const Arrow& arrow) {
           return is_clock(arrow.clock) && is_time(arrow.time) && arrow.part <= Arrow::Part::end;
         });
}

}  // namespace

void pack(parts::FieldWriter& fields, std::vector<RankFile>& files) {
  parts::list(fields, files, [](auto& inner, RankFile& file) { visit_file(inner, file); });
}

bool unpack(parts::FieldReader& fields, std::vector<RankFile>& files) {
  std::vector<RankFile> more;
  parts::list(fields, more, [](auto& inner, RankFile& file) { visit_file(inner, file); });
  if (!fields.fine() || !std::ranges::all_of(more, is_sound)) return false;
  std::ranges::move(more, std::back_inserter(files));
  return true;
}

}  // namespace entrain::kineto
