// SPDX-License-Identifier: BSD-3-Clause
#include "match/pair_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "match/ends.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the pairing by messages; pair_calls_test.cpp exercises them; chosen, not measured.
struct CallLimits {
  static constexpr std::uint32_t at_once = 8;     ///< calls at one position are fewer
  static constexpr std::int64_t more_shift = 4;   ///< messages beyond the difference of the totals
  static constexpr std::int64_t most_shift = 16;  ///< messages that one side counts more, at most
};

/// The calls of a side, numbered by the messages before each.
struct NumberedCalls {
  const CallSide& side;
  std::vector<EndRecord> records;
  std::vector<std::uint32_t> numbers;

  explicit NumberedCalls(const CallSide& of) : side(of), records(of.records) {
    std::uint32_t at_once = 0;  // earlier calls at the same position
    for (std::size_t k = 0; k < records.size(); ++k) {
      at_once = k > 0 && records[k].position == records[k - 1].position ? at_once + 1 : 0;
      numbers.push_back(records[k].position * CallLimits::at_once +
                        std::min(at_once, CallLimits::at_once - 1));
    }
  }

  [[nodiscard]] NumberedSide numbered() const {
    return {.side = {records, side.side().position, side.ends_in_gap},
            .numbers = numbers,
            .total = side.messages * CallLimits::at_once,
            .pauses = side.pauses,
            .kinds = side.kinds,
            .evidence = side.evidence,
            .independent = true};
  }
};

/// Marks the calls at the position of a missing call, as it could be any of them, and those at a
/// position with too many calls.
void mark_ambiguous(NumberedCalls& calls) {
  const auto misses = [&](std::uint32_t position) {
    return std::binary_search(calls.side.missing.begin(), calls.side.missing.end(), position);
  };
  for (std::size_t first = 0, end = 0; first < calls.records.size(); first = end) {
    const std::uint32_t position = calls.records[first].position;
    while (end < calls.records.size() && calls.records[end].position == position) ++end;
    if (end - first < CallLimits::at_once && !misses(position)) continue;
    for (std::size_t k = first; k < end; ++k) calls.records[k].displaced = true;
  }
}

/// Removes pairs of calls at positions with unequally many calls.
void remove_unequal(const CallSide& a, const CallSide& b, Alignment& alignment) {
  const auto at_once = [](const CallSide& side, std::uint32_t k) {
    const auto [first, end] = std::equal_range(
        side.records.begin(), side.records.end(), side.records[k],
        [](const EndRecord& x, const EndRecord& y) { return x.position < y.position; });
    return end - first;
  };
  std::erase_if(alignment.pairs, [&](const auto& pair) {
    return at_once(a, pair.first) != at_once(b, pair.second);
  });
}

/// Pairs calls of equal symbols before which `b` counts `shift` messages more than `a`.
Alignment pair_shifted(const NumberedCalls& a, const NumberedCalls& b, std::int64_t shift) {
  Alignment result;
  for (std::size_t i = 0, j = 0; i < a.numbers.size() && j < b.numbers.size();) {
    const std::int64_t ahead =
        std::int64_t{a.numbers[i]} + shift * CallLimits::at_once - std::int64_t{b.numbers[j]};
    if (ahead == 0 && a.records[i].symbol == b.records[j].symbol) {
      result.pairs.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    }
    i += ahead <= 0 ? 1 : 0;
    j += ahead >= 0 ? 1 : 0;
  }
  return result;
}

/// Pairs the calls at the shift at which most have a partner: a message at the begin or at the end
/// is missing, or messages are posted across calls. Nothing if another shift is nearly as good.
std::optional<Alignment> pair_at_one_shift(const NumberedCalls& a, const NumberedCalls& b) {
  Alignment best;
  std::size_t second = 0;
  const std::int64_t difference = std::abs(std::int64_t{a.side.messages} - b.side.messages);
  const std::int64_t most = std::min(CallLimits::more_shift + difference, CallLimits::most_shift);
  for (std::int64_t shift = -most; shift <= most; ++shift) {
    Alignment shifted = pair_shifted(a, b, shift);
    second = std::max(second, std::min(shifted.pairs.size(), best.pairs.size()));
    if (shifted.pairs.size() > best.pairs.size()) best = std::move(shifted);
  }
  const std::size_t calls = std::min(a.records.size(), b.records.size());
  if (4 * best.pairs.size() < 3 * calls || 4 * second > best.pairs.size()) return std::nullopt;
  std::erase_if(best.pairs, [&](const auto& pair) {
    return a.records[pair.first].displaced || b.records[pair.second].displaced;
  });
  count_unpaired(Ends(a.side.side(), b.side.side()), best.pairs, best);
  return best;
}

std::optional<Alignment> pair_by_messages(const CallSide& a, const CallSide& b) {
  constexpr std::uint32_t k_most = ~std::uint32_t{0} / CallLimits::at_once - 1;
  if (a.messages == 0 || b.messages == 0 || std::max(a.messages, b.messages) > k_most ||
      a.kinds == 0 || b.kinds == 0) {
    return std::nullopt;
  }
  NumberedCalls of_a(a), of_b(b);
  mark_ambiguous(of_a);
  mark_ambiguous(of_b);
  std::optional<Alignment> result = pair_by_numbers(of_a.numbered(), of_b.numbered());
  // Few calls have equal numbers if the processes post messages across calls.
  if (!result || 2 * result->pairs.size() < std::min(a.records.size(), b.records.size())) {
    result = pair_at_one_shift(of_a, of_b);
  }
  if (result) remove_unequal(a, b, *result);
  return result;
}

/// True if only the times of the calls distinguish them: the processes repeat themselves and
/// exchange no messages, and all calls are alike.
bool only_times_distinguish(const CallSide& a, const CallSide& b) {
  if (std::min(a.kinds, b.kinds) < 2 || (a.messages > 0 && b.messages > 0)) return false;
  const auto has_first_symbol = [&](const EndRecord& record) {
    return record.symbol == a.records.front().symbol;
  };
  return std::all_of(a.records.begin(), a.records.end(), has_first_symbol) &&
         std::all_of(b.records.begin(), b.records.end(), has_first_symbol);
}

}  // namespace

Alignment pair_calls(const CallSide& a, const CallSide& b) {
  if (std::optional<Alignment> result = pair_by_messages(a, b)) return std::move(*result);
  if (only_times_distinguish(a, b)) return all_ambiguous(a.side(), b.side());
  return align_records(a.side(), b.side());
}

}  // namespace entrain::match
