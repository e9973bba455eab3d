// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/clocks.hpp"
#include "formats/kineto/time_index.hpp"

namespace entrain::kineto {
namespace {

/// A kernel, or a range on the CPU that describes the collective launched inside of it.
struct NamedEvent : KeptEvent {
  std::string_view name, arguments;
  [[nodiscard]] std::uint32_t key() const { return row; }
};

/// A step of the training loop on the CPU.
struct Step : KeptEvent {
  std::string_view process;
  std::uint64_t number = 0;  ///< 1 or more
  [[nodiscard]] std::string_view key() const { return process; }
};
constexpr std::string_view k_step = "ProfilerStep#";

template <class Kept>
auto place_of(const Kept& one) {
  return std::pair(one.key(), one.begin);
}
/// Sorts ranges, or steps, for around().
template <class Kept>
void sort_by_key(std::vector<Kept>& all) {
  std::ranges::stable_sort(all, {}, place_of<Kept>);
}

/// Those of a key that run at a time, the latest first, of the last eight that began before it:
/// ranges of one collective nest (record_param_comms, nccl:...), each thread may write a step.
template <class Kept, class Key>
std::vector<const Kept*> around(const std::vector<Kept>& sorted, const Key& key,
                                std::int64_t time) {
  constexpr int k_most_back = 8;
  std::vector<const Kept*> found;
  auto at = std::ranges::upper_bound(sorted, std::pair(key, time), {}, place_of<Kept>);
  for (int i = 0; i < k_most_back && at != sorted.begin(); ++i) {
    --at;
    if (at->key() != key) break;
    if (at->end >= time) found.push_back(&*at);
  }
  return found;
}

/// True if both are on one stream and overlap for more than half of the shorter one, which no
/// stream does. `a` begins first. Files of some viewers have one thread for all streams.
bool overlap(const NamedEvent& a, const NamedEvent& b) {
  const std::int64_t both = std::min(a.end, b.end) - b.begin;
  const std::int64_t shorter = std::min(a.end - a.begin, b.end - b.begin);
  const std::string_view stream = member(a.arguments, "stream");
  return a.row == b.row && both > 0 && both > shorter / 2 && !stream.empty() &&
         stream == member(b.arguments, "stream");
}

/// True if so many kernels overlap that they must belong to several ranks whose devices have one
/// number: at least 3, and more than a third. With two ranks, half of them do.
bool are_merged(std::vector<NamedEvent> kernels) {
  constexpr std::size_t k_least = 3, k_share_divisor = 3;
  std::ranges::sort(kernels, {},
                    [](const NamedEvent& one) { return std::tuple(one.row, one.begin, one.end); });
  std::size_t count = 0;
  for (std::size_t i = 1; i < kernels.size(); ++i) {
    count += overlap(kernels[i - 1], kernels[i]) ? 1 : 0;
  }
  return count >= k_least && k_share_divisor * count > kernels.size();
}

bool is_name_of_collective(std::string_view name) {
  const std::string_view begin = name.substr(0, 5);
  return is_word(name, "record_param_comms") || is_word(begin, "nccl:") || is_word(begin, "rccl:");
}

/// True for events of kernels that communicate.
bool is_of_collective_kernel(const EventText& event) {
  if (event.category != "kernel" && event.category != "Kernel") return false;
  constexpr std::string_view k_collective = "Collective name";
  if (event.name.starts_with("nccl") || event.name.starts_with("rccl")) return true;
  // Most kernels do not communicate: a search costs less than parsing the members.
  return event.arguments.find(k_collective) != std::string_view::npos &&
         !member(event.arguments, k_collective).empty();
}

/// Collects the calls of a file from its events.
class FileReader {
 public:
  explicit FileReader(RankFile& file) : file_(file) {}

