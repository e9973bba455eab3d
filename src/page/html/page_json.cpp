// SPDX-License-Identifier: BSD-3-Clause
#include "page/html/html.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <entrain/entrain.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "report/parts.hpp"
#include "report/report.hpp"

namespace entrain::page {

namespace {

using report::array_of;
using report::Json;

constexpr std::size_t k_longest_name = 120;
constexpr std::int64_t k_x_steps = 1 << 20;  ///< curves are drawn on a grid of so many times

/// A name of the trace, safe and short enough to be shown.
std::string shown(const std::string& name) { return shortened(printable(name), k_longest_name); }

/// Returns the sentence on one line.
template <class Report>
std::string sentence(const Report& report) {
  report::Style style;
  style.columns = std::numeric_limits<std::int32_t>::max();
  std::string text = report::verdict_text(report, style);
  text.pop_back();
  return text;
}

/// Names of clocks, and how far each leaves its straight line; the page finds
/// all else in its table.
Json clocks_json(const Data& data) {
  const auto name = [](const auto& clock) { return shown(clock.name); };
  const auto bend = [](const ClockCourse& clock) { return clock.bend_ticks; };
  return {{"names", array_of(data.layout.clocks, name)}, {"bend", array_of(data.clocks, bend)}};
}

/// Times as steps of a grid, each as its distance from the one before.
class Grid {
 public:
  explicit Grid(const Data& data)
      : begin_(data.begin), step_((data.end - data.begin) / k_x_steps + 1) {}

  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t of(std::int64_t x) const { return (x - begin_) / step_; }

  template <class Points, class Value>
  [[nodiscard]] Json distances(const Points& points, Value value) const {
    std::int64_t last = 0;
    return array_of(points, [&](const auto& point) {
      const std::int64_t now = value(point);
      return now - std::exchange(last, now);
    });
  }
  template <class Points>
  [[nodiscard]] Json times(const Points& points) const {
    return distances(points, [&](const auto& point) { return of(point.x); });
  }

 private:
  std::int64_t begin_, step_;
};

Json curves_json(const Data& data) {
  const Grid grid(data);
  const auto y = [](const Point& point) { return point.y; };
  const auto session = [&](const SessionDot& dot) {
    return Json::array({dot.x - data.begin, dot.y, dot.half_width});
  };
  return array_of(data.curves, [&](const Curve& curve) -> Json {
    return {
        {"clock", curve.clock},
        {"before", Json::array({grid.times(curve.before), grid.distances(curve.before, y)})},
        {"after", Json::array({grid.times(curve.after), grid.distances(curve.after, y)})},
        {"band", Json::array({grid.times(curve.band),
                              grid.distances(curve.band, [](const auto& b) { return b.least; }),
                              grid.distances(curve.band, [](const auto& b) { return b.most; })})},
        {"sessions", array_of(curve.sessions, session)}};
  });
}

/// [from, to, family, edges, violations, worst margin] per cell.
Json cells_json(const std::vector<MatrixCell>& cells) {
  return array_of(cells, [](const MatrixCell& cell) {
    return Json::array({cell.from, cell.to, static_cast<int>(cell.family), cell.cell.count,
                        cell.cell.violations, cell.cell.worst[0].margin_ticks});
  });
}

/// Names of groupings, in the order of trace::Layout::Rows.
constexpr const char* k_groupings[] = {"processes", "machines", "neighbours"};

Json matrix_json(const Data& data) {
  const auto& rows = data.layout.rows;
  return {{"rows", k_groupings[static_cast<int>(data.layout.grouping)]},
          {"names", array_of(rows, [](const auto& row) { return shown(row.name); })},
          {"nodes", array_of(rows, [](const auto& row) { return row.node; })},
          {"processes", array_of(rows, [](const auto& row) { return row.processes; })},
          {"before", cells_json(data.before.cells)},
          {"after", data.corrected ? cells_json(data.after.cells) : Json(nullptr)}};
}

/// [[distance of the bin from that of 0, count]...], without empty bins.
Json bins_json(const Bins& bins) {
  Json json = Json::array();
  for (std::size_t i = 0; i < Bins::k_count; ++i) {
    if (bins.counts()[i] == 0) continue;
    const auto distance = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(Bins::k_zero);
    json.push_back(Json::array({distance, bins.counts()[i]}));
  }
  return json;
}

Json margins_json(const std::array<Bins, k_edge_kinds>& margins) {
  Json json = Json::object();
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    Json bins = bins_json(margins[k]);
    if (!bins.empty()) json[name_of(static_cast<EdgeKind>(k))] = std::move(bins);
  }
  return json;
}

/// The edges, and a table of the locations that they name.
void add_edges(const Data& data, Json& json) {
  std::map<LocationIndex, std::size_t> places;
  Json locations = Json::array(), edges = Json::array();
  const auto place = [&](LocationIndex l) {
    const auto [at, is_new] = places.insert({l, places.size()});
    if (is_new) {
      locations.push_back({{"name", shown(data.location_names[l])},
                           {"clock", data.layout.clock_of[l]},
                           {"row", data.layout.row_of[l]}});
    }
    return at->second;
  };
  for (const PageEdge& edge : data.edges) {
    const std::size_t from = place(edge.from), to = place(edge.to);
    edges.push_back(
        Json::array({static_cast<int>(edge.kind), from, edge.sent_before - data.begin,
                     edge.sent_after - data.begin, to, edge.received_before - data.begin,
                     edge.received_after - data.begin}));
  }
  json["kinds"] = Json::array();
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    json["kinds"].push_back(name_of(static_cast<EdgeKind>(k)));
  }
  json["places"] = std::move(locations);
  json["edges"] = std::move(edges);
}

