// SPDX-License-Identifier: BSD-3-Clause
#include "support/compare_traces.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace entrain::test {

namespace {

// One line per record, so that a difference is readable.

std::string text(const trace::Location& l) {
  return fmt::format("location {} '{}' type {} events {} group {}", l.id, l.name,
                     static_cast<int>(l.type), l.event_count, l.group);
}
std::string text(const trace::LocationGroup& g) {
  return fmt::format("group {} '{}' creator {} node {}", g.id, g.name, g.creating_group,
                     g.tree_node);
}
std::string text(const trace::SystemTreeNode& n) {
  return fmt::format("tree node {} '{}' class '{}' parent {} shared {}", n.id, n.name, n.class_name,
                     n.parent, n.shared_memory);
}
std::string text(const trace::Region& r) {
  return fmt::format("region {} '{}' role {} paradigm {}", r.id, r.name, r.role, r.paradigm);
}
std::string text(const trace::Comm& c) {
  return fmt::format("comm {} '{}' inter {} self {} a {} b {}", c.id, c.name, c.inter, c.self,
                     c.group_a, c.group_b);
}
std::string text(const trace::RmaWindow& w) {
  return fmt::format("window {} '{}' comm {}", w.id, w.name, w.comm);
}
std::string text(const trace::Group& g) { return fmt::format("group {} {}", g.id, g.members); }
std::string text(const trace::Property& p) { return fmt::format("{}={}", p.name, p.value); }
std::string text(std::uint32_t number) { return fmt::format("{}", number); }
std::string text(const trace::Event& e) {
  return fmt::format("event kind {} time {} id {} comm {} peer {} tag {} op {} flags {} more {}",
                     static_cast<int>(e.kind), e.time, e.id, e.comm, e.peer, e.tag, e.op, e.flags,
                     e.more);
}
std::string text(const trace::Gap& g) { return fmt::format("gap {} .. {}", g.begin, g.end); }
std::string text(const trace::FlushInterval& f) {
  return fmt::format("flush {} .. {}", f.begin, f.end);
}
std::string text(const trace::ClockOffset& o) {
  return fmt::format("clock offset {} {:+} deviation {:#x}", o.time, o.offset,
                     std::bit_cast<std::uint64_t>(o.stddev));
}

template <class List>
std::string list_difference(const char* what, const List& a, const List& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto left = text(a[i]), right = text(b[i]); left != right) {
      return fmt::format("{} {}: {} | {}", what, i, left, right);
    }
  }
  if (a.size() != b.size()) return fmt::format("{}: {} | {} of them", what, a.size(), b.size());
  return "";
}

std::string number_difference(const char* what, std::uint64_t a, std::uint64_t b) {
  return a == b ? "" : fmt::format("{}: {} | {}", what, a, b);
}

std::string first_of(std::initializer_list<std::string> differences) {
  for (const auto& difference : differences) {
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace

std::string difference(const trace::Definitions& a, const trace::Definitions& b) {
  return first_of({number_difference("resolution", a.clock.resolution_hz, b.clock.resolution_hz),
                   number_difference("global offset", a.clock.global_offset, b.clock.global_offset),
                   number_difference("length", a.clock.length, b.clock.length),
                   number_difference("realtime", a.clock.realtime_ns, b.clock.realtime_ns),
                   list_difference("locations", a.locations, b.locations),
                   list_difference("location groups", a.location_groups, b.location_groups),
                   list_difference("tree nodes", a.tree_nodes, b.tree_nodes),
                   list_difference("regions", a.regions, b.regions),
                   list_difference("comms", a.comms, b.comms),
                   list_difference("windows", a.windows, b.windows),
                   list_difference("groups", a.groups, b.groups),
                   list_difference("properties", a.properties, b.properties),
                   list_difference("processes", a.process_of, b.process_of),
                   list_difference("nodes", a.node_of, b.node_of)});
}

std::string difference(const trace::LocationSkeleton& a, const trace::LocationSkeleton& b) {
  return first_of(
      {number_difference("event count", a.event_count, b.event_count),
       list_difference("events", a.events, b.events), number_difference("first", a.first, b.first),
       number_difference("last", a.last, b.last),
       number_difference("granule", a.granule, b.granule),
       list_difference("flushes", a.flushes, b.flushes), list_difference("gaps", a.gaps, b.gaps),
       list_difference("clock offsets", a.clock_offsets, b.clock_offsets),
       number_difference("undefined references", a.undefined_references, b.undefined_references),
       number_difference("unknown records", a.unknown_records, b.unknown_records),
       a.decreasing == b.decreasing
           ? ""
           : fmt::format("decreasing: {} | {}", a.decreasing, b.decreasing)});
}

std::string difference(const trace::Trace& a, const trace::Trace& b) {
  std::string result = difference(a.definitions, b.definitions);
  if (result.empty() && a.locations.size() != b.locations.size()) result = "number of skeletons";
  for (std::size_t l = 0; result.empty() && l < a.locations.size(); ++l) {
    result = difference(a.locations[l], b.locations[l]);
    if (!result.empty()) result = fmt::format("location {}: {}", l, result);
  }
  return result;
}

}  // namespace entrain::test
