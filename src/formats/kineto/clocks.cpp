// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/clocks.hpp"

#include <algorithm>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::kineto {
namespace {

template <class... Words>
bool is_one_of(std::string_view text, const Words&... words) {
  return (is_word(text, words) || ...);
}

bool is_of_device(std::string_view category) {
  return is_one_of(category, "kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset",
                   "gpu_user_annotation");
}

bool is_runtime(std::string_view category) {
  return is_one_of(category, "cuda_runtime", "cuda_driver", "hip_runtime", "Runtime");
}

/// Times with the base of a file. Errors: ErrorKind::input for those out of range.
Result<std::uint64_t> shown(std::int64_t time, const RankFile& file) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time, file.facts.base, &sum) || sum < 0 || sum > k_last_time) {
    return input_error("{}: its times are out of range: {}they must lie between 0 and 2^62 ns",
                       file.path.string(), file.facts.base != 0 ? "with baseTimeNanoseconds " : "");
  }
  return static_cast<std::uint64_t>(sum);
}

/// What a call of the runtime waits for, if it waits.
std::optional<Wait::For> waits_for(std::string_view name) {
  if (!name.starts_with("cuda") && !name.starts_with("hip")) return std::nullopt;
  name.remove_prefix(name.starts_with("hip") ? 3 : 4);
  if (is_word(name, "DeviceSynchronize")) return Wait::For::device;
  if (is_word(name, "StreamSynchronize")) return Wait::For::stream;
  if (is_word(name, "EventSynchronize")) return Wait::For::event;
  if (is_word(name, "Memcpy")) return Wait::For::copy;
  return std::nullopt;
}

/// The number that a call and its work on a device share; 0: none.
std::uint64_t correlation_of(const EventText& event) {
  return whole_number(member(event.arguments, "correlation"));
}

/// Times a day or more from all others of a clock, at most a twentieth: more show that it was set.
std::vector<NoTimes> far_of(std::vector<NoTimes> days) {
  constexpr std::uint64_t k_few = 20;
  std::ranges::sort(days, {}, &NoTimes::first);
  std::vector<NoTimes> far;
  std::uint64_t all = 0;
  for (const NoTimes& one : days) {
    all += one.count;
    if (far.empty() || one.first > Int128{far.back().last} + Stamps::k_day) {
      far.push_back(one);
    } else {
      far.back().add(one);
    }
  }
  if (far.empty()) return far;
  const auto run = std::ranges::max_element(far, {}, &NoTimes::count);
  if (k_few * (all - run->count) > all) return {};
  far.erase(run);
  return far;
}

Result<void> take(const Stamps& stamps, FileClock& clock, RankFile& file) {
  const bool zero_is_none = stamps.zero_is_none();
  if (zero_is_none && !clock.is_none(0)) {
    clock.none.insert(std::ranges::upper_bound(clock.none, 0, {}, &NoTimes::first),
                      {0, 0, stamps.zeros});
  }
  clock.events = stamps.events - stamps.beyond - (zero_is_none ? stamps.zeros : 0);
  file.zeros += zero_is_none ? stamps.zeros : 0;
  if (clock.events == 0) return {};
  const bool at_zero = stamps.zeros > 0 && !zero_is_none;
  TRY_ASSIGN(clock.first,
             shown(at_zero ? std::min<std::int64_t>(0, stamps.first) : stamps.first, file));
  TRY_ASSIGN(clock.last,
             shown(at_zero ? std::max<std::int64_t>(0, stamps.last) : stamps.last, file));
  return {};
}

}  // namespace

std::string_view Texts::kept(std::string_view text) {
  if (text.empty()) return {};
  auto* const copy = static_cast<char*>(bytes_.allocate(text.size(), 1));
  std::copy(text.begin(), text.end(), copy);
  return {copy, text.size()};
}

std::string_view Texts::interned(std::string_view text) {
  const auto found = names_.find(text);
  return found != names_.end() ? *found : *names_.insert(kept(text)).first;
}

