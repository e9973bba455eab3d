// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/verifier.hpp"

#include <bit>
#include <vector>

#include <fmt/format.h>

namespace entrain::net {
namespace {

constexpr std::size_t k_bits = 64;

/// A set of interfaces for each interface.
class Relation {
 public:
  explicit Relation(std::size_t n) : words_((n + k_bits - 1) / k_bits), bits_(n * words_, 0) {}

  void add(std::size_t row, std::size_t element) {
    bits_[row * words_ + element / k_bits] |= std::uint64_t{1} << (element % k_bits);
  }
  [[nodiscard]] bool has(std::size_t row, std::size_t element) const {
    return (bits_[row * words_ + element / k_bits] >> (element % k_bits) & 1) != 0;
  }
  /// Adds row `other` of `from` to row `row` of this.
  void merge(std::size_t row, const Relation& from, std::size_t other) {
    for (std::size_t i = 0; i < words_; ++i)
      bits_[row * words_ + i] |= from.bits_[other * words_ + i];
  }
  void copy_row(std::size_t row, const Relation& from) {
    for (std::size_t i = 0; i < words_; ++i) bits_[row * words_ + i] = from.bits_[row * words_ + i];
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t count = 0;
    for (const std::uint64_t word : bits_) count += std::popcount(word);
    return count;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

class Verifier {
 public:
  Verifier(const Topology& topology, const Schedule& schedule)
      : topology_(topology),
        schedule_(schedule),
        n_(topology.interfaces().size()),
        taken_(topology.channel_count(), nullptr),
        sent_(n_, nullptr),
        before_(n_, nullptr),
        slow_(n_),
        earlier_(n_) {}

  Verification run() {
    for (InterfaceIndex i = 0; i < n_; ++i) slow_.add(i, i);
    const auto& messages = schedule_.messages;
    for (std::size_t begin = 0, end; begin < messages.size(); begin = end) {
      for (end = begin + 1; end < messages.size() && messages[end].slot == messages[begin].slot;)
        ++end;
      if (begin > 0 && messages[begin].slot < messages[begin - 1].slot)
        note_malformed(messages[begin], "comes after messages of a later slot");
      run_slot({messages.data() + begin, end - begin});
    }
    note_missing();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string text(const Message& message) const {
    return fmt::format("{} =>{} {}", topology_.interface_name(message.source), message.slot,
                       topology_.interface_name(message.destination));
  }

  void note_malformed(const Message& message, std::string_view what) {
    if (result_.malformed++ > 0) return;
    const bool known = message.source < n_ && message.destination < n_;
    result_.malformed_example = known ? fmt::format("message {} {}", text(message), what)
                                      : fmt::format("a message of slot {} {}", message.slot, what);
  }

  /// The channels of the route of a message; empty if the route is not valid.
  [[nodiscard]] std::vector<ChannelIndex> channels_of(const Message& message) const {
    if (message.route_end > schedule_.route_nodes.size() || message.route_begin > message.route_end)
      return {};
    const auto route = schedule_.route(message);
    if (route.size() < 3 || route.front() != topology_.interfaces()[message.source] ||
        route.back() != topology_.interfaces()[message.destination])
      return {};
    std::vector<ChannelIndex> channels;
    for (std::size_t i = 1; i < route.size(); ++i) {
      if (route[i] >= topology_.nodes().size()) return {};
      const bool inner = i + 1 < route.size();
      const ChannelIndex channel = topology_.channel(route[i - 1], route[i]);
      if (channel == k_none || (inner && !topology_.nodes()[route[i]].is_switch)) return {};
      channels.push_back(channel);
    }
    return channels;
  }

  /// True if the message takes part in its slot.
  bool admit(const Message& message) {
    if (message.source >= n_ || message.destination >= n_) {
      note_malformed(message, "names an interface that does not exist");
      return false;
    }
    if (message.slot < 0 || message.slot >= schedule_.slots) {
      note_malformed(message, "lies outside of the schedule");
      return false;
    }
    const Message* const other = sent_[message.source];
    if (other != nullptr && other->slot == message.slot) {
      note_malformed(message, fmt::format("shares its slot with {}", text(*other)));
      return false;
    }
    const auto channels = channels_of(message);
    if (channels.empty()) {
      note_malformed(message, "has a route that does not exist");
      return false;
    }
    sent_[message.source] = &message;
    for (const ChannelIndex channel : channels) take(channel, message);
    return true;
  }

  void take(ChannelIndex channel, const Message& message) {
    const Message* const other = taken_[channel];
    taken_[channel] = &message;
    if (other == nullptr || other->slot != message.slot) return;
    if (result_.conflicts++ > 0) return;
    result_.conflict_example =
        fmt::format("in slot {} both {} and {} take the link {}", message.slot, text(*other),
                    text(message), topology_.channel_name(channel));
  }

  void run_slot(std::span<const Message> messages) {
    std::vector<const Message*> admitted;
    for (const Message& message : messages) {
      if (admit(message)) admitted.push_back(&message);
    }
    // The slots of a chain must rise, so precedences of this slot do not continue each other.
    earlier_rows_.clear();
    for (const Message* message : admitted) {
      const Message* const last = before_[message->destination];
      if (last == nullptr || last->slot + 1 != message->slot) continue;
      earlier_rows_.emplace_back(last->source, message->source);
    }
    for (const auto& [slow, fast] : earlier_rows_) {
      earlier_.copy_row(slow, slow_);
    }
    for (const auto& [slow, fast] : earlier_rows_) slow_.merge(fast, earlier_, slow);
    for (const Message* message : admitted) before_[message->destination] = message;
  }

  void note_missing() {
    const auto all = static_cast<std::int64_t>(n_ * n_);
    result_.missing = all - slow_.count();
    if (result_.missing == 0) return;
    for (InterfaceIndex fast = 0; fast < n_; ++fast) {
      for (InterfaceIndex slow = 0; slow < n_; ++slow) {
        if (slow_.has(fast, slow)) continue;
        result_.missing_example =
            fmt::format("{} does not precede {}: if it is the slowest, nothing holds {} back",
                        topology_.interface_name(slow), topology_.interface_name(fast),
                        topology_.interface_name(fast));
        return;
      }
    }
  }

  const Topology& topology_;
  const Schedule& schedule_;
  std::size_t n_;
  std::vector<const Message*> taken_;   ///< last message of each channel
  std::vector<const Message*> sent_;    ///< last message of each source
  std::vector<const Message*> before_;  ///< last message of each destination
  Relation slow_;                       ///< row f: all interfaces that precede f
  Relation earlier_;
  std::vector<std::pair<InterfaceIndex, InterfaceIndex>> earlier_rows_;
  Verification result_;
};

}  // namespace

std::string Verification::sentence() const {
  std::string text;
  for (const std::string* example : {&malformed_example, &conflict_example, &missing_example}) {
    if (example->empty()) continue;
    text += (text.empty() ? "" : "; ") + *example;
  }
  return text;
}

Verification verify(const Topology& topology, const Schedule& schedule) {
  return Verifier(topology, schedule).run();
}

}  // namespace entrain::net
