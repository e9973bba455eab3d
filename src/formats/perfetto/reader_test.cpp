// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/reader.hpp"

#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <protozero/pbf_builder.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/packets.hpp"
#include "formats/perfetto/state.hpp"

namespace entrain::perfetto {
namespace {

using protozero::pbf_builder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Writes a trace, and reads its events as lines.
class PerfettoReader : public testing::Test {
 protected:
  template <class Fill>
  void packet(const Fill& fill, std::uint32_t sequence = 1) {
    std::string text;
    pbf_builder<PacketField> packet(text);
    if (sequence != 0) packet.add_uint32(PacketField::trusted_packet_sequence_id, sequence);
    fill(packet);
    pbf_builder<TraceField>(trace_).add_message(TraceField::packet, text);
  }
  void track(std::uint64_t uuid, std::uint64_t parent, int pid, int tid) {
    packet([&](auto& packet) {
      pbf_builder<TrackField> track(packet, PacketField::track_descriptor);
      track.add_uint64(TrackField::uuid, uuid);
      if (parent != 0) track.add_uint64(TrackField::parent_uuid, parent);
      if (pid < 0) return;
      pbf_builder<ThreadField> own(track, tid < 0 ? TrackField::process : TrackField::thread);
      own.add_int32(ThreadField::pid, pid);
      if (tid >= 0) own.add_int32(ThreadField::tid, tid);
    });
  }
  template <class Fill>
  void event(std::uint64_t time, std::uint64_t track, std::int32_t type, const Fill& fill,
             std::uint32_t flags = 0) {
    packet([&](auto& packet) {
      packet.add_uint64(PacketField::timestamp, time);
      if (flags != 0) packet.add_uint32(PacketField::sequence_flags, flags);
      pbf_builder<EventField> event(packet, PacketField::track_event);
      if (type != 0) event.add_enum(EventField::type, type);
      if (track != 0) event.add_uint64(EventField::track_uuid, track);
      fill(event);
    });
  }
  void begin(std::uint64_t time, std::uint64_t track, const std::string& name) {
    event(time, track, k_slice_begin,
          [&](auto& event) { event.add_string(EventField::name, name); });
  }
  void end(std::uint64_t time, std::uint64_t track) {
    event(time, track, k_slice_end, [](auto&) {});
  }
  template <class Fill>
  void interned(const Fill& fill, std::uint32_t flags = k_state_cleared) {
    packet([&](auto& packet) {
      if (flags != 0) packet.add_uint32(PacketField::sequence_flags, flags);
      pbf_builder<InternedField> data(packet, PacketField::interned_data);
      fill([&](InternedField table, std::uint64_t iid, const std::string& name) {
        pbf_builder<NameField> one(data, table);
        one.add_uint64(NameField::iid, iid);
        one.add_string(NameField::name, name);
      });
    });
  }
  using Clock = std::tuple<std::uint32_t, std::uint64_t, bool, std::uint64_t>;
  template <class Packet>
  static void snapshot(Packet& packet, const std::vector<Clock>& clocks) {
    pbf_builder<SnapshotField> snapshot(packet, PacketField::clock_snapshot);
    for (const auto& [id, value, is_incremental, unit] : clocks) {
      pbf_builder<ClockField> clock(snapshot, SnapshotField::clocks);
      clock.add_uint32(ClockField::clock_id, id);
      clock.add_uint64(ClockField::timestamp, value);
      if (is_incremental) clock.add_bool(ClockField::is_incremental, true);
      if (unit != 1) clock.add_uint64(ClockField::unit_multiplier_ns, unit);
    }
  }

