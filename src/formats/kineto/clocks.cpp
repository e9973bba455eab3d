// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/clocks.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/kineto/arrows.hpp"

namespace entrain::kineto {
namespace {

/// Largest time, ns since 1970 (year 2116): differences of offsets then fit into 64 bits.
constexpr std::int64_t k_last_time = std::int64_t{1} << 62;

bool is_work_of_device(const EventText& event) {
  const std::string_view category = event.category;
  return event.phase == "X" && event.has_length() &&
         (category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
          category == "Memcpy" || category == "gpu_memset" || category == "Memset" ||
          category == "gpu_user_annotation");
}

bool is_runtime(std::string_view category) {
  return category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
         category == "Runtime";
}

/// Times with the base of a file. Errors: ErrorKind::input for those out of range.
Result<std::uint64_t> shown(std::int64_t time, const RankFile& file) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time, file.facts.base, &sum) || sum < 0 || sum > k_last_time) {
    return fail(ErrorKind::input,
                fmt::format("{}: its times are out of range: with baseTimeNanoseconds they must "
                            "lie between 0 and 2^62 ns",
                            file.path.string()));
  }
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

void ClockReader::Stamps::add(std::int64_t begin, std::int64_t end) {
  ++events;
  zeros += begin == 0 ? 1 : 0;
  if (begin == 0) return;
  first = std::min(first, begin);
  last = std::max(last, end);
}

