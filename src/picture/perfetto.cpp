// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include <protozero/pbf_builder.hpp>

#include "base/file_mark.hpp"
#include "formats/perfetto/fields.hpp"
#include "picture/writer.hpp"

namespace entrain::picture {

namespace {

using perfetto::EventField;
using perfetto::InternedField;
using perfetto::NameField;
using perfetto::NoteField;
using perfetto::PacketField;
using perfetto::SystemField;
using perfetto::TraceField;
using perfetto::TrackField;
using protozero::pbf_builder;

constexpr std::uint32_t k_sequence = 1;
constexpr std::uint64_t k_call_category = k_families + 1, k_violation_category = k_families + 2;
constexpr std::array<const char*, 4> k_notes{"margin_ns", "bound_ns", "kind", "cause"};

class Perfetto final : public Writer {
 public:
  void begin(const Titles& titles) override {
    take(titles);
    first_mark_ = titles.definitions.regions.size() + 2;
    packet([&](auto& packet) {
      pbf_builder<SystemField>(packet, PacketField::system_info)
          .add_string(SystemField::tracing_service_version, file_mark());
    });
    write_names();
    for (std::uint32_t group = 0; group < titles.groups.size(); ++group) {
      write_tracks(titles, group);
    }
  }

  void enter(const Track& track, std::uint64_t ns, std::uint32_t region) override {
    const std::uint64_t name = std::min<std::uint64_t>(region, definitions_->regions.size()) + 1;
    event(track, ns, [&](auto& event) {
      event.add_uint64(EventField::category_iids, k_call_category);
      event.add_enum(EventField::type, perfetto::k_slice_begin);
      event.add_uint64(EventField::name_iid, name);
    });
  }

  void leave(const Track& track, std::uint64_t ns) override {
    event(track, ns, [&](auto& event) { event.add_enum(EventField::type, perfetto::k_slice_end); });
  }

  /// A viewer takes the earlier end of an arrow for its begin, and finds no begin for an id that
  /// was ended before: so backward arrows have ends of one kind.
  void mark(const Track& track, std::uint64_t ns, const Mark& mark) override {
    event(track, ns, [&](auto& event) {
      const auto family = static_cast<std::uint64_t>(mark.family);
      event.add_uint64(EventField::category_iids, family + 1);
      event.add_enum(EventField::type, perfetto::k_instant);
      event.add_uint64(EventField::name_iid, first_mark_ + 2 * family + (mark.arrival ? 1 : 0));
      for (const FlowEnd& end : mark.flows) {
        event.add_fixed64(
            mark.arrival && !end.backward ? EventField::terminating_flow_ids : EventField::flow_ids,
            end.id);
      }
    });
  }

  void violation(const Track& track, std::uint64_t ns, const Violation& violation) override {
    event(track, ns, [&](auto& event) {
      event.add_uint64(EventField::category_iids, k_violation_category);
      event.add_enum(EventField::type, perfetto::k_instant);
      event.add_uint64(EventField::name_iid, first_mark_ + 2 * k_families);
      const auto note = [&](std::uint64_t number, auto add) {
        pbf_builder<NoteField> one(event, EventField::debug_annotations);
        one.add_uint64(NoteField::name_iid, number);
        add(one);
      };
      note(1, [&](auto& one) { one.add_int64(NoteField::int_value, violation.margin_ns); });
      note(2, [&](auto& one) { one.add_int64(NoteField::int_value, violation.bound_ns); });
      note(3, [&](auto& one) { one.add_string(NoteField::string_value, violation.kind); });
      note(4, [&](auto& one) {
        one.add_string(NoteField::string_value, process_names_[violation.cause]);
      });
    });
  }

  void end() override {}

 private:
  template <class Fill>
  void packet(Fill fill) {
    packet_.clear();
    pbf_builder<PacketField> packet(packet_);
    packet.add_uint32(PacketField::trusted_packet_sequence_id, k_sequence);
    fill(packet);
    pbf_builder<TraceField>(text_).add_message(TraceField::packet, packet_);
  }