std::uint32_t ClockReader::number_of(const EventText& event) {
  const std::uint32_t number = numbers_({event.process, event.thread});
  if (number == rows_.size()) {
    const Row kept{texts_.interned(event.process), texts_.interned(event.thread)};
    rows_.push_back({.name = kept, .machine = event.machine});
    machine_of_.emplace(kept.process, event.machine);
  }
  return number;
}

KeptEvent ClockReader::see(const EventText& event, std::int64_t begin, std::int64_t end) {
  const std::uint32_t number = number_of(event);
  RowFacts& row = rows_[number];
  // Viewers sort the packets of a trace by their times: their order in the file tells nothing.
  const KeptEvent kept{number, begin, end, event.moment ? 0 : row.order.see(begin, end)};
  row.stamps.resize(std::size_t{kept.part} + 1);
  row.stamps.back().add(begin, end);
  if (is_of_device(event.category) && event.is_phase('X') && event.has_length()) {
    row.is_of_device = true;
    const bool is_to_host = event.name.find("DtoH") != std::string_view::npos;
    work_.push_back({kept, correlation_of(event), is_to_host});
  } else if (is_runtime(event.category) && event.has_length()) {
    add_call(event, kept);
  } else if (is_word(event.category, "cuda_sync")) {
    add_sync(event);
  }
  return kept;
}

/// Takes a record of what a call waited for.
void ClockReader::add_sync(const EventText& event) {
  const std::string_view kind = member(event.arguments, "cuda_sync_kind");
  Sync sync{.device = texts_.interned(event.process)};
  if (is_word(kind, "Stream Sync")) {
    sync.stream = texts_.interned(member(event.arguments, "stream"));
  } else if (is_word(kind, "Event Sync")) {
    sync.stream = texts_.interned(member(event.arguments, "wait_on_stream"));
    sync.recorded_by = whole_number(member(event.arguments, "wait_on_cuda_event_record_corr_id"));
    if (sync.stream.empty() || sync.recorded_by == 0) return;
  } else if (kind != "Context Sync") {
    return;
  }
  syncs_.emplace(correlation_of(event), sync);
}

void ClockReader::add_call(const EventText& event, const KeptEvent& call) {
  const std::uint64_t correlation = correlation_of(event);
  if (const auto what = waits_for(event.name)) waits_.push_back({call, *what, correlation});
  if (correlation == 0) return;
  KeptEvent& launch =
      launches_[rows_[call.row].name.process].try_emplace(correlation, call).first->second;
  launch.begin = std::min(launch.begin, call.begin);
  launch.end = std::max(launch.end, call.end);
}

const KeptEvent* ClockReader::launch_by(std::uint64_t correlation, std::string_view host) const {
  const KeptEvent* launch = nullptr;
  for (const auto& [process, own] : launches_) {
    if (!host.empty() && process != host) continue;
    const auto found = own.find(correlation);
    if (found == own.end()) continue;
    if (launch != nullptr) return nullptr;
    launch = &found->second;
  }
  return launch;
}

const KeptEvent* ClockReader::launch(std::uint64_t correlation, std::string_view device) const {
  return launch_by(correlation, host_of(device));
}

std::string_view ClockReader::host_of(std::string_view process) const {
  const auto device = devices_.find(process);
  return device != devices_.end() ? device->second.host : std::string_view();
}

/// The process that has launched at least twice as many of its kernels as any other one; numbers of
/// launches that ranks have in common tell nothing.
std::string_view ClockReader::find_host(const Device& device) const {
  std::string_view host;
  std::int64_t most = 0, second = 0;
  for (const auto& [process, launches] : launches_) {
    if (machine_of_.at(process) != device.machine) continue;
    const Launches& own = launches;  // clang 14 and 15 capture no structured bindings
    const auto count = std::ranges::count_if(
        device.work, [&](const Work* work) { return own.contains(work->correlation); });
    second = std::max(second, std::min<std::int64_t>(count, most));
    if (count > most) host = process;
    most = std::max<std::int64_t>(count, most);
  }
  return most >= 2 * second ? host : std::string_view();
}