/// Per edge and end: [enter, region, before, after] of each record around it.
Json time_lines_json(const Data& data) {
  Json lines = Json::array();
  for (std::uint32_t i = 0; i < data.time_lines; ++i) {
    lines.push_back({{"edge", i}, {"sender", Json::array()}, {"receiver", Json::array()}});
  }
  for (const NearbyRecord& record : data.nearby) {
    lines[record.edge][record.receiver ? "receiver" : "sender"].push_back(
        Json::array({record.enter ? 1 : 0, record.region == k_none ? Json(-1) : Json(record.region),
                     record.before - data.begin, record.after - data.begin}));
  }
  return {{"regions", array_of(data.region_names, shown)}, {"lines", std::move(lines)}};
}

/// How far the clocks of a collective's processes were apart: by how
/// differently its begins moved.
std::int64_t clock_error(const SampledInstance& before, const SampledInstance& after) {
  std::int64_t least = 0, most = 0;
  for (std::uint32_t i = 0; i < std::min(before.shown, after.shown); ++i) {
    const std::int64_t moved = after.begins[i] - before.begins[i];
    least = i == 0 ? moved : std::min(least, moved);
    most = i == 0 ? moved : std::max(most, moved);
  }
  return most - least;
}

/// [time, processes, arrival, ends, worst margin, and after: arrival, ends,
/// worst, clock error].
Json collectives_json(const Data& data) {
  Json sample = Json::array();
  for (const PageInstance& instance : data.sample) {
    const SampledInstance& b = instance.before;
    Json row = Json::array({b.time - data.begin, b.processes, b.arrival, b.ends, b.worst});
    if (instance.after) {
      const SampledInstance& a = *instance.after;
      for (const std::int64_t value : {a.arrival, a.ends, a.worst, clock_error(b, a)}) {
        row.push_back(value);
      }
    }
    sample.push_back(std::move(row));
  }
  const auto both = [&](const Bins& before, const Bins& after) {
    return Json{{"before", bins_json(before)},
                {"after", data.corrected ? bins_json(after) : Json(nullptr)}};
  };
  return {{"count", data.instances},
          {"sample", std::move(sample)},
          {"arrivals", both(data.before.arrivals, data.after.arrivals)},
          {"ends", both(data.before.ends, data.after.ends)}};
}

Json bin_edges_json() {
  Json edges = Json::array();
  for (std::size_t i = 0; i < Bins::k_positive; ++i) edges.push_back(Bins::edge(i));
  return edges;
}

/// Makes all texts printable: names that stand in a report as they are in the
/// trace.
void make_printable(Json& json) {
  if (json.is_string()) json = printable(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& part : json) make_printable(part);
}

