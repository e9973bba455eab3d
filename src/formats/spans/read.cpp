// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "formats/spans/documents.hpp"
#include "formats/spans/draft.hpp"
#include "formats/spans/reader.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {
namespace {

/// State before a document is read; removes what a damaged one added.
class Rollback {
 public:
  Rollback(Spans& spans, std::vector<Stamp>& stamps, std::vector<Mark>* marks)
      : spans_(spans),
        stamps_(stamps),
        marks_(marks),
        all_(spans.all.size()),
        stamp_count_(stamps.size()),
        mark_count_(marks == nullptr ? 0 : marks->size()),
        untimed_(spans.untimed.size()),
        without_id_(spans.without_id),
        immovable_times_(spans.immovable_times) {}

  void back() {
    spans_.all.resize(all_);
    stamps_.resize(stamp_count_);
    if (marks_ != nullptr) marks_->resize(mark_count_);
    std::erase_if(spans_.links, [&](const Link& link) { return link.span >= all_; });
    spans_.untimed.resize(untimed_);
    spans_.without_id = without_id_;
    spans_.immovable_times = immovable_times_;
  }

 private:
  Spans& spans_;
  std::vector<Stamp>& stamps_;
  std::vector<Mark>* marks_;
  std::size_t all_, stamp_count_, mark_count_, untimed_;
  std::uint64_t without_id_, immovable_times_;
};

/// If any time of a file has decimals, all are written to the ns: times of two resolutions would
/// not keep their order.
void refine(std::span<Stamp> stamps) {
  const bool any = std::any_of(stamps.begin(), stamps.end(),
                               [](const Stamp& stamp) { return stamp.fine && stamp.unit == k_us; });
  for (Stamp& stamp : stamps) stamp.fine = stamp.fine || (any && stamp.unit == k_us);
}

}  // namespace

Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>& stamps, std::vector<Mark>* marks) {
  constexpr std::size_t k_room = simdjson::SIMDJSON_PADDING;
  text.reserve(text.size() + k_room);
  Reader reader(text, name, spans, stamps, marks);
  json::Parser parser;
  bool any_known = false;
  const std::size_t first_stamp = stamps.size();
  const bool had_immovable = spans.immovable_times > 0;
  Documents documents(text);
  for (std::string_view own; documents.next(own);) {
    if (own.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
      return fail(ErrorKind::input, fmt::format("{}: this document has 4 GiB or more; split it",
                                                documents.place(name)));
    }
    const simdjson::padded_string_view part(own.data(), own.size(),
                                            text.capacity() - documents.begin());
    // The parser's index takes about one byte per byte of the text.
    TRY(check_memory_room(name, own.size()));
    Rollback rollback(spans, stamps, marks);
    bool known = false;
    if (!reader.document(parser, part, known)) {
      if (!reader.memory()) return reader.memory();
      const bool cut = documents.may_be_cut();
      if (cut || documents.split()) {
        rollback.back();
        spans.cut_files += cut ? 1 : 0;
        continue;
      }
      return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON, or it was cut off",
                                                documents.place(name)));
    }
    any_known = any_known || known;
  }
  if (documents.none()) {
    return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON: it is empty", name));
  }
  if (!any_known) {
    return fail(ErrorKind::input, fmt::format("{}: these are no spans as OTLP, Jaeger or Zipkin "
                                              "write them (resourceSpans, data or an array)",
                                              name));
  }
  if (!had_immovable && spans.immovable_times > 0) {
    spans.first_immovable_time = fmt::format("{} in {}", spans.first_immovable_time, name);
  }
  const auto own = std::span(stamps).subspan(first_stamp);
  std::sort(own.begin(), own.end(), [](const Stamp& a, const Stamp& b) { return a.at < b.at; });
  refine(own);
  if (marks != nullptr) {
    std::sort(marks->begin(), marks->end(),
              [](const Mark& a, const Mark& b) { return a.at < b.at; });
  }
  return {};
}

void join_halved_traces(Spans& spans) {
  const std::span<const std::string> names = spans.ids.all();
  const auto trace_of = [](std::string_view name) { return name.substr(0, name.find('/')); };
  std::unordered_map<std::string_view, std::uint32_t> halves;
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (!is_whole_trace(trace_of(names[id]))) halves.emplace(names[id], id);
  }
  if (halves.empty() || halves.size() == names.size()) return;
  // A half that several whole traces share is ambiguous.
  std::unordered_map<std::string_view, std::string_view> traces;
  for (const std::string& name : names) {
    const std::string_view trace = trace_of(name);
    if (!is_whole_trace(trace)) continue;
    const auto [known, is_new] = traces.emplace(half_of(trace), trace);
    if (!is_new && known->second != trace) known->second = {};
  }
  std::vector<std::uint32_t> whole_of(names.size(), k_none);  // index: id of the half
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    const std::string_view trace = trace_of(names[id]);
    if (!is_whole_trace(trace) || traces[half_of(trace)] != trace) continue;
    std::string name(half_of(trace));
    name += names[id].substr(trace.size());
    const auto half = halves.find(name);
    if (half != halves.end()) whole_of[half->second] = id;
  }
  const auto join = [&](std::uint32_t& id) {
    if (id != k_none && whole_of[id] != k_none) id = whole_of[id];
  };
  for (Span& span : spans.all) {
    join(span.id);
    join(span.parent);
  }
  for (Link& link : spans.links) join(link.id);
}

}  // namespace entrain::spans
