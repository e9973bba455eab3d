// SPDX-License-Identifier: BSD-3-Clause
#include "verify/outline.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/flat_map.hpp"
#include "base/try.hpp"

namespace entrain::verify {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;

/// Hash of the channels of one process.
struct ChannelHash {
  std::uint64_t operator()(const ChannelKey& k) const {
    return mix((std::uint64_t{k.sender ^ k.receiver} << 32 | k.space) ^
               mix(std::uint64_t{k.tag} << 32 | static_cast<std::uint32_t>(k.stage)));
  }
};

namespace {

constexpr std::uint32_t k_sync_process = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS
constexpr std::uint8_t k_notify_in = 1;      // OTF2_RMA_SYNC_TYPE_NOTIFY_IN
constexpr std::uint8_t k_notify_out = 2;     // OTF2_RMA_SYNC_TYPE_NOTIFY_OUT

// Tags that keep the two synchronisations of an epoch apart.
constexpr std::uint32_t k_tag_open = 0;   // post -> start
constexpr std::uint32_t k_tag_close = 1;  // complete -> wait

/// An operation on a channel or in a column that is not stored in order. Stamps as stored, where
/// threads share it: they share a clock, so stamps say who was first; else 0.
struct Unordered {
  std::uint32_t group = 0;  ///< number of the channel or column
  std::uint32_t order = 0;  ///< number of the event at which it began
  std::uint32_t index = 0;  ///< index among all operations
  LocationIndex location = k_none;
  std::uint64_t begin = 0;
  // At least the values of earlier calls that its thread began at the same stamp:
  std::uint64_t over = 0;   ///< earliest begin of another thread's call; requests take no time
  std::uint64_t until = 0;  ///< its end
};

/// Sets the positions of operations in their groups; those of each thread stay in stream order.
template <class Operations>
void set_positions(std::vector<Unordered>& unordered, Operations& operations) {
  const auto in_stream = [](const Unordered& one) {
    return std::tuple(one.group, one.order, one.index);
  };
  const auto by_time = [](const Unordered& one) {
    return std::tuple(one.group, one.begin, one.over, one.until);
  };
  std::ranges::sort(unordered, {}, in_stream);
  for (std::size_t i = 1; i < unordered.size(); ++i) {
    const Unordered& before = unordered[i - 1];
    Unordered& one = unordered[i];
    if (one.group != before.group || one.location != before.location || one.begin != before.begin) {
      continue;
    }
    one.over = std::max(one.over, before.over);
    one.until = std::max(one.until, before.until);
  }
  std::ranges::stable_sort(unordered, {}, by_time);
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < unordered.size(); ++i) {
    position = i > 0 && unordered[i].group == unordered[i - 1].group ? position + 1 : 0;
    operations[unordered[i].index].order = position;
  }
}

/// An event of a process by its number, with its location.
struct Located {
  Located(const trace::Trace& trace, const Places& places, std::uint32_t process,
          std::uint32_t number)
      : at(places.event(process, number)), events(trace.locations[at.location].events) {}
  [[nodiscard]] std::uint64_t time() const { return events.time(at.event); }

