// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/recording.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/flat_map.hpp"
#include "base/name_table.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"
#include "formats/spans/claims.hpp"
#include "formats/spans/edges.hpp"
#include "formats/spans/packed_messages.hpp"
#include "formats/spans/patch.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/shape.hpp"
#include "formats/spans/span_table.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_csv = "CSV";

struct SourceFile {
  fs::path path;
  std::uint64_t max_unpacked = 0;  ///< parameter of json::load()
  std::uint64_t bytes = 0;
  std::size_t hash = 0;  ///< hash of its text
  bool is_cut = false;   ///< it ends inside a record
  std::string_view encoding = "JSON";
};

std::size_t hash_of(const std::string& text) { return std::hash<std::string>{}(text); }

/// The framing of messages of Protobuf; empty for texts of another format.
std::optional<Framing> framing_at(std::string_view text) {
  return framing_of(text.substr(0, json::k_beginning));
}

/// Name of the encoding of spans.
std::string_view encoding_of(std::string_view text) {
  if (framing_at(text)) return "Protobuf";
  return is_span_table(text.substr(0, json::k_beginning)) ? k_csv : "JSON";
}

/// The text of a file.
struct SpanText : json::Document {
  bool by_message = false;           ///< its messages are packed one by one
  std::string rest;                  ///< UnpackedMessages::rest
  std::vector<std::size_t> sizes{};  ///< UnpackedMessages::sizes
};

/// The text of a file, which is UTF-8 if it is no Protobuf.
Result<SpanText> load(const fs::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(json::Document plain, json::load(path, max_unpacked, json::Content::bytes));
  SpanText document{std::move(plain), false, {}};
  if (document.packing == json::Packing::none && are_packed_messages(document.text)) {
    const std::uint64_t most =
        max_unpacked > 0 ? max_unpacked : json::most_unpacked(document.text.size());
    TRY_ASSIGN(UnpackedMessages messages, unpack_messages(document.text, most, path));
    document.text = std::move(messages.text);
    document.rest = std::move(messages.rest);
    document.sizes = std::move(messages.sizes);
    document.cut = !document.rest.empty();
    document.by_message = true;
  }
  if (!framing_at(document.text)) TRY(json::check_utf8(document.text, path));
  return document;
}

/// The text of a file that was read before.
Result<SpanText> load_again(const SourceFile& file) {
  TRY_ASSIGN(SpanText document, load(file.path, file.max_unpacked));
  if (hash_of(document.text) == file.hash) return document;
  return fail(ErrorKind::input,
              fmt::format("{} has changed while it was read", file.path.string()));
}

Result<Spans> read_again(const SourceFile& file) {
  TRY_ASSIGN(SpanText document, load_again(file));
  Spans spans;
  std::vector<Stamp> stamps;
  TRY(read(document.text, file.path.string(), spans, stamps));
  return spans;
}

/// Hash of all members of a span except its times.
std::uint64_t hash_of(const Spans& spans, const Span& span) {
  std::uint64_t hash = spans.ids.hash_of(span.id);
  for (const std::string* part : {&spans.groups.all()[spans.facts[span.clock].group],
                                  &spans.operations.all()[span.operation]}) {
    hash = mix(hash + std::hash<std::string>{}(*part));
  }
  return hash;
}

/// Trace and span, as a report names them.
std::string words_for(const Spans& spans, const Span& span) {
  return fmt::format("trace {} span {}", spans.ids.trace_of(span.id), spans.ids.id_of(span.id));
}

/// Largest number of operations with a warning of their own; the others are only counted.
constexpr std::size_t k_most_operations = 5;

/// Facts that a corrected run takes over from its original.
struct Known {
  Identity identity;
  Steps steps;
  std::vector<std::uint32_t> hosts;  ///< hosts of the spans, in order
};

class Run;
Result<std::unique_ptr<Run>> read_run(std::span<const fs::path> files, unsigned threads,
                                      std::uint64_t max_unpacked, const Known* known = nullptr);

