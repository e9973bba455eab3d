// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/otf2/format/quick.hpp"
#include "formats/otf2/format/walk.hpp"
#include "formats/otf2/read/event_file.hpp"

namespace entrain::otf2 {

/// The result of scanning some consecutive chunks of an event file (a part), with all that is
/// needed to join it with the parts before and after. Where its events depend on what lies before,
/// the scan assumes that no RMA window call is open there; PartJoiner (scan_events.cpp) puts it
/// right.
struct ScanPart {
  /// A stamp that is smaller than the one before.
  struct Decrease {
    std::uint64_t record = 0;  ///< number of the record after the stamp in the part, from 0
    std::uint64_t time = 0, previous = 0;
  };
  /// Enter or Leave of MPI_Win_post, start, complete or wait.
  struct WindowCall {
    std::size_t position = 0;  ///< position in skeleton.events of the next event
    std::uint64_t time = 0;
  };

  /// The events of this part; `first` and `decreasing` are not set.
  trace::LocationSkeleton skeleton;
  bool has_stamp = false;
  bool needs_time = false;  ///< a record before all stamps: damage if no part precedes
  std::uint64_t records_before_stamp = 0;
  std::uint64_t first_stamp = 0, last_stamp = 0;  ///< only if has_stamp
  std::optional<Decrease> decrease;               ///< the first one

  bool switched_on_first = false;  ///< the part's first switch is "on": it ends a gap of the last
                                   ///< part
  std::uint64_t first_on = 0;      ///< its stamp
  std::vector<std::size_t> early_syncs;  ///< RmaGroupSyncs before any window call, in events
  std::optional<WindowCall> first_window_call;
  trace::RmaGroupRole role = trace::RmaGroupRole::unknown;  ///< role of the call open at the end
  std::vector<trace::Event> waiting_syncs;  ///< syncs of a start or wait that has not ended in the
                                            ///< part

  bool goes_on = false;    ///< not the end of the file: more parts follow
  bool truncated = false;  ///< the file ends without an end mark
};

/// True for calls whose RmaGroupSyncs count at their end.
constexpr bool waits(trace::RmaGroupRole role) {
  return role == trace::RmaGroupRole::start || role == trace::RmaGroupRole::wait;
}

/// Moves waiting syncs to the end of `events`: their call ends at `time`.
inline void append_syncs(trace::EventList& events, std::vector<trace::Event>& waiting,
                         std::uint64_t time) {
  for (trace::Event& sync : waiting) {
    sync.time = time;
    events.push_back(sync);
  }
  waiting.clear();
}

/// Visitor of walk_chunk() that turns the records of a part into skeleton events.
///
/// Most records are Enter and Leave of regions that play no role in the communication. Their number
/// and times count, but they yield no event. Such a region is called *dull*: the first time that
/// region() looks one up, it remembers the local id, and pass_over() skips later ones without
/// looking them up.
class Scanner {
 public:
  /// `time` holds for records before the first stamp; unset: such records are refused.
  Scanner(const LocalDefinitions& local, const References& references, ScanPart& part,
          std::optional<std::uint64_t> time)
      : references_(references),
        part_(part),
        skeleton_(part.skeleton),
        comms_(local.comms, references.comms),
        regions_(local.regions, references.regions),
        windows_(local.windows, references.windows),
        groups_(local.groups, references.groups),
        partners_(local.strings, references.partners),
        attributes_(local.attributes),
        has_time_(time.has_value()),
        time_(time.value_or(0)) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t offset, std::uint64_t time);
  bool record(std::uint8_t type, std::size_t offset, std::size_t size);
  void attributes(std::size_t offset, std::size_t size);
  std::size_t hurry(std::size_t at, std::size_t limit);

 private:
  using Event = trace::Event;
  using EventKind = trace::EventKind;

  /// Dull regions are remembered up to this local id: one byte each.
  static constexpr std::uint32_t k_remembered_regions = 1u << 16;
  static constexpr std::uint8_t k_openmp = 3;  ///< OTF2_PARADIGM_OPENMP

  const std::uint8_t* pass_over(const std::uint8_t* p, const std::uint8_t* end);
  template <class Fields>
  void decode(std::uint8_t type, Fields& in);

  [[nodiscard]] Event begun(EventKind kind) const;
  void add(const Event& event) { skeleton_.events.push_back(event); }
  void request(EventKind kind, std::uint64_t id);
  std::uint32_t position(Resolver& resolver, std::uint32_t local);
  void region(std::uint32_t local, bool enter);
  void remember_dull(std::uint32_t local);
  void window_call(trace::RmaGroupRole role, bool enter);
  template <class Fields>
  void flush(Fields& in);
  void measurement(bool on);
  template <class Fields>
  void message(EventKind kind, Fields& in, bool with_request);
  template <class Fields>
  void collective(EventKind kind, Fields& in, bool with_request);
  void name_partners(Event& event);
  template <class Fields>
  static std::uint64_t volume(Event& event, Fields& in);
  template <class Fields>
  void team(EventKind kind, Fields& in);
  template <class Fields>
  void contingent(EventKind kind, Fields& in);
  template <class Fields>
  void lock(EventKind kind, Fields& in, std::uint8_t paradigm);
  template <class Fields>
  void task(EventKind kind, Fields& in);
  template <class Fields>
  void rma_collective(Fields& in);
  template <class Fields>
  void group_sync(Fields& in);
  template <class Fields>
  void rma_sync(Fields& in);

  const References& references_;
  ScanPart& part_;
  trace::LocationSkeleton& skeleton_;
  Resolver comms_, regions_, windows_, groups_, partners_;
  const IdMapping& attributes_;
  /// The partners that the latest attribute list names (local id of a string), and the number of
  /// records before it: they belong to the next record.
  std::uint32_t named_ = k_none;
  std::uint64_t named_after_ = ~std::uint64_t{0};
  std::vector<std::uint8_t> dull_regions_;  ///< one flag for each local id: 1 if Enter and Leave
                                            ///< yield nothing
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  bool has_time_;
  std::uint64_t time_;
};

}  // namespace entrain::otf2