void ClockReader::Stamps::add(const Stamps& other) {
  events += other.events;
  zeros += other.zeros;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

bool ClockReader::Stamps::zero_is_none() const {
  constexpr std::int64_t k_times = 10, k_least = 1'000'000'000;
  return zeros > 0 && first <= last && first > k_least && first / k_times > last - first;
}

std::optional<ClockReader::Wait::For> ClockReader::waits_for(std::string_view name) {
  if (!name.starts_with("cuda") && !name.starts_with("hip")) return std::nullopt;
  name.remove_prefix(name.starts_with("hip") ? 3 : 4);
  if (name == "DeviceSynchronize") return Wait::For::device;
  if (name == "StreamSynchronize") return Wait::For::stream;
  if (name == "EventSynchronize") return Wait::For::event;
  if (name == "Memcpy") return Wait::For::copy;
  return std::nullopt;
}

const Launch* ClockReader::launch_of(std::uint64_t correlation, const Launches* host) const {
  if (host != nullptr) {
    const auto found = host->find(correlation);
    return found != host->end() ? &found->second : nullptr;
  }
  for (const auto& [process, own] : launches_) {
    const auto found = own.find(correlation);
    if (found != own.end()) return &found->second;
  }
  return nullptr;
}

const Launch* ClockReader::launch(std::uint64_t correlation, std::string_view device) const {
  const auto known = devices_.find(device);
  return launch_of(correlation, known != devices_.end() ? known->second.host : nullptr);
}

/// The process that has launched more of its kernels than any other one; numbers of launches that
/// ranks have in common tell nothing.
void ClockReader::find_host(Device& device) {
  std::int64_t most = 0;
  for (const auto& [process, launches] : launches_) {
    const Launches& own = launches;  // clang 14 and 15 capture no structured bindings
    const auto count = std::count_if(device.work.begin(), device.work.end(), [&](const Work& work) {
      return own.contains(work.correlation);
    });
    if (count < most || count == 0) continue;
    device.host = count > most ? &own : nullptr;
    device.process = process;
    most = count;
  }
}

bool ClockReader::find_hosts(const std::set<std::string, std::less<>>& devices) {
  if (launches_.size() < 2) return false;
  for (auto& [process, device] : devices_) find_host(device);
  std::vector<std::string> names(devices.begin(), devices.end());
  std::stable_sort(names.begin(), names.end(),  // by number
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const std::string& name : names) {
    const auto device = devices_.find(name);
    const bool is_alone =
        device != devices_.end() && device->second.host != nullptr &&
        std::find(parts_.begin(), parts_.end(), device->second.process) == parts_.end();
    if (!is_alone) {
      parts_.clear();
      return false;
    }
    parts_.push_back(device->second.process);
  }
  return parts_.size() > 1;
}

std::uint32_t ClockReader::part_of(const Device& device) const {
  const auto at = device.host == nullptr ? parts_.end()
                                         : std::find(parts_.begin(), parts_.end(), device.process);
  return at != parts_.end() ? static_cast<std::uint32_t>(at - parts_.begin()) : 0;
}

void ClockReader::see(const EventText& event, std::int64_t begin, std::int64_t end) {
  if (is_arrow(event)) {
    auto& [process, stamps] = arrows_[row_of(event)];
    process = event.process;
    stamps.add(begin, end);
    return;
  }
  if (!is_work_of_device(event)) {
    auto host = hosts_.find(event.process);
    if (host == hosts_.end()) host = hosts_.emplace(event.process, Stamps{}).first;
    host->second.add(begin, end);
    if (is_runtime(event.category) && event.has_length()) add_call(event, begin, end);
    if (event.category == "cuda_sync") add_sync(event);
    return;
  }
  auto at = devices_.find(event.process);
  if (at == devices_.end()) at = devices_.emplace(event.process, Device{}).first;
  Device& device = at->second;
  device.stamps.add(begin, end);
  const bool is_to_host = event.name.find("DtoH") != std::string_view::npos;
  auto stream = device.streams.find(event.thread);
  if (stream == device.streams.end()) {
    stream = device.streams.emplace(event.thread).first;
    processes_.emplace(row_of(event), event.process);
  }
  device.work.push_back({correlation_of(event), begin, end, is_to_host, *stream});
}

/// Takes a record of what a call waited for.
void ClockReader::add_sync(const EventText& event) {
  const std::string_view kind = member(event.arguments, "cuda_sync_kind");
  Sync sync{.process = std::string(event.process)};
  if (kind == "Stream Sync") {
    sync.stream = member(event.arguments, "stream");
  } else if (kind == "Event Sync") {
    sync.stream = member(event.arguments, "wait_on_stream");
    sync.recorded_by = whole_number(member(event.arguments, "wait_on_cuda_event_record_corr_id"));
    if (sync.stream.empty() || sync.recorded_by == 0) return;
  } else if (kind != "Context Sync") {
    return;
  }
  syncs_.emplace(correlation_of(event), std::move(sync));
}

void ClockReader::add_call(const EventText& event, std::int64_t begin, std::int64_t end) {
  const std::uint64_t correlation = correlation_of(event);
  const auto what = waits_for(event.name);
  if (correlation == 0 && !what) return;
  auto own = launches_.find(event.process);
  if (own == launches_.end()) own = launches_.emplace(event.process, Launches{}).first;
  if (what) waits_.push_back({*what, &own->second, correlation, begin, end});
  if (correlation == 0) return;
  const auto [at, is_new] = own->second.try_emplace(correlation, Launch{{}, {}, begin, end});
  at->second.begin = std::min(at->second.begin, begin);
  at->second.end = std::max(at->second.end, end);
  at->second.process = own->first;
  at->second.row = *rows_.insert(row_of(event)).first;
}

Result<void> ClockReader::finish(RankFile& file) {
  file.parts = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(parts_.size()));
  file.clocks.assign(file.parts, {});
  for (std::uint32_t p = 0; p < file.parts; ++p) {
    file.clocks[p].part = p;
    if (p > 0) file.hosts.emplace(parts_[p], p);
  }
  std::vector<Stamps> hosts(file.parts);
  const auto host_of = [&](std::string_view process) -> Stamps& {
    const auto at = file.hosts.find(process);
    return hosts[at != file.hosts.end() ? at->second : 0];
  };
  for (const auto& [process, stamps] : hosts_) host_of(process).add(stamps);
  for (const auto& [process, device] : devices_) {
    FileClock clock;
    clock.process = process;
    clock.part = part_of(device);
    add_edges(device, clock);
    if (clock.edges.empty()) {
      hosts.front().add(device.stamps);
      continue;
    }
    TRY(take(device.stamps, clock, file));
    for (InnerEdge& edge : clock.edges) {
      TRY_ASSIGN(edge.host, shown(static_cast<std::int64_t>(edge.host), file));
      TRY_ASSIGN(edge.device, shown(static_cast<std::int64_t>(edge.device), file));
    }
    file.clocks.push_back(std::move(clock));
  }
  for (const auto& [row, process] : processes_) {
    for (std::uint32_t c = file.parts; c < file.clocks.size(); ++c) {
      if (file.clocks[c].process == process) file.device_rows.emplace(row, c);
    }
  }
  // An arrow ends where its kernel begins: it widens no clock of a device.
  for (const auto& [row, arrows] : arrows_) {
    const auto at = file.device_rows.find(row);
    if (at == file.device_rows.end()) {
      host_of(arrows.first).add(arrows.second);
    } else {
      file.clocks[at->second].events += arrows.second.events;
    }
  }
  for (std::uint32_t p = 0; p < file.parts; ++p) {
    TRY(take(hosts[p], file.clocks[p], file));
  }
  return {};
}

Result<void> ClockReader::take(const Stamps& stamps, FileClock& clock, RankFile& file) {
  clock.zero_is_none = stamps.zero_is_none();
  clock.events = stamps.events - (clock.zero_is_none ? stamps.zeros : 0);
  file.zeros += stamps.events - clock.events;
  if (clock.events == 0) return {};
  const bool at_zero = stamps.zeros > 0 && !clock.zero_is_none;
  TRY_ASSIGN(clock.first,
             shown(at_zero ? std::min<std::int64_t>(0, stamps.first) : stamps.first, file));
  TRY_ASSIGN(clock.last,
             shown(at_zero ? std::max<std::int64_t>(0, stamps.last) : stamps.last, file));
  return {};
}

