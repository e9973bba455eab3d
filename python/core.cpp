// SPDX-License-Identifier: BSD-3-Clause
// The part of the Python module entrain_clocks that is C++. What users see is in entrain_clocks/.
#include <fmt/format.h>

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>
#include <entrain/parts.hpp>

#include "base/edge_list.hpp"
#include "base/printable.hpp"
#include "base/try.hpp"
#include "engine/align.hpp"
#include "engine/archive_records.hpp"
#include "engine/verbs.hpp"
#include "formats/tables/read_clocks.hpp"
#include "output/output.hpp"
#include "page/html/html.hpp"
#include "report/report.hpp"

namespace py = pybind11;

namespace entrain::python {
namespace {

/// An error of the library, thrown to become an exception of Python.
struct Failure {
  Error error;
};

/// Receives the progress in any thread; the main thread reads it.
class SharedProgress : public Progress {
 public:
  void begin(std::string_view phase, std::uint64_t total, std::string_view) override {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
    total_ = total;
    done_ = 0;
  }
  void advance(std::uint64_t units) override { done_ += units; }
  [[nodiscard]] bool cancelled() const override { return stop_; }

  void stop() { stop_ = true; }
  py::tuple state() {
    const std::lock_guard lock(mutex_);
    return py::make_tuple(phase_, done_.load(), total_);
  }

 private:
  std::mutex mutex_;
  std::string phase_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> stop_ = false;
};

/// Runs `work(Progress*)` in another thread, without the GIL. Cancels it on Ctrl-C, and when the
/// callback raises.
template <class Work>
auto run(const py::object& callback, Work work) {
  SharedProgress progress;
  std::optional<py::error_already_set> raised;
  auto result = [&] {
    const py::gil_scoped_release released;
    auto future = std::async(std::launch::async, [&] { return work(&progress); });
    while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      const py::gil_scoped_acquire acquired;
      if (raised) continue;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (!callback.is_none()) callback(*progress.state());
      } catch (py::error_already_set& error) {
        raised.emplace(std::move(error));
        progress.stop();
      }
    }
    return future.get();
  }();
  if (raised) throw *std::move(raised);
  if (!result) throw Failure{result.error()};
  return *std::move(result);
}

using Times = py::array_t<std::int64_t, py::array::c_style>;
using Numbers = py::array_t<std::uint32_t, py::array::c_style>;
using Kinds = py::array_t<std::uint8_t, py::array::c_style>;

/// The elements of an array of int64 as the library takes them; it refuses negative ones.
std::span<const std::uint64_t> stamps_of(const Times& times) {
  return {reinterpret_cast<const std::uint64_t*>(times.data()),
          static_cast<std::size_t>(times.size())};
}
std::span<const std::uint32_t> numbers_of(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::size_t>(numbers.size())};
}

/// Positions in KINDS of the module.
std::span<const EdgeKind> kinds_of(const Kinds& kinds) {
  static_assert(sizeof(EdgeKind) == 1);
  return {reinterpret_cast<const EdgeKind*>(kinds.data()), static_cast<std::size_t>(kinds.size())};
}

template <class T, class Range>
py::array_t<T> array_of(const Range& range) {
  py::array_t<T> array(static_cast<py::ssize_t>(range.size()));
  std::copy(range.begin(), range.end(), array.mutable_data());
  return array;
}

Times apply(const ClockMap& map, const Times& times) {
  Times result(times.size());
  const auto stamps = stamps_of(times);
  std::int64_t* to = result.mutable_data();
  for (const std::int64_t time : std::span(times.data(), stamps.size())) {
    if (time < 0) throw Failure{{ErrorKind::usage, "a stamp is negative"}};
  }
  const py::gil_scoped_release released;
  for (const std::uint64_t stamp : stamps) *to++ = map(stamp);
  return result;
}

