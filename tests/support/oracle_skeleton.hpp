// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "support/library_reader.hpp"
#include "support/oracle_definitions.hpp"
#include "trace/skeleton.hpp"

namespace entrain::test {

/// Builds the skeleton of one location from the library's event callbacks.
class SkeletonSink final : public EventSink {
 public:
  SkeletonSink(const OracleDefinitions& definitions, trace::LocationSkeleton& result)
      : definitions_(&definitions), result_(&result) {}

  void event(std::uint64_t time) override;
  void flush(std::uint64_t time, std::uint64_t stop) override;

  /// Appends a communication event; its kind's fields are filled by the caller.
  void add(const trace::Event& event) { result_->events.push_back(event); }
  /// Position of a communicator or window; counts undefined ones.
  std::uint32_t comm(std::uint32_t id) { return checked(definitions_->comm(id)); }
  std::uint32_t window(std::uint32_t id) { return checked(definitions_->window(id)); }
  std::uint32_t group(std::uint32_t id) { return checked(definitions_->group(id)); }

  void enter(std::uint64_t time, std::uint32_t region);
  void leave(std::uint64_t time, std::uint32_t region);
  /// Adds an RmaGroupSync: at once, or when the call that waits is left.
  void add_group_sync(const trace::Event& event);
  /// The window call (post, start, complete, wait) that is open now.
  [[nodiscard]] trace::RmaGroupRole group_role() const { return role_; }
  /// Measurement begins or ends: what lies between an end and the next beginning is a gap.
  void measurement(std::uint64_t time, bool on);
  /// A record of a type that the library does not know.
  void unknown() { ++result_->unknown_records; }

 private:
  std::uint32_t checked(std::uint32_t position);
  /// Role of a window call by its region; `unknown` for every other region.
  [[nodiscard]] trace::RmaGroupRole role_of(std::uint32_t region) const;
  /// A window call begins or ends: what waited for that is certain now.
  void window_call(std::uint64_t time, trace::RmaGroupRole role);

  const OracleDefinitions* definitions_;
  trace::LocationSkeleton* result_;
  trace::RmaGroupRole role_ = trace::RmaGroupRole::unknown;
  std::uint64_t previous_ = 0;  ///< stamp of the event before
  std::vector<trace::Event> waiting_syncs_;
};

/// Replaces the callbacks of the record types that the skeleton keeps. User data: EventSink* that
/// is a SkeletonSink.
void set_skeleton_callbacks(OTF2_EvtReaderCallbacks* callbacks);

}  // namespace entrain::test
