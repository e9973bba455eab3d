// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <memory_resource>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/json/excerpt.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/clocks.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/describe.hpp"

namespace entrain::kineto {
namespace {

/// A range on the CPU that describes the collective launched inside of it.
struct Range {
  std::uint32_t row = 0;  ///< number_of() its process and thread
  std::string_view name, arguments;
  std::int64_t begin = 0, end = 0;  ///< ns, without the base
};

/// A step of the training loop on the CPU.
struct Step {
  std::uint32_t process = 0;  ///< number_of() its name
  std::uint64_t number = 0;   ///< 1 or more
  std::int64_t begin = 0, end = 0;
};
constexpr std::string_view k_step = "ProfilerStep#";

struct Kernel {
  std::string_view name, arguments;
  std::int64_t begin = 0, end = 0;
  bool is_whole = true;       ///< no begin and end of their own
  std::uint32_t thread = 0;   ///< number_of() its name
  std::uint32_t clock = 0;    ///< position in RankFile::clocks, once these are known
  std::string_view device{};  ///< its process
};

/// True if both are on one stream and overlap for more than half of the shorter one, which no
/// stream does. `a` begins first. Files of some viewers have one thread for all streams.
bool overlap(const Kernel& a, const Kernel& b) {
  const std::int64_t both = std::min(a.end, b.end) - b.begin;
  const std::int64_t shorter = std::min(a.end - a.begin, b.end - b.begin);
  const std::string_view stream = member(a.arguments, "stream");
  return a.thread == b.thread && both > 0 && both > shorter / 2 && !stream.empty() &&
         stream == member(b.arguments, "stream");
}

/// True if so many kernels overlap that they must belong to several ranks whose devices have one
/// number: at least 3, and more than a third. With two ranks, half of them do.
bool are_merged(const std::vector<Kernel>& kernels) {
  constexpr std::size_t k_least = 3, k_share_divisor = 3;
  std::vector<const Kernel*> order;
  for (const Kernel& kernel : kernels) order.push_back(&kernel);
  std::sort(order.begin(), order.end(), [](const Kernel* a, const Kernel* b) {
    return std::tie(a->thread, a->begin, a->end) < std::tie(b->thread, b->begin, b->end);
  });
  std::size_t count = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    count += overlap(*order[i - 1], *order[i]) ? 1 : 0;
  }
  return count >= k_least && k_share_divisor * count > kernels.size();
}

/// An event that has begun (B) and not ended (E) on its thread.
struct OpenEvent {
  std::optional<Kernel> kernel;  ///< none: it does not communicate
  std::int64_t begin = 0;
};

bool names_collective(const EventText& event) {
  return event.name == "record_param_comms" || event.name.starts_with("nccl:") ||
         event.name.starts_with("rccl:");
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
    if (!event.has_time() || event.phase == "M") return {};
    if (event.has_two_times) {
      return fail(ErrorKind::input,
                  fmt::format("{}: an event, of ts {}, has ts or dur twice, so that nobody "
                              "knows which one counts; write the file again",
                              file_.path.string(), json::excerpt(event.time)));
    }
    TRY_ASSIGN(const std::int64_t begin, time(event.time));
    std::int64_t duration = 0;
    if (event.has_length()) {
      TRY_ASSIGN(duration, time(event.duration));
    } else if (is_begin_or_end(event)) {
      pair(event, begin);
    } else if (is_of_collective_kernel(event)) {
      ++file_.endless_calls;
    }
    std::int64_t end = 0;
    if (__builtin_add_overflow(begin, duration, &end)) {
      return fail(ErrorKind::input,
                  fmt::format("{}: the end of an event is out of range, which begins at {} us and "
                              "takes {} us; write the file again",
                              file_.path.string(), json::excerpt(event.time),
                              json::excerpt(event.duration)));
    }
    ++file_.events;
    clocks_.see(event, begin, end);
    if (is_begin_or_end(event)) return {};
    if (is_arrow(event) || event.name == "clock_sync") {
      add_arrow(event, begin);
      return {};
    }
    if (is_collective_kernel(event)) {
      add_kernel({interned(event.name), kept(event.arguments), begin, end, true}, event);
    } else if (event.name.starts_with(k_step) && event.category == "user_annotation") {
      steps_.push_back({number_of(event.process),
                        whole_number(event.name.substr(k_step.size())) + 1, begin, end});
    } else if (names_collective(event)) {
      ranges_.push_back(
          {number_of(row_of(event)), interned(event.name), kept(event.arguments), begin, end});
    }
    return {};
  }