py::tuple knots(const ClockMap& map) {
  std::vector<std::int64_t> ticks, offsets;
  for (const ClockKnot& knot : map.knots()) {
    ticks.push_back(static_cast<std::int64_t>(knot.local));
    offsets.push_back(knot.offset);
  }
  return py::make_tuple(array_of<std::int64_t>(ticks), array_of<std::int64_t>(offsets));
}

/// Rows of bounds, a list of columns: location, tick, time, earliest, latest, bound, bounded.
py::tuple bounds_of(const std::optional<ClockBounds>& bounds) {
  std::vector<std::uint64_t> location;
  std::vector<std::int64_t> tick, time, earliest, latest, bound;
  std::vector<bool> bounded;
  if (bounds) {
    for (const BoundsRow& row : bounds->rows) {
      location.push_back(row.location);
      tick.push_back(static_cast<std::int64_t>(row.local_ticks));
      time.push_back(row.time_ticks);
      earliest.push_back(row.earliest_ticks);
      latest.push_back(row.latest_ticks);
      bound.push_back(row.bound_ticks);
      bounded.push_back(row.bounded);
    }
  }
  return py::make_tuple(array_of<std::uint64_t>(location), array_of<std::int64_t>(tick),
                        array_of<std::int64_t>(time), array_of<std::int64_t>(earliest),
                        array_of<std::int64_t>(latest), array_of<std::int64_t>(bound),
                        array_of<bool>(bounded));
}

/// The value of an enum with that name, for an error that lists all names.
template <class Enum>
Enum value_of(const std::string& name, const char* what, std::span<const Enum> values) {
  std::string names;
  for (const Enum value : values) {
    if (name == name_of(value)) return value;
    names += std::string(names.empty() ? "" : ", ") + name_of(value);
  }
  throw Failure{{ErrorKind::usage, std::string(what) + " is none of " + names}};
}

Presync presync_of(const std::string& name) {
  static constexpr std::array<Presync, k_presyncs> k_all{Presync::automatic, Presync::none,
                                                         Presync::linear,    Presync::regression,
                                                         Presync::spline,    Presync::causal};
  return value_of<Presync>(name, "presync", k_all);
}

WriteMode mode_of(const std::string& name) {
  static constexpr std::array k_all{WriteMode::rewrite, WriteMode::overlay};
  return value_of<WriteMode>(name, "mode", k_all);
}

ExportFormat format_of(const std::string& name) {
  static constexpr std::array k_all{ExportFormat::perfetto, ExportFormat::chrome,
                                    ExportFormat::csv};
  return value_of<ExportFormat>(name, "format", k_all);
}

/// Options that most functions have.
struct RunOptions {
  std::string presync = "auto";
  bool bounds = false;  ///< with rows
  unsigned threads = 0;
  py::object progress = py::none();  ///< called with (phase, done, total), if it is not None
  std::uint64_t max_unpacked = 0;    ///< 0: a limit that follows from the size

  [[nodiscard]] CheckOptions check() const {
    CheckOptions options;
    options.presync = presync_of(presync);
    options.bounds.wanted = options.bounds.rows = bounds;
    options.threads = threads;
    options.max_unpacked_bytes = max_unpacked;
    return options;
  }
};

/// The paths of a trace.
using Names = std::vector<std::string>;

/// Does `work(engine::Run)` as run() does.
template <class Work>
auto run_alone(const RunOptions& given, const Work& work, page::Data* page = nullptr) {
  return run(given.progress, [&](Progress* progress) {
    Solo solo;
    return work(engine::Run{.processes = solo, .progress = progress, .page = page});
  });
}

py::tuple check(const Names& trace, const RunOptions& given) {
  const CheckOptions options = given.check();
  const CheckReport report = run_alone(given, [&](const engine::Run& how) {
    return engine::check(how, engine::paths_of(trace), options);
  });
  return py::make_tuple(report::json_text(report), bounds_of(report.bounds));
}