  std::filesystem::path file() {
    return folder_.put(fmt::format("{}.pftrace", count_++),
                       {reinterpret_cast<const std::uint8_t*>(trace_.data()), trace_.size()});
  }
  /// Events as "phase name process/thread time+length category args id".
  std::vector<std::string> events() {
    std::vector<std::string> lines;
    const std::filesystem::path path = file();
    auto found = std::make_shared<Survey>();
    const auto see = [&](const Event& event) -> Result<void> {
      const Row& row = found->tracks.rows()[event.row];
      std::string line = fmt::format("{} {} {}/{} {}", event.phase, event.name, row.process,
                                     row.thread, event.time);
      if (event.length >= 0) line += fmt::format("+{}", event.length);
      for (const std::string_view text : {event.category, event.arguments, event.id}) {
        if (!text.empty()) line += fmt::format(" {}", text);
      }
      lines.push_back(line);
      return {};
    };
    auto facts = read_events(path, 0, *found, {.see = see, .wants_names = wants_names_});
    is_misread_ = facts && facts->is_misread;
    if (is_misread_) {
      lines.clear();
      found = survey(path, 0).value();
      facts = read_events(path, 0, *found, {.see = see, .wants_names = wants_names_});
    }
    if (facts) facts_ = *facts;
    if (!facts) error_ = facts.error().message;
    return lines;
  }
  /// Copies the trace with times that are later, and reads the copy from now on.
  void move(std::int64_t ns) {
    const std::filesystem::path path = file();
    const auto found = survey(path, 0);
    ASSERT_TRUE(found);
    const auto ignore = [](const Event&) -> Result<void> { return {}; };
    ASSERT_TRUE(read_events(path, 0, **found, {ignore}));
    std::string copy;
    const auto moved = retime(
        path, 0, **found,
        [&](const Row*, std::uint32_t, std::int64_t time) -> Result<std::int64_t> {
          return time + ns;
        },
        [&](std::string_view text) -> Result<void> {
          copy += text;
          return {};
        });
    ASSERT_TRUE(moved) << moved.error().message;
    trace_ = copy;
  }

