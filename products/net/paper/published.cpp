// SPDX-License-Identifier: BSD-3-Clause
#include "net/paper/published.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "net/model/generators.hpp"
#include "net/model/skew_bound.hpp"
#include "net/model/topology_dot.hpp"
#include "net/plan/method.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_ppb_per_ppm = 1000;
constexpr Femtoseconds k_ns = std::chrono::nanoseconds(1);
constexpr Femtoseconds k_us = std::chrono::microseconds(1);

/// Destinations of the interfaces 0 to 7 per slot; '-' for none.
constexpr std::array<std::string_view, 8> k_table1{"01234567", "12345670", "34567012", "67012345",
                                                   "23456701", "70123456", "56701234", "45670123"};
constexpr std::array<std::string_view, 10> k_table2{"01234567", "10325476", "0-2-4-6-", "2-0-6-4-",
                                                    "0---4---", "4---0---", "0-2-5-6-", "2-0-6-4-",
                                                    "01234567", "10325476"};

constexpr std::array<const char*, 5> k_table3_interval{"4810", "2405", "1603", "1202", "962"};
constexpr std::array<std::array<const char*, 3>, 5> k_table3_overhead{{{"0.08", "0.17", "0.33"},
                                                                       {"0.17", "0.33", "0.67"},
                                                                       {"0.25", "0.5", "1.0"},
                                                                       {"0.33", "0.67", "1.33"},
                                                                       {"0.42", "0.83", "1.66"}}};
constexpr std::array<const char*, 5> k_table4_interval{"1781", "890", "593", "445", "356"};
constexpr std::array<std::array<const char*, 2>, 5> k_table4_overhead{
    {{"0.89", "2.02"}, {"1.79", "4.04"}, {"2.69", "6.07"}, {"3.59", "8.08"}, {"4.49", "10.11"}}};

int decimals_of(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == number.npos ? 0 : static_cast<int>(number.size() - point - 1);
}

/// Where the text of the paper has a value, and the value as printed.
struct TextValue {
  const char* where;
  const char* what;
  const char* published;
};

class Cells {
 public:
  void add(PublishedCell cell) {
    if (cell.verdict == Verdict::differs && cell.published == cell.computed)
      cell.verdict = Verdict::matches;
    cells.push_back(std::move(cell));
  }
  /// Adds a time in `unit`: `computed` in the published reading, `printed` in the other one.
  void add_time(const TextValue& value, Femtoseconds unit, Femtoseconds computed,
                Femtoseconds printed) {
    const int decimals = decimals_of(value.published);
    add({.table = value.where,
         .row = value.what,
         .column = unit == k_ns ? "ns" : "us",
         .published = value.published,
         .computed = decimal_text(computed, unit, decimals),
         .printed_reading = decimal_text(printed, unit, decimals)});
  }

  std::vector<PublishedCell> cells;
};

/// The tree of figure 2: eight interfaces in pairs, pairs of pairs, two halves.
Topology figure_2() {
  return topology_from_dot(
             "graph { n0; n1; n2; n3; n4; n5; n6; n7;"
             "n0 -- a -- n1; n2 -- b -- n3; n4 -- c -- n5; n6 -- d -- n7;"
             "a -- e -- b; c -- f -- d; e -- g -- f }",
             "figure 2")
      .value();
}

template <std::size_t N>
void add_schedule(Cells& cells, const char* table, const Topology& topology, Method method,
                  const std::array<std::string_view, N>& rows) {
  const Schedule schedule = plan(topology, SpanningTree(topology), method).value();
  std::array<std::string, N> made;
  made.fill(std::string(8, '-'));
  for (const Message& message : schedule.messages) {
    if (message.slot < static_cast<std::int64_t>(N))
      made[static_cast<std::size_t>(message.slot)][message.source] =
          static_cast<char>('0' + message.destination);
  }
  for (std::size_t slot = 0; slot < N; ++slot) {
    for (std::size_t i = 0; i < 8; ++i) {
      PublishedCell cell{.table = table,
                         .row = fmt::format("slot {}", slot),
                         .column = fmt::format("NIC{}", i),
                         .published = std::string(1, rows[slot][i]),
                         .computed = std::string(1, made[slot][i])};
      if (table == std::string_view("table 2") && slot == 6 && i == 4 && cell.computed == "4") {
        cell.verdict = Verdict::misprint;
        cell.note = "interface 5 is no leader in this step; the definition gives 4";
      }
      cells.add(std::move(cell));
    }
  }
}

std::string overhead_text(std::int64_t slots, std::int64_t interval, const char* published,
                          bool truncated) {
  if (interval == 0) return "-";
  return ratio_text(100 * slots, interval, decimals_of(published), truncated);
}