class Run : public formats::Recording {
 public:
  Run(std::vector<SourceFile> sources, Spans& spans, unsigned threads, const Known* known)
      : files_(std::move(sources)), threads_(threads) {
    const Family family(spans);
    if (known != nullptr) {
      known_ = *known;
      for (std::size_t i = 0; i < spans.all.size(); ++i) spans.all[i].host = known->hosts[i];
    } else {
      known_.identity = identify(spans, family);
      for (const Span& span : spans.all) known_.hosts.push_back(span.host);
    }
    SpanEdges edges =
        edges_of(spans, family, known_.identity, known == nullptr ? nullptr : &known->steps);
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
    for (const SetAside& one : set_aside) {
      if (!one.is_decisive) warnings.push_back(one.reason);
    }
    notes = spans.notes;
    notes.insert(notes.end(), known_.identity.notes.begin(), known_.identity.notes.end());
    notes.insert(notes.end(), edges.notes.begin(), edges.notes.end());
    list = list_of(edges.found);
    for (const Edge& edge : edges.found) {
      if (edge.rejection == Rejection::none) weak.push_back(edge.is_link ? 1 : 0);
    }
    found_ = std::move(edges.found);
    skipped = std::move(edges.counters);
    events = 2 * spans.all.size();
    calls = found_.size() + edges.without_parent;
    has_marks =
        std::ranges::none_of(files_, [](const SourceFile& file) { return file.encoding == k_csv; });
    coverage.receives = calls;
    coverage.paired = found_.size();
    coverage.lost = edges.without_parent;
    name_worst_edges(spans);
    warn_of_duplicates(spans, family);
    warn_of_dropped_ends(edges.dropped);
    warn_of_immovable_times(spans);
    name_contents();
  }

  [[nodiscard]] Result<void> write(const fs::path& folder,
                                   std::span<const ClockMap> maps) const override {
    return write_files(folder, maps, false);
  }
  [[nodiscard]] Result<void> write_marked(const fs::path& folder,
                                          std::span<const ClockMap> maps) const override {
    return write_files(folder, maps, true);
  }

  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_back(
      const fs::path& folder, std::span<const ClockMap> maps) const override;

  [[nodiscard]] Result<formats::EventTimes> event_times() const override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override;
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const formats::Work&)>& see) const override;

 private:
  [[nodiscard]] Result<void> write_files(const fs::path& folder, std::span<const ClockMap> maps,
                                         bool marked) const {
    return parallel_for(threads_, files_.size(), [&](std::size_t f) {
      return write_file(folder / files_[f].path.filename(), files_[f], maps, marked);
    });
  }
  /// The clock of a time of a place, as it is in spans that were read again.
  [[nodiscard]] std::uint32_t host_of(const Spans& spans, std::uint32_t clock,
                                      std::uint64_t time) const {
    return known_.identity.host_of(names_.find(spans.clocks.all()[clock]), time);
  }
  void name_worst_edges(const Spans& spans);
  void warn_of_duplicates(const Spans& spans, const Family& family);
  void warn_of_dropped_ends(const std::vector<DroppedEnds>& dropped);
  void warn_of_immovable_times(const Spans& spans);
  void name_contents();
  [[nodiscard]] Result<void> write_file(const fs::path& to, const SourceFile& file,
                                        std::span<const ClockMap> maps, bool marked) const;

  std::vector<SourceFile> files_;
  unsigned threads_;
  NameTable names_;  ///< names of places, as Spans::clocks
  Known known_;
  std::vector<Edge> found_;
};

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
    const std::string operation =
        child.operation == k_none ? std::string()
                                  : fmt::format("{}, ", spans.operations.all()[child.operation]);
    const std::string name = operation + words_for(spans, child);
    event_names[{edge.cause, edge.cause_time}] = name;
    constexpr std::uint64_t k_s = 1'000'000'000;
    const std::uint64_t shown = edge.effect_time - edge.step;
    event_names[{edge.effect, edge.effect_time}] =
        edge.step == 0 ? name
                       : fmt::format("{} (shown at {}.{:09} s)", name, shown / k_s, shown % k_s);
  }
}