  TempFolder folder_;
  int count_ = 0;
  std::string trace_, error_;
  bool is_misread_ = false;  ///< a survey was needed
  bool wants_names_ = false;
  TraceFacts facts_;
};

TEST_F(PerfettoReader, joins_begin_and_end_of_slices_of_a_track) {
  track(1, 0, 7, -1);
  track(2, 1, 7, 8);
  begin(10, 2, "outer");
  begin(20, 2, "inner");
  end(30, 2);
  end(50, 2);
  EXPECT_THAT(events(), ElementsAre("X inner 7/8 20+10", "X outer 7/8 10+40")) << error_;
  EXPECT_FALSE(is_misread_);
}

TEST_F(PerfettoReader, keeps_a_slice_that_does_not_end_as_a_begin) {
  track(2, 0, 7, 8);
  begin(10, 2, "open");
  end(5, 3);
  EXPECT_THAT(events(), ElementsAre("B open 7/8 10"));
}

TEST_F(PerfettoReader, pairs_slices_by_time_where_the_file_is_not_in_order) {
  track(2, 0, 7, 8);
  begin(10, 2, "a");
  begin(20, 2, "b");
  begin(60, 2, "c");
  end(50, 2);
  end(30, 2);
  end(70, 2);
  begin(5, 3, "other");
  end(6, 3);
  EXPECT_THAT(events(), ElementsAre("X a 7/8 10+40", "X b 7/8 20+10", "X c 7/8 60+10",
                                    "X other \"none\"/\"track 3\" 5+1"));
  EXPECT_TRUE(is_misread_);
}

TEST_F(PerfettoReader, takes_descriptors_that_follow_their_events_and_rows_of_parents) {
  begin(10, 3, "x");
  end(20, 3);
  begin(10, 4, "y");
  end(20, 4);
  track(3, 2, -1, -1);
  track(4, 1, -1, -1);
  track(2, 1, 7, 8);
  track(1, 0, 7, -1);
  EXPECT_THAT(events(), ElementsAre("X x 7/8 10+10", "X y 7/\"track 4\" 10+10"));
  EXPECT_TRUE(is_misread_);
}

TEST_F(PerfettoReader, ends_where_parents_go_round_in_circles) {
  track(3, 4, -1, -1);
  track(4, 3, -1, -1);
  track(5, 5, -1, -1);
  begin(10, 3, "x");
  end(20, 3);
  EXPECT_THAT(events(), ElementsAre("X x \"none\"/\"track 3\" 10+10"));
}

TEST_F(PerfettoReader, resolves_interned_names_until_the_state_is_cleared) {
  const auto named = [&](std::uint64_t time, std::uint32_t flags) {
    event(
        time, 0, k_instant,
        [](auto& event) {
          event.add_uint64(EventField::category_iids, 1);
          event.add_uint64(EventField::category_iids, 2);
          event.add_uint64(EventField::name_iid, 9);
        },
        flags);
  };
  named(1, k_needs_state);  // lost: no state yet
  interned([](auto add) {
    add(InternedField::event_categories, 1, "cpu");
    add(InternedField::event_categories, 2, "op");
    add(InternedField::event_names, 9, "a \"b\"");
  });
  named(2, k_needs_state);
  interned([](auto add) { add(InternedField::event_names, 9, "c"); });
  named(3, k_needs_state);
  packet([](auto& packet) { packet.add_bool(PacketField::previous_packet_dropped, true); });
  named(4, k_needs_state);
  EXPECT_THAT(events(), ElementsAre("i a \\\"b\\\" \"none\"/\"track 0\" 2 cpu,op",
                                    "i c \"none\"/\"track 0\" 3 ,"));
  EXPECT_EQ(facts_.events_without_state, 2U);
}

TEST_F(PerfettoReader, writes_annotations_as_json) {
  interned([](auto add) {
    add(InternedField::debug_annotation_names, 1, "n\n");
    add(InternedField::debug_annotation_string_values, 2, "v");
  });
  event(1, 0, k_instant, [](auto& event) {
    const auto note = [&](auto fill) {
      pbf_builder<NoteField> one(event, EventField::debug_annotations);
      one.add_string(NoteField::name, "a");
      fill(one);
    };
    note([](auto& one) { one.add_int64(NoteField::int_value, -5); });
    note([](auto& one) { one.add_uint64(NoteField::uint_value, ~std::uint64_t{0}); });
    note([](auto& one) { one.add_double(NoteField::double_value, 0.5); });
    note([](auto& one) { one.add_bool(NoteField::bool_value, true); });
    note([](auto& one) { one.add_string(NoteField::string_value, "\"\\\x01\xFF\xC3\xA4"); });
    note([](auto& one) { one.add_uint64(NoteField::string_value_iid, 2); });
    note([](auto& one) { one.add_string(NoteField::legacy_json_value, "[1, {}]"); });
    note([](auto& one) { one.add_string(NoteField::legacy_json_value, "[1,"); });
    note([](auto& one) {
      pbf_builder<NoteField> entry(one, NoteField::dict_entries);
      entry.add_string(NoteField::name, "k");
      pbf_builder<NoteField>(entry, NoteField::array_values).add_int64(NoteField::int_value, 1);
      pbf_builder<NoteField>(entry, NoteField::array_values).add_int64(NoteField::int_value, 2);
    });
    pbf_builder<NoteField> one(event, EventField::debug_annotations);
    one.add_uint64(NoteField::name_iid, 1);
  });
  EXPECT_THAT(
      events(),
      ElementsAre("i  \"none\"/\"track 0\" 1 {\"a\": -5, \"a\": 18446744073709551615, \"a\": 0.5, "
                  "\"a\": true, \"a\": \"\\\"\\\\\\u0001?\xC3\xA4\", \"a\": \"v\", "
                  "\"a\": [1, {}], \"a\": \"[1,\", \"a\": {\"k\": [1, 2]}, \"n\\u000a\": null}"));
}

TEST_F(PerfettoReader, adds_arguments_of_the_end_of_a_slice) {
  const auto note = [](auto& event, const char* name) {
    pbf_builder<NoteField> one(event, EventField::debug_annotations);
    one.add_string(NoteField::name, name);
    one.add_int64(NoteField::int_value, 1);
  };
  event(1, 2, k_slice_begin, [&](auto& event) { note(event, "a"); });
  event(2, 2, k_slice_end, [&](auto& event) { note(event, "b"); });
  EXPECT_THAT(events(), ElementsAre(HasSubstr(R"({"a": 1, "b": 1})")));
}

TEST_F(PerfettoReader, reads_flows_counters_and_work_of_devices) {
  interned([](auto add) {
    add(InternedField::gpu_specifications, 1, "Kernel");
    add(InternedField::gpu_specifications, 107, "stream 7");
    add(InternedField::event_names, 1, "ncclKernel");
  });
  event(1, 2, k_instant, [](auto& event) {
    event.add_fixed64(EventField::flow_ids, 11);
    event.add_fixed64(EventField::terminating_flow_ids, 12);
  });
  event(2, 2, k_counter, [](auto&) {});
  packet([](auto& packet) {
    packet.add_uint64(PacketField::timestamp, 3);
    pbf_builder<StageField> stage(packet, PacketField::gpu_render_stage_event);
    stage.add_uint64(StageField::event_id, 5);
    stage.add_uint64(StageField::duration, 4);
    stage.add_int32(StageField::gpu_id, 2);
    stage.add_uint64(StageField::hw_queue_iid, 107);
    stage.add_uint64(StageField::stage_iid, 1);
    stage.add_uint64(StageField::name_iid, 1);
    pbf_builder<ExtraField> extra(stage, StageField::extra_data);
    extra.add_string(ExtraField::name, "a");
    extra.add_string(ExtraField::value, "b");
  });
  EXPECT_THAT(events(),
              ElementsAre("s flow \"none\"/\"track 2\" 1 11", "f flow \"none\"/\"track 2\" 1 12",
                          "i  \"none\"/\"track 2\" 1", "C  \"none\"/\"track 2\" 2",
                          "X ncclKernel 2/107 3+4 Kernel {\"a\": \"b\", \"correlation\": \"5\", "
                          "\"stream\": \"7\"}"));
}

TEST_F(PerfettoReader, reads_values_of_counters_in_their_unit_and_sums_differences) {
  const auto whole = [&](std::uint64_t time, std::uint64_t track, std::int64_t value) {
    event(time, track, k_counter,
          [&](auto& event) { event.add_int64(EventField::counter_value, value); });
  };
  const auto real = [&](std::uint64_t time, double value) {
    event(time, 4, k_counter,
          [&](auto& event) { event.add_double(EventField::double_counter_value, value); });
  };
  const auto counter = [&](std::uint64_t uuid, const std::string& name, int unit, bool is_sum) {
    packet([&](auto& packet) {
      pbf_builder<TrackField> track(packet, PacketField::track_descriptor);
      track.add_uint64(TrackField::uuid, uuid);
      track.add_string(TrackField::static_name, name);
      pbf_builder<CounterField> own(track, TrackField::counter);
      own.add_int64(CounterField::unit_multiplier, unit);
      if (is_sum) own.add_bool(CounterField::is_incremental, true);
    });
  };
  wants_names_ = true;
  counter(3, "sum", 1000, true);
  counter(4, "real", 1, false);
  whole(1, 3, 5);
  whole(2, 3, 5);
  counter(3, "sum", 1000, true);
  whole(3, 3, -3);
  interned([](auto) {});
  whole(4, 3, 1);
  real(5, 0.5);
  real(6, std::numeric_limits<double>::quiet_NaN());
  real(7, -std::numeric_limits<double>::infinity());
  const auto line = [](const char* name, int track, int time, const char* value) {
    return fmt::format("C {} \"none\"/\"track {}\" {} {{\"value\": {}}}", name, track, time, value);
  };
  EXPECT_THAT(events(), ElementsAre(line("sum", 3, 1, "5000"), line("sum", 3, 2, "10000"),
                                    line("sum", 3, 3, "7000"), line("sum", 3, 4, "1000"),
                                    line("real", 4, 5, "0.5"), line("real", 4, 6, "null"),
                                    line("real", 4, 7, "null")));
}

TEST_F(PerfettoReader, reads_values_of_other_counters_that_events_have) {
  const auto counter = [&](std::uint64_t uuid, const std::string& name) {
    packet([&](auto& packet) {
      pbf_builder<TrackField> track(packet, PacketField::track_descriptor);
      track.add_uint64(TrackField::uuid, uuid);
      track.add_string(TrackField::name, name);
      pbf_builder<CounterField>(track, TrackField::counter)
          .add_bool(CounterField::is_incremental, true);
    });
  };
  wants_names_ = true;
  track(2, 0, 7, 8);
  counter(3, "cycles");
  counter(4, "load");
  packet([](auto& packet) {
    packet.add_uint32(PacketField::sequence_flags, k_state_cleared);
    pbf_builder<PacketField> defaults(packet, PacketField::trace_packet_defaults);
    pbf_builder<EventField>(defaults, PacketField::track_event)
        .add_uint64(EventField::extra_counter_track_uuids, 3);
  });
  event(10, 2, k_slice_begin, [](auto& event) {
    event.add_string(EventField::name, "a");
    event.add_int64(EventField::extra_counter_values, 5);
  });
  event(20, 2, k_slice_end, [](auto& event) {
    event.add_int64(EventField::extra_counter_values, -2);
    event.add_int64(EventField::extra_counter_values, 1);  // there is one counter
    event.add_uint64(EventField::extra_double_counter_track_uuids, 4);
    event.add_double(EventField::extra_double_counter_values, 0.5);
  });
  EXPECT_THAT(events(),
              ElementsAre("C cycles \"none\"/\"track 3\" 10 {\"value\": 5}",
                          "C cycles \"none\"/\"track 3\" 20 {\"value\": 3}",
                          "C load \"none\"/\"track 4\" 20 {\"value\": 0.5}", "X a 7/8 10+10"));
  EXPECT_EQ(facts_.unread_fields, 1u);
}

TEST_F(PerfettoReader, counts_what_is_not_read) {
  track(2, 0, 7, 8);
  end(5, 2);
  event(7, 2, k_slice_begin, [](auto& event) { event.add_uint64(EventField{34}, 1); });
  end(9, 2);
  EXPECT_THAT(events(), ElementsAre("X  7/8 7+2"));
  EXPECT_EQ(facts_.lone_ends, 1u);
  EXPECT_EQ(facts_.unread_fields, 1u);
  end(2, 2);  // the track is no longer in order of time
  events();
  EXPECT_TRUE(is_misread_);
  EXPECT_EQ(facts_.lone_ends, 2u);
}

TEST_F(PerfettoReader, reads_the_older_form_of_events) {
  const auto legacy = [&](char phase, auto fill) {
    event(5000, 2, 0, [&](auto& event) {
      pbf_builder<LegacyField> one(event, EventField::legacy_event);
      one.add_int32(LegacyField::phase, phase);
      fill(one);
    });
  };
  legacy('X', [](auto& one) { one.add_int64(LegacyField::duration_us, 3); });
  legacy('b', [](auto& one) { one.add_uint64(LegacyField::unscoped_id, 4); });
  legacy('I', [](auto& one) {
    one.add_uint64(LegacyField::bind_id, 6);
    one.add_int32(LegacyField::flow_direction, 2);
  });
  EXPECT_THAT(events(),
              ElementsAre("X  \"none\"/\"track 2\" 5000+3000", "b  \"none\"/\"track 2\" 5000 4",
                          "s flow \"none\"/\"track 2\" 5000 6", "I  \"none\"/\"track 2\" 5000"));
  trace_.clear();
  legacy('X', [](auto& one) { one.add_int64(LegacyField::duration_us, 3); });
  move(2000);
  EXPECT_THAT(events(), ElementsAre("X  \"none\"/\"track 2\" 7000+3000"));
}

/// Clock 64 of sequence 1 counts us from the last event, and clock 3 is 100 ns behind, later 150.
class PerfettoClocks : public PerfettoReader {
 protected:
  void SetUp() override {
    packet([](auto& packet) {
      packet.add_uint32(PacketField::sequence_flags, k_state_cleared);
      snapshot(packet, {{6, 1'000'000, false, 1}, {64, 1000, true, 1000}});
      pbf_builder<PacketField>(packet, PacketField::trace_packet_defaults)
          .add_uint32(PacketField::timestamp_clock_id, 64);
    });
    packet([](auto& packet) { snapshot(packet, {{3, 900, false, 1}, {6, 1000, false, 1}}); }, 9);
    packet([](auto& packet) { snapshot(packet, {{3, 1900, false, 1}, {6, 2050, false, 1}}); }, 9);
    at(5, std::nullopt, 1);
    at(7, std::nullopt, 1);
    at(1000, 3, 2);
    at(2000, 3, 2);
    at(123, std::nullopt, 2);
    at(77, 5, 2);  // a clock that no snapshot knows
  }
  void at(std::uint64_t value, std::optional<std::uint32_t> clock, std::uint32_t sequence) {
    packet(
        [&](auto& packet) {
          packet.add_uint64(PacketField::timestamp, value);
          if (clock) packet.add_uint32(PacketField::timestamp_clock_id, *clock);
          pbf_builder<EventField>(packet, PacketField::track_event)
              .add_enum(EventField::type, k_instant);
        },
        sequence);
  }
  std::vector<std::int64_t> times() {
    std::vector<std::int64_t> result;
    for (const std::string& line : events())
      result.push_back(std::stoll(line.substr(line.rfind(' '))));
    return result;
  }
};

TEST_F(PerfettoClocks, become_the_clock_of_the_trace_by_the_latest_snapshot) {
  EXPECT_THAT(times(), ElementsAre(1'005'000, 1'012'000, 1100, 2150, 123, 77));
}

TEST_F(PerfettoClocks, keep_their_meaning_when_times_move) {
  for (const std::int64_t shift :
       std::vector<std::int64_t>{1000, -50, 5'000'000, 1'000'000'000'000}) {
    trace_.clear();
    SetUp();
    const auto before = times();
    move(shift);
    const auto after = times();
    ASSERT_EQ(after.size(), before.size()) << error_;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::int64_t unit = i < 2 ? 1000 : 1;
      EXPECT_LE(std::abs(after[i] - before[i] - shift), unit / 2) << i << " by " << shift;
    }
  }
}

/// Round trips between machine 5 and the host, whose clocks are `ahead` apart, and run apart.
class PerfettoSync : public PerfettoReader {
 protected:
  static constexpr std::uint64_t k_start = 1'000'000'000'000, k_round = 30'000'000'000;