/// Columns of edges: the single ones, and those that decide ends of collectives.
struct EdgeColumns {
  std::vector<std::uint32_t> cause_clock, effect_clock;
  std::vector<std::uint64_t> cause_time, effect_time;
  std::vector<std::uint8_t> kind;
  std::vector<std::int64_t> margin, instance;

  explicit EdgeColumns(const engine::ArchiveEdges& edges) {
    const EdgeList& list = edges.list;
    for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
      add({list.cause_clock[e], 0, list.cause_time[e]},
          {list.effect_clock[e], 0, list.effect_time[e]}, list.kind[e], edges.edge_margins[e], -1);
    }
    for (const engine::ArchiveEdges::Deciding& one : edges.deciding) {
      add(list.members[one.begin], list.members[one.end], list.instances[one.instance].kind,
          edges.member_margins[one.end], static_cast<std::int64_t>(one.instance));
    }
  }

 private:
  void add(const InstanceMember& cause, const InstanceMember& effect, EdgeKind of, std::int64_t by,
           std::int64_t number) {
    cause_clock.push_back(cause.clock);
    cause_time.push_back(cause.time);
    effect_clock.push_back(effect.clock);
    effect_time.push_back(effect.time);
    kind.push_back(static_cast<std::uint8_t>(of));
    margin.push_back(by);
    instance.push_back(number);
  }
};

py::tuple edges(const Names& trace, const RunOptions& given) {
  const CheckOptions options = given.check();
  const engine::ArchiveEdges edges = run(given.progress, [&](Progress* p) {
    return engine::read_edges(engine::paths_of(trace), options, p);
  });
  const EdgeColumns columns(edges);
  py::list locations, processes;
  for (std::size_t c = 0; c < edges.clocks.clocks.size(); ++c) {
    const Clock& clock = edges.clocks.clocks[c];
    if (edges.names.empty()) {
      locations.append(std::stoull(clock.name));
    } else {
      locations.append(edges.names[c]);
    }
    processes.append(clock.process.empty() ? clock.name : clock.process);
  }
  return py::make_tuple(
      locations, processes, array_of<std::uint32_t>(columns.cause_clock),
      array_of<std::int64_t>(columns.cause_time), array_of<std::uint32_t>(columns.effect_clock),
      array_of<std::int64_t>(columns.effect_time), array_of<std::uint8_t>(columns.kind),
      array_of<std::int64_t>(columns.margin), array_of<std::int64_t>(columns.instance));
}

std::string correct(const Names& trace, const std::string& output, const std::string& mode,
                    bool force, bool verify, bool mark_offsets, const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  options.mode = mode_of(mode);
  options.force = force;
  options.verify = verify;
  options.mark_offsets = mark_offsets;
  return report::json_text(run_alone(given, [&](const engine::Run& how) {
    return engine::correct(how, engine::paths_of(trace), output, options);
  }));
}

/// Writes a page of a trace, as the verb report does.
std::string report(const Names& trace, const std::string& output, bool force,
                   const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  options.check.bounds.wanted = true;
  const engine::Paths paths = engine::paths_of(trace);
  const OutputRule rule = engine::output_rule(paths, options.check, force);
  if (!page::can_write_pages()) throw Failure{page::no_pages().value()};
  page::Data data;
  const auto write = [&](const engine::Run& how) -> Result<CorrectReport> {
    TRY(OutputFile::check(output, rule));
    TRY_ASSIGN(CorrectReport done, engine::plan_correction(how, paths, options));
    TRY_ASSIGN(const std::string text, page::html(done, data, "report"));
    TRY(write_output(output, text, rule));
    return done;
  };
  return report::json_text(run_alone(given, write, &data));
}