  /// Must be called after the whole text was seen, and with it the base.
  Result<void> finish() {
    if (file_.events == 0) return {};
    for (const auto& [thread, stack] : open_) {
      for (const OpenEvent& open : stack) file_.endless_calls += open.kernel ? 1 : 0;
    }
    const bool are_ranks = several_processes_ && clocks_.find_hosts(processes_);
    TRY(clocks_.finish(file_));
    arrows_.finish(file_);
    set_clocks();
    file_.one_stream = !several_processes_ && are_merged(kernels_);
    if ((several_processes_ && !are_ranks) || file_.one_stream) {
      file_.mixed_calls = kernels_.size();
      kernels_.clear();
    }
    std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return std::tie(a.row, a.begin) < std::tie(b.row, b.begin);
    });
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return std::tie(a.process, a.begin) < std::tie(b.process, b.begin);
    });
    for (const Kernel& kernel : kernels_) {
      file_.calls.push_back(call_of(kernel));
      file_.calls.back().place = static_cast<std::uint32_t>(file_.calls.size() - 1);
    }
    sort_calls(file_);
    return {};
  }

 private:
  void add_arrow(const EventText& event, std::int64_t begin) {
    bool cut = false;
    const std::string_view text = issue_time_of(event);
    const auto issued = text.empty() ? 0 : parse_time(text, cut);
    if (!issued) return;
    arrows_.see(event, {interned(event.process), interned(row_of(event))}, begin, *issued);
  }

  /// `event`: the kernel's event, or the end of it.
  void add_kernel(const Kernel& kernel, const EventText& event) {
    if (processes_.find(event.process) == processes_.end()) processes_.emplace(event.process);
    several_processes_ = processes_.size() > 1;
    kernels_.push_back(kernel);
    kernels_.back().thread = number_of(event.thread);
    places_.push_back({interned(event.process), interned(row_of(event))});
  }

  /// Gives kernels their clocks, and leaves out those without a time, and in files of several ranks
  /// those of no device.
  void set_clocks() {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      Kernel& kernel = kernels_[k];
      kernel.device = places_[k].process;
      const auto row = file_.device_rows.find(places_[k].row);
      if (kernel.is_whole && row != file_.device_rows.end()) kernel.clock = row->second;
      if (file_.parts > 1 && kernel.clock == 0) {
        ++file_.mixed_calls;
      } else if (kernel.begin == 0 && file_.clocks[kernel.clock].zero_is_none) {
        ++file_.timeless_calls;
      } else {
        kernels_[kept++] = kernel;
      }
    }
    kernels_.resize(kept);
  }

  static bool is_async(const EventText& event) { return event.phase == "b" || event.phase == "e"; }
  static bool is_begin_or_end(const EventText& event) {
    return event.phase == "B" || event.phase == "E" || is_async(event);
  }

  /// Key that the begin and the end of an asynchronous event share; empty if it has no id. A local
  /// id is unique within its process.
  static std::string id_of(const EventText& event) {
    std::string id(event.id);
    if (id.empty()) id = member(event.id2, "global");
    const std::string_view local = member(event.id2, "local");
    if (id.empty() && !local.empty()) id = fmt::format("{} of {}", local, event.process);
    return id.empty() ? id
                      : fmt::format("{} {} {} {}", event.category, event.scope, id, event.name);
  }

  /// Pairs begins and ends: E ends the latest open event of its thread, e that of its id. Events of
  /// a thread must be in order of time.
  void pair(const EventText& event, std::int64_t time) {
    const bool begins = event.phase == "B" || event.phase == "b";
    const std::string id = is_async(event) ? id_of(event) : row_of(event);
    if (id.empty()) {
      file_.endless_calls += begins && is_of_collective_kernel(event) ? 1 : 0;
      return;
    }
    std::vector<OpenEvent>& stack = open_[id];
    if (begins) {
      OpenEvent& open = stack.emplace_back();
      open.begin = time;
      if (is_of_collective_kernel(event)) {
        open.kernel = Kernel{interned(event.name), kept(event.arguments), time, time, false};
      }
      return;
    }
    if (stack.empty()) return;
    OpenEvent open = std::move(stack.back());
    stack.pop_back();
    if (!open.kernel) return;
    if (time < open.begin) {
      ++file_.endless_calls;
      return;
    }
    open.kernel->end = time;
    add_kernel(*open.kernel, event);
  }

  Result<std::int64_t> time(std::string_view text) {
    bool cut = false;
    const auto value = parse_time(text, cut);
    if (!value) return refuse(text);
    file_.cut_times += cut ? 1 : 0;
    if (text.find('.') != std::string_view::npos) file_.whole_us = false;
    return *value;
  }

  /// A copy that outlives the text.
  std::string_view kept(std::string_view text) {
    if (text.empty()) return {};
    auto* const copy = static_cast<char*>(texts_.allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), copy);
    return {copy, text.size()};
  }

  /// The copy that all equal texts share; for texts that repeat.
  std::string_view interned(std::string_view text) {
    const auto found = names_.find(text);
    return found != names_.end() ? *found : *names_.insert(kept(text)).first;
  }

  std::uint32_t number_of(std::string_view thread) {
    return threads_.try_emplace(interned(thread), static_cast<std::uint32_t>(threads_.size()))
        .first->second;
  }

  /// Cached operation_of(); `name` must be interned.
  Operation operation_named(std::string_view name) {
    const auto [at, is_new] = operations_.try_emplace(name);
    if (is_new) at->second = operation_of(name);
    return at->second;
  }

  tl::unexpected<Error> refuse(std::string_view text) const {
    return fail(ErrorKind::input,
                fmt::format("{}: {} is no time of at most 19 digits in microseconds and ns, or out "
                            "of range; write the file again",
                            file_.path.string(), json::excerpt(text)));
  }

  /// Number of the latest step of a process that runs at `time`; 0 if there is none.
  [[nodiscard]] std::uint64_t step_at(std::uint32_t process, std::int64_t time) const {
    auto at = std::upper_bound(steps_.begin(), steps_.end(), std::pair(process, time),
                               [](const auto& place, const Step& step) {
                                 return place < std::pair(step.process, step.begin);
                               });
    constexpr int k_most_back = 8;  // steps do not nest; each thread may write them
    for (int i = 0; i < k_most_back && at != steps_.begin(); ++i) {
      --at;
      if (at->process != process) break;
      if (time <= at->end) return at->number;
    }
    return 0;
  }

  /// Ranges around the launch of a kernel, innermost first.
  [[nodiscard]] std::vector<const Range*> ranges_around(std::uint32_t row,
                                                        std::int64_t time) const {
    std::vector<const Range*> around;
    auto at = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(row, time),
                               [](const auto& place, const Range& range) {
                                 return place < std::pair(range.row, range.begin);
                               });
    constexpr int k_most_back = 8;  // ranges of one collective nest: record_param_comms, nccl:...
    for (int i = 0; i < k_most_back && at != ranges_.begin(); ++i) {
      --at;
      if (at->row != row) break;
      if (at->end >= time) around.push_back(&*at);
    }
    return around;
  }

  [[nodiscard]] Call call_of(const Kernel& kernel) {
    Call call;
    call.begin = static_cast<std::uint64_t>(kernel.begin + file_.facts.base);
    call.end = static_cast<std::uint64_t>(kernel.end + file_.facts.base);
    Members& argument = members_;
    argument.clear();
    argument.add(kernel.arguments);
    call.clock = kernel.clock;
    call.correlation = whole_number(argument["correlation"]);
    const std::string_view stream = argument["stream"];
    std::string_view range_name;
    if (const Launch* const launch = clocks_.launch(call.correlation, kernel.device)) {
      call.step = step_at(number_of(launch->process), launch->begin);
      for (const Range* range : ranges_around(number_of(launch->row), launch->begin)) {
        argument.add(range->arguments);
        if (range->name != "record_param_comms") range_name = range->name;
      }
    }
    const std::string_view collective = argument["Collective name"];
    call.operation = operation_named(kernel.name);
    // An all-to-all consists of kernels that send and receive.
    if (call.operation == Operation::other || call.operation == Operation::send_receive) {
      const Operation around = operation_named(range_name);
      if (around != Operation::other) call.operation = around;
    }
    if (!collective.empty()) call.operation = operation_named(interned(collective));
    describe(call, argument, stream);
    return call;
  }

  RankFile& file_;
  ClockReader clocks_;
  ArrowReader arrows_;
  Members members_;  ///< reused for each kernel
  std::pmr::monotonic_buffer_resource texts_;
  std::unordered_set<std::string_view> names_;
  std::unordered_map<std::string_view, Operation> operations_;
  std::unordered_map<std::string_view, std::uint32_t> threads_;
  std::vector<Kernel> kernels_;
  std::vector<ArrowReader::Place> places_;        ///< of each kernel
  std::set<std::string, std::less<>> processes_;  ///< of kernels
  bool several_processes_ = false;                ///< kernels are in several
  std::unordered_map<std::string, std::vector<OpenEvent>>
      open_;  ///< key: process and thread, or id
  std::vector<Range> ranges_;
  std::vector<Step> steps_;
};

}  // namespace

