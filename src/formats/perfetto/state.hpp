// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/flat_map.hpp"
#include "formats/json/packing.hpp"
#include "formats/perfetto/clocks.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {

/// Fields of a packet; messages as written, empty if they are missing.
struct Packet {
  Value timestamp;  ///< see has_time()
  std::optional<std::uint32_t> clock;
  std::uint32_t sequence = 0, machine = 0;
  bool needs_state = false, clears_state = false, follows_a_loss = false;
  json::Packing packing = json::Packing::none;  ///< packing of `packed`
  Value packed;                                 ///< packets inside; all else is not read then
  bool holds_times = false;                     ///< records of the kernel, with times of their own
  std::string_view sync;                        ///< offsets of the clocks of two machines
  std::string_view snapshot, interned, defaults, descriptor, attributes;
  std::string_view event;  ///< TrackEvent
  std::string_view stage;  ///< GpuRenderStageEvent

  [[nodiscard]] bool holds_packets() const { return packing != json::Packing::none; }
  [[nodiscard]] bool has_time() const { return timestamp.at != nullptr; }
  [[nodiscard]] bool is_event() const { return event.data() != nullptr; }
  [[nodiscard]] bool is_stage() const { return stage.data() != nullptr; }
};
/// Throws protozero::exception.
void read_packet(std::string_view body, Packet& packet);

/// Texts of interned data, escaped for JSON; names of notes are keys of an object, as `"name": `.
enum class Names : std::uint8_t { category, event, note, value, stage };
constexpr std::size_t k_tables_of_names = 5;

/// The first k_most_extra of some numbers.
class FewNumbers {
 public:
  void add(std::uint64_t number) {
    if (size_ < numbers_.size()) numbers_[size_++] = number;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return numbers_[i]; }

 private:
  std::array<std::uint64_t, k_most_extra> numbers_{};
  std::size_t size_ = 0;
};

/// Counters of which an event has values beside its own: tracks, and values in the same order.
struct ExtraCounters {
  bool are_doubles = false;
  FewNumbers tracks, values;
};

/// Values of events of a sequence that do not state their own.
struct Defaults {
  std::optional<std::uint32_t> clock;
  std::uint64_t track = 0;
  std::array<FewNumbers, 2> counters;  ///< tracks of extra counters: of integers, of doubles
};

/// State that packets of a sequence refer to.
class Sequence {
 public:
  bool is_valid = false;  ///< its state was not lost
  Defaults defaults;

  /// Forgets all; the state is valid then.
  void clear();
  void add(Names table, std::uint64_t iid, std::string_view name);
  /// Memory that the names take, bytes.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Empty for unknown ids.
  [[nodiscard]] std::string_view name(Names table, std::uint64_t iid) const {
    const Table& own = tables_[static_cast<std::size_t>(table)];
    if (iid < own.first.size()) return own.first[iid];
    const std::string_view* const found = own.others.find(iid);
    return found != nullptr ? *found : std::string_view();
  }

 private:
  struct Table {
    std::vector<std::string_view> first{1};  ///< index: number, as long as none is left out
    FlatMap<std::uint64_t, std::string_view, IntegerHash> others{};
  };
  std::array<Table, k_tables_of_names> tables_;
  std::forward_list<std::string> texts_;
  std::size_t size_ = 0;
};

/// The state of all sequences and clocks while packets are read in order.
class State {
 public:
  /// `with_names`: interned names are kept.
  explicit State(std::filesystem::path path, bool with_names)
      : path_(std::move(path)), with_names_(with_names) {}

  /// Takes what a packet says of its sequence, without its snapshot. Throws protozero::exception.
  /// Errors: ErrorKind::input for a file that would take too much memory.
  Result<void> take(const Packet& packet);
  /// Takes the snapshot of a packet.
  Result<void> take_snapshot(const Packet& packet, std::span<const Reading> readings);
  /// True if the packet says all that it needs.
  [[nodiscard]] bool is_usable(const Packet& packet) const {
    return !packet.needs_state || (sequence_ != nullptr && sequence_->is_valid);
  }
  /// Names of the sequence of the last packet.
  [[nodiscard]] std::string_view name(Names table, std::uint64_t iid) const {
    return sequence_ != nullptr ? sequence_->name(table, iid) : std::string_view();
  }
  /// Defaults of that sequence.
  [[nodiscard]] const Defaults& defaults() const {
    static constexpr Defaults none;
    return sequence_ != nullptr ? sequence_->defaults : none;
  }
  /// The clock by which the last packet tells its time.
  [[nodiscard]] ClockKey clock_of(const Packet& packet) const;
  /// Counts memory that the reader keeps, bytes. Errors: ErrorKind::input if it is too much.
  Result<void> keep(std::size_t bytes);
  /// Counts memory that is free again.
  void release(std::size_t bytes) { kept_ -= bytes; }

  Clocks clocks;

 private:
  Result<void> take_names(std::string_view interned);
  Result<void> enter(const Packet& packet);

  std::filesystem::path path_;
  bool with_names_;
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> numbers_;
  std::deque<Sequence> sequences_;
  Sequence* sequence_ = nullptr;            ///< sequence of the last packet; null: it has no state
  std::uint64_t last_ = ~std::uint64_t{0};  ///< its key in `numbers_`
  std::size_t kept_ = 0;
};

/// Readings beyond these are those of a damaged file: real snapshots have a dozen.
constexpr std::size_t k_most_readings = std::size_t{1} << 16;
/// The readings of a snapshot, k_most_readings at most. Sets the clock of the trace if it names
/// one.
void readings_of(std::string_view snapshot, Clocks& clocks, std::vector<Reading>& readings);

/// True if a text needs no escapes in JSON.
bool is_plain(std::string_view text);

/// Adds a text to a JSON string, escaped; bytes that are no UTF-8 become question marks.
void escape(std::string_view text, std::string& to);

// Arguments of events as JSON (annotations.cpp).

/// Bytes of an event's arguments: many may refer to one long interned text.
inline constexpr std::size_t k_most_arguments = std::size_t{1} << 26;
/// So many annotations have longer arguments, as each takes 8 bytes of them at least.
inline constexpr std::size_t k_most_annotations = k_most_arguments / 8 + 1;

/// Adds a debug annotation to the JSON object `to`, which begins with its bracket and has no end
/// yet. Throws protozero::exception.
void add_annotation(std::string_view annotation, const State& state, std::string& to);

/// Adds a string to the JSON object `to`.
void add_text(std::string_view name, std::string_view value, std::string& to);

}  // namespace entrain::perfetto