py::tuple clock_maps(const Names& trace, bool amortize, const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  options.amortize = amortize;
  const ClockMaps maps = run_alone(given, [&](const engine::Run& how) -> Result<ClockMaps> {
    TRY_ASSIGN(const auto source, formats::open(how.processes, engine::paths_of(trace),
                                                given.threads, {given.max_unpacked}));
    return engine::plan_maps(how, *source, options);
  });
  return maps.names.empty() ? py::make_tuple(maps.locations, maps.maps, maps.resolution_hz)
                            : py::make_tuple(maps.names, maps.maps, maps.resolution_hz);
}

std::string clocks(const Names& trace, const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  options.check.bounds.wanted = true;
  return report::clocks_json_text(run_alone(given, [&](const engine::Run& how) {
    return engine::check_clocks(how, engine::paths_of(trace), options);
  }));
}

std::string stragglers(const Names& trace, const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  return report::json_text(run(given.progress, [&](Progress* p) {
    return engine::find_stragglers(engine::paths_of(trace), options, p);
  }));
}

/// Only RunOptions::threads and ::progress matter.
std::string compare(const std::string& a, const std::string& b,
                    const std::optional<std::string>& truth, bool raw_a, const RunOptions& given) {
  const CompareOptions options{.threads = given.threads, .raw_a = raw_a};
  const std::optional<std::filesystem::path> truth_path(truth);
  return report::json_text(run(
      given.progress, [&](Progress* p) { return entrain::compare(a, b, truth_path, options, p); }));
}

std::string export_trace(const Names& trace, const std::string& output, const std::string& format,
                         ExportOptions options, const RunOptions& given) {
  options.check = given.check();
  options.format = format_of(format);
  return report::json_text(run(given.progress, [&](Progress* p) {
    return engine::export_trace(engine::paths_of(trace), output, options, p);
  }));
}

std::string merge(const Names& trace, const std::string& output, bool force,
                  const RunOptions& given) {
  const MergeOptions options{.check = given.check(), .force = force};
  return report::json_text(run(given.progress, [&](Progress* p) {
    return engine::merge(engine::paths_of(trace), output, options, p);
  }));
}

/// `mark_offsets`: of apply() only.
PartOptions part_options(const RunOptions& given, bool force, bool mark_offsets = false) {
  return {.threads = given.threads,
          .max_unpacked_bytes = given.max_unpacked,
          .force = force,
          .mark_offsets = mark_offsets};
}

std::string summarise(const Names& part, const std::string& output, bool force,
                      const RunOptions& given) {
  return report::json_text(run(given.progress, [&](Progress* p) {
    return entrain::summarise(engine::paths_of(part), output, part_options(given, force), p);
  }));
}

std::string fit(const Names& summaries, const std::string& output, const std::string& table,
                bool force, const RunOptions& given) {
  CorrectOptions options;
  options.check = given.check();
  options.force = force;
  return report::json_text(run(given.progress, [&](Progress* p) {
    return entrain::fit(engine::paths_of(summaries), output, table, options, p);
  }));
}

std::string apply_to_part(const std::string& clocks, const Names& part, const std::string& output,
                          bool force, bool mark_offsets, const RunOptions& given) {
  return report::json_text(run(given.progress, [&](Progress* p) {
    return entrain::apply(clocks, engine::paths_of(part), output,
                          part_options(given, force, mark_offsets), p);
  }));
}

/// Single edges as Python gives them: arrays of equal length, which are not copied.
struct PythonEdges {
  Numbers cause_clock;
  Times cause_time;
  Numbers effect_clock;
  Times effect_time;
  Times min_delay;  ///< may be empty
  Kinds kind;       ///< may be empty

  [[nodiscard]] Edges view() const {
    return {.cause_clock = numbers_of(cause_clock),
            .cause_time = stamps_of(cause_time),
            .effect_clock = numbers_of(effect_clock),
            .effect_time = stamps_of(effect_time),
            .min_delay = {min_delay.data(), static_cast<std::size_t>(min_delay.size())},
            .kind = kinds_of(kind)};
  }
};

