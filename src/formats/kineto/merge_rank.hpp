// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/export.hpp>

#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"
#include "formats/merge_plan.hpp"
#include "formats/perfetto/packet_writer.hpp"

/// The part of a merged trace that is of one rank.
namespace entrain::kineto {

/// The arrows that are added, by their ends on collective kernels.
class AddedArrows {
 public:
  static constexpr std::uint64_t k_unknown = ~std::uint64_t{0};
  /// Arrows have times only. Where several calls of `ranks` begin or end at one of these on a
  /// clock, the one counts that has a partner of its group and number at the other end; arrows are
  /// left out if several do, or if calls begin and end at the same times.
  AddedArrows(const BigVector<formats::MergeArrow>& arrows, const std::vector<RankFile>& ranks);

  /// Calls `use(id)` for the arrows that leave the kernel that begins at this stamp, or with
  /// `arrive` reach the one that ends then; each arrow once. Different clocks may be asked from
  /// several threads. `id`: 1 or more. `other`: its end, or begin; k_unknown: not known.
  template <class Use>
  void take(bool arrive, std::uint32_t clock, std::uint64_t stamp, std::uint64_t other, Use use) {
    Side& side = sides_[arrive ? 1 : 0];
    const End wanted{clock, stamp, 0, 0};
    for (auto at = std::lower_bound(side.ends.begin(), side.ends.end(), wanted);
         at != side.ends.end() && at->clock == clock && at->stamp == stamp; ++at) {
      const bool is_of_another = at->other != k_unknown && at->other != other;
      if (is_of_another || side.taken[at->arrow] != 0) continue;
      side.taken[at->arrow] = 1;
      use(at->arrow + 1);
    }
  }
  /// Number of arrows of which both ends were taken.
  [[nodiscard]] std::uint64_t count() const;
  /// Number of arrows that were left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  struct End {
    std::uint32_t clock = 0;
    std::uint64_t stamp = 0, arrow = 0;
    std::uint64_t other = k_unknown;  ///< other stamp of its call, where calls share this one
    friend auto operator<=>(const End&, const End&) = default;
  };
  struct Side {
    std::vector<End> ends;
    std::vector<char> taken;  ///< index: arrow
  };
  std::array<Side, 2> sides_;  ///< begins, ends
  std::uint64_t left_out_ = 0;
};

/// State that all ranks of a merged trace share.
struct MergeShare {
  const formats::MergePlan& plan;
  std::set<std::uint64_t> between_files;  ///< keys of arrows of the trace itself
  AddedArrows added;
  std::int64_t first = 0, last = 0;  ///< range of the corrected times, ns
  std::int64_t base = 0;             ///< ns that are subtracted from times; 0 but in JSON
  std::uint64_t next_process = 2;  ///< number of the next process of JSON; 1 is that of the clocks
};

/// A rank, or the ranks of a file that holds several.
struct MergeUnit {
  std::uint32_t number = 0;  ///< position among all
  std::string name;          ///< e.g. "rank 3"
  std::vector<const RankFile*> files;
};

/// Receives the text of a file, piece by piece.
using TextSink = std::function<Result<void>(std::string_view)>;
/// Receives a member beside the events; see EventSinks::fact.
using FactSink = std::function<Result<void>(std::string_view, std::string_view)>;

/// Sort of an event, by its phase.
enum class EventSort : std::uint8_t {
  slice,
  begin,
  end,
  async_begin,
  async_end,
  async_instant,
  arrow,
  counter,
  instant,
  metadata,
  unknown,
};
EventSort sort_of(const EventText& event);
/// True for a part of an asynchronous event, which is not of a thread.
inline bool is_asynchronous(EventSort sort) {
  return sort >= EventSort::async_begin && sort <= EventSort::async_instant;
}
/// A text that a begin and its end share.
std::string pair_key(const EventText& event);
/// A value for people: strings without quotes and escapes.
std::string shown_text(std::string_view value);

/// True for a complete event that did not end, of which some profilers write the duration -1.
bool is_endless(const EventText& event);
/// Times of an event as stored, microseconds; empty if they are missing.
std::string stored_time(const EventText& event);
std::string stored_length(const EventText& event);

/// Reads a rank and writes it into the merged trace.
class RankMerger {
 public:
  RankMerger(MergeShare& share, MergeUnit unit) : share_(share), unit_(std::move(unit)) {}
  RankMerger(const RankMerger&) = delete;
  RankMerger& operator=(const RankMerger&) = delete;
  virtual ~RankMerger() = default;

  /// Reads the files, as far as that needs no other rank. Errors: those of for_each_time().
  virtual Result<void> read() = 0;
  /// Writes the rank; ranks come one after the other. Errors: those above and of `sink`.
  virtual Result<void> write(const TextSink& sink) = 0;

