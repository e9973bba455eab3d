// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/flow_forward.hpp"
#include "clc/relays.hpp"
#include "clc/team_testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using testing::in_team;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using Owner = std::vector<std::uint32_t>;

constexpr MuTicks k_one_mu{10, 10, 10};
constexpr Decimal9 k_some_gamma{900'000'000};

/// `per_member` locations at each of `members` members.
Owner blocks(std::uint32_t members, std::uint32_t per_member) {
  Owner owner;
  for (std::uint32_t l = 0; l < members * per_member; ++l) owner.push_back(l / per_member);
  return owner;
}

/// The relays of every member, for a trace.
std::vector<Relays> relays_of(const TraceBuilder& b, const Owner& owner,
                              const MuTicks& mu = k_one_mu) {
  std::vector<Relays> relays(*std::max_element(owner.begin(), owner.end()) + 1);
  const auto done =
      in_team(b, owner, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        const GhostPlaces ghosts(problem.graph);
        relays[share.team.rank()] = Relays(share.team, problem.graph, problem.cycles, ghosts,
                                           match::Extremes::is_uniform(mu));
        return {};
      });
  EXPECT_TRUE(done);
  return relays;
}

/// Everybody calls once, later by 10 from location to location, and leaves after 1,000.
TraceBuilder one_call(std::uint32_t locations, std::uint8_t op,
                      std::uint32_t root = trace::k_root_none) {
  TraceBuilder b(locations);
  for (LocationIndex l = 0; l < locations; ++l) {
    b.collective(l, 100 + 10 * l, 1'100 + 10 * l, op, root);
  }
  return b;
}

/// Lets the relays of all members talk until nothing is on its way.
class Conversation {
 public:
  explicit Conversation(const std::vector<Relays>& relays) {
    for (const Relays& of_member : relays) members_.emplace_back(*this, of_member);
  }

  std::size_t posted = 0;            ///< news
  std::vector<std::int64_t> latest;  ///< latest begins, as told for each end

  /// Begins of all relays are done in order of the members; the time is the member's number.
  void run() {
    for (Member& member : members_) member.progress.start();
    for (std::uint32_t m = 0; m < members_.size(); ++m) {
      for (std::uint32_t i = 0; i < members_[m].relays.relays().size(); ++i) {
        for (std::uint32_t k = 0; k < members_[m].relays.relays()[i].begins; ++k) {
          const std::int64_t time = m;
          members_[m].progress.begun(i, m, std::span(&time, 1));
        }
      }
    }
    for (std::size_t next = 0; next < mail_.size(); ++next) {
      const News news = mail_[next];
      members_[news.target.rank].progress.hear(news.target.relay, news.stage,
                                               std::span(&news.known, 1));
    }
    posted = mail_.size();
  }

  [[nodiscard]] std::uint64_t awaited() const {
    std::uint64_t sum = 0;
    for (const Member& member : members_) sum += member.progress.awaited();
    return sum;
  }

 private:
  struct News {
    RelayTarget target;
    std::uint32_t stage = 0;
    match::LargestTwo known;
  };
  struct Member final : RelayProgress::Out {
    Member(Conversation& talk, const Relays& its)
        : all(talk), relays(its), progress(its, 1, *this) {}
    void pass_on(const RelayTarget& target, std::uint32_t stage,
                 RelayProgress::Known known) override {
      all.mail_.push_back({target, stage, known[0]});
    }
    void all_known(NodeIndex, RelayProgress::Known known) override {
      all.latest.push_back(known[0].first());
    }
    Conversation& all;
    const Relays& relays;
    RelayProgress progress;
  };

  std::vector<News> mail_;
  std::deque<Member> members_;
};

TEST(Relays, news_spreads_in_as_many_stages_as_the_logarithm_of_members_has) {
  for (const auto& [members, stages] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {2, 1}, {3, 1}, {4, 1}, {5, 2}, {16, 2}, {17, 3}, {23, 3}}) {
    const auto relays = relays_of(one_call(2 * members, trace::op::barrier), blocks(members, 2));
    Conversation talk(relays);
    talk.run();
    const Relay& first = relays[0].relays()[0];
    EXPECT_FALSE(relays[0].targets(first, stages - 1).empty()) << members;
    EXPECT_TRUE(relays[0].targets(first, stages).empty()) << members;
    EXPECT_EQ(talk.latest, std::vector<std::int64_t>(2 * members, members - 1)) << members;
    EXPECT_EQ(talk.posted, talk.awaited());
    EXPECT_LE(talk.posted, 3u * stages * members);
  }
}

TEST(Relays, a_root_tells_all_or_hears_of_all) {
  constexpr std::uint32_t k_members = 11, k_root = 7;
  for (const std::uint8_t op : {trace::op::bcast, trace::op::gather}) {
    TraceBuilder b(k_members);
    for (LocationIndex l = 0; l < k_members; ++l) {
      b.collective(l, 100, 200, op, k_root);
    }
    const auto relays = relays_of(b, blocks(k_members, 1));
    Conversation talk(relays);
    talk.run();
    EXPECT_EQ(talk.posted, talk.awaited());
    EXPECT_EQ(talk.latest.size(), op == trace::op::bcast ? k_members : 1u);
    for (const std::int64_t time : talk.latest) {
      EXPECT_EQ(time, op == trace::op::bcast ? k_root : k_members - 1) << int{op};
    }
  }
}

