// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "formats/kineto/collective_calls.hpp"

/// Clocks of a file: its host's, and one per device that host calls are related to.
namespace entrain::kineto {

/// A call of the runtime of devices. Of several calls with one number the first begin and the last
/// end count: no kernel begins before it.
struct Launch {
  std::string_view process, row;    ///< `row`: process and thread
  std::int64_t begin = 0, end = 0;  ///< ns, without the base
};

/// Finds the clocks of a file from its events.
class ClockReader {
 public:
  /// Takes an event; the duration of one without a length is 0.
  void see(const EventText& event, std::int64_t begin, std::int64_t end);

  /// Finds the host of each device. True if these devices have a host each: they are of several
  /// ranks, and finish() makes parts of them. To be called before finish().
  bool find_hosts(const std::set<std::string, std::less<>>& devices);

  /// Fills RankFile::clocks, parts, hosts and device_rows, once RankFile::facts is complete.
  /// Errors: ErrorKind::input for times out of range.
  Result<void> finish(RankFile& file);

  /// The launch of a correlation number by the host of a device; null if it was not recorded.
  [[nodiscard]] const Launch* launch(std::uint64_t correlation, std::string_view device) const;

 private:
  /// Stamps of a clock as stored.
  struct Stamps {
    std::uint64_t events = 0, zeros = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();  ///< other than 0
    std::int64_t last = std::numeric_limits<std::int64_t>::min();

    void add(std::int64_t begin, std::int64_t end);
    void add(const Stamps& other);
    /// True if stamps of 0 are farther from all others than ten times what these cover, and than a
    /// second: the profiler did not know the time.
    [[nodiscard]] bool zero_is_none() const;
  };
  /// A kernel or a copy.
  struct Work {
    std::uint64_t correlation = 0;
    std::int64_t begin = 0, end = 0;
    bool is_to_host = false;  ///< a copy from the device to the host
    std::string_view stream;  ///< of Device::streams
  };
  using Launches = std::unordered_map<std::uint64_t, Launch>;
  struct Device {
    Stamps stamps;
    const Launches* host = nullptr;  ///< those of its host; null: of any
    std::string process{};           ///< of its host
    std::vector<Work> work;
    std::set<std::string, std::less<>> streams;
  };
  /// Work with its launch.
  using Launched = std::vector<std::pair<Launch, const Work*>>;
  /// A call that returns once work has ended.
  struct Wait {
    enum class For : std::uint8_t { device, stream, event, copy };
    For what = For::device;
    const Launches* host = nullptr;  ///< those of its process
    std::uint64_t correlation = 0;
    std::int64_t begin = 0, end = 0;
  };

  /// What a call waited for, as the profiler tells it.
  struct Sync {
    std::string process;            ///< of the device
    std::string stream{};           ///< empty: all
    std::uint64_t recorded_by = 0;  ///< call that recorded the event; 0: it waited for no event
  };
  /// Work on a stream that was launched before a time and has ended at another one.
  struct Awaited {
    std::int64_t before = 0, until = 0;  ///< ns, without the base
    std::string_view stream;             ///< empty: all
  };

  static std::optional<Wait::For> waits_for(std::string_view name);
  void add_sync(const EventText& event);
  [[nodiscard]] std::optional<Awaited> awaited_by(const Wait& wait, std::string_view process,
                                                  const Device& device) const;
  void add_call(const EventText& event, std::int64_t begin, std::int64_t end);
  void find_host(Device& device);
  [[nodiscard]] const Launch* launch_of(std::uint64_t correlation, const Launches* host) const;
  static Result<void> take(const Stamps& stamps, FileClock& clock, RankFile& file);
  [[nodiscard]] std::uint32_t part_of(const Device& device) const;
  void add_edges(const Device& device, FileClock& clock) const;
  void add_waits(std::string_view process, const Device& device, Launched launched,
                 FileClock& clock) const;
  void add_copies(const Launched& launched, FileClock& clock) const;

  std::map<std::string, Stamps, std::less<>> hosts_;    ///< key: process
  std::map<std::string, Device, std::less<>> devices_;  ///< key: process
  std::vector<std::string> parts_;                      ///< process of the host of each
  /// Key: row_of(), with the process.
  std::map<std::string, std::pair<std::string, Stamps>, std::less<>> arrows_;
  std::map<std::string, std::string, std::less<>> processes_;  ///< of rows with work of devices
  std::map<std::string, Launches, std::less<>> launches_;      ///< key: process
  std::set<std::string, std::less<>> rows_;                    ///< that launch
  std::vector<Wait> waits_;
  std::unordered_multimap<std::uint64_t, Sync> syncs_;  ///< key: correlation of the call
};

}  // namespace entrain::kineto