  Result<void> see(const EventText& event) {
    if (!event.has_time() || event.is_phase('M')) return {};
    if (event.has_two_times) {
      return input_error(
          "{}: an event, of ts {}, has ts or dur twice, so that nobody knows which one counts; "
          "write the file again",
          file_.path.string(), json::excerpt(event.time));
    }
    TRY_ASSIGN(const std::int64_t begin, time(event, time_of, event.time));
    std::int64_t duration = 0;
    if (event.has_length()) {
      TRY_ASSIGN(duration, time(event, length_of, event.duration));
      if (is_beyond(begin)) duration = 0;
    } else if (!is_begin_or_end(event) && is_of_collective_kernel(event)) {
      ++file_.endless_calls;
    }
    std::int64_t end = 0;
    if (__builtin_add_overflow(begin, duration, &end)) {
      return input_error(
          "{}: the end of an event is out of range, which begins at {} us and takes {} us; write "
          "the file again",
          file_.path.string(), shown(event.time, begin), shown(event.duration, duration));
    }
    ++file_.events;
    const KeptEvent own = clocks_.see(event, begin, end);
    if (!event.moment) times_->add(own.row, event, issue_time_to_move(event));
    if (is_begin_or_end(event)) {
      if (!event.has_length()) pair(event, own);
    } else if (is_collective_kernel(event)) {
      kernels_.push_back(named(event, own));
    } else if (event.name.starts_with(k_step) && is_word(event.category, "user_annotation")) {
      steps_.push_back(
          {own, clocks_.row(own.row).process, whole_number(event.name.substr(k_step.size())) + 1});
    } else if (is_name_of_collective(event.name) && !is_arrow(event)) {
      ranges_.push_back(named(event, own));
    } else {
      arrows_.see(event, own);
    }
    return {};
  }

  /// Must be called after the whole text was seen, and with it the base.
  Result<void> finish() {
    if (file_.facts.survey == nullptr) file_.times = times_;
    if (file_.events == 0) return {};
    for (const auto& [thread, stack] : open_) {
      for (const auto& kernel : stack) file_.endless_calls += kernel ? 1 : 0;
    }
    std::set<std::string_view> devices;
    for (const NamedEvent& kernel : kernels_) devices.insert(clocks_.row(kernel.row).process);
    TRY(clocks_.finish(file_, devices));
    for (std::uint32_t row = 0; row < clocks_.rows(); ++row) {
      times_->rows.push_back(file_.clock_of(clocks_.row(row)));
    }
    arrows_.finish(clocks_, file_);
    leave_out_kernels();
    for (NamedEvent& kernel : kernels_) clocks_.count_on(kernel);
    for (NamedEvent& range : ranges_) clocks_.count_on(range);
    for (Step& step : steps_) clocks_.count_on(step);
    const bool are_mixed = clocks_.share_a_part(devices);
    file_.one_stream = devices.size() == 1 && are_merged(kernels_);
    if (are_mixed || file_.one_stream) {
      file_.mixed_calls = kernels_.size();
      kernels_.clear();
    }
    sort_by_key(ranges_);
    sort_by_key(steps_);
    file_.calls.reserve(kernels_.size());
    for (const NamedEvent& kernel : kernels_) {
      file_.calls.push_back(call_of(kernel));
      file_.calls.back().place = static_cast<std::uint32_t>(file_.calls.size() - 1);
    }
    sort_calls(file_);
    return {};
  }

 private:
  NamedEvent named(const EventText& event, const KeptEvent& own) {
    return {own, texts_.interned(event.name), texts_.kept(event.arguments)};
  }

  /// Leaves out kernels without a time, and in files of several ranks those of no device.
  void leave_out_kernels() {
    std::erase_if(kernels_, [&](const NamedEvent& kernel) {
      const std::uint32_t clock = clocks_.clock(kernel.row);
      const bool is_of_none = file_.parts > 1 && file_.machines.size() < 2 && clock == 0;
      const FileClock& own = file_.clocks[clock];
      const bool has_no_time = own.is_none(kernel.begin) || own.is_none(kernel.end);
      file_.mixed_calls += is_of_none ? 1 : 0;
      file_.timeless_calls += !is_of_none && has_no_time ? 1 : 0;
      return is_of_none || has_no_time;
    });
  }