TEST(Relays, are_not_for_scans_classes_of_latency_and_ends_at_the_time_of_their_begin) {
  const Owner owner = blocks(2, 2);
  const auto any = [&](const TraceBuilder& b, const MuTicks& mu = k_one_mu) {
    return relays_of(b, owner, mu)[0].any();
  };
  EXPECT_TRUE(any(one_call(4, trace::op::barrier)));
  EXPECT_FALSE(any(one_call(4, trace::op::scan)));
  EXPECT_FALSE(any(one_call(4, trace::op::barrier), {1, 2, 3}));
  TraceBuilder at_once(4);
  for (LocationIndex l = 0; l < 4; ++l) at_once.collective(l, 100, 100, trace::op::barrier);
  EXPECT_FALSE(any(at_once));
  EXPECT_FALSE(any(TraceBuilder(4)));
}

TEST(Relays, a_call_inside_of_a_member_has_none) {
  TraceBuilder b(4);
  const std::uint32_t comm = b.comm({2, 3});
  for (const LocationIndex l : {2u, 3u}) {
    b.collective(l, 100 + l, 200, trace::op::barrier, trace::k_root_none, comm);
  }
  const auto relays = relays_of(b, blocks(2, 2));
  // The home may be the other member: then a relay does it, and tells nobody.
  Conversation talk(relays);
  talk.run();
  EXPECT_EQ(talk.posted, 0u);
}

/// Times per location of a pass, alone or in a team.
std::vector<Times> times_of(const TraceBuilder& b, const Owner& owner) {
  std::vector<Times> times(owner.size());
  std::mutex mutex;
  const auto done =
      in_team(b, owner, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        const Forward way = flow_forward(share, problem.with(k_one_mu));
        TRY_ASSIGN(const auto passes, way(std::span(&k_some_gamma, 1)));
        const std::lock_guard lock(mutex);
        for (const LocationIndex l : share.own()) {
          times[l].assign(passes[0].times.begin() + problem.graph.first_node[l],
                          passes[0].times.begin() + problem.graph.first_node[l + 1]);
        }
        return {};
      });
  EXPECT_TRUE(done);
  return times;
}

TEST(Relays, passes_of_many_members_are_those_of_one) {
  // Collectives of all and of some, rooted or not, some of whose ends are too early.
  constexpr std::uint32_t k_locations = 36;
  TraceBuilder b(k_locations);
  std::vector<LocationIndex> odd;
  for (LocationIndex l = 1; l < k_locations; l += 2) odd.push_back(l);
  const std::uint32_t odd_ones = b.comm(odd);
  for (std::uint32_t k = 1; k < 12; ++k) {
    for (LocationIndex l = 0; l < k_locations; ++l) {
      const std::uint64_t at = 1'000 * k + (l * 7 + k * 13) % 90;
      b.collective(l, at, at + 20, trace::op::allreduce);
      b.collective(l, at + 30, at + 40, trace::op::bcast, k % k_locations);
      b.collective(l, at + 50, at + 60, trace::op::gather, 5 * k % k_locations);
      if (l % 2 == 1) {
        b.collective(l, at + 70, at + 80, trace::op::alltoall, trace::k_root_none, odd_ones);
      }
    }
  }
  Problem problem(b, {.every_event = true});
  const ForwardTimes alone = testing::flow_alone(problem.with(k_one_mu), k_some_gamma);
  std::vector<Times> expected;
  for (LocationIndex l = 0; l < k_locations; ++l) {
    expected.emplace_back(alone.times.begin() + problem.graph.first_node[l],
                          alone.times.begin() + problem.graph.first_node[l + 1]);
  }
  EXPECT_GT(alone.jumps, 100u);
  for (const std::uint32_t members : {2u, 3u, 6u, 18u, 36u}) {
    EXPECT_EQ(times_of(b, blocks(members, k_locations / members)), expected) << members;
  }
}

TEST(Relays, circles_are_found_beside_them) {
  // A barrier that relays do, before and after messages that wait for each other.
  TraceBuilder b(4);
  for (LocationIndex l = 0; l < 4; ++l) b.collective(l, 100 + l, 150, trace::op::barrier);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(trace::EventKind::recv, l, 1'000, 1 - l);
    b.message(trace::EventKind::send, l, 2'000, 1 - l);
  }
  for (LocationIndex l = 0; l < 4; ++l) b.collective(l, 3'000 - 90 * l, 3'010, trace::op::barrier);
  const std::vector<Times> times = times_of(b, {0, 1, 0, 1});
  EXPECT_THAT(times[3], ElementsAre(103, 150, 2'730, 3'010));
  EXPECT_EQ(times[0], (Times{100, 150, 1'000, 2'000, 3'000, 3'010}));
}

}  // namespace
}  // namespace entrain::clc
