// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "formats/kineto/collective_calls.hpp"

/// Clocks of a file: its host's, and one per device that host calls are related to.
namespace entrain::kineto {

/// Texts that outlive the window of the file.
class Texts {
 public:
  /// A copy.
  std::string_view kept(std::string_view text);
  /// The copy that all equal texts share; for texts that repeat.
  std::string_view interned(std::string_view text);

 private:
  std::pmr::monotonic_buffer_resource bytes_;
  std::unordered_set<std::string_view> names_;
};

/// Fields of every event that is kept. Times are ns, without the base.
struct KeptEvent {
  std::uint32_t row = 0;  ///< number of its row
  std::int64_t begin = 0, end = 0;
  std::uint32_t part = 0;  ///< falls before it: RowOrder::see(), then Falls::before()
};

/// Stamps of a clock as stored.
struct Stamps {
  static constexpr std::int64_t k_day = 86'400'000'000'000;  ///< ns: no rank records for a day
  std::uint64_t events = 0, zeros = 0, beyond = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  ///< other than 0
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  std::map<std::int64_t, NoTimes> days;  ///< all others, by the day since the begin of time

  void add(std::int64_t begin, std::int64_t end) {
    ++events;
    if (is_beyond(begin) || is_beyond(end)) {
      ++beyond;
    } else if (begin == 0) {
      ++zeros;
    } else {
      add_time(begin);
      if (end != begin) add_time(end);
    }
  }
  void add_time(std::int64_t time) {
    const std::int64_t day = time / k_day - (time % k_day < 0 ? 1 : 0);
    auto at = days.empty() ? days.end() : std::prev(days.end());  // mostly that of the event before
    if (at == days.end() || at->first != day) {
      at = days.try_emplace(day, NoTimes{time, time, 0}).first;
    }
    at->second.add({time, time, 1});
  }
  void add(const Stamps& other) {
    events += other.events;
    zeros += other.zeros;
    beyond += other.beyond;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  /// Finds the first and the last one, without those in `far`.
  void find_ends(const std::vector<NoTimes>& far) {
    for (const auto& [day, own] : days) {
      if (is_in(far, own.first)) continue;
      first = std::min(first, own.first);
      last = std::max(last, own.last);
    }
  }
  /// True if 0 marks unknown times: it is farther from other stamps than ten times their span and
  /// one second, or several stamps are 0 and no others exist.
  [[nodiscard]] bool zero_is_none() const {
    constexpr std::int64_t k_times = 10, k_least = 1'000'000'000;
    if (first > last) return zeros > 1;
    return zeros > 0 && first > k_least && first / k_times > last - first;
  }
};

/// A call that returns once work has ended.
struct Wait : KeptEvent {
  enum class For : std::uint8_t { device, stream, event, copy };
  For what = For::device;
  std::uint64_t correlation = 0;
};

/// True for the events whose arguments ClockReader reads: work, and calls that launch it or wait.
bool tells_of_clocks(std::string_view category);

/// Finds the clocks of a file from its events.
class ClockReader {
 public:
  explicit ClockReader(Texts& texts) : texts_(texts) {}

