// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <entrain/entrain.hpp>

#include "base/exact.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "constraints/context.hpp"
#include "engine/archive_records.hpp"
#include "engine/check_times.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open.hpp"
#include "formats/rows.hpp"
#include "formats/tables/write_tables.hpp"
#include "output/output.hpp"
#include "picture/draw.hpp"
#include "picture/flows.hpp"
#include "picture/writer.hpp"
#include "trace/phase.hpp"
#include "trace/properties.hpp"
#include "trace/workers.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t k_default_around = 10;

/// Seconds as ticks; far times become the largest ones.
std::int64_t ticks_of(double seconds, std::uint64_t resolution_hz) {
  constexpr double k_most = 4.0e18;
  return static_cast<std::int64_t>(
      std::clamp(seconds * static_cast<double>(resolution_hz), -k_most, k_most));
}

/// Refuses options that a table of edges cannot have.
Result<void> check_table_options(const ExportOptions& options) {
  if (options.format != ExportFormat::csv) return {};
  if (!options.from_s && !options.to_s && !options.around && !options.both && !options.corrected) {
    return {};
  }
  return fail(ErrorKind::usage,
              "a table of edges is always written whole and by the times as measured; a part of "
              "the trace and corrected times are for the formats perfetto and chrome");
}

/// The table that write_edges() writes, without that of the clocks.
Result<ExportReport> write_table(const engine::Paths& archive, const ExportOptions& options,
                                 OutputFile& file, Progress* progress) {
  TRY_ASSIGN(engine::ArchiveEdges edges, engine::read_edges(archive, options.check, progress));
  ExportReport report;
  TRY(tables::write_edges(edges.clocks, edges.list.view(),
                          {.edges = edges.edge_margins, .members = edges.member_margins}, false,
                          [&](std::string_view text) {
                            report.bytes += text.size();
                            return file.write(text);
                          }));
  report.counts = std::move(edges.report);
  return report;
}

class Exporter {
 public:
  Exporter(const engine::Paths& archive, const ExportOptions& options, Progress* progress)
      : archive_(archive),
        options_(options),
        progress_(progress),
        workers_(options.check.threads) {}

  Result<ExportReport> run(OutputFile& file) {
    TRY_ASSIGN(source_, formats::open(archive_, options_.check.threads,
                                      formats::read_options(options_.check)));
    TRY(source_->check_options(options_.check));
    TRY(take_trace());
    find_origin();
    choose_windows();
    TRY(write(file));
    tell_emptiness();
    TRY(trace::check_unchanged(workers_.processes(), t_.loaded));
    return std::move(report_);
  }

 private:
  [[nodiscard]] constraints::Context context() { return causal_context(workers_, t_, progress_); }
  /// Returns the trace to show: its locations, and rows for calls that are in none of them.
  [[nodiscard]] const trace::Trace& trace() const {
    return rows_ ? rows_->trace() : t_.loaded.trace;
  }
  [[nodiscard]] const trace::EventReader& reader() const {
    return rows_ ? static_cast<const trace::EventReader&>(*rows_) : *t_.loaded.reader;
  }
  [[nodiscard]] std::uint64_t hz() const { return trace().definitions.clock.resolution_hz; }

  Result<void> take_trace() {
    TRY_ASSIGN(t_, engine::find_timeline(workers_, *source_, options_.check,
                                         {.purpose = engine::Purpose::bounds}, progress_));
    if (!options_.corrected) add_layer(t_.measured.maps);
    if (options_.both || options_.corrected) TRY(add_corrected());
    trace::begin_phase(progress_, "check");
    TRY_ASSIGN(report_.counts, engine::check_times(engine::setting_of(workers_, *source_, t_,
                                                                      options_.check, progress_),
                                                   t_.loaded, layers_.front().maps));
    report_.counts.presync = t_.measured.method;
    return add_rows();
  }