/// Tables 3 and 4: intervals for drifts of 100 to 500 ppm, and overheads by number of ports.
template <std::size_t N>
struct IntervalTable {
  const char* name;
  std::int64_t levels;
  std::array<const char*, 5> intervals;
  std::array<std::array<const char*, N>, 5> overheads;
  std::array<std::int64_t, N> ports;
  bool truncated;  ///< the overheads are cut off; else rounded
};

template <std::size_t N>
void add_intervals(Cells& cells, const IntervalTable<N>& table) {
  const Parameters parameters;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t drift_ppb = static_cast<std::int64_t>(i + 1) * 100 * k_ppb_per_ppm;
    const auto interval = [&](Reading reading) {
      return interval_slots(parameters, skew_of_hss(parameters, table.levels, reading), drift_ppb);
    };
    const std::int64_t published = interval(Reading::published);
    const std::int64_t printed = interval(Reading::printed);
    const std::string row = fmt::format("{} ppm", drift_ppb / k_ppb_per_ppm);
    cells.add({.table = table.name,
               .row = row,
               .column = "interval, slots",
               .published = table.intervals[i],
               .computed = fmt::format("{}", published),
               .printed_reading = fmt::format("{}", printed)});
    for (std::size_t j = 0; j < N; ++j) {
      const std::int64_t slots = full_tree_slots(table.ports[j], table.levels);
      const char* const overhead = table.overheads[i][j];
      cells.add({.table = table.name,
                 .row = row,
                 .column = fmt::format("overhead, {} ports", table.ports[j]),
                 .published = overhead,
                 .computed = overhead_text(slots, published, overhead, table.truncated),
                 .printed_reading = overhead_text(slots, printed, overhead, table.truncated)});
    }
  }
}

Parameters with(Femtoseconds Parameters::*which, Femtoseconds value) {
  Parameters parameters;
  parameters.*which = value;
  return parameters;
}

Parameters with_buffer(std::int64_t bl) {
  Parameters parameters;
  parameters.bl = bl;
  return parameters;
}

void add_skews(Cells& cells) {
  const auto add = [&](const TextValue& value, Femtoseconds unit, const Parameters& parameters,
                       std::int64_t levels) {
    cells.add_time(value, unit, skew_of_hss(parameters, levels, Reading::published),
                   skew_of_hss(parameters, levels, Reading::printed));
  };
  add({"text, 5.1", "bounded skew, one switch", "237"}, k_ns, {}, 2);
  add({"text, 5.1", "one switch, rd = 140 ns", "197"}, k_ns, with(&Parameters::rd, 140 * k_ns), 2);
  const Parameters rd50 = with(&Parameters::rd, 50 * k_ns);
  PublishedCell largest{
      .table = "text, 5.1",
      .row = "one switch, rd = 50 ns",
      .column = "ns",
      .published = "298",
      .computed = decimal_text(skew_of_sss(rd50, Reading::published), k_ns, 0),
      .printed_reading = decimal_text(skew_of_sss(rd50, Reading::printed), k_ns, 0),
      .verdict = Verdict::misprint,
      .note =
          "the slope is -1, so that from 197 at 140 ns it is 287 at 50 ns; 298 is what "
          "rd = 40 ns gives (297.48)"};
  if (largest.computed != "287") largest.verdict = Verdict::differs;
  cells.add(std::move(largest));
  add({"text, 5.1", "one switch, bl = 256", "1.05"}, k_us, with_buffer(256), 2);
  add({"text, 5.2", "bounded skew, 3 levels", "1.42"}, k_us, {}, 3);
  add({"text, 5.2", "bounded skew, 4 levels", "4.02"}, k_us, {}, 4);
  const Parameters slow = with(&Parameters::cp, 12 * k_ns + k_ns / 2);
  add({"text, 1 and 7", "4 levels at 640 Mb/s", "9.223"}, k_us, slow, 4);
  add({"abstract", "4 levels at 640 Mb/s", "9.2"}, k_us, slow, 4);
}

void add_overheads(Cells& cells) {
  const auto add = [&](const TextValue& value, std::int64_t ports, std::int64_t levels,
                       std::int64_t drift_ppm, bool truncated) {
    const auto text = [&](Reading reading) {
      const std::int64_t interval =
          interval_slots({}, skew_of_hss({}, levels, reading), drift_ppm * k_ppb_per_ppm);
      return overhead_text(full_tree_slots(ports, levels), interval, value.published, truncated);
    };
    cells.add({.table = value.where,
               .row = value.what,
               .column = fmt::format("overhead, {} ports", ports),
               .published = value.published,
               .computed = text(Reading::published),
               .printed_reading = text(Reading::printed)});
  };
  add({"text, 6", "one switch, 500 ppm", "0.83"}, 8, 2, 500, false);
  add({"text, 5.2", "4 levels, 300 ppm", "2.69"}, 4, 4, 300, true);
  add({"text, 5.2", "4 levels, 300 ppm", "6.07"}, 8, 4, 300, true);
}

