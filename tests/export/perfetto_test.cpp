// SPDX-License-Identifier: BSD-3-Clause
//
// `entrain export --to perfetto`: what protoc, and the numbers of Perfetto's schema, say of it.
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"
#include "support/archive_builder.hpp"
#include "support/decoded.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ExportPerfetto : public testing::Test {
 protected:
  void SetUp() override {
    if (has_protoc()) return;
    std::puts("skipped: there is no protoc (Debian: protobuf-compiler)");
    GTEST_SKIP() << "there is no protoc";
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  /// Exports with these options into a new file; the report as JSON.
  Json exported(const std::string& archive, const std::string& file,
                std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"export", archive, "--to", "perfetto", "-o", at(file), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ChildOutcome outcome = run_tool(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    return json_of(outcome);
  }

  TempFolder folder_;
};

/// Every slice of a track ends, later than it begins, and none ends without a begin.
void expect_nested(const Picture& picture) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> open;
  std::map<std::uint64_t, std::uint64_t> last;
  for (const PictureEvent& event : picture.events) {
    ASSERT_TRUE(picture.tracks.contains(event.track)) << event.track;
    if (event.type == 3) continue;
    EXPECT_GE(event.ns, last[event.track]);
    last[event.track] = event.ns;
    if (event.type == 1) {
      open[event.track].push_back(event.ns);
    } else {
      ASSERT_FALSE(open[event.track].empty());
      open[event.track].pop_back();
    }
  }
  for (const auto& [track, begins] : open) EXPECT_TRUE(begins.empty()) << track;
}

/// Ends of the arrows of a category by their ids: times of departures and of arrivals.
struct Ends {
  std::vector<std::uint64_t> departures, arrivals;
};
std::map<std::uint64_t, Ends> arrows_in(const Picture& picture, const std::string& category) {
  const std::set<std::string> arrivals{"receive", "collective end", "thread effect", "rma effect"};
  std::map<std::uint64_t, Ends> arrows;
  for (const PictureEvent& event : picture.events) {
    if (!category.empty() && event.category != category) continue;
    for (const std::vector<std::uint64_t>* ids : {&event.flows, &event.ending_flows}) {
      for (const std::uint64_t id : *ids) {
        Ends& ends = arrows[id];
        (arrivals.contains(event.name) ? ends.arrivals : ends.departures).push_back(event.ns);
      }
    }
  }
  return arrows;
}

std::uint64_t expect_two_ends(const std::map<std::uint64_t, Ends>& arrows) {
  std::uint64_t backward = 0;
  for (const auto& [id, ends] : arrows) {
    EXPECT_EQ(ends.departures.size(), 1u) << id;
    EXPECT_EQ(ends.arrivals.size(), 1u) << id;
    if (ends.departures.empty() || ends.arrivals.empty()) continue;
    if (ends.arrivals[0] < ends.departures[0]) ++backward;
  }
  return backward;
}

std::uint64_t instants(const Picture& picture, const std::string& name) {
  return static_cast<std::uint64_t>(
      std::count_if(picture.events.begin(), picture.events.end(),
                    [&](const PictureEvent& e) { return e.type == 3 && e.name == name; }));
}

/// Two processes: a message that arrives 10 ticks before it was sent, and one that does not.
fs::path write_two(const fs::path& folder) {
  ArchiveBuilder archive(folder);
  const auto node = archive.node("n0");
  archive.location(0, archive.process("rank zero", node), "main");
  archive.location(1, archive.process("rank one", node), "main");
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1});
  const auto outer = archive.region("main");
  const auto send = archive.region("MPI_Send");
  archive.at(0).enter(1000, outer).enter(1090, send).send(1100, 1, world, 7).leave(1110, send);
  archive.at(0).send(1300, 1, world, 7).leave(2000, outer);
  archive.at(1).enter(1020, outer).recv(1090, 0, world, 7).recv(1350, 0, world, 7);
  archive.at(1).leave(1900, outer);
  archive.finish();
  return folder / "traces.otf2";
}

TEST_F(ExportPerfetto, shows_calls_arrows_and_violations) {
  const fs::path archive = write_two(folder_ / "a");
  const Json report = exported(archive.string(), "a.pftrace");
  EXPECT_EQ(report["schema"], "entrain.export/1");
  EXPECT_EQ(report["slices"], 3);
  EXPECT_EQ(report["flows"], 2);
  EXPECT_EQ(report["backward"], 1);
  EXPECT_EQ(report["marked_violations"], 1);
  EXPECT_EQ(report["bytes"], fs::file_size(at("a.pftrace")));
  const Picture picture = picture_in(at("a.pftrace"));
  expect_nested(picture);

  std::vector<std::string> lines;
  for (const PictureEvent& e : picture.events) {
    std::ostringstream line;
    line << picture.tracks.at(picture.tracks.at(e.track).parent).name << ' ' << e.ns << ' '
         << e.type << ' ' << e.category << ' ' << e.name;
    for (const std::uint64_t id : e.flows) line << " flow " << id;
    for (const std::uint64_t id : e.ending_flows) line << " ending " << id;
    for (const auto& [name, value] : e.notes) line << ' ' << name << '=' << value;
    lines.push_back(line.str());
  }
  EXPECT_THAT(lines,
              ElementsAre("rank zero 0 1 call main", "rank zero 90 1 call MPI_Send",
                          "rank zero 100 3 message send flow 1", "rank zero 110 2  ",
                          "rank zero 300 3 message send flow 2", "rank zero 1000 2  ",
                          "rank one 20 1 call main", "rank one 90 3 message receive flow 1",
                          "rank one 90 3 violation violation bound_ns=0 cause=rank zero kind=p2p "
                          "margin_ns=-10",
                          "rank one 350 3 message receive ending 2", "rank one 900 2  "));
}