  static bool is_async(const EventText& event) {
    return event.is_phase('b') || event.is_phase('e');
  }
  static bool is_begin_or_end(const EventText& event) {
    return event.is_phase('B') || event.is_phase('E') || is_async(event);
  }

  /// Key that begin and end of an asynchronous event share, by process for a local id; or empty.
  static std::string id_of(const EventText& event) {
    std::string id(event.id);
    if (id.empty()) id = member(event.id2, "global");
    const std::string_view local = member(event.id2, "local");
    if (id.empty() && !local.empty()) id = fmt::format("{} of {}", local, event.process);
    return id.empty() ? id
                      : fmt::format("{} {} {} {}", event.category, event.scope, id, event.name);
  }

  /// Pairs begins and ends, in order of time: E ends the latest of its thread, e that of its id.
  void pair(const EventText& event, const KeptEvent& own) {
    const bool begins = event.is_phase('B') || event.is_phase('b');
    const std::string id = is_async(event) ? id_of(event) : fmt::format("{}", own.row);
    if (id.empty()) {
      file_.endless_calls += begins && is_of_collective_kernel(event) ? 1 : 0;
      return;
    }
    std::vector<std::optional<NamedEvent>>& stack = open_[id];
    if (begins) {
      stack.emplace_back();
      if (is_of_collective_kernel(event)) stack.back() = named(event, own);
      return;
    }
    if (stack.empty()) return;
    std::optional<NamedEvent> kernel = stack.back();
    stack.pop_back();
    if (!kernel) return;
    if (own.begin < kernel->begin) {
      ++file_.endless_calls;
      return;
    }
    kernel->end = own.begin;
    kernels_.push_back(*kernel);
  }

  /// `of`: time_of() or length_of(); `text`: as written.
  template <class Of>
  Result<std::int64_t> time(const EventText& event, const Of& of, std::string_view text) {
    bool cut = false;
    const auto value = of(event, cut);
    if (!value) {
      return input_error("{}: {} is no time in microseconds; write the file again",
                         file_.path.string(), json::excerpt(text));
    }
    file_.cut_times += cut ? 1 : 0;
    if (event.moment ? *value % k_ns_per_us != 0
                     : text.find_first_of(".eE") != std::string_view::npos) {
      file_.whole_us = false;
    }
    return *value;
  }

  static std::string shown(std::string_view text, std::int64_t ns) {
    return text.data() != nullptr ? json::excerpt(text) : time_text(ns);
  }

  /// Cached operation_of(); `name` must be interned.
  Operation operation_named(std::string_view name) {
    const auto [at, is_new] = operations_.try_emplace(name);
    if (is_new) at->second = operation_of(name);
    return at->second;
  }

  [[nodiscard]] Call call_of(const NamedEvent& kernel) {
    Call call;
    call.begin = static_cast<std::uint64_t>(kernel.begin + file_.facts.base);
    call.end = static_cast<std::uint64_t>(kernel.end + file_.facts.base);
    Members& argument = members_;
    argument.clear();
    argument.add(kernel.arguments);
    call.clock = clocks_.clock(kernel.row);
    call.correlation = whole_number(argument["correlation"]);
    const std::string_view stream = argument["stream"];
    std::string_view range_name;
    const std::string_view device = clocks_.row(kernel.row).process;
    if (const KeptEvent* const launch = clocks_.launch(call.correlation, device)) {
      const auto steps = around(steps_, clocks_.row(launch->row).process, launch->begin);
      if (!steps.empty()) call.step = steps.front()->number;
      for (const NamedEvent* range : around(ranges_, launch->row, launch->begin)) {
        argument.add(range->arguments);
        if (range->name != "record_param_comms") range_name = range->name;
      }
    }
    const std::string_view collective = argument["Collective name"];
    call.operation = operation_named(kernel.name);
    // An all-to-all consists of kernels that send and receive.
    if (call.operation == Operation::other || call.operation == Operation::send_receive) {
      const Operation of_range = operation_named(range_name);
      if (of_range != Operation::other) call.operation = of_range;
    }
    if (!collective.empty()) call.operation = operation_named(texts_.interned(collective));
    describe(call, argument, stream);
    call.label = label(kernel.name, stream);
    return call;
  }