/// Who makes the others wait, cut to what a page can show; null without collectives. Of many steps
/// neighbours share a bar.
Json stragglers_json(const Data& data) {
  constexpr std::size_t k_ranks = 24, k_groups = 8, k_bars = 120;
  if (!data.stragglers || data.stragglers->collectives.empty()) return nullptr;
  StragglerReport report = *data.stragglers;
  for (auto* names : {&report.processes, &report.groups, &report.operations}) {
    for (std::string& name : *names) name = shown(name);
  }
  Json json = report::to_json(report);
  Json& steps = json["steps"];
  const std::size_t each = steps.size() / k_bars + 1;
  Json bars = Json::array();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto figure = [&](const char* key) { return steps[s][key].get<double>(); };
    if (s % each == 0) bars.push_back(Json::array({steps[s]["step"], nullptr, 0.0, nullptr, 0.0}));
    Json& bar = bars.back();
    bar[1] = steps[s]["step"];
    bar[2] = bar[2].get<double>() + figure("wait_s");
    if (figure("worst_wait_s") <= bar[4].get<double>()) continue;
    bar[3] = steps[s]["worst"];
    bar[4] = steps[s]["worst_wait_s"];
  }
  steps = std::move(bars);
  json["ranks_in_all"] = json["ranks"].size();
  for (const auto& [list, most] : {std::pair("ranks", k_ranks), std::pair("groups", k_groups)}) {
    if (json[list].size() > most) json[list].erase(json[list].begin() + most, json[list].end());
  }
  for (const char* own : {"schema", "archive", "resolution_hz", "notes"}) json.erase(own);
  json["sentence"] = report::stragglers_sentence(report);
  make_printable(json);
  return json;
}

/// The part that every page has.
Json common_json(const Data& data, const std::string& command) {
  Json json = {{"schema", "entrain.page/2"},
               {"version", version()},
               {"command", command},
               {"format", data.format},
               {"hz", data.resolution_hz},
               {"begin_ticks", data.begin},
               {"length_ticks", data.end - data.begin},
               {"x_step_ticks", Grid(data).step()},
               {"corrected", data.corrected},
               {"nodes", array_of(data.layout.nodes, shown)},
               {"clocks", clocks_json(data)},
               {"curves", curves_json(data)},
               {"matrix", matrix_json(data)},
               {"bin_edges_ticks", bin_edges_json()},
               {"margins",
                {{"before", margins_json(data.before.margins)},
                 {"after", data.corrected ? margins_json(data.after.margins) : Json(nullptr)}}},
               {"time_lines", time_lines_json(data)},
               {"collectives", collectives_json(data)},
               {"stragglers", stragglers_json(data)}};
  add_edges(data, json);
  return json;
}

/// Leaves out the lists with an entry per clock, as the page has a table of its
/// own, and what differs from run to run.
Json without_lists(Json report) {
  for (const char* name :
       {"clocks", "clock_quality", "phases_s", "peak_memory_bytes", "spilled_bytes"}) {
    report.erase(name);
  }
  if (report.contains("bounds")) report["bounds"].erase("locations");
  for (const char* part : {"before", "after"}) {
    if (report.contains(part) && report[part].is_object()) {
      report[part] = without_lists(std::move(report[part]));
    }
  }
  make_printable(report);
  return report;
}

/// The table of clocks, as entrain clocks prints it, with its sentence.
Json table_json(ClockTable table) {
  table.reference = shown(table.reference);
  for (entrain::ClockRow& row : table.rows) {
    for (std::string* name : {&row.name, &row.machine, &row.worst_with}) *name = shown(*name);
  }
  Json json = report::to_json(table);
  json["sentence"] = report::clocks_sentence(table);
  make_printable(json);
  return json;
}

}  // namespace

Json page_json(const CheckReport& report, const Data& data, const std::string& command) {
  Json json = common_json(data, command);
  json["sentence"] = sentence(report);
  json["table"] = table_json(report.clocks);
  json["check"] = without_lists(report::to_json(report));
  return json;
}

Json page_json(const CorrectReport& report, const Data& data, const std::string& command) {
  Json json = common_json(data, command);
  json["sentence"] = sentence(report.before);
  json["sentence_after"] = sentence(report);
  json["table"] = table_json(report.clocks);
  json["correct"] = without_lists(report::to_json(report));
  return json;
}

Json page_json(const AlignReport& report, const Data& data, const std::string& command) {
  Json json = common_json(data, command);
  json["sentence"] = report::stored_verdict_text(report);
  json["sentence_after"] = report::verdict_text(report);
  json["table"] = table_json(report.clocks);
  json["align"] = without_lists(report::to_json(report));
  return json;
}

}  // namespace entrain::page
