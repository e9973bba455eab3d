// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "formats/otf2/format/quick.hpp"
#include "formats/otf2/format/walk.hpp"
#include "formats/otf2/read/event_file.hpp"

namespace entrain::otf2 {

/// Visitor of walk_chunk() that turns the records of an event file into skeleton events.
///
/// Most records are Enter and Leave of regions that play no role in the communication. Their number
/// and times count, but they yield no event. Such a region is called *dull*: the first time that
/// region() looks one up, it remembers the local id, and pass_over() skips later ones without
/// looking them up.
class Scanner : public ChunkVisitor {
 public:
  /// All must outlive this; `skeleton` is new. `location`: OTF2 id.
  Scanner(const LocalDefinitions& local, const References& references,
          trace::LocationSkeleton& skeleton, std::uint64_t location = 0)
      : references_(references),
        location_(location),
        skeleton_(skeleton),
        comms_(local.comms, references.comms),
        regions_(local.regions, references.regions),
        windows_(local.windows, references.windows),
        groups_(local.groups, references.groups),
        partners_(local.strings, references.partners),
        attributes_(local.attributes) {}

  bool stamp(std::size_t offset, std::uint64_t time);
  bool record(std::uint8_t type, std::size_t offset, std::size_t size);
  void attributes(std::size_t offset, std::size_t size);
  std::size_t hurry(std::size_t at, std::size_t limit);

  /// Ticks below 0 of the first stamp, if the clock began there; else 0. stamp() refuses it.
  [[nodiscard]] std::uint64_t below_zero() const { return below_zero_; }

 private:
  using Event = trace::Event;
  using EventKind = trace::EventKind;

  /// Dull regions are remembered up to this local id: one byte each.
  static constexpr std::uint32_t k_remembered_regions = 1u << 16;
  static constexpr std::uint8_t k_openmp = 3;  ///< OTF2_PARADIGM_OPENMP

  const std::uint8_t* pass_over(const std::uint8_t* p, const std::uint8_t* end);
  template <class Fields>
  void decode(std::uint8_t type, Fields& in);

  /// A field of a record, by what it becomes in an event.
  enum class Field : std::uint8_t {
    peer,       ///< a rank, root, lock or thread: Event::peer
    tag,        ///< a tag, level or number: Event::tag
    comm,       ///< a communicator: Event::comm
    window,     ///< a window: Event::comm
    group,      ///< a group of locations: Event::peer
    operation,  ///< an operation or paradigm: Event::op
    length,     ///< bytes of a message
    id,         ///< a request or sequence number: Event::id
    volume,     ///< bytes sent and received by a collective call
    sizes,      ///< the same, of which the first is kept: Event::tag
  };
  template <Field field, class Fields>
  void put(Event& event, Fields& in);
  /// An event of the record that `in` holds, field by field.
  template <Field... fields, class Fields>
  [[nodiscard]] Event read_as(EventKind kind, Fields& in);

  void add(const Event& event) { skeleton_.events.push_back(event); }
  std::uint32_t position(Resolver& resolver, std::uint32_t local);
  void region(std::uint32_t local, bool enter);
  void remember_dull(std::uint32_t local);
  void window_call(trace::RmaGroupRole role, bool enter);
  void accelerator_call(RegionRole role, bool enter);
  void measurement(bool on);
  void collective(Event event);
  void group_sync(Event event);

  const References& references_;
  std::uint64_t location_;
  trace::LocationSkeleton& skeleton_;
  Resolver comms_, regions_, windows_, groups_, partners_;
  const IdMapping& attributes_;
  /// Named by an attribute list, for the record that follows it.
  struct Named {
    std::uint32_t value = k_none;
    std::uint64_t event = ~std::uint64_t{0};  ///< number of that record
  };
  Named named_partners_;                    ///< local id of a string
  Named named_stream_;                      ///< position of a location
  std::vector<std::uint8_t> dull_regions_;  ///< one flag for each local id: 1 if Enter and Leave
                                            ///< yield nothing
  std::uint64_t below_zero_ = 0;
  bool has_time_ = false;
  std::uint64_t time_ = 0;
  trace::RmaGroupRole role_ =
      trace::RmaGroupRole::unknown;          ///< role of the window call that is open
  std::vector<trace::Event> waiting_syncs_;  ///< RmaGroupSyncs of that call, which count at its end
};

}  // namespace entrain::otf2
