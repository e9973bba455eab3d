// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file_mark.hpp"
#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/merge_rank.hpp"
#include "formats/kineto/rewrite.hpp"

namespace entrain::kineto {

namespace {

constexpr std::size_t k_json_block = std::size_t{1} << 20;

std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Facts as members of an object, without its brackets.
std::string members_of(const formats::Attributes& attributes) {
  std::string text;
  for (const auto& [key, value] : attributes) {
    const auto* const number = std::get_if<std::int64_t>(&value);
    text += fmt::format(
        "{}{}:{}", text.empty() ? "" : ",", in_quotes(key),
        number != nullptr ? std::to_string(*number) : in_quotes(std::get<std::string>(value)));
  }
  return text;
}

class ChromeRank final : public RankMerger {
 public:
  using RankMerger::RankMerger;

  /// Events of a Perfetto trace that name one flow are a chain in order of time, whose last one
  /// need not say so: its parts become the start, the steps and the end of an arrow.
  Result<void> read() override {
    std::vector<FlowPart> parts;
    for (const RankFile* const file : unit_.files) {
      if (file->facts.survey == nullptr) continue;
      const auto add = [&](const EventText& event, std::int64_t time) -> Result<void> {
        if (sort_of(event) != EventSort::arrow) return {};
        const bool leaves = share_.between_files.contains(arrow_key(event).key);
        if (!leaves) parts.push_back({arrow_id(event), time, phases_.size()});
        phases_ += event.phase;
        return {};
      };
      const auto timed = [&](const TimedEvent& event) {
        return add(event.text, share_.plan.maps[file->numbers[event.clock]](event.begin));
      };
      const auto other = [&](const EventText& event) { return add(event, 0); };
      TRY(for_each_time(*file, timed, {.see = other}));
    }
    std::ranges::sort(parts);
    for (std::size_t first = 0, next = 0; next < parts.size(); first = next) {
      do {
        phases_[parts[next].place] = phases_[parts[next].place] == 'f' ? 'f' : 't';
      } while (++next < parts.size() && parts[next].id == parts[first].id &&
               phases_[parts[next - 1].place] != 'f');
      if (phases_[parts[next - 1].place] != 'f' || next - first > 1) {
        phases_[parts[first].place] = 's';
      }
      if (next - first > 1) phases_[parts[next - 1].place] = 'f';
    }
    return {};
  }

  Result<void> write(const TextSink& sink) override {
    const std::string begin = fmt::format("{{\"name\":{}", in_quotes(unit_.name));
    std::set<std::string> keys;
    facts = begin;
    TRY(walk(
        [&](const Placed& placed) -> Result<void> {
          take(placed);
          if (out_.size() < k_json_block) return {};
          TRY(sink(out_));
          out_.clear();
          return {};
        },
        [&](std::string_view key, std::string_view value) -> Result<void> {
          const std::string own = key == "name" ? "trace_name" : std::string(key);
          if (!keys.insert(own).second) {  // of the next file of the rank
            facts += fmt::format("}},\n{}", begin);
            keys = {own};
          }
          facts += fmt::format(",\"{}\":{}", own, value);
          return {};
        }));
    facts += '}';
    count_unfinished();
    for (const auto& [text, process] : processes_) {
      if (process.is_named) continue;
      EventText unnamed;
      unnamed.process = text;
      add(",\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{}}}", process.number,
          named(fmt::format("process {}", shown_text(text)), unnamed));
    }
    processes = processes_.size();
    tracks = threads_.size();
    return sink(out_);
  }

 private:
  /// A part of a flow.
  struct FlowPart {
    std::uint64_t id = 0;
    std::int64_t time = 0;
    std::size_t place = 0;  ///< position in phases_
    friend auto operator<=>(const FlowPart&, const FlowPart&) = default;
  };
  struct Process {
    std::uint64_t number = 0;
    bool is_named = false;
  };

  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  /// Adds a member with a value as written, if the event has one.
  void add_given(const char* key, std::string_view value) {
    if (!value.empty()) add(",\"{}\":{}", key, value);
  }
  /// The same for a value without its quotes, which may be no string.
  void add_text(const EventText& event, const char* key, std::string_view value) {
    if (value.data() == nullptr) return;
    const bool is_string = event.text.empty() || *(value.data() - 1) == '"';
    const char* const quote = is_string ? "\"" : "";
    add(",\"{}\":{}{}{}", key, quote, value, quote);
  }
  Process& process_of(std::string_view text) {
    const auto known = processes_.find(text);
    if (known != processes_.end()) return known->second;
    return processes_.emplace(text, Process{share_.next_process++}).first->second;
  }
  /// Arguments of a process_name: the name behind the rank's, the old number, and all of `event`.
  [[nodiscard]] std::string named(const std::string& name, const EventText& event) const {
    std::string text =
        fmt::format("{{\"name\":{}", in_quotes(fmt::format("{}: {}", unit_.name, name)));
    if (!event.process.empty()) text += fmt::format(",\"pid\":{}", event.process);
    for_each_value(event, [&](std::string_view key, std::string_view value) {
      if (key != "name" && key != "pid") text += fmt::format(",\"{}\":{}", key, value);
      return true;
    });
    return text + '}';
  }