  template <class Fill>
  void event(const Track& track, std::uint64_t ns, Fill fill) {
    packet([&](auto& packet) {
      packet.add_uint64(PacketField::timestamp, ns);
      packet.add_uint32(PacketField::sequence_flags, perfetto::k_needs_state);
      pbf_builder<EventField> event(packet, PacketField::track_event);
      event.add_uint64(EventField::track_uuid, uuid(track.group) + processes_ + 1 + track.location);
      fill(event);
    });
  }

  /// Number of the track that a group is; its processes and locations follow.
  [[nodiscard]] std::uint64_t uuid(std::uint32_t group) const {
    return 1 + group * (1 + std::uint64_t{processes_} + definitions_->locations.size());
  }

  void write_names() {
    packet([&](auto& packet) {
      packet.add_uint32(PacketField::sequence_flags, perfetto::k_state_cleared);
      pbf_builder<InternedField> data(packet, PacketField::interned_data);
      const auto add = [&](InternedField table, std::uint64_t number, const std::string& name) {
        pbf_builder<NameField> one(data, table);
        one.add_uint64(NameField::iid, number);
        one.add_string(NameField::name, name);
      };
      for (std::uint32_t r = 0; r <= definitions_->regions.size(); ++r) {
        add(InternedField::event_names, r + 1, region_name(*definitions_, r));
      }
      for (std::uint64_t f = 0; f < k_families; ++f) {
        const auto family = static_cast<Family>(f);
        add(InternedField::event_categories, f + 1, name_of(family));
        add(InternedField::event_names, first_mark_ + 2 * f, name_of(family, false));
        add(InternedField::event_names, first_mark_ + 2 * f + 1, name_of(family, true));
      }
      add(InternedField::event_names, first_mark_ + 2 * k_families, "violation");
      add(InternedField::event_categories, k_call_category, "call");
      add(InternedField::event_categories, k_violation_category, "violation");
      for (std::size_t i = 0; i < k_notes.size(); ++i) {
        add(InternedField::debug_annotation_names, i + 1, k_notes[i]);
      }
    });
  }

  void write_track(std::uint64_t number, std::uint64_t parent, const std::string& name,
                   std::uint32_t rank) {
    packet([&](auto& packet) {
      pbf_builder<TrackField> track(packet, PacketField::track_descriptor);
      track.add_uint64(TrackField::uuid, number);
      if (parent != 0) track.add_uint64(TrackField::parent_uuid, parent);
      track.add_string(TrackField::name, shown_name(name, rank));
      track.add_enum(TrackField::child_ordering, perfetto::k_explicit_order);
      track.add_int32(TrackField::sibling_order_rank, static_cast<std::int32_t>(rank));
      track.add_enum(TrackField::sibling_merge_behavior, perfetto::k_never_merged);
    });
  }

  void write_tracks(const Titles& titles, std::uint32_t group) {
    const trace::Definitions& definitions = *definitions_;
    const std::string& title = titles.groups[group];
    const std::uint64_t base = uuid(group);
    if (!title.empty()) write_track(base, 0, title, group);
    std::vector<bool> named(processes_);
    for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
      if (!titles.shown[l]) continue;
      const std::uint32_t process = definitions.process_of[l];
      if (!named[process]) {
        named[process] = true;
        write_track(base + 1 + process, title.empty() ? 0 : base, process_names_[l], process);
      }
      write_track(base + processes_ + 1 + l, base + 1 + process, definitions.locations[l].name, l);
    }
  }

  std::uint64_t first_mark_ = 0;  ///< number of the name of the first mark
  std::string packet_;
};

}  // namespace

std::unique_ptr<Writer> perfetto_writer() { return std::make_unique<Perfetto>(); }

}  // namespace entrain::picture
