// SPDX-License-Identifier: BSD-3-Clause
#include "verify/claims.hpp"

#include <fmt/core.h>

#include "trace/recorded_clock.hpp"

namespace entrain::verify {

namespace {

/// True if a message was received before it was sent even with the largest clock errors.
bool is_impossible(const EndFacts& send, const EndFacts& receive) {
  constexpr std::uint32_t k_unknown = trace::RecordedClock::k_unknown;
  return send.doubt != k_unknown && receive.doubt != k_unknown && receive.time < send.time &&
         send.time - receive.time > std::uint64_t{send.doubt} + receive.doubt;
}

/// Calls `use(run)` for runs that follow each other on both sides and lie below these ends, until
/// it returns a reason; returns that, or why a run is none.
template <class Use>
const char* for_each_run(const std::vector<trace::ClaimedRun>& runs, std::uint64_t first_end,
                         std::uint64_t second_end, Use use) {
  std::uint64_t next_first = 0, next_second = 0;
  for (const trace::ClaimedRun& run : runs) {
    if (run.first < next_first || run.second < next_second) {
      return "a record is in two pairs, or out of order";
    }
    next_first = std::uint64_t{run.first} + run.count;
    next_second = std::uint64_t{run.second} + run.count;
    if (next_first > first_end || next_second > second_end) return "there is no such record";
    if (const char* why = use(run)) return why;
  }
  return nullptr;
}

std::uint64_t paired(const std::vector<trace::ClaimedRun>& runs) {
  std::uint64_t count = 0;
  for (const trace::ClaimedRun& run : runs) count += run.count;
  return count;
}

}  // namespace

const char* refute(const trace::ClaimedChannel& claim, const ChannelFacts& facts) {
  const auto test = [&](const trace::ClaimedRun& run) -> const char* {
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const EndFacts &sent = facts.sends[run.first + k], &received = facts.receives[run.second + k];
      if (sent.symbol != received.symbol) return "lengths differ";
      if (facts.by_clock_records && is_impossible(sent, received)) {
        return "clock records contradict a pair";
      }
    }
    return nullptr;
  };
  if (const char* why =
          for_each_run(claim.pairs, facts.sends.size(), facts.receives.size(), test)) {
    return why;
  }
  const std::uint64_t pairs = paired(claim.pairs);
  if (pairs + claim.ambiguous + claim.receives_in_gaps > facts.receives.size() ||
      pairs + claim.sends_in_gaps > facts.sends.size()) {
    return "more messages are counted than there are";
  }
  if ((claim.sends_in_gaps > 0 && !facts.receiver_has_gaps) ||
      (claim.receives_in_gaps > 0 && !facts.sender_has_gaps)) {
    return "the other process has no gap in its records";
  }
  return nullptr;
}

const char* refute(const trace::ClaimedCalls& claim, std::uint32_t calls, std::uint32_t instances) {
  const auto accept = [](const trace::ClaimedRun&) -> const char* { return nullptr; };
  if (const char* why = for_each_run(claim.instances, calls, instances, accept)) return why;
  // A gap may hide calls of this process, or calls of others may have no partner here.
  if (paired(claim.instances) + claim.ambiguous > calls ||
      claim.in_gaps > std::uint64_t{calls} + instances) {
    return "more calls are counted than there are";
  }
  return nullptr;
}

tl::unexpected<Error> refuted(const std::string& path, const std::string& claim, const char* why) {
  return fail(ErrorKind::internal,
              fmt::format("{}: records contradict the pairing of {}: {}; this is an error of "
                          "Entrain and not of the trace: please report it",
                          path, claim, why));
}

std::vector<bool> processes_with_gaps(const trace::Share& share, const Places& places,
                                      std::span<const Outline> outlines) {
  std::vector<std::int64_t> gaps(places.process_count(), 0);
  for (const Outline& outline : outlines) {
    const auto& [init, finalize] = outline.world;
    const std::span<const LocationIndex> locations = places.locations(outline.process);
    const bool any = std::ranges::any_of(locations, [&](LocationIndex l) {
      const trace::LocationSkeleton& location = share.trace.locations[l];
      return !location.gaps.empty() || location.event_file_missing || location.truncated;
    });
    gaps[outline.process] = any || (init.enter != k_none && finalize.enter == k_none) ? 1 : 0;
  }
  share.team.reduce(Team::Reduction::max, gaps);
  return {gaps.begin(), gaps.end()};
}

bool any_inner_gaps(const trace::Share& share) {
  const std::vector<LocationIndex> own = share.own();
  return std::ranges::any_of(own, [&](LocationIndex l) {
    const std::vector<trace::Gap>& gaps = share.trace.locations[l].gaps;
    return std::ranges::any_of(gaps,
                               [](const trace::Gap& gap) { return gap.end != trace::Gap::k_open; });
  });
}

}  // namespace entrain::verify