  MergedEvents events;
  std::map<std::string, std::uint64_t> unusual;  ///< see MergeReport
  std::uint64_t processes = 0, tracks = 0, overlapping = 0;
  std::string facts;  ///< members beside the events, for JSON

 protected:
  /// An event with its times, ns.
  struct Placed {
    const EventText& event;
    std::uint32_t clock = 0;                 ///< position in the run
    std::uint64_t stamp = 0, end_stamp = 0;  ///< stored stamps
    std::int64_t begin = 0, end = 0;         ///< corrected; 0 without a time
    bool has_time = false;
  };
  /// A value of a counter.
  struct Counted {
    std::string_view key;
    std::optional<std::int64_t> integer;
    double number = 0;
  };

  /// Counts an event, and tells as what it is written: EventSort::unknown where not as what it is.
  EventSort count(const Placed& placed);
  /// Counts begins without an end as slices that do not end.
  void count_unfinished();
  /// Calls `see` for all events, and `fact` for the members beside the events.
  Result<void> walk(const std::function<Result<void>(const Placed&)>& see, const FactSink& fact);
  /// See AddedArrows::take(); of an event that is a whole kernel, its begin or its end.
  template <class Use>
  void take_arrows(const Placed& placed, bool arrive, Use use) {
    const bool is_whole = placed.event.has_length();
    const std::uint64_t own = arrive && is_whole ? placed.end_stamp : placed.stamp;
    const std::uint64_t other = arrive ? placed.stamp : placed.end_stamp;
    share_.added.take(arrive, placed.clock, own, is_whole ? other : AddedArrows::k_unknown, use);
  }
  /// The id of the arrow of an event, unique in the merged trace; not 0.
  [[nodiscard]] std::uint64_t arrow_id(const EventText& event) const;

  MergeShare& share_;
  MergeUnit unit_;
  std::vector<Counted> values_;  ///< values of the last counter

 private:
  std::map<std::string, std::uint64_t> open_;  ///< number of begins without an end yet
};

/// Members of an event that EventText does not name: calls `see(key, value)`, as written.
void for_each_other(const EventText& event,
                    const std::function<void(std::string_view, std::string_view)>& see);

/// for_each_member() of the arguments; true if there are none.
template <class See>
bool for_each_value(const EventText& event, const See& see) {
  return event.arguments.empty() || for_each_member(event.arguments, see);
}
/// Number of the members of the arguments, up to the first damage.
inline std::uint64_t count_values(const EventText& event) {
  std::uint64_t count = 0;
  for_each_value(event, [&](std::string_view, std::string_view) { return ++count > 0; });
  return count;
}

// Values of JSON as debug annotations of Perfetto (notes.cpp).

/// Appends a name, with escapes, to an event: its number if the table has room, else its text.
void add_name(std::string& fields, perfetto::InternedNames& names, perfetto::EventField number,
              perfetto::EventField text, std::string_view raw);

/// Appends an annotation. `key`, `value`: as written, the key without quotes. Numbers that are no
/// 64-bit integer and no double, empty lists and objects, null, and what is no JSON become JSON
/// text, which readers of Perfetto know too.
void add_note(std::string& fields, perfetto::InternedNames& names, std::string_view key,
              std::string_view value);

/// Appends the members of an object; returns their number. Anything else becomes one, `args`.
std::uint64_t add_notes(std::string& fields, perfetto::InternedNames& names,
                        std::string_view object);

/// Calls `see(time, added)` where a clock's correction bends: corrected times, and what was added.
template <class See>
void for_each_knot(const formats::MergedClock& clock, See see) {
  const auto tell = [&](std::uint64_t stamp) {
    const std::int64_t time = clock.map(stamp);
    see(time, time - static_cast<std::int64_t>(stamp));
  };
  tell(clock.first);
  for (const ClockKnot& knot : clock.map.knots()) {
    if (knot.local > clock.first && knot.local < clock.last) tell(knot.local);
  }
  if (clock.last > clock.first) tell(clock.last);
}

/// Writes packets of a Perfetto trace.
std::unique_ptr<RankMerger> perfetto_merger(MergeShare& share, MergeUnit unit);
/// Writes events of the Trace Event Format, each with a comma before it.
std::unique_ptr<RankMerger> chrome_merger(MergeShare& share, MergeUnit unit);

/// The beginning of a file, with the mark of its tool and the tracks of the clocks.
std::string perfetto_head(const MergeShare& share);
std::string chrome_head(const MergeShare& share);

/// Writes the files of all ranks as one trace. Errors: those of the mergers; ErrorKind::output.
Result<MergeReport> merge_files(const std::vector<RankFile>& files,
                                const std::vector<RankFile>& ranks, const formats::MergePlan& plan);

}  // namespace entrain::kineto
