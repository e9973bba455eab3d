// SPDX-License-Identifier: BSD-3-Clause
#include "match/calls_in_step.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "match/ends.hpp"

namespace entrain::match {

namespace {

constexpr std::uint32_t k_at_once = 8;  ///< most calls without a message between them
/// Messages that one side may count more, beyond the difference of the totals; and in all.
constexpr std::int64_t k_more_shift = 4, k_most_shift = 16;

/// The calls of a side, numbered by the messages before them.
struct NumberedCalls {
  const CallSide& side;
  std::vector<Trait> traits;
  std::vector<std::uint32_t> numbers;

  explicit NumberedCalls(const CallSide& of) : side(of), traits(of.traits) {
    std::uint32_t at_once = 0;  // calls before this one after as many messages
    for (std::size_t k = 0; k < traits.size(); ++k) {
      at_once = k > 0 && traits[k].position == traits[k - 1].position ? at_once + 1 : 0;
      numbers.push_back(traits[k].position * k_at_once + std::min(at_once, k_at_once - 1));
    }
  }

  [[nodiscard]] Numbered numbered() const {
    return {.side = {traits, side.side().position, side.ends_in_gap},
            .numbers = numbers,
            .total = side.messages * k_at_once,
            .pauses = side.pauses,
            .kinds = side.kinds,
            .evidence = side.evidence,
            .independent = true};
  }
};

/// Marks the calls after as many messages as another one that is missing: nobody knows which of
/// them that is. Likewise those among too many.
void mark_doubtful(NumberedCalls& calls) {
  const auto misses = [&](std::uint32_t position) {
    return std::binary_search(calls.side.missing.begin(), calls.side.missing.end(), position);
  };
  for (std::size_t first = 0, end = 0; first < calls.traits.size(); first = end) {
    const std::uint32_t position = calls.traits[first].position;
    while (end < calls.traits.size() && calls.traits[end].position == position) ++end;
    if (end - first < k_at_once && !misses(position)) continue;
    for (std::size_t k = first; k < end; ++k) calls.traits[k].displaced = true;
  }
}

/// Leaves out calls of which unequally many follow as many messages.
void leave_out_unequal(const CallSide& a, const CallSide& b, Alignment& alignment) {
  const auto at_once = [](const CallSide& side, std::uint32_t k) {
    const auto [first, end] =
        std::equal_range(side.traits.begin(), side.traits.end(), side.traits[k],
                         [](const Trait& x, const Trait& y) { return x.position < y.position; });
    return end - first;
  };
  std::erase_if(alignment.pairs, [&](const auto& pair) {
    return at_once(a, pair.first) != at_once(b, pair.second);
  });
}

/// Pairs of calls of equal symbols before which `b` counts so many messages more than `a`.
Alignment pair_shifted(const NumberedCalls& a, const NumberedCalls& b, std::int64_t shift) {
  Alignment result;
  for (std::size_t i = 0, j = 0; i < a.numbers.size() && j < b.numbers.size();) {
    const std::int64_t ahead =
        std::int64_t{a.numbers[i]} + shift * k_at_once - std::int64_t{b.numbers[j]};
    if (ahead == 0 && a.traits[i].symbol == b.traits[j].symbol) {
      result.pairs.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    }
    i += ahead <= 0 ? 1 : 0;
    j += ahead >= 0 ? 1 : 0;
  }
  return result;
}

/// Where totals differ, as a message at the begin or at the end is missing, or messages are posted
/// across calls: the pairs at the one shift at which most calls have a partner. Nothing if they
/// have at another one as well.
std::optional<Alignment> pair_at_one_shift(const NumberedCalls& a, const NumberedCalls& b) {
  Alignment best;
  std::size_t second = 0;
  const std::int64_t difference = std::abs(std::int64_t{a.side.messages} - b.side.messages);
  const std::int64_t most = std::min(k_more_shift + difference, k_most_shift);
  for (std::int64_t shift = -most; shift <= most; ++shift) {
    Alignment one = pair_shifted(a, b, shift);
    second = std::max(second, std::min(one.pairs.size(), best.pairs.size()));
    if (one.pairs.size() > best.pairs.size()) best = std::move(one);
  }
  const std::size_t calls = std::min(a.traits.size(), b.traits.size());
  if (4 * best.pairs.size() < 3 * calls || 4 * second > best.pairs.size()) return std::nullopt;
  std::erase_if(best.pairs, [&](const auto& pair) {
    return a.traits[pair.first].displaced || b.traits[pair.second].displaced;
  });
  count_left_out(Ends(a.side.side(), b.side.side()), best.pairs, best);
  return best;
}

std::optional<Alignment> pair_by_messages(const CallSide& a, const CallSide& b) {
  constexpr std::uint32_t k_most = ~std::uint32_t{0} / k_at_once - 1;
  if (a.messages == 0 || b.messages == 0 || std::max(a.messages, b.messages) > k_most ||
      a.kinds == 0 || b.kinds == 0) {
    return std::nullopt;
  }
  NumberedCalls of_a(a), of_b(b);
  mark_doubtful(of_a);
  mark_doubtful(of_b);
  std::optional<Alignment> result = pair_in_step(of_a.numbered(), of_b.numbered());
  // Equal numbers of few calls: the processes post messages across their calls.
  if (!result || 2 * result->pairs.size() < std::min(a.traits.size(), b.traits.size())) {
    result = pair_at_one_shift(of_a, of_b);
  }
  if (result) leave_out_unequal(a, b, *result);
  return result;
}

/// True if the times of the calls alone could tell, and might deceive: the processes repeat
/// themselves and exchange nothing, and all calls are alike.
bool only_times_tell(const CallSide& a, const CallSide& b) {
  if (std::min(a.kinds, b.kinds) < 2 || (a.messages > 0 && b.messages > 0)) return false;
  const auto like_the_first = [&](const Trait& trait) {
    return trait.symbol == a.traits.front().symbol;
  };
  return std::all_of(a.traits.begin(), a.traits.end(), like_the_first) &&
         std::all_of(b.traits.begin(), b.traits.end(), like_the_first);
}

}  // namespace

Alignment pair_calls(const CallSide& a, const CallSide& b) {
  if (std::optional<Alignment> result = pair_by_messages(a, b)) return std::move(*result);
  if (only_times_tell(a, b)) return nothing_certain(a.side(), b.side());
  return align(a.side(), b.side());
}

}  // namespace entrain::match