  EventRef at;
  const trace::EventList& events;
};

/// Sets Outline::Post::order and Outline::Channel::symbols. O(n log n) in the posts of disordered
/// channels.
void order_posts(const trace::Trace& trace, const Places& places, Outline& outline) {
  const bool single = places.is_single(outline.process);
  std::vector<Unordered> unordered;
  for (std::uint32_t i = 0; i < outline.posts.size(); ++i) {
    const Outline::Post& post = outline.posts[i];
    if (post.channel == k_none || !outline.channels[post.channel].disordered) continue;
    Unordered one{.group = post.channel, .order = post.order, .index = i};
    if (!single) one.begin = Located(trace, places, outline.process, post.order).time();
    unordered.push_back(one);
  }
  set_positions(unordered, outline.posts);
  std::vector<std::uint32_t> next(outline.channels.size(), 0);
  for (Outline::Post& post : outline.posts) {
    if (post.channel == k_none) continue;
    Outline::Channel& channel = outline.channels[post.channel];
    if (!channel.disordered) post.order = next[post.channel]++;
    channel.symbols += mix(std::uint64_t{post.order} << 32 | post.symbol);
  }
}

/// Orders the calls of each column of a process by begin; of calls begun at one stamp, requests
/// come first, then the call that ended first. Calls of one thread keep the stream order of their
/// begins. Sets Outline::Call::order and Outline::Column::operations. O(n log n) in the calls of
/// columns that are disordered or of several threads.
///
/// Example: thread 0 makes a barrier over [10, 20], thread 1 one over [15, 30] and one over [5, 8]
/// before it: the process made them in the order [5, 8], [10, 20], [15, 30].
void order_calls(const trace::Trace& trace, const Places& places, Outline& outline) {
  const auto locate = [&](std::uint32_t number) {
    return Located(trace, places, outline.process, number);
  };
  const auto is_unordered = [](const Outline::Column& column) {
    return column.several || column.disordered;
  };
  std::vector<Unordered> unordered;
  for (std::uint32_t i = 0; i < outline.calls.size(); ++i) {
    const Outline::Call& call = outline.calls[i];
    const Outline::Column& column = outline.columns[call.column];
    if (!is_unordered(column)) continue;
    Unordered one{.group = call.column, .order = call.order, .index = i};
    if (column.several) {
      const Located end = locate(call.event);
      const bool request = end.events.kind(end.at.event) == trace::EventKind::nb_complete;
      one.location = end.at.location;
      one.begin = end.events.time(call.order - places.first_number(end.at.location));
      one.until = end.time();
      one.over = request ? one.begin : one.until;
    }
    unordered.push_back(one);
  }
  set_positions(unordered, outline.calls);
  std::vector<std::uint32_t> next(outline.columns.size(), 0);
  for (Outline::Call& call : outline.calls) {
    Outline::Column& column = outline.columns[call.column];
    if (!is_unordered(column)) call.order = next[call.column]++;
    const Located at = locate(call.event);
    const trace::Event end = at.events[at.at.event];
    const bool blocking = end.kind != trace::EventKind::nb_complete;
    column.operations += mix(std::uint64_t{call.order} << 32 | end.op | (blocking ? 0x100U : 0U));
  }
}

/// Operations of a location that a request id stands for: the latest one. Call it in stream order.
class Requests {
 public:
  struct Operation {
    EventKind kind{};
    std::uint32_t number = k_none;   ///< number of its event; k_none: no operation
    std::uint32_t instant = k_none;  ///< number of its instant
    std::size_t post = 0;            ///< isend: number of its post
  };

  /// Isends, of which a location may have millions, never complete here: they are kept only if an
  /// operation is cancelled somewhere.
  explicit Requests(const trace::EventList& events) {
    for (std::size_t e = 0; e < events.size() && !keeps_isends_; ++e) {
      keeps_isends_ = events.kind(e) == EventKind::request_cancelled;
    }
  }

  /// Opens an isend, irecv_request or nb_request with this id.
  void open(std::uint64_t id, const Operation& operation) {
    if (operation.kind == EventKind::isend && !keeps_isends_) {
      open_.erase(id);  // an operation under this id that is still open can no longer complete
    } else {
      *open_.insert(id, operation).first = operation;
    }
  }
  /// Closes the operation with this id, and returns it.
  Operation close(std::uint64_t id) {
    const Operation* const found = open_.find(id);
    if (found == nullptr) return {};
    const Operation operation = *found;
    open_.erase(id);
    return operation;
  }
  /// Number of the irecv_request that an irecv completes; k_none: none.
  std::uint32_t complete_receive(std::uint64_t id) {
    const Operation* const found = open_.find(id);
    const bool posted = found != nullptr && found->kind == EventKind::irecv_request;
    return posted ? close(id).number : k_none;
  }

 private:
  FlatMap<std::uint64_t, Operation, IntegerHash> open_;
  bool keeps_isends_ = false;
};

}  // namespace

class Outliner::Walk {
 public:
  Walk(Outliner& outliner, std::uint32_t process)
      : trace_(outliner.trace_),
        places_(outliner.places_),
        memberships_(outliner.memberships_),
        unmatched_(outliner.left_out_.unmatched),
        skipped_(outliner.left_out_.skipped),
        coverage_(outliner.left_out_.coverage) {
    out_.process = process;
  }

