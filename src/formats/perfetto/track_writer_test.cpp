// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/track_writer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <protozero/pbf_message.hpp>

namespace entrain::perfetto {
namespace {

/// "track time type name+flows" of every event.
std::vector<std::string> events_in(const std::string& trace) {
  std::vector<std::string> lines;
  protozero::pbf_message<TraceField> all(trace);
  while (all.next(TraceField::packet)) {
    protozero::pbf_message<PacketField> packet(all.get_message());
    std::uint64_t time = 0;
    while (packet.next()) {
      if (packet.tag() == PacketField::timestamp) {
        time = packet.get_uint64();
      } else if (packet.tag() == PacketField::track_event) {
        protozero::pbf_message<EventField> event(packet.get_message());
        std::uint64_t track = 0;
        int type = 0;
        std::string rest;
        while (event.next()) {
          if (event.tag() == EventField::type) {
            type = event.get_enum();
          } else if (event.tag() == EventField::track_uuid) {
            track = event.get_uint64();
          } else if (event.tag() == EventField::name) {
            rest += " " + event.get_string();
          } else if (event.tag() == EventField::flow_ids) {
            rest += " flow " + std::to_string(event.get_fixed64());
          } else {
            event.skip();
            rest += " more";
          }
        }
        lines.push_back(std::to_string(track) + " " + std::to_string(time) + " " +
                        std::string(1, " bei#"[type]) + rest);
      } else {
        packet.skip();
      }
    }
  }
  return lines;
}

std::string named(std::string_view name) {
  std::string fields;
  add_bytes(fields, EventField::name, name);
  return fields;
}

std::string flow(std::uint64_t id) {
  std::string fields;
  add_fixed(fields, EventField::flow_ids, id);
  return fields;
}

class Tracks : public ::testing::Test {
 protected:
  std::string out_;
  PacketWriter packets_{out_, 1};
  std::vector<TrackText> texts_{{.name = "process"}, {.parent = 0, .name = "thread"}};
  TrackWriter writer_{packets_, 10, texts_};
};

using Lines = std::vector<std::string>;

TEST_F(Tracks, ends_slices_before_what_begins_at_that_time) {
  writer_.slice(1, 100, 200, named("a"), {});
  writer_.slice(1, 100, 150, named("b"), flow(9));
  writer_.slice(1, 150, 150, named("c"), {});
  writer_.slice(1, 150, 200, named("d"), {});
  writer_.instant(1, 200, named("i"));
  writer_.finish();
  EXPECT_EQ(events_in(out_),
            (Lines{"11 100 b a", "11 100 b b", "11 150 e flow 9", "11 150 b c", "11 150 e",
                   "11 150 b d", "11 200 e", "11 200 e", "11 200 i i"}));
  EXPECT_EQ(writer_.counts().slices, 4u);
  EXPECT_EQ(writer_.counts().instants, 1u);
}

TEST_F(Tracks, moves_slices_that_do_not_nest_to_further_tracks) {
  writer_.slice(1, 100, 200, named("a"), {});
  writer_.slice(1, 150, 250, named("b"), {});
  writer_.slice(1, 220, 260, named("c"), {});
  writer_.finish();
  EXPECT_EQ(events_in(out_),
            (Lines{"11 100 b a", "12 150 b b", "11 200 e", "11 220 b c", "11 260 e", "12 250 e"}));
  EXPECT_EQ(writer_.counts().lanes, 1u);
}

TEST_F(Tracks, joins_arrows_to_the_slice_that_begins_then) {
  writer_.slice(1, 100, 200, named("a"), {});
  writer_.slice(1, 100, 180, named("b"), {});
  writer_.arrow_end(1, 100, named("x"), flow(1));
  writer_.arrow_end(1, 100, named("with arguments"), {});
  writer_.slice(1, 110, 130, named("c"), {});
  writer_.arrow_end(1, 120, named("y") + flow(2), flow(2));
  writer_.finish();
  EXPECT_EQ(events_in(out_),
            (Lines{"11 100 b a", "11 100 b b flow 1", "11 100 i with arguments", "11 110 b c",
                   "11 120 i y flow 2", "11 130 e", "11 180 e", "11 200 e"}));
  EXPECT_EQ(writer_.counts().arrow_ends, 3u);
  EXPECT_EQ(writer_.counts().instants, 0u);
}

TEST_F(Tracks, leaves_slices_open_that_never_end) {
  writer_.slice(1, 100, TrackWriter::k_never, named("a"), {});
  writer_.slice(1, 110, 120, named("b"), {});
  writer_.finish();
  EXPECT_EQ(events_in(out_), (Lines{"11 100 b a", "11 110 b b", "11 120 e"}));
  EXPECT_EQ(writer_.counts().unfinished, 1u);
}

TEST(PacketWriter, writes_lengths_of_any_size) {
  for (const std::size_t size : {0, 1, 126, 127, 128, 16382, 16383, 16384, 2097152}) {
    std::string out;
    add_message(out, TraceField::packet, [&](std::string& inner) { inner.append(size, 'x'); });
    protozero::pbf_message<TraceField> all(out);
    ASSERT_TRUE(all.next(TraceField::packet)) << size;
    EXPECT_EQ(all.get_view().size(), size);
    EXPECT_FALSE(all.next());
  }
}

TEST(InternedNames, are_numbered_as_they_come_until_the_table_is_full) {
  InternedNames names;
  EXPECT_EQ(names.number("a"), 1u);
  EXPECT_EQ(names.number(""), 2u);
  EXPECT_EQ(names.number("a"), 1u);
  std::size_t refused = 0;
  for (int i = 0; i < 40000; ++i) refused += names.number("n" + std::to_string(i)) == 0 ? 1 : 0;
  EXPECT_EQ(refused, 40000u + 2 - names.all().size());
  EXPECT_LE(names.all().size(), 32768u);
  EXPECT_GT(names.all().size(), 30000u);
}

}  // namespace
}  // namespace entrain::perfetto