  void SetUp() override {
    packet([&](auto& packet) {
      packet.add_uint32(PacketField::machine_id, 5);
      pbf_builder<SyncField> sync(packet, PacketField::remote_clock_sync);
      for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint64_t host = k_start + i / 2 * k_round + i * 1001;
        const std::uint64_t client = host + 7'000'123 + i / 2 * 3333 - 700;
        pbf_builder<SyncedField> pair(sync, SyncField::synced_clocks);
        add(pair, SyncedField::client_clocks, client);
        add(pair, SyncedField::host_clocks, host);
      }
    });
  }
  static void add(pbf_builder<SyncedField>& pair, SyncedField side, std::uint64_t time) {
    pbf_builder<SnapshotField> snapshot(pair, side);
    for (const auto& [clock, value] : {std::pair(6U, time), std::pair(1U, time + 1'000'000)}) {
      pbf_builder<ClockField> reading(snapshot, SnapshotField::clocks);
      reading.add_uint32(ClockField::clock_id, clock);
      reading.add_uint64(ClockField::timestamp, value);
    }
  }
  /// Readings of a clock, as they come: client, host.
  std::vector<std::uint64_t> readings(std::uint32_t clock) {
    std::vector<std::uint64_t> found;
    std::string_view text = trace_;
    Piece piece;
    EXPECT_TRUE(take_piece(text, piece));
    for_each_field<PacketField>(piece.body, [&](PacketField field, const Value& sync) {
      if (field != PacketField::remote_clock_sync) return;
      for_each_field<SyncField>(sync.bytes, [&](SyncField, const Value& pair) {
        for_each_field<SyncedField>(pair.bytes, [&](SyncedField, const Value& snapshot) {
          Clocks none;
          std::vector<Reading> all;
          readings_of(snapshot.bytes, none, all);
          for (const Reading& one : all) {
            if (one.clock == clock) found.push_back(static_cast<std::uint64_t>(one.value));
          }
        });
      });
    });
    return found;
  }
  /// The offset as Perfetto computes it (proto_trace_reader.cc).
  std::int64_t offset() {
    const std::vector<std::uint64_t> t = readings(6);
    std::int64_t sum = 0, count = 0;
    for (std::size_t i = 0; i + 3 < t.size(); i += 2) {
      if (t[i + 2] - t[i] >= k_round) continue;
      sum += static_cast<std::int64_t>((t[i] + t[i + 2]) / 2) - static_cast<std::int64_t>(t[i + 1]);
      sum += static_cast<std::int64_t>(t[i + 2]) -
             static_cast<std::int64_t>((t[i + 1] + t[i + 3]) / 2);
      count += 2;
    }
    EXPECT_GT(count, 0);
    return sum / count;
  }
};