  void take(const Placed& placed) {
    const EventText& event = placed.event;
    const EventSort sort = sort_of(event);
    const EventSort written = count(placed);
    if (written != EventSort::metadata && written != EventSort::counter) {
      events.arguments += count_values(event);
    }
    Process& process = process_of(event.process);
    threads_({event.process, event.thread});
    std::string names;
    if (sort == EventSort::metadata && event.name == "process_name") {
      process.is_named = true;
      names = named(json::unescaped(member(event.arguments, "name")), event);
    }
    add(",\n{{\"pid\":{}", process.number);
    const bool is_flow = sort == EventSort::arrow && event.moment;
    const std::string_view phase =
        is_flow ? std::string_view(phases_).substr(next_phase_++, 1) : event.phase;
    add_text(event, "ph", phase);
    add_text(event, "cat", event.category);
    add_text(event, "name", event.name);
    add_given("tid", event.thread);
    add_times(placed);
    add_ids(event, sort);
    add_text(event, "bp", is_flow && phase == "f" ? "e" : event.bind);
    add_text(event, "s", event.reach);
    add_given("args", names.empty() ? event.arguments : names);
    for_each_other(event, [&](std::string_view key, std::string_view value) {
      const bool is_replaced = sort == EventSort::arrow && key == "rank_id";
      if (!is_replaced) add(",\"{}\":{}", key, value);
    });
    out_ += '}';
    if (!placed.has_time || !is_collective_kernel(event)) return;
    add_arrows(placed, false);
    if (event.has_length()) add_arrows(placed, true);
  }
  void add_times(const Placed& placed) {
    const EventText& event = placed.event;
    if (!placed.has_time) {
      if (event.phase == "M") return;
      const std::string length = stored_length(event);
      if (event.has_time()) add(",\"ts\":{}", in_quotes(stored_time(event)));
      if (!length.empty()) add(",\"dur\":{}", in_quotes(length));
      return;
    }
    add(",\"ts\":{}", time_text(placed.begin - share_.base));
    if (event.has_length()) {
      add(",\"dur\":{}", time_text(placed.end - placed.begin));
    } else {
      add_text(event, "dur", event.duration);
    }
  }
  /// Numbers of arrows and objects hold in their file only: they get the rank's in front.
  void add_ids(const EventText& event, EventSort sort) {
    if (sort == EventSort::arrow) {
      add(",\"id\":\"{:x}\"", arrow_id(event));
      add_given("rank_id", event.id2.empty() ? event.id : event.id2);
    } else {
      const auto unique = [&](std::string_view id) {
        return in_quotes(fmt::format("{}.{}", unit_.number, id));
      };
      const std::string global = json::unescaped(member(event.id2, "global"));
      if (!event.id.empty()) add(",\"id\":{}", unique(shown_text(event.id)));
      global.empty() ? add_given("id2", event.id2)
                     : add(",\"id2\":{{\"global\":{}}}", unique(global));
    }
    add_given("scope", event.scope);
  }
  void add_arrows(const Placed& placed, bool arrive) {
    const std::int64_t time = arrive ? placed.end : placed.begin;
    take_arrows(placed, arrive, [&](std::uint64_t id) {
      add(R"(,
{{"ph":"{}",{}"cat":"entrain","name":"waited for","id":"a{}","pid":{},"tid":{},"ts":{}}})",
          arrive ? "f" : "s", arrive ? "\"bp\":\"e\"," : "", id,
          process_of(placed.event.process).number,
          placed.event.thread.empty() ? "0" : placed.event.thread, time_text(time - share_.base));
    });
  }

  std::string out_;
  std::string phases_;  ///< phases of the arrows of Perfetto traces, in order
  std::size_t next_phase_ = 0;
  std::map<std::string, Process, std::less<>> processes_;
  RowNumbers threads_;
};

}  // namespace

std::unique_ptr<RankMerger> chrome_merger(MergeShare& share, MergeUnit unit) {
  return std::make_unique<ChromeRank>(share, std::move(unit));
}

std::string chrome_head(const MergeShare& share) {
  const formats::MergePlan& plan = share.plan;
  std::string text = fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"writer":"{}"}},"baseTimeNanoseconds":{},
"entrain":{{{}}},
"traceEvents":[
{{"ph":"M","pid":1,"name":"process_name","args":{{"name":"entrain"}}}})",
      file_mark(), share.base, members_of(plan.attributes));
  const auto add_slice = [&](std::uint64_t tid, const std::string& thread, const std::string& name,
                             std::int64_t begin, std::int64_t end,
                             const formats::Attributes& facts) {
    text += fmt::format(
        R"(,
{{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}},
{{"ph":"X","cat":"entrain","pid":1,"tid":{},"name":{},"ts":{},"dur":{},"args":{{{}}}}})",
        tid, in_quotes(thread), tid, in_quotes(name), time_text(begin - share.base),
        time_text(end - begin), members_of(facts));
  };
  add_slice(1, "verdict", plan.title, share.first, share.last, plan.attributes);
  std::uint64_t tid = 2;
  for (const formats::MergedClock& clock : plan.clocks) {
    const std::int64_t first = clock.map(clock.first);
    add_slice(tid++, clock.name, clock.title, first, std::max(first, clock.map(clock.last)),
              clock.attributes);
    for_each_knot(clock, [&](std::int64_t time, std::int64_t added) {
      text += fmt::format(
          R"(,
{{"ph":"C","pid":1,"name":{},"ts":{},"args":{{"ns":{}}}}})",
          in_quotes("added to " + clock.name), time_text(time - share.base), added);
    });
  }
  return text;
}

}  // namespace entrain::kineto
