// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

/// The work of a stream, and the calls of the thread that gives it.
struct Stream {
  std::vector<EventRef> begins, ends;  ///< begins and ends of kernels
  std::vector<EventRef> launches;
  struct Wait {
    EventRef leave;
    std::size_t launches = 0;  ///< those before
  };
  std::vector<Wait> waits;
  bool is_shared = false;  ///< several threads launch kernels on it

  /// A stream runs its kernels in the order of their launches. So the n-th ones belong together if
  /// nothing is missing.
  [[nodiscard]] bool is_complete() const {
    return !is_shared && begins.size() == launches.size() && ends.size() == begins.size();
  }
};

/// Matches the launches of one process with the kernels of its streams, by the order of records on
/// each location. A stream of which records are missing, or to which several threads give work, has
/// no edges.
class StreamMatcher {
 public:
  explicit StreamMatcher(Builder& builder) : builder_(builder) {}

  void match(std::uint32_t process) {
    streams_.clear();
    contexts_.clear();
    has_named_ = has_unnamed_ = false;
    for (const LocationIndex location : builder_.processes()[process]) read_kernels(location);
    if (streams_.empty()) return;
    for (const LocationIndex location : builder_.processes()[process]) {
      if (!is_accelerator(location)) read_calls(location);
    }
    if (has_unnamed_ && (has_named_ || streams_.size() > 1)) return;
    for (const auto& [location, stream] : streams_) {
      if (stream.is_complete()) add_edges(stream);
    }
  }

 private:
  [[nodiscard]] const trace::Location& definition(LocationIndex location) const {
    return builder_.trace().definitions.locations[location];
  }
  [[nodiscard]] bool is_accelerator(LocationIndex location) const {
    return definition(location).type == trace::LocationType::accelerator;
  }

  void read_kernels(LocationIndex location) {
    if (!is_accelerator(location)) return;
    contexts_.insert(definition(location).group);
    const trace::EventList& events = builder_.events(location);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const EventKind kind = events.kind(i);
      if (kind == EventKind::kernel_begin) streams_[location].begins.push_back({location, i});
      if (kind == EventKind::kernel_end) streams_[location].ends.push_back({location, i});
    }
  }

  void read_calls(LocationIndex location) {
    const trace::EventList& events = builder_.events(location);
    busy_.clear();
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event event = events[i];
      if (event.kind == EventKind::kernel_launch) launch(event.peer, {location, i});
      if (event.kind == EventKind::stream_wait) wait(event.peer, {location, i});
    }
  }

  /// A launch without a stream is one on the only stream.
  void launch(LocationIndex named, EventRef at) {
    const auto found = named == k_none ? streams_.begin() : streams_.find(named);
    if (found == streams_.end()) return;
    (named == k_none ? has_unnamed_ : has_named_) = true;
    std::vector<EventRef>& known = found->second.launches;
    found->second.is_shared |= !known.empty() && known.back().location != at.location;
    known.push_back(at);
    busy_.insert(found->first);
  }

  /// Only what a thread has launched itself is known to be older than its wait.
  void wait(LocationIndex named, EventRef leave) {
    if (named == k_none ? contexts_.size() > 1 : has_unnamed_) return;  // which one is not recorded
    const auto end = named == k_none ? busy_.end() : busy_.upper_bound(named);
    for (auto one = named == k_none ? busy_.begin() : busy_.lower_bound(named); one != end;) {
      Stream& stream = streams_[*one];
      stream.waits.push_back({leave, stream.launches.size()});
      one = busy_.erase(one);
    }
  }

  void add_edges(const Stream& stream) {
    for (std::size_t k = 0; k < stream.launches.size(); ++k) {
      builder_.add_edge(EdgeKind::thread, stream.launches[k], stream.begins[k]);
    }
    for (const Stream::Wait& one : stream.waits) {
      builder_.add_edge(EdgeKind::thread, stream.ends[one.launches - 1], one.leave);
    }
  }

  Builder& builder_;
  std::map<LocationIndex, Stream> streams_;
  std::set<std::uint32_t> contexts_;  ///< location groups of accelerators
  std::set<LocationIndex> busy_;      ///< streams with launches of the thread since its last wait
  bool has_named_ = false, has_unnamed_ = false;  ///< there are launches with, or without a stream
};

}  // namespace

void match_accelerators(Builder& builder) {
  StreamMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size() && !builder.cancel().asked(); ++p) {
    matcher.match(p);
  }
}

}  // namespace entrain::match
