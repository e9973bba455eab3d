// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "sim/model/synth_json.hpp"
#include "sim/model/training.hpp"
#include "sim/model/write_blocks.hpp"

namespace entrain::sim {
namespace {

constexpr std::int64_t k_base = 1'700'000'000'000'000'000;  ///< ns since 1970
/// When the run begins after that, ns: times before it, as of clocks that are late, are positive.
constexpr std::uint64_t k_begin = 3'600'000'000'000;
constexpr std::uint64_t k_ns_per_us = 1000;

/// Names that the profiler gives an operation, indexed by TrainingOperation.
struct Names {
  const char* collective;  ///< name of a record_param_comms
  const char* range;
  const char* kernel;
};
constexpr std::array<Names, 7> k_names{
    {{"broadcast", "nccl:broadcast", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage)"},
     {"_allgather_base", "nccl:_all_gather_base",
      "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage)"},
     {"all_to_all", "nccl:all_to_all", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"},
     {"send", "nccl:send", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"},
     {"recv", "nccl:recv", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"},
     {"_reduce_scatter_base", "nccl:_reduce_scatter_base",
      "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage)"},
     {"allreduce", "nccl:all_reduce",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)"}}};
constexpr std::array<const char*, k_groupings> k_group_names{"default_pg", "node", "across",
                                                             "pair"};
/// Work of the processor, in turn.
constexpr std::array<const char*, 4> k_work{"aten::mm", "aten::add_", "aten::relu",
                                            "aten::native_layer_norm"};

/// ns as microseconds with three decimals, as the profiler writes them.
struct Us {
  std::uint64_t ns;
};

}  // namespace
}  // namespace entrain::sim

template <>
struct fmt::formatter<entrain::sim::Us> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const entrain::sim::Us& time, Context& context) const {
    return fmt::format_to(context.out(), "{}.{:03}", time.ns / entrain::sim::k_ns_per_us,
                          time.ns % entrain::sim::k_ns_per_us);
  }
};

namespace entrain::sim {
namespace {

/// The ranks of a group; long lists as the profiler shortens them.
std::string list_of(const TrainingGroup& group) {
  constexpr std::uint32_t k_most = 30;
  const std::uint32_t shown = group.size > k_most ? k_most - 1 : group.size;
  std::vector<std::uint32_t> ranks(shown);
  for (std::uint32_t i = 0; i < shown; ++i) ranks[i] = group.first + i * group.stride;
  const std::uint32_t last = group.first + (group.size - 1) * group.stride;
  return group.size > k_most ? fmt::format("[{}, ..., {}]", fmt::join(ranks, ", "), last)
                             : fmt::format("[{}]", fmt::join(ranks, ", "));
}

/// Writes the file of a rank.
class RankFile final : public TrainingSink {
 public:
  RankFile(const std::filesystem::path& folder, std::uint64_t rank, const SynthOptions& options)
      : file_(folder / fmt::format("rank{}.json", rank)),
        process_(k_first_process + rank),
        device_(rank % options.locations_per_node * options.devices),
        devices_(options.devices),
        seed_(options.seed) {
    fmt::format_to(out(),
                   "{{\n\"schemaVersion\": 1,\n\"distributedInfo\": {{\"backend\": \"nccl\", "
                   "\"rank\": {}, \"world_size\": {}}},\n\"baseTimeNanoseconds\": {},\n"
                   "\"traceEvents\": [\n{{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": {}, "
                   "\"pid\": {}, \"tid\": 0, \"args\": {{\"name\": \"python3\"}}}}",
                   rank, options.locations, k_base, at(0), process_);
  }

  void compute(std::uint64_t begin, std::uint64_t end) override {
    event("cpu_op", k_work[events_ % k_work.size()], process_, process_, begin, end,
          "\"External id\": {}", events_ + 1);
    done(1);
  }

  void call(const TrainingCall& call) override {
    const Names& names = k_names.at(static_cast<std::size_t>(call.operation));
    const std::string arguments = arguments_of(call, names);
    const std::uint64_t id = ++calls_;
    const std::uint32_t stream = 20 + 4 * static_cast<std::uint32_t>(call.group.grouping);
    event("cpu_op", "record_param_comms", process_, process_, call.range_begin, call.range_end,
          "{}", arguments);
    event("kernel", names.kernel, device_, stream, call.begin, call.end,
          "\"External id\": {}, \"device\": {}, \"stream\": {}, \"correlation\": {}, {}", id,
          device_, stream, id, arguments);
    arrow("f", ", \"bp\": \"e\"", device_, stream, call.begin);
    event("cuda_runtime", "cudaLaunchKernelExC", process_, process_, call.launch_begin,
          call.launch_end, "\"External id\": {}, \"cbid\": 430, \"correlation\": {}", id, id);
    arrow("s", "", process_, process_, call.launch_begin);
    for (std::uint64_t d = 1; d < devices_; ++d) compute_on(d, call);
    done(Training::events_per_call(devices_));
  }

  void step(std::uint64_t begin, std::uint64_t end, std::uint64_t number) override {
    event("user_annotation", fmt::format("ProfilerStep#{}", number), process_, process_, begin, end,
          "");
    for (std::uint64_t d = 0; devices_ > 1 && d < devices_; ++d) wait_for(d, end);
    done(Training::events_per_step(devices_));
  }

  Result<void> close() {
    file_.text() += "\n]}\n";
    return file_.close();
  }
  [[nodiscard]] bool ok() const { return file_.ok(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  static constexpr std::uint64_t k_first_process = 59'000;
  static constexpr std::uint64_t k_first_other = std::uint64_t{1} << 32;

  std::back_insert_iterator<std::string> out() { return std::back_inserter(file_.text()); }
  static Us at(std::uint64_t time) { return {k_begin + time}; }
  void done(std::uint64_t events) {
    events_ += events;
    file_.written();
  }

  /// Numbers of launches and waits beside those of collectives.
  std::uint64_t other_number() { return k_first_other + ++others_; }

  /// An event with a length, in a row of a process.
  template <class... Values>
  void event(const char* category, std::string_view name, std::uint64_t process, std::uint64_t row,
             std::uint64_t begin, std::uint64_t end, fmt::format_string<const Values&...> arguments,
             const Values&... values) {
    fmt::format_to(out(),
                   ",\n{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, "
                   "\"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": {{",
                   category, name, process, row, at(begin), Us{end - begin});
    fmt::format_to(out(), arguments, values...);
    file_.text() += "}}";
  }

  /// A call of the runtime.
  void runtime(const char* name, std::uint64_t begin, std::uint64_t length, std::uint64_t number) {
    event("cuda_runtime", name, process_, process_, begin, begin + length, "\"correlation\": {}",
          number);
  }

  /// A kernel on a further device, launched right after that of the call; it ends with it.
  void compute_on(std::uint64_t d, const TrainingCall& call) {
    const std::uint64_t number = other_number(), launch = call.launch_end + 100 * d;
    const std::uint64_t begin = launch + 300, end = std::max(call.end, begin + 100);
    runtime("cudaLaunchKernel", launch, 80, number);
    event("kernel", "gemm", device_ + d, 7, begin, end,
          "\"device\": {}, \"stream\": 7, \"correlation\": {}", device_ + d, number);
  }

  /// A call at the end of a step that waits for a device, in the microsecond that is left there.
  void wait_for(std::uint64_t d, std::uint64_t step_end) {
    const std::uint64_t number = other_number(), begin = step_end - 900 + 50 * d;
    runtime("cudaDeviceSynchronize", begin, 40, number);
    event("cuda_sync", "Context Sync", device_ + d, 7, begin, begin + 40,
          "\"cuda_sync_kind\": \"Context Sync\", \"correlation\": {}", number);
  }

  /// An end of the arrow from the launch to its kernel.
  void arrow(const char* phase, const char* more, std::uint64_t process, std::uint64_t thread,
             std::uint64_t time) {
    fmt::format_to(out(),
                   ",\n{{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {}, "
                   "\"cat\": \"ac2g\", \"name\": \"ac2g\"{}}}",
                   phase, calls_, process, thread, at(time), more);
  }

  /// Returns the number of a communicator, which differs from run to run: files of two runs may
  /// come together.
  [[nodiscard]] std::uint64_t number_of(const TrainingGroup& group) const {
    return mix(mix(seed_) + (static_cast<std::uint64_t>(group.grouping) << 32) + group.number);
  }

  [[nodiscard]] std::string arguments_of(const TrainingCall& call, const Names& names) const {
    const auto grouping = static_cast<std::size_t>(call.group.grouping);
    const std::string name = fmt::format("{}_{}", k_group_names.at(grouping), call.group.number);
    return fmt::format(
        "\"Collective name\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, "
        "\"Group size\": {}, \"dtype\": \"Float\", \"In split size\": \"[]\", "
        "\"Out split size\": \"[]\", \"Process Group Name\": \"{}\", "
        "\"Process Group Description\": \"{}\", \"Process Group Ranks\": \"{}\", "
        "\"Global rank start\": {}, \"Global rank stride\": {}, \"Comms Id\": \"{}\", "
        "\"Seq\": {}{}",
        names.collective, call.elements, call.elements, call.group.size, name,
        k_group_names.at(grouping), list_of(call.group), call.group.first, call.group.stride,
        number_of(call.group), call.sequence, partners_of(call));
  }

  /// Who gives the data, where that is one rank: the root's place in its group, or both ends of a
  /// message.
  static std::string partners_of(const TrainingCall& call) {
    using Op = TrainingOperation;
    if (call.operation == Op::broadcast) return ", \"Rank\": 0";
    if (call.operation != Op::send && call.operation != Op::receive) return "";
    return fmt::format(", \"Src Rank\": {}, \"Dst Rank\": {}", call.source, call.target);
  }

  PieceWriter file_;
  std::uint64_t process_, device_, devices_;
  std::uint64_t seed_;
  std::uint64_t events_ = 0, calls_ = 0, others_ = 0;
};

}  // namespace

Result<void> synth_training(const std::filesystem::path& folder, const SynthOptions& options,
                            Progress* progress, SynthReport& report) {
  TRY_ASSIGN(const Training training, Training::plan(options));
  TRY_ASSIGN(
      const WrittenFiles written,
      write_in_blocks<TrainingSink>(
          {options.locations, options.threads, progress},
          [&](std::uint64_t rank) { return std::make_unique<RankFile>(folder, rank, options); },
          [&](std::uint32_t first, std::span<TrainingSink* const> sinks, const auto& look) {
            return training.run(first, sinks, look);
          },
          [](std::uint32_t, RankFile&) { return Result<void>(); }));
  report.event_bytes = written.bytes;
  report.span_s = static_cast<double>(written.span.last - written.span.first) * 1e-9;
  const TrainingCounts& counts = training.counts();
  report.events = options.events;
  report.iterations = counts.steps;
  report.communication_events = counts.calls;
  report.messages = counts.messages;
  report.collectives = counts.collectives;
  return {};
}

}  // namespace entrain::sim