void sort_calls(RankFile& file) {
  std::stable_sort(file.calls.begin(), file.calls.end(), [](const Call& a, const Call& b) {
    return std::tie(a.begin, a.end, a.place) < std::tie(b.begin, b.end, b.place);
  });
}

bool is_collective_kernel(const EventText& event) {
  const bool is_whole = event.phase == "X" && event.has_length();
  const bool begins = event.phase == "B" || event.phase == "b";
  return (is_whole || begins) && is_of_collective_kernel(event);
}

Result<RankFile> read_file(const std::filesystem::path& path, std::uint64_t max_unpacked) {
  RankFile file;
  file.path = path;
  file.max_unpacked = max_unpacked;
  FileReader reader(file);
  bool is_empty = true, has_phase = false;  // spans may be a list as well
  const auto see = [&](const EventText& event) -> Result<void> {
    if (event.is_trace) {
      return fail(ErrorKind::input,
                  fmt::format("{} holds a list of traces; give each of them as a file of its own",
                              path.string()));
    }
    is_empty = false;
    has_phase |= !event.phase.empty();
    return reader.see(event);
  };
  TRY_ASSIGN(file.facts, for_each_event(path, {.see = see, .pass = {}}, max_unpacked));
  if (!file.facts.has_events || (!is_empty && !has_phase)) {
    return fail(
        ErrorKind::input,
        fmt::format("{} is no Chrome trace (traceEvents, or a list of events), and holds no "
                    "spans as OTLP, Jaeger or Zipkin write them",
                    path.string()));
  }
  TRY(reader.finish());
  return file;
}

}  // namespace entrain::kineto