void ClockReader::add_edges(const Device& device, FileClock& clock) const {
  const bool no_zeros = device.stamps.zero_is_none();
  Launched launched;
  for (const Work& work : device.work) {
    const Launch* const by = launch_of(work.correlation, device.host);
    if (by == nullptr || (no_zeros && work.begin == 0)) continue;
    clock.edges.push_back(
        {static_cast<std::uint64_t>(by->begin), static_cast<std::uint64_t>(work.begin), true});
    launched.emplace_back(*by, &work);
  }
  add_copies(launched, clock);
  add_waits(clock.process, device, std::move(launched), clock);
}

/// Work that a call has surely waited for: of the stream, or of all, that was launched before a
/// time. Nothing if the file does not say it.
std::optional<ClockReader::Awaited> ClockReader::awaited_by(const Wait& wait,
                                                            std::string_view process,
                                                            const Device& device) const {
  if (device.host != nullptr && wait.host != device.host) return std::nullopt;
  const auto [first, last] = syncs_.equal_range(wait.correlation);
  for (auto told = first; told != last && wait.correlation != 0; ++told) {
    const Sync& sync = told->second;
    if (sync.process != process) continue;
    if (sync.recorded_by == 0) return Awaited{wait.begin, wait.end, sync.stream};
    const Launch* const record = launch_of(sync.recorded_by, wait.host);
    if (record == nullptr) return std::nullopt;
    return Awaited{record->begin, wait.end, sync.stream};
  }
  if (first != last && wait.correlation != 0) return std::nullopt;
  const bool is_all = wait.what == Wait::For::device ||
                      (wait.what == Wait::For::stream && device.streams.size() == 1);
  if (!is_all || devices_.size() != 1) return std::nullopt;
  return Awaited{wait.begin, wait.end, {}};
}

/// A call that waits ends after the work that it waits for.
void ClockReader::add_waits(std::string_view process, const Device& device, Launched launched,
                            FileClock& clock) const {
  std::vector<Awaited> all;
  for (const Wait& wait : waits_) {
    if (const auto awaited = awaited_by(wait, process, device)) all.push_back(*awaited);
  }
  std::sort(launched.begin(), launched.end(),
            [](const auto& a, const auto& b) { return a.first.end < b.first.end; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Awaited& a, const Awaited& b) { return a.before < b.before; });
  std::size_t next = 0;
  std::map<std::string_view, std::int64_t> latest;  // end of work, by stream; "": of all
  const auto note = [&](std::string_view stream, std::int64_t end) {
    const auto at = latest.try_emplace(stream, end).first;
    at->second = std::max(at->second, end);
  };
  for (const Awaited& awaited : all) {
    for (; next < launched.size() && launched[next].first.end <= awaited.before; ++next) {
      const Work& work = *launched[next].second;
      note(work.stream, work.end);
      note("", work.end);
    }
    const auto end = latest.find(awaited.stream);
    if (end == latest.end()) continue;
    clock.edges.push_back({static_cast<std::uint64_t>(awaited.until),
                           static_cast<std::uint64_t>(end->second), false});
  }
}

/// A copy to the host has ended before the call returns that waits for it.
void ClockReader::add_copies(const Launched& launched, FileClock& clock) const {
  std::set<std::uint64_t> waiting;
  for (const Wait& wait : waits_) {
    if (wait.what == Wait::For::copy) waiting.insert(wait.correlation);
  }
  for (const auto& [by, work] : launched) {
    if (!work->is_to_host || !waiting.contains(work->correlation)) continue;
    clock.edges.push_back(
        {static_cast<std::uint64_t>(by.end), static_cast<std::uint64_t>(work->end), false});
  }
}

std::uint32_t clock_of_row(const RankFile& file, std::string_view row, std::string_view process) {
  const auto device = file.device_rows.find(row);
  if (device != file.device_rows.end()) return device->second;
  const auto host = file.hosts.find(process);
  return host != file.hosts.end() ? host->second : 0;
}

std::uint32_t clock_of(const RankFile& file, const EventText& event) {
  if (file.clocks.size() == 1) return 0;
  if (is_work_of_device(event) || is_arrow(event)) {
    return clock_of_row(file, row_of(event), event.process);
  }
  const auto host = file.hosts.find(event.process);
  return host != file.hosts.end() ? host->second : 0;
}

bool has_no_time(const FileClock& clock, const EventText& event) {
  bool cut = false;
  return clock.zero_is_none && parse_time(event.time, cut) == 0;
}

std::uint64_t correlation_of(const EventText& event) {
  return whole_number(member(event.arguments, "correlation"));
}

void number_clocks(std::vector<RankFile>& ranks) {
  auto next = static_cast<std::uint32_t>(ranks.size());
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    ranks[r].numbers.assign(1, r);
    while (ranks[r].numbers.size() < ranks[r].clocks.size()) ranks[r].numbers.push_back(next++);
  }
}

std::vector<ClockMap> maps_of(const RankFile& file, std::span<const ClockMap> maps) {
  std::vector<ClockMap> own;
  for (const std::uint32_t number : file.numbers) own.push_back(maps[number]);
  return own;
}

}  // namespace entrain::kineto
