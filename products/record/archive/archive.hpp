// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "record/archive/local_plan.hpp"
#include "record/archive/memory.hpp"
#include "record/archive/merged.hpp"

namespace entrain::record {

/// Size of the chunks of event files, bytes.
inline constexpr std::uint64_t k_event_chunk = 256 << 10;

/// The first complaint of the OTF2 library since the last call; "" if there was none.
std::string take_otf2_complaint();

/// An OTF2 archive that all processes write together: open, open_events, an event_writer for each
/// location, close_writers, write_local_definitions, write_global_definitions, close. All processes
/// must make the calls marked collective. Calls return false if the library failed;
/// take_otf2_complaint says why.
class TraceArchive {
 public:
  using Setter = std::function<OTF2_ErrorCode(OTF2_Archive*)>;

  struct Options {
    std::string directory;
    bool truth = false;  ///< stamps and definitions with true times
    bool mapped = true;  ///< unwritten events lie in mapped files
    std::uint64_t buffer_bytes = 16 << 20;
    std::uint64_t most_bytes = 0;     ///< limit on this process's events; 0: none
    std::function<void()> when_full;  ///< called at that limit, from any thread
  };

  TraceArchive() = default;
  TraceArchive(const TraceArchive&) = delete;
  TraceArchive& operator=(const TraceArchive&) = delete;

  /// Collective. `set_collectives` gives the library its ways to communicate.
  bool open(const Options& options, const Setter& set_collectives);
  /// Collective.
  bool open_events();
  /// The writer of a location; any thread.
  OTF2_EvtWriter* event_writer(std::uint64_t location);
  /// Completes and closes the event files of this process; not collective. False if one of them is
  /// incomplete; its events are then in the mapped file, which drop_buffers can keep.
  bool close_writers();
  /// The same for one location. Other threads may write to theirs at the same time.
  bool close_writer(std::uint64_t location);
  /// The local definitions of the locations of one process.
  struct LocalDefinitions {
    std::map<std::uint64_t, JournalLocation> locations;
    LocalPlan plan;
  };
  /// Collective, after close_writers. A repair gives those of several processes.
  bool write_local_definitions(const std::vector<LocalDefinitions>& processes);
  /// In one process only, after all have written their local definitions.
  bool write_global_definitions(const Merged& merged);
  /// Collective; completes the archive.
  bool close();
  /// Why events could not be written (errno); 0 if unknown.
  [[nodiscard]] int problem();
  /// Removes the mapped files with events, or keeps them for a repair.
  void drop_buffers(bool keep);

 private:
  bool fine(OTF2_ErrorCode code);
  [[nodiscard]] bool is_whole(std::uint64_t location);
  void count_chunk(std::uint64_t bytes);
  std::unique_ptr<ChunkPool> new_pool(OTF2_FileType type, std::uint64_t location) const;
  static void* allocate(void* self, OTF2_FileType type, OTF2_LocationRef location, void** buffer,
                        std::uint64_t bytes);
  static void free_all(void* self, OTF2_FileType type, OTF2_LocationRef location, void** buffer,
                       bool final);
  static OTF2_FlushType pre_flush(void* self, OTF2_FileType type, OTF2_LocationRef location,
                                  void* writer, bool final);
  static OTF2_TimeStamp post_flush(void* self, OTF2_FileType type, OTF2_LocationRef location);

  Options options_;
  OTF2_Archive* archive_ = nullptr;
  bool good_ = true;
  std::atomic<std::uint64_t> taken_{0};  ///< bytes in chunks of events
  int problem_ = 0;                      ///< errno of the first event file that could not be opened
  std::mutex mutex_;                     ///< guards writers_
  std::mutex pools_mutex_;               ///< guards pools_ and kept_; may be taken inside the other
                                         ///< one
  std::map<std::uint64_t, OTF2_EvtWriter*> writers_;
  std::map<std::uint64_t, ChunkPool*> pools_;     ///< pools of events; key: location
  std::vector<std::unique_ptr<ChunkPool>> kept_;  ///< the same, when the library is done with them
};

}  // namespace entrain::record
