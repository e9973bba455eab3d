// SPDX-License-Identifier: BSD-3-Clause
#include "verify/claims.hpp"

#include <algorithm>

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

/// Tests the pairs of a channel in order of the sends.
class PairTest {
 public:
  explicit PairTest(const ChannelFacts& facts)
      : facts_(facts), received_(facts.receives.size(), false) {}

  const char* run(const trace::ClaimedRun& run) {
    if (run.first < next_send_) return "a send has two receives, or sends are out of order";
    if (std::uint64_t{run.first} + run.count > facts_.sends.size()) return "there is no such send";
    if (std::uint64_t{run.second} + run.count > facts_.receives.size()) {
      return "there is no such receive";
    }
    next_send_ = run.first + run.count;
    for (std::uint32_t k = 0; k < run.count; ++k) {
      if (const char* why = pair(run.first + k, run.second + k)) return why;
    }
    return nullptr;
  }

 private:
  const char* pair(std::uint32_t send, std::uint32_t receive) {
    const EndFacts &sent = facts_.sends[send], &received = facts_.receives[receive];
    if (received_[receive]) return "a receive has two sends";
    received_[receive] = true;
    if (receive < next_receive_) return "messages overtake each other";
    if (!received.unposted) next_receive_ = receive + 1;
    if (sent.symbol != received.symbol) return "lengths differ";
    if (facts_.by_clock_records && is_impossible(sent, received)) {
      return "clock records contradict a pair";
    }
    return nullptr;
  }

  const ChannelFacts& facts_;
  std::vector<bool> received_;
  std::uint32_t next_send_ = 0, next_receive_ = 0;  ///< first that may follow
};

std::uint64_t paired(const std::vector<trace::ClaimedRun>& runs) {
  std::uint64_t count = 0;
  for (const trace::ClaimedRun& run : runs) count += run.count;
  return count;
}

}  // namespace

const char* refute(const trace::ClaimedChannel& claim, const ChannelFacts& facts) {
  PairTest test(facts);
  for (const trace::ClaimedRun& run : claim.pairs) {
    if (const char* why = test.run(run)) return why;
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
  std::uint64_t next_call = 0, next_instance = 0;
  for (const trace::ClaimedRun& run : claim.instances) {
    if (run.first < next_call) return "a call is in two instances, or calls are out of order";
    if (run.second < next_instance) return "an instance has two calls, or is out of order";
    next_call = std::uint64_t{run.first} + run.count;
    next_instance = std::uint64_t{run.second} + run.count;
  }
  if (next_call > calls) return "there is no such call";
  if (next_instance > instances) return "no process has so many calls";
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
  return std::any_of(own.begin(), own.end(), [&](LocationIndex l) {
    const std::vector<trace::Gap>& gaps = share.trace.locations[l].gaps;
    return std::any_of(gaps.begin(), gaps.end(),
                       [](const trace::Gap& gap) { return gap.end != trace::Gap::k_open; });
  });
}

}  // namespace entrain::verify