  Outline run() && {
    make_room();
    for (const LocationIndex l : places_.locations(out_.process)) walk(l);
    for (std::uint32_t what = 0; what < out_.world.size(); ++what) {
      const Outline::World& call = out_.world[what];
      if (call.complete()) {
        add_world_call(call, what);
      } else if (call.location != k_none) {
        ++unmatched_.init_finalize;
      }
    }
    order_posts(trace_, places_, out_);
    order_calls(trace_, places_, out_);
    return std::move(out_);
  }

 private:
  /// Reserves memory for all messages and calls: growth would touch twice the memory.
  void make_room() {
    constexpr std::uint64_t k_messages =
        trace::kind_set({EventKind::send, EventKind::isend, EventKind::recv, EventKind::irecv});
    constexpr std::uint64_t k_calls =
        trace::kind_set({EventKind::collective_end, EventKind::nb_complete});
    std::size_t posts = 0, calls = 0;
    for (const LocationIndex l : places_.locations(out_.process)) {
      const trace::EventList& events = trace_.locations[l].events;
      for (std::size_t e = 0; e < events.size(); ++e) {
        const EventKind kind = events.kind(e);
        posts += trace::contains(k_messages, kind) ? 1 : 0;
        calls += trace::contains(k_calls, kind) ? 1 : 0;
      }
    }
    out_.posts.reserve(posts);
    out_.calls.reserve(calls);
  }

  void walk(LocationIndex l) {
    const auto& events = trace_.locations[l].events;
    Requests requests(events);
    begin_ = rma_begin_ = {};
    unrecorded_ = false;
    location_ = l;
    number_ = places_.first_number(l);
    channel_of_form_.assign(events.form_count(), k_unseen);
    for (std::size_t e = 0; e < events.size(); ++e, ++number_) {
      form_ = events.form(e);
      if (e == 0 || events.time(e) != events.time(e - 1)) {
        instant_ = number_;
        if (e > 0 && events.time(e) < events.time(e - 1)) out_.decreasing = true;
      }
      if (!names_peer_or_request(events[e], requests)) other(events[e]);
    }
  }

  /// Handles messages and all events that open or close a request; false for all others.
  bool names_peer_or_request(const Event& event, Requests& requests) {
    switch (event.kind) {
      case EventKind::send:
        message(event, true, number_);
        return true;
      case EventKind::isend:
        message(event, true, number_);
        requests.open(event.id, {.kind = event.kind,
                                 .number = number_,
                                 .instant = instant_,
                                 .post = out_.posts.size() - 1});
        return true;
      case EventKind::recv:
        message(event, false, number_);
        return true;
      case EventKind::irecv_request:
        requests.open(event.id, {.kind = event.kind, .number = number_, .instant = instant_});
        return true;
      case EventKind::irecv: {
        const std::uint32_t posted = requests.complete_receive(event.id);
        message(event, false, posted == k_none ? number_ : posted);
        return true;
      }
      case EventKind::request_cancelled:
        cancel(requests.close(event.id));
        return true;
      case EventKind::nb_request:  // messages may use the same id later
        unrecorded_ = false;
        requests.open(event.id, {.kind = event.kind, .number = number_, .instant = instant_});
        return true;
      case EventKind::nb_complete: {
        const Requests::Operation request = requests.close(event.id);
        const bool begun = request.kind == EventKind::nb_request;
        add_call(event.comm, event.comm, begun ? Begin{request.number, request.instant} : Begin{});
        return true;
      }
      default:
        return false;
    }
  }

  void other(const Event& event) {
    switch (event.kind) {
      case EventKind::collective_begin:
        unrecorded_ = false;
        begin_ = {number_, instant_};
        break;
      case EventKind::collective_end:
        add_call(event.comm, event.comm, std::exchange(begin_, {}));
        break;
      case EventKind::rma_collective_begin:
        rma_begin_ = {number_, instant_};
        break;
      case EventKind::rma_collective_end: {
        const auto windows = static_cast<SpaceIndex>(trace_.definitions.comms.size());
        add_call(comm_of_window(event.comm), windows + event.comm, std::exchange(rma_begin_, {}));
        break;
      }
      case EventKind::rma_group_sync:
        group_sync(event);
        break;
      case EventKind::rma_notify:
        notify(event);
        break;
      case EventKind::rma_lock:
        ++skipped_.rma_locks;
        // Passive epochs are calls without an instance; each ends with a release.
        if (event.op == 1) ++coverage_.collective_calls;
        break;
      case EventKind::neighbours_enter:
        unrecorded_ = true;
        break;
      case EventKind::neighbours_leave:
        if (std::exchange(unrecorded_, false)) {
          ++skipped_.neighbourhood_instances;
          ++coverage_.collective_calls;
        }
        break;
      case EventKind::init_enter:
      case EventKind::finalize_enter:
        world(event.kind == EventKind::finalize_enter, true);
        break;
      case EventKind::init_leave:
      case EventKind::finalize_leave:
        world(event.kind == EventKind::finalize_leave, false);
        break;
      default:
        out_.has_threads = true;
    }
  }

