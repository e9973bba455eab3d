// SPDX-License-Identifier: BSD-3-Clause
#include "cli/method_options.hpp"

#include <string_view>

#include "base/try.hpp"
#include "cli/values.hpp"

namespace entrain::cli {

void MethodArguments::declare(OptionSet& set) {
  const auto parse_delta = [this](std::string_view text) {
    options.measure_delta = text == "auto";
    if (options.measure_delta) return Result<std::uint64_t>(0);
    return parse_count(text, 0, 1'000'000'000'000);
  };
  set.group("OPTIONS OF THE CORRECTION");
  set.value("--gamma", options.gamma, or_auto(decimal9(1)), "auto|N",
            "Control variable of forward amortization: the rate at which a clock that was moved "
            "runs until it is back at its own time. A decimal number above 0 and at most 1, at "
            "most 9 decimals. auto: tries 0.99999, 0.9999, 0.999, 0.99 and 0.9, and takes for "
            "every clock the largest one with which it moves by at most --epsilon. Use a number "
            "to compare with other implementations, which mostly take 0.99. Default: auto.");
  set.value("--epsilon", options.epsilon_s, or_auto(number(0, 1e6, "seconds")), "auto|SECONDS",
            "Largest displacement of a clock that needs no smaller gamma, seconds, 0 to 1000000. "
            "auto: 1.1 times the largest displacement with gamma 0.9 everywhere. Not with --gamma "
            "N. Use a number when errors below it do not matter: smaller gammas remove larger "
            "displacements and change more intervals. Default: auto.");
  set.value("--delta", options.delta_ticks, parse_delta, "auto|TICKS",
            "Smallest distance of consecutive communication events of a location, in ticks of the "
            "trace's timer, 0 to 1000000000000. Events that were closer before stay as close as "
            "they were. auto: for every process the smallest distance of its events in the trace, "
            "which is at least a step of its timer; the report names it. Use it when a tool needs "
            "distinct times. It costs memory for events that need none without it. Default: 0.");
  set.value("--max-slope", options.max_slope, decimal9(1000), "N",
            "Slope of the ramps that backward amortization builds before a jump, ticks per tick: "
            "0.01 spreads a jump of 1 us over the 100 us before it. Sends that may not move that "
            "far make a ramp flatter first, then steeper. Not with --backward off. A decimal "
            "number above 0 and at most 1000, at most 9 decimals. Use a smaller one when local "
            "intervals must change less, a larger one when corrections must stay near the jump. "
            "Default: 0.01.");
  set.choice("--ramp", options.ramp, {{"taut", RampShape::taut}, {"paper", RampShape::paper}},
             "Shape of the ramp before a jump. taut: by the shortest curve between the times and "
             "the limits of sends; where ramps overlap, the higher one counts. paper: by straight "
             "pieces from the start of an interval of jump / --max-slope, for each jump by "
             "itself, as in the paper of 2007 that describes the method; ramps add up. Not with "
             "--backward off. Use paper to compare with other implementations. Default: taut.");
  set.choice("--backward", options.backward, {{"on", true}, {"off", false}},
             "Whether backward amortization spreads a jump over the events before it. off: a "
             "corrected receive jumps, and only later events move. Use off to see forward "
             "amortization alone. Default: on.");
  set.choice("--amortize", options.amortize, {{"on", true}, {"off", false}},
             "Whether the controlled logical clock removes violations. off: the times after "
             "--presync are written as they are, with the violations that they leave. Use off to "
             "see how good the presync alone is; not with --gamma, --epsilon, --delta, "
             "--max-slope, --ramp or --backward. Default: on.");
}

Result<void> MethodArguments::refuse_useless(const OptionSet& set) const {
  if (!options.backward) {
    TRY(set.refuse({"--max-slope", "--ramp"},
                   "is of no use with --backward off: there are no ramps"));
  }
  if (options.epsilon_s && options.gamma) {
    TRY(set.refuse({"--epsilon"}, "is of no use with --gamma N: it decides which gamma is taken"));
  }
  if (options.amortize) return {};
  return set.refuse({"--gamma", "--epsilon", "--delta", "--max-slope", "--ramp", "--backward"},
                    "is of no use with --amortize off");
}

}  // namespace entrain::cli