  Result<void> add_rows() {
    TRY_ASSIGN(rows_, source_->rows(t_.loaded.trace));
    if (!rows_) return {};
    if (source_->check_mergeable()) {
      report_.notes.emplace_back(
          "entrain merge also writes the arguments, counters and arrows of a training run");
    }
    for (const LocationIndex clock : rows_->clock_of()) {
      t_.graph.first_node.push_back(t_.graph.first_node.back());  // without arrows
      for (picture::Layer& layer : layers_) layer.maps.push_back(layer.maps[clock]);
    }
    if (rows_->left_out() > 0) {
      report_.notes.push_back(fmt::format(
          "{} events are not shown: more than 64 others of their host or thread go on beside them",
          rows_->left_out()));
    }
    return {};
  }

  void add_layer(std::vector<ClockMap> maps) {
    picture::Layer& layer = layers_.emplace_back();
    layer.group = static_cast<std::uint32_t>(layers_.size() - 1);
    layer.maps = std::move(maps);
    constraints::evaluate_nodes(context(), layer.node_times,
                                [&](LocationIndex l) { return ClockMap::Cursor(layer.maps[l]); });
    layer.flows = picture::flows_of(t_.graph, layer.node_times, t_.mu.ticks);
  }

  /// The times that correct() would write.
  Result<void> add_corrected() {
    if (trace::find_property(trace().definitions, trace::k_property_correction) != nullptr) {
      return input_error(
          "{} is corrected already: leave out {}, or name the archive that it "
          "was made from",
          trace().path, options_.both ? "--both" : "--correct");
    }
    CorrectOptions options;
    options.check = options_.check;
    TRY_ASSIGN(ClockMaps corrected,
               engine::plan_maps({workers_.processes(), progress_}, *source_, options));
    add_layer(std::move(corrected.maps));
    return {};
  }

  void find_origin() {
    origin_ = std::numeric_limits<std::int64_t>::max();
    for (const picture::Layer& layer : layers_) {
      for (LocationIndex l = 0; l < trace().locations.size(); ++l) {
        if (trace().locations[l].event_count == 0) continue;
        origin_ = std::min(origin_, layer.maps[l](trace().locations[l].first));
      }
    }
  }

  /// About what a call and an arrow take in the file.
  [[nodiscard]] std::uint64_t expected_bytes() const {
    const bool is_json = options_.format == ExportFormat::chrome;
    const std::uint64_t event = is_json ? 70 : 21, flow = is_json ? 390 : 75;
    std::uint64_t events = 0;
    for (const trace::LocationSkeleton& location : trace().locations) {
      events += location.event_count - location.events.size();
    }
    return layers_.size() * (events * event + layers_.front().flows.size() * flow);
  }

  void choose_windows() {
    constexpr auto k_least = std::numeric_limits<std::int64_t>::min();
    constexpr auto k_most = std::numeric_limits<std::int64_t>::max();
    if (options_.from_s || options_.to_s) {
      windows_ = {
          {options_.from_s ? clamped_sum(origin_, ticks_of(*options_.from_s, hz())) : k_least,
           options_.to_s ? clamped_sum(origin_, ticks_of(*options_.to_s, hz())) : k_most}};
      return;
    }
    const std::uint64_t expected = expected_bytes();
    const bool too_large = !options_.around && expected > options_.size_limit_bytes;
    const std::uint32_t around = options_.around.value_or(too_large ? k_default_around : 0);
    if (around == 0) {
      windows_ = {{k_least, k_most}};
      return;
    }
    choose_windows_around(around);
    if (!too_large) return;
    report_.notes.push_back(fmt::format(
        "the whole trace would be a file of about {} MB: only {} ms around each of the {} worst "
        "edges are written; --from 0 writes everything, --around and --window choose",
        expected / 1'000'000, options_.window_s * 1e3, around));
  }