void ClockReader::gather_devices() {
  for (const RowFacts& row : rows_) {
    if (!row.is_of_device) continue;
    Device& device = devices_[row.name.process];
    device.machine = row.machine;
    ++device.streams;
  }
  for (const Work& work : work_) devices_[rows_[work.row].name.process].work.push_back(&work);
  for (auto& [process, device] : devices_) device.host = find_host(device);
}

/// Each host of a device is a part, if each device has its own; so is each machine without one.
void ClockReader::find_parts(const std::set<std::string_view>& devices) {
  std::vector<std::string_view> names(devices.begin(), devices.end());
  std::ranges::stable_sort(names, {}, [&](std::string_view name) {  // by number
    return std::pair(machine_of_.at(name), name.size());
  });
  for (const std::string_view name : names) {
    const std::string_view host = host_of(name);
    const auto next = static_cast<std::uint32_t>(parts_.size());
    if (host.empty() || !parts_.emplace(host, next).second) {
      parts_.clear();
      break;
    }
  }
  part_count_ = static_cast<std::uint32_t>(parts_.size());
  for (const auto& [host, part] : parts_) {
    const auto of_machine = machines_.try_emplace(machine_of_.at(host), part).first;
    of_machine->second = std::min(of_machine->second, part);
  }
  std::set<std::uint32_t> machines;
  for (const auto& [process, machine] : machine_of_) machines.insert(machine);
  for (const std::uint32_t machine : machines) {
    part_count_ += machines_.try_emplace(machine, part_count_).second ? 1 : 0;
  }
  if (machines.size() < 2) return;
  for (const auto& [process, machine] : machine_of_) {
    parts_.try_emplace(process, machines_.at(machine));
  }
}

std::uint32_t ClockReader::part_of(std::string_view process) const {
  const auto at = parts_.find(process);
  return at != parts_.end() ? at->second : 0;
}

std::uint32_t ClockReader::part_of_device(std::string_view process) const {
  const std::string_view host = host_of(process);
  return part_of(host.empty() ? process : host);
}

bool ClockReader::share_a_part(const std::set<std::string_view>& devices) const {
  std::set<std::uint32_t> parts;
  return !std::ranges::all_of(devices, [&](std::string_view device) {
    return parts.insert(part_of_device(device)).second;
  });
}

bool ClockReader::is_far(const KeptEvent& event) const {
  const std::vector<NoTimes>& far = rows_[event.row].far;
  return is_beyond(event.begin) || is_beyond(event.end) || is_in(far, event.begin) ||
         is_in(far, event.end);
}

/// Leaves out what is no time of this run, before anything is concluded from times.
void ClockReader::screen() {
  std::map<std::pair<bool, std::string_view>, std::vector<RowFacts*>> rows;
  for (RowFacts& row : rows_) {
    const bool has_clock = row.is_of_device && !host_of(row.name.process).empty();
    const bool is_named = has_clock || part_of(row.name.process) > 0;
    rows[{has_clock, is_named ? row.name.process : ""}].push_back(&row);
  }
  for (const auto& [clock, own] : rows) {
    std::vector<NoTimes> days;
    std::uint64_t beyond = 0;
    for (const RowFacts* const row : own) {
      for (const Stamps& stamps : row->stamps) {
        beyond += 2 * stamps.beyond;
        for (const auto& [day, times] : stamps.days) days.push_back(times);
      }
    }
    std::vector<NoTimes> far = far_of(std::move(days));
    if (beyond > 0) {
      far.push_back({k_last_time + 1, std::numeric_limits<std::int64_t>::max(), beyond});
    }
    for (RowFacts* const row : own) {
      row->far = far;
      for (Stamps& stamps : row->stamps) stamps.find_ends(far);
    }
  }
  for (const RowFacts& row : rows_) {
    if (!row.is_of_device) continue;
    for (const Stamps& stamps : row.stamps) devices_[row.name.process].stamps.add(stamps);
  }
  for (auto& [process, device] : devices_) {
    std::erase_if(device.work, [&](const Work* work) { return is_far(*work); });
  }
  std::erase_if(waits_, [&](const Wait& wait) { return is_far(wait); });
  for (auto& [process, launches] : launches_) {
    std::erase_if(launches, [&](const auto& launch) { return is_far(launch.second); });
  }
}