TEST_F(ExportPerfetto, shows_corrected_times_alone) {
  const fs::path archive = write_two(folder_ / "a");
  const Json report = exported(archive.string(), "a.pftrace", {"--correct"});
  EXPECT_EQ(report["corrected"], true);
  EXPECT_EQ(report["slices"], 3);
  EXPECT_EQ(report["backward"], 0);
  EXPECT_EQ(report["marked_violations"], 0);
  EXPECT_EQ(report["counts"]["violations"], 0);
  const Json both = exported(archive.string(), "both.pftrace", {"--both"});
  EXPECT_EQ(both["corrected"], false);
  EXPECT_EQ(both["slices"], 6);
  expect_refusal(run_tool({"export", archive.string(), "-o", at("x"), "--both", "--correct"}),
                 "--both");
  expect_refusal(run_tool({"export", archive.string(), "-o", at("x.csv"), "--correct"}),
                 "a table of edges");
}

TEST_F(ExportPerfetto, cuts_calls_at_the_ends_of_the_part_that_is_asked_for) {
  const fs::path archive = write_two(folder_ / "a");
  const Json report =
      exported(archive.string(), "a.pftrace", {"--from", "105e-9", "--until", "400e-9"});
  EXPECT_EQ(report["flows"], 1);
  EXPECT_EQ(report["slices"], 3);
  const Picture picture = picture_in(at("a.pftrace"));
  expect_nested(picture);
  std::vector<std::string> lines;
  for (const PictureEvent& e : picture.events) {
    lines.push_back(std::to_string(e.ns) + ' ' + std::to_string(e.type) + ' ' + e.name);
  }
  EXPECT_THAT(lines, ElementsAre("105 1 main", "105 1 MPI_Send", "110 2 ", "300 3 send", "400 2 ",
                                 "105 1 main", "350 3 receive", "400 2 "));
}

TEST_F(ExportPerfetto, shows_every_message_and_none_backward_after_correct) {
  const Json before = exported(example("lulesh-8"), "before.pftrace");
  const Picture picture = picture_in(at("before.pftrace"));
  expect_nested(picture);
  const auto arrows = arrows_in(picture, "");
  EXPECT_EQ(arrows.size(), before["flows"].get<std::size_t>());
  EXPECT_EQ(arrows_in(picture, "message").size(),
            before["counts"]["edges"]["p2p"]["count"].get<std::size_t>());
  EXPECT_EQ(expect_two_ends(arrows), before["backward"].get<std::uint64_t>());
  EXPECT_GT(before["backward"].get<std::uint64_t>(), 100u);
  EXPECT_EQ(instants(picture, "violation"), before["marked_violations"].get<std::uint64_t>());
  std::set<std::uint64_t> leaves;
  for (const PictureEvent& event : picture.events) leaves.insert(event.track);
  EXPECT_EQ(leaves.size(), before["tracks"].get<std::size_t>());

  ASSERT_EQ(run_tool({"correct", example("lulesh-8"), "-o", at("fixed")}).exit_code, 0);
  const Json after = exported(at("fixed"), "after.pftrace");
  EXPECT_EQ(after["flows"], before["flows"]);
  EXPECT_EQ(after["slices"], before["slices"]);
  EXPECT_EQ(after["backward"], 0);
  const Picture fixed = picture_in(at("after.pftrace"));
  EXPECT_EQ(expect_two_ends(arrows_in(fixed, "")), 0u);
  EXPECT_EQ(instants(fixed, "violation"), 0u);
}

TEST_F(ExportPerfetto, shows_the_flows_of_a_sweep) {
  const fs::path archive = fs::path(ENTRAIN_SHARED_TRACES_DIR) / "../field/sweep3d-4/otf2";
  if (!fs::exists(archive)) {
    std::puts("skipped: no further traces at " ENTRAIN_SHARED_TRACES_DIR);
    GTEST_SKIP() << "no further traces at " << ENTRAIN_SHARED_TRACES_DIR;
  }
  ASSERT_NE(run_tool({"correct", archive.string(), "-o", at("fixed")}).exit_code, 2);
  exported(at("fixed"), "fixed.pftrace");
  const auto arrows = arrows_in(picture_in(at("fixed.pftrace")), "message");
  EXPECT_EQ(arrows.size(), 5760u);
  EXPECT_EQ(expect_two_ends(arrows), 0u);
}

TEST_F(ExportPerfetto, writes_what_is_around_the_worst_edges_of_a_large_trace) {
  ExportOptions options;
  options.size_limit_bytes = 100'000;
  const auto report = export_trace(example("lulesh-8"), at("part.pftrace"), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_THAT(report->notes[0], HasSubstr("only 10 ms around each of the 10 worst edges"));
  EXPECT_GT(report->violations, 0u);
  expect_nested(picture_in(at("part.pftrace")));

  options.from_s = 0;
  const auto whole = export_trace(example("lulesh-8"), at("whole.pftrace"), options);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(whole->notes.empty());
  EXPECT_LT(report->slices, whole->slices);
}

TEST(Export, refuses_what_cannot_be) {
  const TempFolder folder;
  const std::string file = (folder / "x").string();
  expect_refusal(run_tool({"export", example("lulesh-8"), "--to", "svg", "-o", file}), "is not");
  expect_refusal(
      run_tool({"export", example("lulesh-8"), "-o", file, "--from", "2", "--until", "1"}),
      "later than");
  expect_refusal(run_tool({"export", (folder / "none").string(), "-o", file}), "none");
  EXPECT_FALSE(fs::exists(file));
  std::ofstream(file) << "mine";
  expect_refusal(run_tool({"export", example("lulesh-8"), "-o", file}), "exists");
}

}  // namespace
}  // namespace entrain::test