  void world(bool finalize, bool enter) {
    Outline::World& call = out_.world[finalize ? 1 : 0];
    if (call.location == k_none) call.location = location_;
    if (call.location != location_) call.several = true;
    if (enter && call.enter == k_none) call.enter = instant_;
    if (!enter && call.enter != k_none && call.leave == k_none) {
      call.leave = instant_;
      call.event = number_;
    }
  }
  void add_world_call(const Outline::World& world, std::uint32_t what) {
    const Outline::Call call{.column = static_cast<std::uint32_t>(out_.columns.size()),
                             .order = world.enter,
                             .begin = world.enter,
                             .end = world.leave,
                             .event = world.event};
    out_.columns.push_back({.space = first_world_space(trace_.definitions) + what,
                            .seat = {0, out_.process},
                            .location = world.location,
                            .count = 1});
    out_.calls.insert(std::ranges::upper_bound(out_.calls, call.event, {}, &Outline::Call::event),
                      call);
  }

  void message(const Event& event, bool send, std::uint32_t order) {
    std::uint32_t& channel = channel_of_form_[form_];
    if (channel == k_unseen) {
      const std::uint32_t peer = memberships_.peer_process(event.comm, out_.process, event.peer);
      channel =
          peer == k_none ? k_none : channel_of(Stage::message, send, peer, event.comm, event.tag);
    }
    if (channel == k_none) {
      ++(send ? unmatched_.sends : unmatched_.receives);
      unmatched_.with_unrecorded += memberships_.lacks_members(event.comm) ? 1 : 0;
    }
    const bool to_itself =
        channel != k_none && is_within_location(out_.channels[channel].key, places_);
    if (!send && !to_itself) ++coverage_.receives;
    post(channel, order, trace::length_code(event));
  }

  /// Number of the channel with a process. Several ranks may mean the same one.
  std::uint32_t channel_of(Stage stage, bool send, std::uint32_t peer, std::uint32_t space,
                           std::uint32_t tag) {
    const std::uint32_t own = out_.process;
    const ChannelKey key{.stage = stage,
                         .sender = send ? own : peer,
                         .receiver = send ? peer : own,
                         .space = space,
                         .tag = tag};
    const auto [channel, is_new] =
        sides_[send ? 0 : 1].insert(key, static_cast<std::uint32_t>(out_.channels.size()));
    if (is_new) out_.channels.push_back({.key = key, .send = send});
    return *channel;
  }

  void post(std::uint32_t channel, std::uint32_t order, std::uint32_t symbol = 0) {
    out_.posts.push_back(
        {.channel = channel, .order = order, .instant = instant_, .symbol = symbol});
    if (channel == k_none) return;
    Outline::Channel& to = out_.channels[channel];
    const bool in_order = order >= to.latest && to.location == location_ && !out_.decreasing;
    if (to.count++ > 0 && !in_order) to.disordered = true;
    to.latest = order;
    to.location = location_;
  }

  void cancel(const Requests::Operation& operation) {
    if (operation.number == k_none || operation.kind == EventKind::nb_request) return;
    if (operation.kind == EventKind::isend) {
      Outline::Post& post = out_.posts[operation.post];
      if (post.channel == k_none) {
        const std::uint32_t first = places_.first_number(location_);
        const Event sent = trace_.locations[location_].events[operation.number - first];
        --unmatched_.sends;
        unmatched_.with_unrecorded -= memberships_.lacks_members(sent.comm) ? 1 : 0;
      } else {
        --out_.channels[post.channel].count;
        post.channel = k_none;
      }
      ++skipped_.cancelled_sends;
    } else {
      ++skipped_.cancelled_receives;
    }
  }

