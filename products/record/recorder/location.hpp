// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "record/base/partner_list.hpp"
#include "record/base/timer.hpp"

namespace entrain::record {

/// The records of one thread, in order of time. Only its own thread writes, until the recording
/// ends.
class Location {
 public:
  /// `truth` is null unless the clock is virtual.
  Location(std::uint64_t id, OTF2_EvtWriter* events, OTF2_EvtWriter* truth)
      : id_(id), events_(events), truth_(truth) {}
  Location(const Location&) = delete;
  Location& operator=(const Location&) = delete;
  ~Location() {
    if (attributes_ != nullptr) OTF2_AttributeList_Delete(attributes_);
  }

  /// Writes one record with an OTF2_EvtWriter function. After the first failure, for example on a
  /// full disk, it writes nothing more: the records are then a complete beginning of the run.
  template <class Function, class... Fields>
  void put(Function* function, const Stamp& time, Fields... fields) {
    put_with(k_no_partners, function, time, fields...);
  }
  /// The same; the record names the list `partners` as an attribute, unless it is k_no_partners.
  template <class Function, class... Fields>
  void put_with(std::uint32_t partners, Function* function, const Stamp& time, Fields... fields) {
    if (broken_ || paused_) return;
    if (holding_) [[unlikely]] {
      held_.push_back([=, this] { put_with(partners, function, time, fields...); });
      return;
    }
    if (count_++ == 0) first_ = time;
    last_ = time;
    broken_ = function(events_, attributes(partners), time.local, fields...) != OTF2_SUCCESS;
    if (truth_ != nullptr) {
      broken_ =
          function(truth_, attributes(partners), time.truth, fields...) != OTF2_SUCCESS || broken_;
    }
  }
  void enter(const Stamp& time, std::uint32_t region) { put(OTF2_EvtWriter_Enter, time, region); }
  void leave(const Stamp& time, std::uint32_t region) { put(OTF2_EvtWriter_Leave, time, region); }

  /// Holds records back until release().
  void hold() { holding_ = true; }
  /// Writes the records of `first`, which may have an earlier time, then those held back.
  template <class First>
  void release(First first) {
    holding_ = false;
    const bool paused = std::exchange(paused_, false);
    first();
    for (const auto& write : held_) write();
    held_.clear();
    paused_ = paused;
  }
  /// From now on nothing is written, without an end record.
  void close() { broken_ = true; }
  /// From now on nothing is written. Open user regions end here; resume() enters them again.
  void pause(const Stamp& time) {
    if (paused_) return;
    for (auto region = user_regions.rbegin(); region != user_regions.rend(); ++region) {
      leave(time, *region);
    }
    put(OTF2_EvtWriter_MeasurementOnOff, time, OTF2_MEASUREMENT_OFF);
    paused_ = true;
  }
  /// A pause without an end.
  void stop(const Stamp& time) {
    if (stopped_) return;
    pause(time);
    stopped_ = true;
  }
  /// Ends a pause.
  void resume(const Stamp& time) {
    if (!paused_ || stopped_) return;
    paused_ = false;
    put(OTF2_EvtWriter_MeasurementOnOff, time, OTF2_MEASUREMENT_ON);
    for (const std::uint32_t region : user_regions) enter(time, region);
  }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] const Stamp& first() const { return first_; }
  [[nodiscard]] const Stamp& last() const { return last_; }
  /// Records in the event file.
  [[nodiscard]] std::uint64_t events() const {
    std::uint64_t count = 0;
    OTF2_EvtWriter_GetNumberOfEvents(events_, &count);
    return count;
  }
  std::vector<std::uint32_t> user_regions;  ///< entered and not left yet
  /// True while the thread writes outside of MPI calls: the end of the recording waits for it.
  std::atomic<bool> busy{false};

 private:
  OTF2_AttributeList* attributes(std::uint32_t partners) {
    if (partners == k_no_partners) [[likely]]
      return nullptr;
    if (attributes_ == nullptr) attributes_ = OTF2_AttributeList_New();
    OTF2_AttributeList_RemoveAllAttributes(attributes_);
    OTF2_AttributeList_AddStringRef(attributes_, k_partners_attribute_number, partners);
    return attributes_;
  }

  std::uint64_t id_;
  OTF2_EvtWriter* events_;
  OTF2_EvtWriter* truth_;
  OTF2_AttributeList* attributes_ = nullptr;
  std::uint64_t count_ = 0;
  Stamp first_, last_;
  std::vector<std::function<void()>> held_;
  bool holding_ = false;
  bool broken_ = false, paused_ = false, stopped_ = false;
};

}  // namespace entrain::record