/// A table as Python gives it: a file, or a name and the text of CSV.
using PythonTable = std::pair<std::string, std::optional<std::string>>;

tables::Source source_of(const PythonTable& table) {
  if (table.second) return {table.first, std::string_view(*table.second)};
  return std::filesystem::path(table.first);
}

std::vector<tables::Source> sources_of(const std::vector<PythonTable>& given) {
  std::vector<tables::Source> sources;
  for (const PythonTable& one : given) sources.push_back(source_of(one));
  return sources;
}

/// align() of arrays; the clocks have the order of the rows of their table.
py::tuple align(const std::vector<PythonTable>& given_clocks, const PythonEdges& given_edges,
                const RunOptions& given, std::uint64_t resolution_hz) {
  const std::vector<tables::Source> sources = sources_of(given_clocks);
  const Edges edges = given_edges.view();
  const AlignOptions options{.check = given.check()};
  const Alignment result = run(given.progress, [&](Progress* p) -> Result<Alignment> {
    TRY_ASSIGN(const Clocks clocks, tables::read_clocks(sources, resolution_hz));
    return entrain::align(clocks, edges, options, p);
  });
  return py::make_tuple(result.maps, report::json_text(result.report),
                        bounds_of(result.report.bounds));
}

/// Refuses clocks whose stamps are not those of their maps: no map of this module applies to them.
Result<void> check_stamps(const engine::AlignedTables& aligned) {
  for (std::size_t c = 0; c < aligned.wraps.size(); ++c) {
    const tables::Wrap& wrap = aligned.wraps[c];
    if (wrap.own_hz == wrap.run_hz && wrap.period == 0) continue;
    const std::string what =
        wrap.own_hz == wrap.run_hz
            ? "counter wraps; count its stamps on"
            : fmt::format(
                  "ticks are {} per second, and not {} as of all: maps have one resolution; "
                  "multiply its stamps",
                  wrap.own_hz, wrap.run_hz);
    return fail(ErrorKind::usage, fmt::format("clock {}: its {}, or use the command entrain align",
                                              aligned.clocks.clocks[c].name, what));
  }
  return {};
}

/// align() of tables; returns the names of the clocks before the rest.
py::tuple align_tables(const PythonTable& edges, const std::vector<PythonTable>& clocks,
                       const RunOptions& given, std::uint64_t resolution_hz,
                       const std::string& unit, const std::string& columns) {
  const engine::AlignTables tables{.edges = source_of(edges),
                                   .clocks = sources_of(clocks),
                                   .resolution_hz = resolution_hz,
                                   .unit = unit,
                                   .columns = columns};
  const AlignOptions options{.check = given.check()};
  const engine::AlignedTables result =
      run(given.progress, [&](Progress* p) -> Result<engine::AlignedTables> {
        TRY_ASSIGN(engine::AlignedTables aligned, engine::align(tables, options, nullptr, p));
        TRY(check_stamps(aligned));
        return aligned;
      });
  std::vector<std::string> names;
  for (const Clock& clock : result.clocks.clocks) names.push_back(clock.name);
  return py::make_tuple(names, result.alignment.maps, report::json_text(result.alignment.report),
                        bounds_of(result.alignment.report.bounds));
}

void translate(const Failure& failure) {
  const std::string sentence = presentable(failure.error.message);
  const char* const text = sentence.c_str();
  switch (failure.error.kind) {
    case ErrorKind::output:
      PyErr_SetString(PyExc_OSError, text);
      return;
    case ErrorKind::interrupted:
      PyErr_SetString(PyExc_KeyboardInterrupt, text);
      return;
    case ErrorKind::internal:
      PyErr_SetString(PyExc_RuntimeError, text);
      return;
    case ErrorKind::usage:
    case ErrorKind::input:
      PyErr_SetString(PyExc_ValueError, text);
      return;
  }
}

}  // namespace
}  // namespace entrain::python