TEST_F(PerfettoSync, tells_no_offset_once_the_clocks_are_corrected) {
  EXPECT_NEAR(static_cast<double>(offset()), 7'001'589, 3);
  const std::vector<std::uint64_t> before = readings(6), wall = readings(1);
  move(1234);
  EXPECT_EQ(offset(), 0);
  const std::vector<std::uint64_t> after = readings(6), wall_after = readings(1);
  ASSERT_EQ(after.size(), 8u);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(wall_after[i] - wall[i], after[i] - before[i]) << i;  // clocks of a machine
    if (i % 2 == 0) continue;
    EXPECT_EQ(after[i] - before[i], 1234u) << i;  // the host's
  }
}

TEST_F(PerfettoReader, lets_wall_clocks_of_all_machines_show_one_time) {
  const auto machine = [&](std::uint32_t number, std::uint64_t wall) {
    packet([&](auto& packet) {
      packet.add_uint32(PacketField::machine_id, number);
      snapshot(packet, {{6, 1'000'000, false, 1}, {1, wall, false, 1}});
    });
    packet([&](auto& packet) {
      packet.add_uint32(PacketField::machine_id, number);
      packet.add_uint64(PacketField::timestamp, wall + 50);
      packet.add_uint32(PacketField::timestamp_clock_id, 1);
      pbf_builder<EventField>(packet, PacketField::track_event)
          .add_enum(EventField::type, k_instant);
    });
  };
  machine(1, 9'000'000);
  machine(2, 9'000'700);
  move(0);
  std::string copy = std::move(trace_);
  trace_.clear();
  machine(1, 9'000'000);
  machine(2, 9'000'000);
  EXPECT_EQ(copy, trace_);
  move(300);
  EXPECT_THAT(events(), ElementsAre("i  \"none of machine 1\"/\"track 0\" 1000350",
                                    "i  \"none of machine 2\"/\"track 0\" 1000350"));
}