void add_text(Cells& cells) {
  add_skews(cells);
  add_overheads(cells);
  cells.add({.table = "text, 5.2",
             .row = "8 ports, 4 levels",
             .column = "slots of HSS",
             .published = "36",
             .computed = fmt::format("{}", full_tree_slots(8, 4))});
  cells.add({.table = "text, 5.2",
             .row = "8 ports, 4 levels",
             .column = "hosts",
             .published = "392",
             .computed = fmt::format("{}", full_tree(8, 4).value().interfaces().size())});
}

template <class Change>
FigureSeries series_of(Reading reading, std::int64_t levels, const std::vector<double>& xs,
                       Change change, double unit_fs) {
  FigureSeries series;
  series.name = fmt::format("{} reading{}", name_of(reading),
                            levels > 2 ? fmt::format(", m = {}", levels) : "");
  for (const double x : xs) {
    const Femtoseconds skew = skew_of_hss(change(x), levels, reading);
    series.points.emplace_back(x, static_cast<double>(skew.count()) / unit_fs);
  }
  return series;
}

constexpr double k_fs_of_ns = 1e6;
constexpr double k_fs_of_us = 1e9;

/// The character periods are rounded as in the paper: 12.5, 6.25, 4.17 and 3.13 ns.
Parameters at_rate(double gbps) {
  const double cp_ns = std::round(800 / gbps) / 100;
  return with(&Parameters::cp,
              Femtoseconds(static_cast<std::int64_t>(std::round(cp_ns * k_fs_of_ns))));
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::matches:
      return "matches";
    case Verdict::misprint:
      return "misprint";
    case Verdict::differs:
      return "differs";
  }
  return "";
}

std::vector<PublishedCell> published_cells() {
  Cells cells;
  add_schedule(cells, "table 1", single_switch(8).value(), Method::sss, k_table1);
  add_schedule(cells, "table 2", figure_2(), Method::hss, k_table2);
  add_intervals<3>(cells, {.name = "table 3",
                           .levels = 2,
                           .intervals = k_table3_interval,
                           .overheads = k_table3_overhead,
                           .ports = {4, 8, 16},
                           .truncated = false});
  add_intervals<2>(cells, {.name = "table 4",
                           .levels = 4,
                           .intervals = k_table4_interval,
                           .overheads = k_table4_overhead,
                           .ports = {4, 8},
                           .truncated = true});
  add_text(cells);
  return std::move(cells.cells);
}

std::vector<Figure> published_figures() {
  const std::vector<double> rates{0.64, 1.28, 1.92, 2.56};
  const auto change_rd = [](double rd_ns) {
    return with(&Parameters::rd, Femtoseconds(static_cast<std::int64_t>(rd_ns * k_fs_of_ns)));
  };
  const auto change_bl = [](double bl) { return with_buffer(static_cast<std::int64_t>(bl)); };
  Figure rd{"figure-4",
            "Bounded skew of one switch and routing delay",
            "routing delay rd, ns",
            "bounded skew, ns",
            {}};
  Figure rate{"figure-5-rate",
              "Bounded skew of one switch and link rate",
              "link rate, Gb/s",
              "bounded skew, ns",
              {}};
  Figure buffer{"figure-5-buffer",
                "Bounded skew of one switch and buffer length",
                "buffer length bl, bytes",
                "bounded skew, ns",
                {}};
  Figure trees{"figure-6",
               "Bounded skew of trees of m levels and link rate",
               "link rate, Gb/s",
               "bounded skew, us",
               {}};
  for (const Reading reading : {Reading::published, Reading::printed}) {
    rd.series.push_back(series_of(reading, 2, {50, 60, 70, 80, 90, 100, 110, 120, 130, 140},
                                  change_rd, k_fs_of_ns));
    rate.series.push_back(series_of(reading, 2, rates, at_rate, k_fs_of_ns));
    buffer.series.push_back(series_of(reading, 2, {64, 128, 192, 256}, change_bl, k_fs_of_ns));
    for (const std::int64_t levels : {3, 4})
      trees.series.push_back(series_of(reading, levels, rates, at_rate, k_fs_of_us));
  }
  rd.series.push_back({"named in the paper", {{50, 298}, {100, 237}, {140, 197}}});
  rate.series.push_back({"named in the paper", {{1.28, 237}}});
  buffer.series.push_back({"named in the paper", {{64, 237}, {256, 1050}}});
  trees.series.push_back({"named in the paper", {{1.28, 1.42}, {1.28, 4.02}, {0.64, 9.223}}});
  return {std::move(rd), std::move(rate), std::move(buffer), std::move(trees)};
}

}  // namespace entrain::net