  void choose_windows_around(std::uint32_t around) {
    const std::int64_t half = ticks_of(options_.window_s / 2, hz());
    std::vector<picture::Window> windows;
    for (const picture::Layer& layer : layers_) {
      for (const std::uint64_t i : picture::worst_flows(layers_.front().flows, around)) {
        const picture::Flow& flow = layers_.front().flows[i];
        for (const NodeIndex node : {flow.from, flow.to}) {
          const std::int64_t time = layer.node_times[node];
          windows.push_back({clamped_sum(time, -half), clamped_sum(time, half)});
        }
      }
    }
    windows_ = picture::joined(std::move(windows));
  }

  Result<void> write(OutputFile& file) {
    const std::unique_ptr<picture::Writer> writer = options_.format == ExportFormat::chrome
                                                        ? picture::chrome_writer()
                                                        : picture::perfetto_writer();
    const picture::Sink sink = [&](std::string_view text) {
      report_.bytes += text.size();
      return file.write(text);
    };
    picture::Titles titles{.definitions = trace().definitions, .groups = {""}, .shown = {}};
    if (options_.both) titles.groups = {"before", "after"};
    std::vector<LocationIndex> shown;
    for (LocationIndex l = 0; l < trace().locations.size(); ++l) {
      titles.shown.push_back(trace().locations[l].event_count > 0);
      if (titles.shown.back()) shown.push_back(l);
    }
    if (progress_ != nullptr) {
      progress_->begin("write", layers_.size() * reader().event_bytes(shown), "B");
    }
    writer->begin(titles);
    const picture::Scene scene{.source = reader(),
                               .trace = trace(),
                               .graph = t_.graph,
                               .origin = origin_,
                               .windows = windows_};
    for (const picture::Layer& layer : layers_) {
      TRY(draw(scene, layer, *writer, sink, progress_, report_));
    }
    writer->end();
    return sink(writer->text());
  }

  /// A picture without anything in it needs a reason.
  void tell_emptiness() {
    if (report_.slices > 0 || report_.flows > 0) return;
    if (layers_.front().flows.empty() && windows_.empty()) {
      report_.notes.push_back("there are no edges, so there is nothing around the worst of them");
      return;
    }
    std::int64_t end = origin_;
    for (LocationIndex l = 0; l < trace().locations.size(); ++l) {
      if (trace().locations[l].event_count == 0) continue;
      end = std::max(end, layers_.front().maps[l](trace().locations[l].last));
    }
    report_.notes.push_back(
        fmt::format("no call or arrow is in this picture; the trace lasts {:.3f} s",
                    static_cast<double>(end - origin_) / static_cast<double>(hz())));
  }

  const engine::Paths& archive_;
  const ExportOptions& options_;
  Progress* progress_;
  trace::Workers workers_;
  std::unique_ptr<formats::Source> source_;
  engine::Timeline t_;
  std::shared_ptr<const formats::Rows> rows_;  ///< null: the locations have all calls
  std::vector<picture::Layer> layers_;
  std::int64_t origin_ = 0;
  std::vector<picture::Window> windows_;
  ExportReport report_;
};

}  // namespace

Result<ExportReport> export_trace(const fs::path& archive, const fs::path& output,
                                  const ExportOptions& options, Progress* progress) {
  return engine::export_trace({archive}, output, options, progress);
}

Result<ExportReport> engine::export_trace(const Paths& archive, const fs::path& output,
                                          const ExportOptions& options, Progress* progress) {
  TRY(check_table_options(options));
  const OutputRule rule = output_rule(archive, options.check, options.force);
  TRY(OutputFile::check(output, rule));
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(OutputFile file, OutputFile::create(output, rule));
  TRY_ASSIGN(ExportReport report, options.format == ExportFormat::csv
                                      ? write_table(archive, options, file, progress)
                                      : Exporter(archive, options, progress).run(file));
  TRY(file.commit());
  note_result(output);
  report.format = options.format;
  report.corrected = options.corrected;
  report.file = output.string();
  return report;
}

}  // namespace entrain