PYBIND11_MODULE(_core, module) {
  using namespace entrain;
  using namespace entrain::python;
  py::register_exception_translator([](std::exception_ptr exception) {
    try {
      if (exception) std::rethrow_exception(exception);
    } catch (const Failure& failure) {
      translate(failure);
    }
  });
  py::class_<ClockMap>(module, "ClockMap")
      .def("apply", &python::apply, py::arg("stamps").noconvert())
      .def("knots", &knots)
      .def("__eq__", [](const ClockMap& a, const ClockMap& b) { return a == b; });
  py::class_<PythonEdges>(module, "Edges")
      .def(py::init<>())
      .def_readwrite("cause_clock", &PythonEdges::cause_clock)
      .def_readwrite("cause_time", &PythonEdges::cause_time)
      .def_readwrite("effect_clock", &PythonEdges::effect_clock)
      .def_readwrite("effect_time", &PythonEdges::effect_time)
      .def_readwrite("min_delay", &PythonEdges::min_delay)
      .def_readwrite("kind", &PythonEdges::kind);
  py::class_<RunOptions>(module, "RunOptions")
      .def(py::init([](std::string presync, bool bounds, unsigned threads, py::object progress,
                       std::uint64_t max_unpacked) {
             return RunOptions{std::move(presync), bounds, threads, std::move(progress),
                               max_unpacked};
           }),
           py::kw_only(), py::arg("presync") = "auto", py::arg("bounds") = false,
           py::arg("threads") = 0, py::arg("progress") = py::none(), py::arg("max_unpacked") = 0);
  py::class_<ExportOptions>(module, "ExportOptions")
      .def(py::init<>())
      .def_readwrite("from_s", &ExportOptions::from_s)
      .def_readwrite("to_s", &ExportOptions::to_s)
      .def_readwrite("around", &ExportOptions::around)
      .def_readwrite("window_s", &ExportOptions::window_s)
      .def_readwrite("both", &ExportOptions::both)
      .def_readwrite("corrected", &ExportOptions::corrected)
      .def_readwrite("force", &ExportOptions::force);
  module.def("check", &python::check);
  module.def("edges", &python::edges);
  module.def("correct", &python::correct, py::arg("path"), py::arg("output"), py::kw_only(),
             py::arg("mode"), py::arg("force"), py::arg("verify"), py::arg("mark_offsets"),
             py::arg("options"));
  module.def("report", &python::report);
  module.def("clock_maps", &python::clock_maps, py::arg("path"), py::kw_only(), py::arg("amortize"),
             py::arg("options"));
  module.def("clocks", &python::clocks);
  module.def("stragglers", &python::stragglers);
  module.def("compare", &python::compare, py::arg("a"), py::arg("b"), py::kw_only(),
             py::arg("truth"), py::arg("raw_a"), py::arg("options"));
  module.def("merge", &python::merge, py::arg("path"), py::arg("output"), py::arg("force"),
             py::arg("options"));
  module.def("export_trace", &python::export_trace, py::arg("path"), py::arg("output"),
             py::kw_only(), py::arg("format"), py::arg("selection"), py::arg("options"));
  module.def("summarise", &python::summarise, py::arg("part"), py::arg("output"), py::kw_only(),
             py::arg("force"), py::arg("options"));
  module.def("fit", &python::fit, py::arg("summaries"), py::arg("output"), py::kw_only(),
             py::arg("table"), py::arg("force"), py::arg("options"));
  module.def("apply", &apply_to_part, py::arg("clocks"), py::arg("part"), py::arg("output"),
             py::kw_only(), py::arg("force"), py::arg("mark_offsets"), py::arg("options"));
  module.def("align", &python::align);
  module.def("align_tables", &python::align_tables, py::arg("edges"), py::arg("clocks"),
             py::arg("options"), py::kw_only(), py::arg("resolution_hz"), py::arg("unit"),
             py::arg("columns"));
  module.def("version", &version);
}