  /// `name` must be interned, `stream` a part of a text that is kept.
  std::shared_ptr<const std::string> label(std::string_view name, std::string_view stream) {
    auto& label = labels_[{name, stream}];
    if (label == nullptr) label = std::make_shared<const std::string>(label_of(name, stream));
    return label;
  }

  RankFile& file_;
  std::shared_ptr<TimeIndex> times_ = std::make_shared<TimeIndex>();
  Texts texts_;
  ClockReader clocks_{texts_};
  ArrowReader arrows_;
  Members members_;  ///< reused for each kernel
  std::unordered_map<std::string_view, Operation> operations_;
  /// Key: name and stream of a kernel.
  std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const std::string>>
      labels_;
  std::vector<NamedEvent> kernels_;
  /// Events that have begun (B, b); none: they do not communicate. Key: number of the row, or id.
  std::unordered_map<std::string, std::vector<std::optional<NamedEvent>>> open_;
  std::vector<NamedEvent> ranges_;
  std::vector<Step> steps_;
};

/// Reads a file once. `survey`: see for_each_event().
Result<RankFile> read_once(const std::filesystem::path& path, std::uint64_t max_unpacked,
                           const std::shared_ptr<perfetto::Survey>& survey) {
  RankFile file;
  file.path = path;
  file.max_unpacked = max_unpacked;
  FileReader reader(file);
  bool is_empty = true, has_phase = false;  // spans may be a list as well
  const auto see = [&](const EventText& event) -> Result<void> {
    if (event.is_trace) {
      return input_error("{} holds a list of traces; give each of them as a file of its own",
                         path.string());
    }
    is_empty = false;
    has_phase |= !event.phase.empty();
    return reader.see(event);
  };
  TRY_ASSIGN(file.facts, for_each_event(path, {.see = see, .pass = {}}, max_unpacked, survey));
  if (file.facts.is_misread) return file;
  const bool is_cut_before_events = file.facts.truncated && is_empty;
  if ((!file.facts.has_events && !is_cut_before_events) || (!is_empty && !has_phase)) {
    return input_error(
        "{} is no Chrome trace (traceEvents, or a list of events), and holds no spans as OTLP, "
        "Jaeger or Zipkin write them",
        path.string());
  }
  TRY(reader.finish());
  return file;
}

}  // namespace

void sort_calls(RankFile& file) {
  const auto order = [](const Call& one) { return std::tuple(one.begin, one.end, one.place); };
  if (std::ranges::is_sorted(file.calls, {}, order)) return;
  std::ranges::stable_sort(file.calls, {}, order);
}

bool is_collective_kernel(const EventText& event) {
  const bool is_whole = event.is_phase('X') && event.has_length();
  const bool begins = event.is_phase('B') || event.is_phase('b');
  return (is_whole || begins) && is_of_collective_kernel(event);
}

bool has_arguments_to_read(std::string_view category, std::string_view name) {
  return tells_of_clocks(category) || is_name_of_collective(name) || is_word(name, "clock_sync");
}

Result<RankFile> read_file(const std::filesystem::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(RankFile file, read_once(path, max_unpacked, nullptr));
  if (!file.facts.is_misread) return file;
  return read_once(path, max_unpacked, file.facts.survey);
}

}  // namespace entrain::kineto