TEST_F(PerfettoReader, moves_times_in_place_while_they_fit) {
  packet([](auto& packet) { packet.add_string(PacketField::system_info, "as it was"); });
  begin(1000, 2, "a");
  end(2000, 2);
  const std::string before = trace_;
  move(-990);
  EXPECT_EQ(trace_.size(), before.size());
  EXPECT_THAT(events(), ElementsAre("X a \"none\"/\"track 2\" 10+1000"));
  move(std::int64_t{1} << 50);
  EXPECT_GT(trace_.size(), before.size());
  EXPECT_THAT(events(),
              ElementsAre(HasSubstr(fmt::format("{}+1000", (std::int64_t{1} << 50) + 10))));
  EXPECT_THAT(trace_, HasSubstr("as it was"));
}

TEST_F(PerfettoReader, uses_the_whole_packets_of_a_file_that_is_cut) {
  begin(10, 2, "a");
  end(20, 2);
  const std::size_t whole = trace_.size();
  begin(30, 2, "b");
  trace_.resize(trace_.size() - 1);
  EXPECT_THAT(events(), ElementsAre("X a \"none\"/\"track 2\" 10+10"));
  EXPECT_TRUE(facts_.is_cut);
  const std::string before = trace_;
  move(5);
  EXPECT_EQ(trace_.substr(whole), before.substr(whole));
}