Result<void> ClockReader::finish(RankFile& file, const std::set<std::string_view>& devices) {
  gather_devices();
  find_parts(devices);
  screen();
  count_all_on();
  file.parts = std::max<std::uint32_t>(1, part_count_);
  file.machines = machines_;
  file.clocks.assign(file.parts, {});
  for (std::uint32_t p = 0; p < file.parts; ++p) file.clocks[p].part = p;
  std::map<std::string_view, std::uint32_t> clock_of_device;
  for (const auto& [process, device] : devices_) {
    FileClock clock{.process = std::string(process), .part = part_of_device(process)};
    clock.edges = edges_of(process, device);
    // Nothing relates it to its host: it is stamped as that is.
    clock_of_device[process] = device.host.empty() ? clock.part : 0;
    if (clock.edges.empty()) continue;
    for (InnerEdge& edge : clock.edges) {
      TRY_ASSIGN(edge.host, shown(static_cast<std::int64_t>(edge.host), file));
      TRY_ASSIGN(edge.device, shown(static_cast<std::int64_t>(edge.device), file));
    }
    clock_of_device[process] = static_cast<std::uint32_t>(file.clocks.size());
    file.clocks.push_back(std::move(clock));
  }
  std::vector<Stamps> stamps(file.clocks.size());
  for (RowFacts& row : rows_) {
    const auto& [process, thread] = row.name;
    row.clock = row.is_of_device ? clock_of_device[process] : part_of(process);
    Falls& falls = ahead_[static_cast<std::size_t>(&row - rows_.data())];
    if (row.is_of_device && row.clock == 0) falls = {};  // the host's clock, in no order with it
    FileClock& clock = file.clocks[row.clock];
    if (!falls.all.empty()) clock.falls = falls;
    if (clock.none.empty()) clock.none = row.far;
    for (const Stamps& own : row.stamps) {
      clock.times += 2 * own.beyond;
      for (const auto& [day, times] : own.days) clock.times += times.count;
    }
    for (std::uint32_t p = 0; p < row.stamps.size(); ++p) {
      Stamps own = row.stamps[p];
      const bool has_ends = own.first <= own.last;
      for (std::int64_t* const time : {&own.first, &own.last}) {
        const std::uint64_t ahead = has_ends ? falls.ahead(*time, p) : 0;
        *time = static_cast<std::int64_t>(static_cast<std::uint64_t>(*time) + ahead);
      }
      stamps[row.clock].add(own);
    }
    if (row.clock > 0 || row.is_of_device) {
      file.rows[{std::string(process), std::string(thread)}] = row.clock;
    }
  }
  for (std::size_t c = 0; c < stamps.size(); ++c) TRY(take(stamps[c], file.clocks[c], file));
  return {};
}

std::vector<InnerEdge> ClockReader::edges_of(std::string_view name, const Device& device) const {
  const bool no_zeros = device.stamps.zero_is_none();
  std::vector<InnerEdge> edges;
  std::set<std::uint64_t> copies;  // calls that wait for their copy
  for (const Wait& wait : waits_) {
    if (wait.what == Wait::For::copy) copies.insert(wait.correlation);
  }
  Launched launched;
  for (const Work* const work : device.work) {
    const KeptEvent* const by = launch_by(work->correlation, device.host);
    if (by == nullptr || (no_zeros && work->begin == 0)) continue;
    if (!are_apart(*by, *work)) {
      edges.push_back(
          {static_cast<std::uint64_t>(by->begin), static_cast<std::uint64_t>(work->begin), true});
    }
    launched.emplace_back(*by, work);
  }
  for (const auto& [by, work] : launched) {
    if (!work->is_to_host || !copies.contains(work->correlation) || are_apart(by, *work)) continue;
    edges.push_back(
        {static_cast<std::uint64_t>(by.end), static_cast<std::uint64_t>(work->end), false});
  }
  add_waits(name, device, std::move(launched), edges);
  return edges;
}

/// True if a clock that both share was set back between the begins of two events: of a call in
/// flight it is not known which of its ends is before that.
bool ClockReader::are_apart(const KeptEvent& host, const KeptEvent& device) const {
  return host.part != device.part && ahead_[host.row].all.size() == ahead_[device.row].all.size();
}

