// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/threads.hpp"

#include <pthread.h>
#include <sched.h>

#include "record/base/process_record.hpp"
#include "record/recorder/recorder.hpp"

namespace entrain::record {

namespace {

extern "C" void thread_ends(void* location) {
  this_thread.location = nullptr;
  recorder().threads().over(*static_cast<Location*>(location));
}

/// The key whose value, a location, is handed to thread_ends at the end of a thread. The destructor
/// of a thread_local would run at the end of the first thread too, before the program has ended.
pthread_key_t end_of_thread() {
  static const pthread_key_t the_key = [] {
    pthread_key_t key{};
    ::pthread_key_create(&key, thread_ends);
    return key;
  }();
  return the_key;
}

}  // namespace

void Threads::set_up(int rank, std::uint64_t most) {
  rank_ = static_cast<std::uint64_t>(rank);
  most_ = most;
}

Location& Threads::nobody() {
  static Location* const the_one = [] {
    auto* const location = new Location(0, nullptr, nullptr);
    location->close();
    location->stop({});
    return location;
  }();
  return *the_one;
}

void Threads::end_recording(const char* limit) {
  if (!limit_reached.exchange(true)) journal_.add({"limit", limit});
}

Location* Threads::add() {
  const std::lock_guard lock(mutex_);
  if (state == State::over) return nullptr;
  if (limit_reached) return this_thread.location = &nobody();
  if (!left_.empty()) return this_thread.location = reuse();
  if (most_ != 0 && locations_.size() >= most_) {
    // If only this thread went unrecorded, messages of others would be taken for its own.
    end_recording(k_limit_locations);
    return this_thread.location = &nobody();
  }
  Location* const created = create();
  if (created != nullptr) this_thread.location = created;
  return created;
}

Location* Threads::reuse() {
  Location* const location = left_.back();
  left_.pop_back();
  // Times must not fall, and the counters of two processors may differ a little.
  while (timer.now().local < location->last().local) {
  }
  ::pthread_setspecific(end_of_thread(), location);
  return location;
}

Location* Threads::create() {
  const std::uint64_t thread = locations_.size();
  const std::uint64_t id = thread << 32 | rank_;
  OTF2_EvtWriter* writers[2] = {nullptr, nullptr};
  for (std::size_t i = 0; i < archives_.size(); ++i) {
    writers[i] = archives_[i]->event_writer(id);
    if (writers[i] == nullptr) return nullptr;
  }
  locations_.push_back(std::make_unique<Location>(id, writers[0], writers[1]));
  journal_.add({"location", std::to_string(id),
                thread == 0 ? "Master thread" : "Thread " + std::to_string(thread)});
  // The end of the first thread is that of the program.
  if (thread > 0) ::pthread_setspecific(end_of_thread(), locations_.back().get());
  return locations_.back().get();
}

void Threads::over(Location& at) {
  {
    const Writing writing(at);
    if (!writing) return;
    const Stamp now = timer.now();
    at.resume(now);
    for (; !at.user_regions.empty(); at.user_regions.pop_back()) {
      at.leave(now, at.user_regions.back());
    }
  }
  const std::lock_guard lock(mutex_);
  left_.push_back(&at);
}

void Threads::first_use(std::uint32_t region) {
  if (used_[region].exchange(true)) return;
  if (region == k_session_region) {
    journal_.add({"region", std::to_string(region), "r", "clock session"});
  } else {
    journal_.add({"region", std::to_string(region), "m", k_region_names[region]});
  }
}

std::uint32_t Threads::user_region(const char* name) {
  const std::lock_guard lock(mutex_);
  const auto number = k_first_user_region + static_cast<std::uint32_t>(user_regions_.size());
  const auto [place, is_new] = user_regions_.try_emplace(name, number);
  if (is_new) journal_.add({"region", std::to_string(number), "u", clean_word(name)});
  return place->second;
}

void Threads::stop() {
  {
    const std::lock_guard lock(mutex_);
    state = State::over;
  }
  for (const auto& location : locations_) {
    while (location->busy) ::sched_yield();
  }
}

bool Threads::close() {
  bool good = true;
  for (const auto& location : locations_) {
    good = good && !location->broken();
    journal_.add({"span", std::to_string(location->id()), std::to_string(location->events()),
                  std::to_string(location->first().local), std::to_string(location->last().local),
                  std::to_string(location->first().truth), std::to_string(location->last().truth)});
  }
  return good;
}

}  // namespace entrain::record