TEST_F(PerfettoReader, refuses_damage_in_a_sentence) {
  const auto error_of = [&](const std::string& bytes) {
    trace_ = bytes;
    error_.clear();
    EXPECT_THAT(events(), IsEmpty());
    return error_;
  };
  EXPECT_THAT(error_of("\x0A\x02\x08"), IsEmpty());  // cut
  EXPECT_THAT(error_of(std::string("\x0A\x00\x0A\x00", 4)), HasSubstr("UTF-16"));
  EXPECT_THAT(error_of("\x0F"), HasSubstr("no packet can begin at byte 0"));
  EXPECT_THAT(error_of("\x0A\x01\x08"), HasSubstr("byte 0 is damaged"));
  EXPECT_THAT(error_of("\x0A\xFF\xFF\xFF\xFF\x7F"
                       "abc"),
              HasSubstr("more than 268435456 bytes"));
  EXPECT_THAT(error_of(std::string(12, '\x8A')), HasSubstr("no packet can begin"));
}

TEST(Perfetto, is_recognised_by_its_first_packet) {
  EXPECT_TRUE(may_hold_packets(std::string("\x0A\x02\x40\x05", 4)));
  EXPECT_TRUE(may_hold_packets(std::string("\x0A\x00", 2)));
  EXPECT_FALSE(may_hold_packets(""));
  EXPECT_FALSE(may_hold_packets("\n{\"traceEvents\": []}"));
  EXPECT_FALSE(may_hold_packets("\n"));
  EXPECT_FALSE(may_hold_packets("\n[{\"ph\": \"X\"}]"));
  EXPECT_TRUE(is_trace_name("a/b.PFTRACE.gz"));
  EXPECT_TRUE(is_trace_name("trace.perfetto-trace"));
  EXPECT_FALSE(is_trace_name("trace.json"));
}

}  // namespace
}  // namespace entrain::perfetto