  struct Begin {
    std::uint32_t number = k_none;
    std::uint32_t instant = k_none;
  };

  /// Communicator of an RMA window; k_none: undefined window.
  [[nodiscard]] CommIndex comm_of_window(std::uint32_t window) const {
    const auto& windows = trace_.definitions.windows;
    return window < windows.size() ? windows[window].comm : k_none;
  }

  void add_call(CommIndex comm, SpaceIndex space, Begin begin) {
    if (begin.number == k_none) ++unmatched_.collective_ends_without_begin;
    const std::uint32_t order = begin.number == k_none ? number_ : begin.number;
    if (comm >= trace_.definitions.comms.size()) {
      ++unmatched_.collectives_mismatched;
      ++coverage_.collective_calls;
      return;
    }
    if (trace_.definitions.comms[comm].self) return;  // a single process does not wait
    if (memberships_.is_shared(comm)) ++coverage_.collective_calls;
    if (memberships_.lacks_members(comm)) ++unmatched_.with_unrecorded;
    auto [column, is_new] = by_space_.insert(space, k_none);
    if (is_new) {
      if (const auto seat = memberships_.seat_of(comm, out_.process)) {
        *column = static_cast<std::uint32_t>(out_.columns.size());
        out_.columns.push_back({.space = space, .seat = *seat, .location = location_});
      }
    }
    if (*column == k_none) {
      ++unmatched_.collectives_mismatched;
      return;
    }
    Outline::Column& to = out_.columns[*column];
    if (to.location != location_) to.several = true;
    if (to.count++ > 0 && order < to.latest) to.disordered = true;
    to.latest = order;
    out_.calls.push_back({.column = *column,
                          .order = order,
                          .begin = begin.instant,
                          .end = instant_,
                          .event = number_});
  }

  void group_sync(const Event& event) {
    const auto role = static_cast<RmaGroupRole>(event.op);
    const bool known = role >= RmaGroupRole::post && role <= RmaGroupRole::wait;
    if (!known || (event.tag & k_sync_process) == 0) {
      ++skipped_.rma_group_sync;
      return;
    }
    const bool send = role == RmaGroupRole::post || role == RmaGroupRole::complete;
    const bool open = role == RmaGroupRole::post || role == RmaGroupRole::start;
    for (const std::uint32_t peer : memberships_.processes_of(event.peer)) {
      post(channel_of(Stage::group_sync, send, peer, event.comm, open ? k_tag_open : k_tag_close),
           number_);
    }
  }

  void notify(const Event& event) {
    if (event.op != k_notify_in && event.op != k_notify_out) return;
    const std::uint32_t peer =
        memberships_.peer_process(comm_of_window(event.comm), out_.process, event.peer);
    if (peer == k_none) {
      ++unmatched_.rma_notify;
    } else {
      post(channel_of(Stage::notification, event.op == k_notify_out, peer, event.comm, 0), number_);
    }
  }

  const trace::Trace& trace_;
  const Places& places_;
  Memberships& memberships_;
  Unmatched& unmatched_;
  Skipped& skipped_;
  Coverage& coverage_;
  Outline out_;
  static constexpr std::uint32_t k_unseen = k_none - 1;
  std::vector<std::uint32_t> channel_of_form_;  ///< channels at the current location, or k_unseen
  std::uint32_t form_ = 0;                      ///< form number of the current event
  std::array<FlatMap<ChannelKey, std::uint32_t, ChannelHash>, 2>
      sides_;  ///< index: sends, receives
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> by_space_;
  Begin begin_, rma_begin_;          ///< begin of the open blocking call
  bool unrecorded_ = false;          ///< an open neighbourhood call has no record so far
  LocationIndex location_ = k_none;  ///< current location
  std::uint32_t number_ = 0;         ///< number of the current event
  std::uint32_t instant_ = 0;        ///< number of its instant
};

Result<void> require_countable(std::uint64_t posts, const std::string& path) {
  if (posts < k_none) return {};
  return input_error(
      "a process of {} has {} messages and one-sided synchronisations with its partners, which is "
      "more than can be checked",
      path, posts);
}

Outline Outliner::outline(std::uint32_t process) { return Walk(*this, process).run(); }

}  // namespace entrain::verify