  /// Takes an event; without a length it ends at its begin.
  KeptEvent see(const EventText& event, std::int64_t begin, std::int64_t end);
  [[nodiscard]] const Row& row(std::uint32_t number) const { return rows_[number].name; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  /// Fills RankFile::clocks, parts and rows, once RankFile::facts is complete. `devices`: processes
  /// with collective kernels; if each of several has a host of its own, they are of several ranks.
  /// Errors: ErrorKind::input for times out of range.
  Result<void> finish(RankFile& file, const std::set<std::string_view>& devices);

  /// Moves an event's times behind those before its clock was set back, after finish().
  void count_on(KeptEvent& event) const {
    if (event.begin == 0) return;
    const std::uint64_t ahead = ahead_[event.row].ahead(event.begin, event.part);
    event.part = ahead_[event.row].before(event.begin, event.part);
    event.begin = static_cast<std::int64_t>(static_cast<std::uint64_t>(event.begin) + ahead);
    event.end = static_cast<std::int64_t>(static_cast<std::uint64_t>(event.end) + ahead);
  }
  /// True if two of these devices are in one part of the file, after finish().
  [[nodiscard]] bool share_a_part(const std::set<std::string_view>& devices) const;
  /// The clock of a row, after finish().
  [[nodiscard]] std::uint32_t clock(std::uint32_t row) const { return rows_[row].clock; }
  /// The launch of a correlation number by the host of a device, after finish(): of several calls
  /// with one number the first begin and the last end, as no kernel begins before it. Null if it
  /// was not recorded, or if several processes have that number and the host is not known.
  [[nodiscard]] const KeptEvent* launch(std::uint64_t correlation, std::string_view device) const;

 private:
  struct RowFacts {
    Row name;
    std::vector<Stamps> stamps{1};  ///< one per part of its order
    RowOrder order{};
    std::uint32_t machine = 0;
    bool is_of_device = false;   ///< work of a device is in it
    std::vector<NoTimes> far{};  ///< times of its clock far from all others
    std::uint32_t clock = 0;     ///< position in RankFile::clocks
  };
  /// A kernel or a copy.
  struct Work : KeptEvent {
    std::uint64_t correlation = 0;
    bool is_to_host = false;  ///< a copy from the device to the host
  };
  using Launches = std::unordered_map<std::uint64_t, KeptEvent>;  ///< key: correlation
  struct Device {
    Stamps stamps{};
    std::uint32_t machine = 0;
    std::string_view host{};
    std::vector<const Work*> work{};
    std::size_t streams = 0;
  };
  /// Work with its launch.
  using Launched = std::vector<std::pair<KeptEvent, const Work*>>;
  /// The work that a call waited for, as the profiler tells it.
  struct Sync {
    std::string_view device;
    std::string_view stream{};      ///< empty: all
    std::uint64_t recorded_by = 0;  ///< call that recorded the event; 0: it waited for no event
  };
  /// Work on a stream that was launched before `before` and ends before `by` does.
  struct Awaited {
    std::int64_t before = 0;  ///< ns, without the base
    const Wait* by = nullptr;
    std::string_view stream;  ///< empty: all
  };

  [[nodiscard]] bool are_apart(const KeptEvent& host, const KeptEvent& device) const;
  std::uint32_t number_of(const EventText& event);
  void add_sync(const EventText& event);
  void add_call(const EventText& event, const KeptEvent& call);
  void gather_devices();
  [[nodiscard]] bool are_launched_in_order(std::span<const std::uint32_t> rows) const;
  [[nodiscard]] bool is_set_alone(std::string_view process, const Falls& falls) const;
  [[nodiscard]] Falls falls_of(std::span<const std::uint32_t> rows, bool repeats_little) const;
  void screen();
  [[nodiscard]] bool is_far(const KeptEvent& event) const;
  void count_all_on();
  [[nodiscard]] std::string_view find_host(const Device& device) const;
  /// The process that launches the work of a device; empty: unknown.
  [[nodiscard]] std::string_view host_of(std::string_view process) const;
  void find_parts(const std::set<std::string_view>& devices);
  [[nodiscard]] std::uint32_t part_of(std::string_view process) const;
  [[nodiscard]] std::uint32_t part_of_device(std::string_view process) const;
  [[nodiscard]] const KeptEvent* launch_by(std::uint64_t correlation, std::string_view host) const;
  [[nodiscard]] std::optional<Awaited> awaited_by(const Wait& wait, std::string_view name,
                                                  const Device& device) const;
  [[nodiscard]] std::vector<InnerEdge> edges_of(std::string_view name, const Device& device) const;
  void add_waits(std::string_view name, const Device& device, Launched launched,
                 std::vector<InnerEdge>& edges) const;

  Texts& texts_;
  std::vector<RowFacts> rows_;
  std::vector<Falls> ahead_;  ///< falls of each row's clock
  RowNumbers numbers_;
  std::vector<Work> work_;
  std::map<std::string_view, Device> devices_;       ///< key: process
  std::map<std::string_view, std::uint32_t> parts_;  ///< those of processes; others are of part 0
  std::map<std::uint32_t, std::uint32_t> machines_;  ///< part of each machine
  std::map<std::string_view, std::uint32_t> machine_of_;  ///< key: process
  std::uint32_t part_count_ = 1;
  std::map<std::string_view, Launches> launches_;  ///< key: process
  std::vector<Wait> waits_;
  std::unordered_multimap<std::uint64_t, Sync> syncs_;  ///< key: correlation of the call
};

}  // namespace entrain::kineto