void Run::warn_of_duplicates(const Spans& spans, const Family& family) {
  if (family.duplicates == 0) return;
  const bool is_one = family.duplicates == 1;
  warnings.push_back(fmt::format("{} {} the id of another one, and {} no evidence: the first is {}",
                                 family.duplicates, is_one ? "span has" : "spans have",
                                 is_one ? "is" : "are",
                                 words_for(spans, spans.all[family.first_duplicate])));
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
    warnings.push_back(
        fmt::format("no call between two hosts is in these spans ({} {}), so that "
                    "nothing is known of their clocks",
                    clocks.clocks.size(), clocks.clocks.size() == 1 ? "host" : "hosts"));
  }
}

void Run::warn_of_immovable_times(const Spans& spans) {
  if (spans.immovable_times == 0) return;
  warnings.push_back(
      fmt::format("{} {} no {} from 0 to 2^62 ns and {} as {} when the host moves; the first is {}",
                  spans.immovable_times, spans.immovable_times == 1 ? "time is" : "times are",
                  spans.immovable_times == 1 ? "number" : "numbers",
                  spans.immovable_times == 1 ? "stays" : "stay",
                  spans.immovable_times == 1 ? "it is" : "they are", spans.first_immovable_time));
}

void Run::name_contents() {
  format = "spans of services as ";
  std::set<std::string> encodings;
  for (const SourceFile& file : files_) encodings.emplace(file.encoding);
  format += fmt::format("{}", fmt::join(encodings, " and "));
  words = {.single = "request, reply",
           .receive = "call",
           .receives = "calls",
           .violation = "work begins before its request, or ends after its reply",
           .written = "copy"};
  for (const SourceFile& file : files_) {
    files.push_back(file.path);
    bytes += file.bytes;
  }
}

