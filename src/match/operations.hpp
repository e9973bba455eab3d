// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/flat_map.hpp"
#include "match/builder.hpp"

namespace entrain::match {

/// Channel of messages, which do not overtake each other.
struct Channel {
  std::uint32_t sender = k_none;    ///< process
  std::uint32_t receiver = k_none;  ///< process
  CommIndex comm = k_none;
  std::uint32_t tag = 0;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};
struct ChannelHash {
  std::uint64_t operator()(const Channel& c) const {
    return mix(mix(std::uint64_t{c.comm} << 32 | c.tag) ^
               (std::uint64_t{c.sender} << 32 | c.receiver));
  }
};

enum class OperationType : std::uint32_t { send, receive, call };

/// Kind of operations of a process: they differ only in times and lengths.
struct Kind {
  OperationType type{};
  std::uint32_t comm = k_none;  ///< communicator; of calls also name_of_window()
  std::uint32_t other = 0;      ///< process, or the operation of a call
  std::uint32_t tag = 0;
  friend bool operator==(const Kind&, const Kind&) = default;

  [[nodiscard]] bool is_call() const { return type == OperationType::call; }
  /// Channel of a message of `process`.
  [[nodiscard]] Channel channel(std::uint32_t process) const {
    return type == OperationType::send ? Channel{process, other, comm, tag}
                                       : Channel{other, process, comm, tag};
  }
};

/// A send that was not cancelled, a completed receive, or a blocking call of a collective.
struct Operation {
  EventRef event;            ///< the send, the completion, the end of the call
  std::uint32_t posted = 0;  ///< index of the event that posted it
  std::uint32_t kind = 0;    ///< position in Operations::kinds()
};

/// The operations of one process in the order in which they were posted; those of several threads
/// in the order of their common clock. O(n) for n events of one thread.
class Operations {
 public:
  Operations(const Builder& builder, std::uint32_t process);

  [[nodiscard]] std::uint32_t process() const { return process_; }
  [[nodiscard]] std::span<const Operation> list() const { return list_; }
  [[nodiscard]] std::span<const Kind> kinds() const { return kinds_; }
  /// Number of operations of a kind.
  [[nodiscard]] std::uint32_t count(std::size_t kind) const { return sums_[kind].count; }
  /// Hash of the sequence of message lengths of a kind.
  [[nodiscard]] std::uint64_t lengths(std::size_t kind) const { return sums_[kind].lengths; }
  /// True for a receive whose request has no record although others have one: its place in the
  /// order is unknown.
  [[nodiscard]] bool has_no_post(const Operation& one) const {
    return some_posted_ && one.event.index == one.posted &&
           builder_->events(one.event.location).kind(one.posted) == trace::EventKind::irecv;
  }
  /// Receives of which only the request or only the completion is recorded (of the latter only
  /// where others have both): stamp of the first request, and one tick after the last of both.
  [[nodiscard]] std::uint64_t first_half_receive() const { return first_open_; }
  [[nodiscard]] std::uint64_t after_half_receives() const {
    return some_posted_ ? std::max(after_open_, after_unposted_) : after_open_;
  }
  /// Stamp at which an operation was posted.
  [[nodiscard]] std::uint64_t time(const Operation& one) const {
    return builder_->events(one.event.location).time(one.posted);
  }

  /// Replaces the list by the ends of each kind; call it before ends().
  void sort_by_kind();
  [[nodiscard]] std::span<const NodeRef> ends(std::size_t kind) const {
    return {ends_.data() + first_[kind], first_[kind + 1] - first_[kind]};
  }

  /// Sends and receives on any channel; those that name an undefined process; cancelled ones.
  struct Counts {
    std::uint64_t known = 0, lost = 0, cancelled = 0;
  };
  Counts sends, receives;

 private:
  struct Sums {
    std::uint32_t count = 0;
    std::uint64_t lengths = 0;
  };
  struct KindHash {
    std::uint64_t operator()(const Kind& kind) const {
      return mix(mix(std::uint64_t{static_cast<std::uint32_t>(kind.type)} << 32 | kind.comm) ^
                 (std::uint64_t{kind.other} << 32 | kind.tag));
    }
  };
  void walk(LocationIndex location);
  void add(OperationType type, EventRef event, std::uint32_t posted);
  [[nodiscard]] Kind kind_of(const trace::Event& event, OperationType type) const;

  const Builder* builder_;
  std::uint32_t process_;
  BigVector<Operation> list_;
  std::vector<Kind> kinds_;
  std::vector<Sums> sums_;  ///< one per kind
  FlatMap<Kind, std::uint32_t, KindHash> numbers_;
  static constexpr std::uint32_t k_unseen = k_none - 1;
  std::vector<std::uint32_t>
      kind_of_form_;          ///< kind at the current location; k_none: undefined process
  bool some_posted_ = false;  ///< receives were posted by separate records
  // Stamp of the first request without a completion; ends of these, and of completions without one.
  std::uint64_t first_open_ = trace::Gap::k_open, after_open_ = 0, after_unposted_ = 0;
  std::vector<std::uint32_t> first_;  ///< first end per kind, and the end
  BigVector<NodeRef> ends_;
};

/// The operations of each process of this member.
std::vector<Operations> operations_of(const Builder& builder);

/// Pairs messages where records may be missing, channel by channel (align_records.hpp): adds the
/// claims to the witness, sorted, and sets what Builder knows of incomplete messages.
/// `operations`: those of this member's processes. Collective. O(records).
void match_incomplete_messages(Builder& builder, std::span<const Operations> operations);

/// Requests of one location, with their completion or cancellation. All non-blocking operations
/// share the ids; an id means its latest use.
class Requests {
 public:
  explicit Requests(const trace::EventList& events);

  [[nodiscard]] bool cancelled(std::uint32_t i) const { return fate_[i] == k_cancelled; }
  /// Index of the completion of the receive request at i, or k_none.
  [[nodiscard]] std::uint32_t completion(std::uint32_t i) const { return fate_[i]; }
  /// True if the completed receive at i was posted by a request record.
  [[nodiscard]] bool was_posted(std::uint32_t i) const { return fate_[i] == k_posted; }

 private:
  static constexpr std::uint32_t k_cancelled = k_none - 1;
  static constexpr std::uint32_t k_posted = k_none - 2;

  const std::uint32_t* posted_receive(const trace::EventList& events, std::uint64_t id) {
    const std::uint32_t* found = open_.find(id);
    return found != nullptr && events.kind(*found) == trace::EventKind::irecv_request ? found
                                                                                      : nullptr;
  }

  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> open_;
  BigVector<std::uint32_t> fate_;
};

/// Returns a number for a window that no communicator has.
inline std::uint32_t name_of_window(const trace::Definitions& definitions, std::uint32_t window) {
  return static_cast<std::uint32_t>(definitions.comms.size()) + window;
}

}  // namespace entrain::match