/// Work that a call has surely waited for: of the stream, or of all, that was launched before a
/// time. Nothing if the file does not say it.
std::optional<ClockReader::Awaited> ClockReader::awaited_by(const Wait& wait, std::string_view name,
                                                            const Device& device) const {
  const std::string_view process = rows_[wait.row].name.process;
  if (!device.host.empty() && process != device.host) return std::nullopt;
  const auto [first, last] = syncs_.equal_range(wait.correlation);
  for (auto told = first; told != last && wait.correlation != 0; ++told) {
    const Sync& sync = told->second;
    if (sync.device != name) continue;
    if (sync.recorded_by == 0) return Awaited{wait.begin, &wait, sync.stream};
    const KeptEvent* const record = launch_by(sync.recorded_by, process);
    if (record == nullptr) return std::nullopt;
    return Awaited{record->begin, &wait, sync.stream};
  }
  if (first != last && wait.correlation != 0) return std::nullopt;
  const bool is_all =
      wait.what == Wait::For::device || (wait.what == Wait::For::stream && device.streams == 1);
  if (!is_all || devices_.size() != 1) return std::nullopt;
  return Awaited{wait.begin, &wait, {}};
}

/// A call that waits ends after the work that it waits for.
void ClockReader::add_waits(std::string_view name, const Device& device, Launched launched,
                            std::vector<InnerEdge>& edges) const {
  std::vector<Awaited> all;
  for (const Wait& wait : waits_) {
    if (const auto awaited = awaited_by(wait, name, device)) all.push_back(*awaited);
  }
  std::ranges::sort(launched, {}, [](const auto& one) { return one.first.end; });
  std::ranges::stable_sort(all, {}, &Awaited::before);
  std::size_t next = 0;
  std::map<std::string_view, const Work*> latest;  // by its end, of a stream; "": of all
  const auto note = [&](std::string_view stream, const Work& work) {
    const auto at = latest.try_emplace(stream, &work).first;
    if (at->second->end < work.end) at->second = &work;
  };
  for (const Awaited& awaited : all) {
    for (; next < launched.size() && launched[next].first.end <= awaited.before; ++next) {
      const Work& work = *launched[next].second;
      note(rows_[work.row].name.thread, work);
      note("", work);
    }
    const auto end = latest.find(awaited.stream);
    if (end == latest.end() || are_apart(*awaited.by, *end->second)) continue;
    edges.push_back({static_cast<std::uint64_t>(awaited.by->end),
                     static_cast<std::uint64_t>(end->second->end), false});
  }
}

bool tells_of_clocks(std::string_view category) {
  return is_of_device(category) || is_runtime(category) || is_word(category, "cuda_sync");
}

void move_times(RankFile& file, std::span<const ClockMap> maps) {
  const auto move = [&](std::uint64_t& time, std::uint32_t clock) {
    const std::uint64_t before = time, unit = file.facts.unit;
    time = static_cast<std::uint64_t>(std::max<std::int64_t>(maps[clock](time), 0));
    time = (time + unit / 2) / unit * unit;
    file.whole_us = file.whole_us && (time == before || time % k_ns_per_us == 0);
  };
  for (std::uint32_t c = 0; c < file.clocks.size(); ++c) {
    FileClock& clock = file.clocks[c];
    if (clock.events > 0) move(clock.first, c), move(clock.last, c);
    clock.falls = {};
    const std::uint32_t host = file.parts > 1 ? clock.part : 0;
    for (InnerEdge& edge : clock.edges) move(edge.host, host), move(edge.device, c);
  }
  for (Call& call : file.calls) move(call.begin, call.clock), move(call.end, call.clock);
  for (Arrow& arrow : file.arrows) move(arrow.time, arrow.clock);
  sort_calls(file);
}

std::vector<ClockMap> maps_of(const RankFile& file, std::span<const ClockMap> maps) {
  std::vector<ClockMap> own;
  for (const std::uint32_t number : file.numbers) own.push_back(maps[number]);
  return own;
}

}  // namespace entrain::kineto
