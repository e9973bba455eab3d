// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/fail.hpp"
#include "base/try.hpp"
#include "formats/json/text_file.hpp"
#include "formats/kineto/rewrite.hpp"
#include "formats/perfetto/reader.hpp"

namespace entrain::kineto {

Result<FileFacts> for_each_packet_event(const std::filesystem::path& path, const EventSinks& sinks,
                                        std::uint64_t max_unpacked,
                                        std::shared_ptr<perfetto::Survey> survey) {
  if (survey == nullptr) survey = std::make_shared<perfetto::Survey>();
  EventText text;
  std::string local_id;
  const auto see = [&](const perfetto::Event& event) {
    const perfetto::Row& row = survey->tracks.rows()[event.row];
    text.phase = {&event.phase, 1};
    text.category = event.category;
    text.name = event.name;
    text.process = row.process;
    text.thread = row.thread;
    text.machine = row.machine;
    text.arguments = event.arguments;
    text.moment.reset();
    if (event.phase != 'M') text.moment = {event.time, event.length};
    if (event.is_local_id) local_id = fmt::format(R"({{"local": "{}"}})", event.id);
    text.id = event.is_local_id ? std::string_view() : event.id;
    text.id2 = event.is_local_id ? std::string_view(local_id) : std::string_view();
    return sinks.see(text);
  };
  const auto wants_arguments = [&](const perfetto::Event& event) {
    return sinks.wants_all || has_arguments_to_read(event.category, event.name);
  };
  TRY_ASSIGN(const perfetto::TraceFacts facts,
             perfetto::read_events(path, max_unpacked, *survey,
                                   {see, wants_arguments, sinks.fact, sinks.wants_all}));
  FileFacts result;
  if (facts.is_misread) {
    TRY_ASSIGN(result.survey, perfetto::survey(path, max_unpacked));
    result.is_misread = true;
    return result;
  }
  result.survey = std::move(survey);
  result.has_events = true;
  result.truncated = facts.is_cut;
  result.packing = facts.packing;
  result.bytes = facts.bytes;
  result.hash = facts.hash;
  result.unit = static_cast<std::uint64_t>(facts.unit);
  result.lost_events = facts.events_without_state + facts.events_without_time;
  result.holds_other_times = facts.holds_other_times;
  result.clock = facts.clock;
  result.ties_machines = facts.ties_machines;
  if (facts.lone_ends > 0) result.lost["lost_ends_without_a_begin"] = facts.lone_ends;
  if (facts.unread_fields > 0) result.lost["lost_fields_of_events"] = facts.unread_fields;
  return result;
}

Result<void> write_packets(const std::filesystem::path& to, const RankFile& file,
                           std::span<const ClockMap> maps) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  const std::vector<perfetto::Row>& rows = file.facts.survey->tracks.rows();
  std::vector<std::uint32_t> clocks;
  for (const perfetto::Row& row : rows) {
    const auto known = file.rows.find(Row{row.process, row.thread});
    clocks.push_back(known != file.rows.end() ? known->second : 0);
  }
  const auto new_time = [&](const perfetto::Row* row, std::uint32_t machine,
                            std::int64_t time) -> Result<std::int64_t> {
    std::uint32_t clock = 0;
    if (row != nullptr) {
      clock = clocks[static_cast<std::size_t>(row - rows.data())];
    } else if (const auto host = file.machines.find(machine); host != file.machines.end()) {
      clock = host->second;
    }
    // Times of packets that are no events may be anything.
    const bool is_none = row == nullptr ? time == 0 : file.clocks[clock].is_none(time);
    if (is_none || time < 0 || time > k_last_time) return time;
    const std::int64_t moved = maps[clock](static_cast<std::uint64_t>(time));
    if (moved < 0) {
      return input_error("{}: a time would move before the begin of its clock", file.path.string());
    }
    return moved;
  };
  TRY_ASSIGN(const perfetto::TraceFacts facts,
             perfetto::retime(file.path, file.max_unpacked, *file.facts.survey, new_time,
                              [&](std::string_view text) { return writer.write(text); }));
  if (facts.hash != file.facts.hash || facts.bytes != file.facts.bytes) return has_changed(file);
  return writer.close();
}

}  // namespace entrain::kineto
