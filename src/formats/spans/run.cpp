// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/run.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/ranges.h>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/spans/source_text.hpp"

namespace entrain::spans {

namespace fs = std::filesystem;

namespace {

/// Hash of all members of a span except its times.
std::uint64_t hash_of(const Spans& spans, const Span& span) {
  std::uint64_t hash = spans.ids.hash_of(span.id);
  for (const std::string* part :
       {&spans.groups.all()[spans.group_of(span)], &spans.operations.all()[span.operation]}) {
    hash = mix(hash + std::hash<std::string>{}(*part));
  }
  return hash;
}

/// Trace and span, as a report names them.
std::string words_for(const Spans& spans, const Span& span) {
  return fmt::format("trace {} span {}", spans.ids.trace_of(span.id), spans.ids.id_of(span.id));
}

SetAside doubtful_of(const DoubtfulPair& pair, const Clocks& clocks) {
  return {
      .kind = "excused_ends",
      .clock = "",
      .records = pair.ends,
      .total = pair.total,
      .is_decisive = true,
      .reason = fmt::format("{} of {} ends of calls between {} and {} contradict the others, "
                            "which a clock that was set, or several of one name, would explain: "
                            "calls between them were left out",
                            pair.ends, pair.total, clocks.clocks[pair.hosts.first].name,
                            clocks.clocks[pair.hosts.second].name)};
}

SetAside shown_twice_of(const ClockShownTwice& one, const Clocks& clocks) {
  const std::string& name = clocks.clocks[one.host].name;
  return {
      .kind = "times_shown_twice",
      .clock = name,
      .records = one.edges,
      .total = one.total,
      .is_decisive = true,
      .reason = fmt::format("{} of {} begins and ends of calls of {} are at times that its clock "
                            "showed again after it was set back: they are no evidence",
                            one.edges, one.total, name)};
}

std::string words_for_duplicates(const Spans& spans, const Family& family) {
  const bool is_one = family.duplicates == 1;
  return fmt::format("{} {} the id of another one, and {} no evidence: the first is {}",
                     family.duplicates, is_one ? "span has" : "spans have", is_one ? "is" : "are",
                     words_for(spans, spans.all[family.first_duplicate]));
}

std::string words_for_immovable_times(const Spans& spans) {
  const bool is_one = spans.immovable_times == 1;
  return fmt::format("{} {} from 0 to 2^62 ns and {} when the host moves; the first is {}",
                     spans.immovable_times, is_one ? "time is no number" : "times are no numbers",
                     is_one ? "stays as it is" : "stay as they are", spans.first_immovable_time);
}

/// Largest number of operations with a warning of their own; the others are only counted.
constexpr std::size_t k_most_operations = 5;

}  // namespace

Run::Run(std::vector<SourceFile> sources, const Fitted& fitted, unsigned threads)
    : files_(std::move(sources)), threads_(threads), is_part_(true) {
  known_.identity.periods = fitted.periods;
  for (const std::string& name : fitted.places) names_.number(name);
  for (const SourceFile& file : files_) events += file.events;
  name_files();
}

Run::Run(std::vector<SourceFile> sources, Spans& spans, unsigned threads, const Known* known)
    : files_(std::move(sources)), threads_(threads) {
  const Family family(spans);
  if (known != nullptr) {
    known_ = *known;
    for (std::size_t i = 0; i < spans.all.size(); ++i) spans.all[i].host = known->hosts[i];
  } else {
    known_.identity = identify(spans, family);
  }
  SpanEdges edges =
      edges_of(spans, family, known_.identity, known == nullptr ? nullptr : &known->steps);
  if (known == nullptr) {
    // A span across a fold has a map for each of its ends: it would end before it begins in the
    // copy, or be no span there.
    std::erase_if(edges.rejected.folds, [&](const Fold& fold) {
      const auto is_across = [&](const Span& span) {
        return span.host == fold.host && span.begin < fold.stamp && fold.stamp <= span.end;
      };
      return std::ranges::any_of(spans.all, is_across) ||
             std::ranges::any_of(spans.untimed, [&](const Untimed& one) {
               return one.is_backwards &&
                      known_.identity.host_of(one.clock, static_cast<std::uint64_t>(one.value)) ==
                          fold.host;
             });
    });
    if (!edges.rejected.folds.empty()) {
      divide(known_.identity, spans, edges.rejected.folds);
      edges = edges_of(spans, family, known_.identity);
    }
    for (const Span& span : spans.all) known_.hosts.push_back(span.host);
  }
  const std::uint64_t total = edges.found.size();
  set_refuted_aside(drop_refuted(edges.found, spans), total, "spans");
  known_.steps = std::move(edges.steps);
  clocks = known_.identity.clocks;
  clocks.name = files_.front().path.parent_path().string();
  for (const std::string& name : spans.clocks.all()) names_.number(name);
  for (const SourceFile& file : files_) {
    if (file.is_cut) warn_of_cut(file.path);
  }
  set_aside.insert(set_aside.end(), known_.identity.set_aside.begin(),
                   known_.identity.set_aside.end());
  for (const DoubtfulPair& pair : edges.rejected.doubtful) {
    set_aside.push_back(doubtful_of(pair, clocks));
  }
  for (const ClockShownTwice& one : edges.rejected.clocks_shown_twice) {
    set_aside.push_back(shown_twice_of(one, clocks));
  }
  for (const SetAside& one : set_aside) {
    if (!one.is_decisive) warnings.push_back(one.reason);
  }
  guesses = spans.guesses;
  notes = known_.identity.notes;
  notes.insert(notes.end(), edges.notes.begin(), edges.notes.end());
  list = list_of(edges.found);
  for (const Edge& edge : edges.found) {
    if (edge.rejection == Rejection::none) weak.push_back(edge.is_link ? 1 : 0);
  }
  found_ = std::move(edges.found);
  skipped = std::move(edges.counters);
  events = 2 * spans.all.size();
  calls = found_.size() + edges.without_parent;
  coverage.receives = calls;
  coverage.paired = found_.size();
  coverage.lost = edges.without_parent;
  name_worst_edges(spans);
  if (family.duplicates > 0) warnings.push_back(words_for_duplicates(spans, family));
  warn_of_dropped_ends(edges.rejected.operations);
  // Of a copy the original has told them.
  if (spans.immovable_times > 0 && known == nullptr) {
    warnings.push_back(words_for_immovable_times(spans));
  }
  name_files();
  name_contents();
}

/// The called span of an edge names both of its ends.
void Run::name_worst_edges(const Spans& spans) {
  std::int64_t least = 0;
  const auto margin = [](const Edge& edge) {
    return static_cast<std::int64_t>(edge.effect_time - edge.cause_time);
  };
  for (const Edge& edge : found_) {
    if (edge.rejection == Rejection::none) least = std::min(least, margin(edge));
  }
  if (least == 0) return;
  for (const Edge& edge : found_) {
    if (edge.rejection != Rejection::none || margin(edge) != least) continue;
    const Span& child = spans.all[edge.child];
    const std::string name =
        fmt::format("{}, {}", spans.operations.all()[child.operation], words_for(spans, child));
    event_names[{edge.cause, edge.cause_time}] = name;
    constexpr std::uint64_t k_s = 1'000'000'000;
    const std::uint64_t shown = edge.effect_time - edge.step;
    event_names[{edge.effect, edge.effect_time}] =
        edge.step == 0 ? name
                       : fmt::format("{} (shown at {}.{:09} s)", name, shown / k_s, shown % k_s);
  }
}

void Run::warn_of_dropped_ends(const std::vector<DroppedEnds>& dropped) {
  for (const DroppedEnds& ends :
       std::span(dropped).first(std::min(dropped.size(), k_most_operations))) {
    warnings.push_back(fmt::format(
        "{} of {} calls of \"{}\" end after the span of their client, which no clocks can explain "
        "(it gave up, or did not wait): those ends are left out",
        ends.dropped, ends.total, ends.operation));
  }
  if (dropped.size() > k_most_operations) {
    warnings.push_back(fmt::format("ends of {} other operations are left out for the same reason",
                                   dropped.size() - k_most_operations));
  }
  if (list.cause_clock.empty()) {
    const bool any = !found_.empty() || std::ranges::any_of(skipped, [](const auto& counter) {
      return counter.first == "calls_set_aside";
    });
    warnings.push_back(fmt::format("{} ({} {}), so that nothing is known of their clocks",
                                   any ? "all calls between hosts were left out"
                                       : "no call between two hosts is in these spans",
                                   clocks.clocks.size(),
                                   clocks.clocks.size() == 1 ? "host" : "hosts"));
  }
}

void Run::name_files() {
  holds = formats::DocumentKind::spans;
  has_marks = true;
  for (const SourceFile& file : files_) {
    has_marks &= file.encoding != Encoding::csv;  // rows can get no attributes
    files.push_back(file.path);
    bytes += file.bytes;
  }
}

void Run::name_contents() {
  std::set<std::string_view> encodings;
  for (const SourceFile& file : files_) {
    constexpr std::array<std::string_view, 3> k_names{"JSON", "Protobuf", "CSV"};
    encodings.insert(k_names[static_cast<std::size_t>(file.encoding)]);
  }
  format = fmt::format("spans of services as {}", fmt::join(encodings, " and "));
  words = {.single = "request, reply",
           .receive = "call",
           .receives = "calls",
           .violation = "work begins before its request, or ends after its reply",
           .written = "copy"};
}

Result<void> Run::write_file(const fs::path& to, const SourceFile& file,
                             std::span<const ClockMap> maps, bool marked) const {
  const bool is_copy = std::ranges::all_of(maps, &ClockMap::is_identity);
  if (is_copy && !is_part_) return duplicate_file(file.path, to);
  TRY_ASSIGN(SpanText document, load_again(file));
  if (is_copy) return duplicate_file(file.path, to);
  Spans spans;
  std::vector<Stamp> stamps;
  std::vector<Mark> marks;
  TextSoFar whole{.columns = file.columns, .only_times = !is_part_};
  TRY(read(document.text, file.path.string(), spans, &stamps, marked ? &marks : nullptr, &whole));
  for (const std::string& place : spans.clocks.all()) {
    if (names_.find(place) == k_none) return formats::unknown_part(file.path);
  }
  const auto settle = [&](auto& all) {
    for (auto& one : all) one.clock = host_of(spans, one.clock, one.time);
  };
  settle(stamps);
  settle(marks);
  const std::optional<Framing> framing = framing_at(document.text);
  const std::span<const Mark> marks_of_text = framing ? std::span<const Mark>() : marks;
  Result<std::string> text = patched(document.text, stamps, maps, marks_of_text, document.sizes);
  if (!text) {
    return input_error("{}: {}", file.path.string(), text.error().message);
  }
  if (framing && marked) *text = with_marks(*text, *framing, marks, maps);
  if (document.by_message) {
    TRY_ASSIGN(*text, pack_messages(*text, document.sizes));
    *text += document.rest;
  }
  TRY(json::save(to, *text, document.packing));
  return is_part_ ? check_written(to, file, spans, maps) : Result<void>();
}

/// Reads a new file back: its spans must have the mapped times, rounded as the file stores them.
Result<void> Run::check_written(const fs::path& to, const SourceFile& file, const Spans& before,
                                std::span<const ClockMap> maps) const {
  Spans after;
  SourceFile copy{{.path = to}, file.max_unpacked, file.columns};
  TRY(read_file(copy, after));
  const auto is_moved = [&](std::uint32_t host, std::uint64_t from, std::uint64_t now,
                            std::int64_t unit) {
    const std::int64_t off = maps[host](from) - static_cast<std::int64_t>(now);
    return -unit < off && off < unit;
  };
  std::uint64_t others = 0;  // spans with other times: those that cannot move
  const bool is_it = std::ranges::equal(after.all, before.all, [&](const Span& a, const Span& b) {
    const std::uint32_t first = host_of(before, b.clock, b.begin);
    const std::uint32_t last = host_of(before, b.clock, b.end);
    // A length that a step of its clock is inside of follows the later clock alone.
    const bool fits = is_moved(first, b.begin, a.begin, before.units.begin) &&
                      (first != last || is_moved(last, b.end, a.end, before.units.end));
    others += fits ? 0 : 1;
    return a.id == b.id;
  });
  if (is_it && others <= before.immovable_times) return {};
  return output_error(
      "{} does not hold the spans of {} with their new times, and was not kept; write to another "
      "disk",
      to.filename().string(), file.path.string());
}

void Run::move(SpanFile& file, std::span<const ClockMap> maps) const {
  const auto& [begin_unit, end_unit, has_lengths] = file.spans.units;
  for (Span& span : file.spans.all) {
    const auto moved = [&](std::uint64_t time) {
      const std::int64_t after = maps[host_of(file.spans, span.clock, time)](time);
      return std::max<std::int64_t>(after, 0);
    };
    const std::int64_t begin = nearest(moved(span.begin), begin_unit);
    const std::int64_t base = has_lengths ? begin : 0;
    const std::int64_t end = std::max(base + nearest(moved(span.end) - base, end_unit), begin);
    span.begin = static_cast<std::uint64_t>(begin);
    span.end = static_cast<std::uint64_t>(end);
  }
}

/// Spans that another host called count as communication.
Result<formats::EventTimes> Run::event_times() const {
  std::vector<bool> called(events / 2);
  for (const Edge& edge : found_) called[edge.child] = true;
  formats::EventTimes times;
  times.of_clock.resize(clocks.clocks.size());
  std::size_t position = 0;
  for (const SourceFile& file : files_) {
    TRY_ASSIGN(const Spans spans, read_again(file));
    formats::FileFingerprint& fingerprint = times.files.emplace_back();
    for (const Span& span : spans.all) {
      fingerprint.add(hash_of(spans, span));
      const std::uint32_t own = known_.hosts[position];
      // A span may end in another part of time than it begins in.
      const std::uint32_t first = host_of(spans, span.clock, span.begin);
      const std::uint32_t last = host_of(spans, span.clock, span.end);
      times.of_clock[own].emplace_back(span.begin, called[position]);
      times.of_clock[last == first ? own : last].emplace_back(span.end, called[position]);
      ++position;
    }
  }
  return times;
}

Result<std::vector<std::uint64_t>> Run::event_hashes(std::size_t file) const {
  TRY_ASSIGN(const Spans spans, read_again(files_[file]));
  std::vector<std::uint64_t> hashes;
  for (const Span& span : spans.all) hashes.push_back(hash_of(spans, span));
  return hashes;
}

Result<void> Run::for_each_work(
    const std::function<Result<void>(const formats::Work&)>& see) const {
  std::size_t position = 0;
  for (const SourceFile& file : files_) {
    TRY_ASSIGN(const Spans spans, read_again(file));
    for (const Span& span : spans.all) {
      TRY(see({.clock = known_.hosts[position++],
               .begin = span.begin,
               .end = span.end,
               .name = spans.operations.all()[span.operation],
               .row = {}}));
    }
  }
  return {};
}

Result<std::unique_ptr<Run>> run_of(std::vector<SourceFile> sources, Spans& spans, unsigned threads,
                                    const Known* known) {
  join_halved_traces(spans);
  conclude_calls(spans);
  if (spans.all.empty()) {
    const SourceFile& first = sources.front();
    const std::uint64_t ignored = spans.ignored();
    const auto nothing = [&](const std::string& why) {
      return fail(ErrorKind::input, first.path.string() + why);
    };
    if (ignored > 0 && first.encoding == Encoding::csv) {
      return nothing(
          fmt::format(" holds {} spans, none of which has an id and a time between 1970 and 2116; "
                      "name the units of the columns (--columns 'start=NAME[ms]')",
                      ignored));
    }
    if (ignored > 0) {
      return nothing(
          fmt::format(" holds {} spans, none of which says which one it is and when it was, as "
                      "OTLP, Jaeger or Zipkin do; is it of another format?",
                      ignored));
    }
    if (!spans.other_signal.empty()) {
      return nothing(
          fmt::format(" holds {} of OTLP and no spans, from which clocks follow; give "
                      "the file with the spans",
                      spans.other_signal));
    }
    return nothing(
        (sources.size() == 1 ? " holds" : fmt::format(" and {} more hold", sources.size() - 1)) +
        " no span with a time and no event; give a file that holds some");
  }
  if (known != nullptr && spans.all.size() != known->hosts.size()) {
    return output_error(
        "the corrected files do not hold the spans of the original; they were not kept; write to "
        "another disk");
  }
  return std::make_unique<Run>(std::move(sources), spans, threads, known);
}

Result<std::unique_ptr<Run>> read_run(std::span<const fs::path> files, std::uint64_t max_unpacked,
                                      const std::string& columns, unsigned threads,
                                      const Known* known) {
  std::vector<SourceFile> sources;
  Spans spans;
  for (const fs::path& file : files) {
    sources.push_back({{.path = file}, max_unpacked, columns});
    TRY(read_file(sources.back(), spans));
  }
  return run_of(std::move(sources), spans, threads, known);
}

Known Run::known_after(std::span<const ClockMap> maps) const {
  Known known = known_;
  for (std::vector<std::uint64_t>* steps : {&known.steps.of_begins, &known.steps.of_ends}) {
    for (std::size_t c = 0; c < steps->size(); ++c) {  // a rate of 1,000 ppm stretches them
      if (!maps[c].is_identity()) (*steps)[c] += ((*steps)[c] - 1) / 1000;
    }
  }
  return known;
}

Result<std::unique_ptr<formats::Recording>> Run::read_back(const fs::path& folder,
                                                           std::span<const ClockMap> maps) const {
  std::vector<fs::path> paths;
  for (const SourceFile& file : files_) paths.push_back(folder / file.path.filename());
  const Known known = known_after(maps);
  TRY_ASSIGN(std::unique_ptr<Run> written, read_run(paths, files_.front().max_unpacked,
                                                    files_.front().columns, threads_, &known));
  const auto is_same = [](const Edge& a, const Edge& b) {
    return a.cause == b.cause && a.effect == b.effect && a.is_end == b.is_end;
  };
  if (written->events != events || !std::ranges::equal(written->found_, found_, is_same)) {
    return output_error(
        "the corrected files do not hold the calls of the original; they were not kept; write to "
        "another disk");
  }
  return written;
}

}  // namespace entrain::spans
