// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace entrain::record {

/// What a process knows beside its events, in lines of tab-separated words. Every line is written
/// to a file at once, so that the archive can be finished when the program could not. Any thread
/// may tell something at any time.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() { close(); }

  /// Opens the file; false, with errno, if that fails. Lines told before are written now. The file
  /// is locked (flock) while this process lives.
  bool open(const std::string& path);
  /// Adds a line. Words must hold neither tabs nor line ends (see clean_word).
  void tell(const std::vector<std::string>& words);
  /// The same for several lines, written at once.
  void tell_all(const std::vector<std::vector<std::string>>& lines);
  void close();
  /// Closes and removes the file: the archive says it all.
  void remove();
  /// All of it; for when no other thread tells anything any more.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void write(const char* from, std::size_t size) const;

  std::mutex mutex_;  ///< of all below; threads name regions whatever level MPI was started with
  int file_ = -1;
  std::string path_, text_;
};

/// `word` with tabs and line ends replaced by blanks.
std::string clean_word(std::string word);

/// `key` itself, or a digest (128 bits) of it where it is long: keys of communicators that are made
/// from one another would grow without end.
std::string short_key(const std::string& key);

/// One exchange of a clock session, as the child saw it; ticks of either clock.
struct ClockSample {
  std::uint32_t session = 0;
  std::uint64_t local = 0;       ///< middle between the child's send and receive
  std::uint64_t parent = 0;      ///< the parent's clock when it answered
  std::uint64_t round_trip = 0;  ///< receive minus send, child's clock
  bool kept = true;              ///< not among the slowest, which are left aside
};

/// Words for the limits that may end the recording of a process.
inline constexpr const char *k_limit_size = "size", *k_limit_locations = "locations";

struct JournalRegion {
  std::string name;
  char role = 'm';  ///< m: function of MPI, u: user region, r: of the recorder
};

struct JournalComm {
  std::string key;               ///< the same for all members, different for any other communicator
  std::string name;              ///< "" if it has none
  char kind = 'x';               ///< x: intra, i: inter, s: MPI_COMM_SELF
  std::string group_a, group_b;  ///< world ranks, as in "0-3,7"; told by one member only
  /// Number of the one that it was made from or, of two groups, through which these met; told by
  /// those who know.
  std::optional<std::uint32_t> parent;
};

struct JournalWindow {
  std::string key;   ///< as of a communicator
  std::string name;  ///< "" if it has none
  std::uint32_t comm = 0;
};

struct JournalLocation {
  std::string name;
  std::uint64_t events = 0, first = 0, last = 0;
  std::uint64_t truth_first = 0, truth_last = 0;
};

/// A journal taken apart.
struct ProcessRecord {
  std::uint32_t rank = 0, size = 0;
  std::string host, timer, clock_description;
  std::uint64_t granularity = 1;
  std::uint64_t realtime_ns = 0, realtime_at = 0;  ///< time since 1970 at local time realtime_at
  std::map<std::uint64_t, JournalLocation> locations;  ///< by id
  std::map<std::uint32_t, JournalRegion> regions;      ///< by local number
  std::map<std::uint32_t, JournalComm> comms;          ///< by local number
  std::map<std::uint32_t, JournalWindow> windows;      ///< by local number
  std::map<std::uint32_t, std::string> groups;         ///< world ranks, by local number
  std::uint32_t parent = 0;                            ///< whom the clock is measured against
  bool shares_parents_clock = false;                   ///< has its parent's clock
  bool measured = false;                               ///< took part in a session
  std::string limit;  ///< k_limit_*, of the one that ended the recording; "" if none did
  std::vector<ClockSample> samples;
};

/// Takes apart what Journal::text gave. Unknown and broken lines (the last one of a killed process)
/// are left out; false if there is no process line.
bool parse_journal(const std::string& text, ProcessRecord& record);

/// "0-3,7" of {0, 1, 2, 3, 7}, and back (nothing for a broken text).
std::string join_ranks(const std::vector<int>& ranks);
std::vector<std::uint32_t> split_ranks(const std::string& text);

}  // namespace entrain::record
