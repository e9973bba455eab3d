// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include "base/file_mark.hpp"
#include "formats/perfetto/packet_writer.hpp"
#include "picture/writer.hpp"

namespace entrain::picture {

namespace {

using perfetto::EventField;
using perfetto::InternedField;
using perfetto::NoteField;
using perfetto::TrackField;

constexpr std::uint64_t k_call_category = k_families + 1, k_violation_category = k_families + 2;
constexpr std::array<const char*, 4> k_notes{"margin_ns", "bound_ns", "kind", "cause"};

class Perfetto final : public Writer {
 public:
  void begin(const Titles& titles) override {
    take(titles);
    first_mark_ = titles.definitions.regions.size() + 2;
    packets_.mark(file_mark());
    write_names();
    for (std::uint32_t group = 0; group < titles.groups.size(); ++group) {
      write_tracks(titles, group);
    }
  }

  void enter(const Track& track, std::uint64_t ns, std::uint32_t region) override {
    start(k_call_category, std::min<std::uint64_t>(region, definitions_->regions.size()) + 1);
    packets_.event(uuid(track), ns, perfetto::k_slice_begin, fields_);
  }

  void leave(const Track& track, std::uint64_t ns) override {
    packets_.event(uuid(track), ns, perfetto::k_slice_end, {});
  }

  /// A viewer takes the earlier end of an arrow for its begin, and finds no begin for an id that
  /// was ended before: so backward arrows have ends of one kind.
  void mark(const Track& track, std::uint64_t ns, const Mark& mark) override {
    const auto family = static_cast<std::uint64_t>(mark.family);
    start(family + 1, first_mark_ + 2 * family + (mark.arrival ? 1 : 0));
    for (const FlowEnd& end : mark.flows) {
      perfetto::add_fixed(
          fields_,
          mark.arrival && !end.backward ? EventField::terminating_flow_ids : EventField::flow_ids,
          end.id);
    }
    packets_.event(uuid(track), ns, perfetto::k_instant, fields_);
  }

  void violation(const Track& track, std::uint64_t ns, const Violation& violation) override {
    start(k_violation_category, first_mark_ + 2 * k_families);
    const auto note = [&](std::uint64_t number, auto add) {
      perfetto::add_message(fields_, EventField::debug_annotations, [&](std::string& one) {
        perfetto::add_number(one, NoteField::name_iid, number);
        add(one);
      });
    };
    const auto number = [](std::int64_t value) {
      return [value](std::string& one) { perfetto::add_integer(one, NoteField::int_value, value); };
    };
    const auto text = [](std::string_view value) {
      return
          [value](std::string& one) { perfetto::add_bytes(one, NoteField::string_value, value); };
    };
    note(1, number(violation.margin_ns));
    note(2, number(violation.bound_ns));
    note(3, text(violation.kind));
    note(4, text(process_names_[violation.cause]));
    packets_.event(uuid(track), ns, perfetto::k_instant, fields_);
  }

  void end() override {}

 private:
  /// Begins the fields of an event, with numbers of its category and name.
  void start(std::uint64_t category, std::uint64_t name) {
    fields_.clear();
    perfetto::add_number(fields_, EventField::category_iids, category);
    perfetto::add_number(fields_, EventField::name_iid, name);
  }

  /// Number of the track that a group is; its processes and locations follow.
  [[nodiscard]] std::uint64_t uuid(std::uint32_t group) const {
    return 1 + group * (1 + std::uint64_t{processes_} + definitions_->locations.size());
  }
  [[nodiscard]] std::uint64_t uuid(const Track& track) const {
    return uuid(track.group) + processes_ + 1 + track.location;
  }

  void write_names() {
    packets_.names([&](std::string& data) {
      for (std::uint32_t r = 0; r <= definitions_->regions.size(); ++r) {
        add_name(data, InternedField::event_names, r + 1, region_name(*definitions_, r));
      }
      for (std::uint64_t f = 0; f < k_families; ++f) {
        const auto family = static_cast<Family>(f);
        add_name(data, InternedField::event_categories, f + 1, name_of(family));
        add_name(data, InternedField::event_names, first_mark_ + 2 * f, name_of(family, false));
        add_name(data, InternedField::event_names, first_mark_ + 2 * f + 1, name_of(family, true));
      }
      add_name(data, InternedField::event_names, first_mark_ + 2 * k_families, "violation");
      add_name(data, InternedField::event_categories, k_call_category, "call");
      add_name(data, InternedField::event_categories, k_violation_category, "violation");
      for (std::size_t i = 0; i < k_notes.size(); ++i) {
        add_name(data, InternedField::debug_annotation_names, i + 1, k_notes[i]);
      }
    });
  }

  void write_track(std::uint64_t number, std::uint64_t parent, const std::string& name,
                   std::uint32_t rank) {
    std::string order;
    perfetto::add_number(order, TrackField::child_ordering, perfetto::k_explicit_order);
    perfetto::add_number(order, TrackField::sibling_order_rank, rank);
    perfetto::add_number(order, TrackField::sibling_merge_behavior, perfetto::k_never_merged);
    packets_.track(number, parent, shown_name(name, rank), order);
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

  perfetto::PacketWriter packets_{text_, 1};
  std::uint64_t first_mark_ = 0;  ///< number of the name of the first mark
  std::string fields_;            ///< fields of the present event
};

}  // namespace

std::unique_ptr<Writer> perfetto_writer() { return std::make_unique<Perfetto>(); }

}  // namespace entrain::picture