Result<void> Run::write_file(const fs::path& to, const SourceFile& file,
                             std::span<const ClockMap> maps, bool marked) const {
  if (std::all_of(maps.begin(), maps.end(),
                  [](const ClockMap& map) { return map.is_identity(); })) {
    return duplicate_file(file.path, to);
  }
  TRY_ASSIGN(SpanText document, load_again(file));
  Spans spans;
  std::vector<Stamp> stamps;
  std::vector<Mark> marks;
  TRY(read(document.text, file.path.string(), spans, stamps, marked ? &marks : nullptr));
  const auto settle = [&](auto& all) {
    for (auto& one : all) one.clock = host_of(spans, one.clock, one.time);
  };
  settle(stamps);
  settle(marks);
  const std::optional<Framing> framing = framing_at(document.text);
  const std::span<const Mark> marks_of_text = framing ? std::span<const Mark>() : marks;
  Result<std::string> text = patched(document.text, stamps, maps, marks_of_text, document.sizes);
  if (!text) {
    return fail(ErrorKind::input, fmt::format("{}: {}", file.path.string(), text.error().message));
  }
  if (framing && marked) *text = with_marks(*text, *framing, marks, maps);
  if (document.by_message) *text = pack_messages(*text, document.sizes) + document.rest;
  return json::save(to, *text, document.packing);
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
      std::vector<formats::EventTime>& own = times.of_clock[known_.hosts[position]];
      own.emplace_back(span.begin, called[position]);
      own.emplace_back(span.end, called[position]);
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

Result<std::unique_ptr<formats::Recording>> Run::read_back(const fs::path& folder,
                                                           std::span<const ClockMap>) const {
  std::vector<fs::path> paths;
  for (const SourceFile& file : files_) paths.push_back(folder / file.path.filename());
  TRY_ASSIGN(std::unique_ptr<Run> written,
             read_run(paths, threads_, files_.front().max_unpacked, &known_));
  const auto other = [](const Edge& a, const Edge& b) {
    return a.cause != b.cause || a.effect != b.effect || a.is_end != b.is_end;
  };
  bool same = written->events == events && written->found_.size() == found_.size();
  for (std::size_t i = 0; same && i < found_.size(); ++i) {
    same = !other(written->found_[i], found_[i]);
  }
  if (!same) {
    return fail(ErrorKind::output,
                "the corrected files do not hold the calls of the original; they were not kept; "
                "write to another disk");
  }
  return written;
}

std::uint64_t ignored_of(const Spans& spans) { return spans.without_id + spans.untimed.size(); }

Result<std::unique_ptr<Run>> read_run(std::span<const fs::path> files, unsigned threads,
                                      std::uint64_t max_unpacked, const Known* known) {
  Spans spans;
  std::vector<SourceFile> sources;
  std::vector<Stamp> stamps;
  for (const fs::path& file : files) {
    TRY_ASSIGN(SpanText document, load(file, max_unpacked));
    stamps.clear();
    const std::uint64_t cut_before = spans.cut_files;
    TRY(read(document.text, file.string(), spans, stamps));
    if (document.cut) spans.cut_files = cut_before + 1;
    sources.push_back({.path = file,
                       .max_unpacked = max_unpacked,
                       .bytes = document.text.size(),
                       .hash = hash_of(document.text),
                       .is_cut = spans.cut_files > cut_before,
                       .encoding = encoding_of(document.text)});
  }
  join_halved_traces(spans);
  conclude_calls(spans);
  const std::uint64_t ignored = ignored_of(spans);
  if (spans.all.empty() && ignored > 0) {
    return fail(
        ErrorKind::input,
        fmt::format("{} holds {} spans, none of which says which one it is and when it was, "
                    "as OTLP, Jaeger or Zipkin do; is it of another format?",
                    files.front().string(), ignored));
  }
  if (spans.all.empty()) {
    return fail(
        ErrorKind::input,
        fmt::format(
            "{}{} no span with a time and no event; give a file that holds some",
            files.front().string(),
            files.size() == 1 ? " holds" : fmt::format(" and {} more hold", files.size() - 1)));
  }
  if (known != nullptr && spans.all.size() != known->hosts.size()) {
    return fail(ErrorKind::output,
                "the corrected files do not hold the spans of the original; they were not kept; "
                "write to another disk");
  }
  return std::make_unique<Run>(std::move(sources), spans, threads, known);
}

/// Position of the first object or list under a wrapping key.
std::size_t inside_wrapper(std::string_view object) {
  json::Scanner scanner(object);
  std::string_view key, value;
  for (scanner.open('{'); scanner.next_key(key);) {
    const char first = scanner.peek();
    if (is_wrapper(key) && (first == '{' || first == '[')) break;
    if (!scanner.value(value)) return object.size();
  }
  return scanner.position();
}

}  // namespace

Result<bool> are_spans(const fs::path& file) {
  TRY_ASSIGN(std::string text, json::beginning(file));
  if (are_packed_messages(text)) text = first_message(text);
  if (framing_of(text) || is_span_table(text)) return true;
  json::Scanner scanner(text);
  for (int depth = 0; depth < 2 && scanner.peek() == '['; ++depth) {
    scanner.open('[');
    if (!scanner.next_element()) return !scanner.failed();  // no spans at all
  }
  if (scanner.peek() != '{') return false;
  std::string_view object = std::string_view(text).substr(scanner.position());
  Shape shape = shape_of(object);
  while (shape == Shape::wrapped) {
    object.remove_prefix(inside_wrapper(object));
    shape = shape_of(object);
  }
  return shape != Shape::other;
}

bool holds_none(const fs::path& file, std::uint64_t max_unpacked) {
  Result<SpanText> document = load(file, max_unpacked);
  if (!document) return false;
  Spans spans;
  std::vector<Stamp> stamps;
  const bool is_read = read(document->text, file.string(), spans, stamps).has_value();
  return is_read && spans.all.empty() && ignored_of(spans) + spans.cut_files == 0;
}

Result<std::unique_ptr<formats::Recording>> read(std::span<const fs::path> files, unsigned threads,
                                                 std::uint64_t max_unpacked) {
  return read_run(files, threads, max_unpacked);
}

}  // namespace entrain::spans
