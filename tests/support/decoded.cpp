// SPDX-License-Identifier: BSD-3-Clause
#include "support/decoded.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/process.hpp"

namespace entrain::test {

namespace {

/// A number as protoc prints it: decimal, or hexadecimal for fields of fixed size.
std::uint64_t parse(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 0); }

RawMessage parse_message(std::istream& in) {
  RawMessage result;
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    if (line[begin] == '}') return result;
    const int field = std::atoi(line.c_str() + begin);
    if (line.back() == '{') {
      result.messages.emplace(field, parse_message(in));
      continue;
    }
    std::string value = line.substr(line.find(": ", begin) + 2);
    if (value.front() == '"') value = value.substr(1, value.size() - 2);
    result.values.emplace(field, std::move(value));
  }
  return result;
}

// Numbers of fields: Trace, TracePacket, TrackDescriptor, InternedData and its names, TrackEvent,
// DebugAnnotation.
constexpr int k_packet = 1;
constexpr int k_timestamp = 8, k_event = 11, k_interned = 12, k_descriptor = 60;
constexpr int k_uuid = 1, k_track_name = 2, k_parent = 5;
constexpr int k_categories = 1, k_names = 2, k_annotation_names = 3, k_iid = 1, k_name = 2;
constexpr int k_category = 3, k_annotations = 4, k_type = 9, k_name_iid = 10, k_track = 11,
              k_flows = 47, k_ending_flows = 48;
constexpr int k_annotation_iid = 1, k_int = 4, k_string = 6;

/// The tables of interned names.
struct Names {
  std::map<int, std::map<std::uint64_t, std::string>> tables;

  void add(const RawMessage& data) {
    for (const auto& [table, entry] : data.messages) {
      tables[table][entry.number(k_iid)] = entry.text(k_name);
    }
  }
  std::string of(int table, std::uint64_t number) const {
    if (number == 0) return "";
    const auto& names = tables.at(table);
    const auto found = names.find(number);
    if (found == names.end()) throw std::runtime_error("a name that is interned nowhere");
    return found->second;
  }
};

PictureEvent event_of(const RawMessage& packet, const Names& names) {
  const RawMessage& raw = packet.message(k_event);
  PictureEvent event;
  event.type = static_cast<int>(raw.number(k_type));
  event.ns = packet.number(k_timestamp);
  event.track = raw.number(k_track);
  event.name = names.of(k_names, raw.number(k_name_iid));
  event.category = names.of(k_categories, raw.number(k_category));
  event.flows = raw.numbers(k_flows);
  event.ending_flows = raw.numbers(k_ending_flows);
  const auto [begin, end] = raw.messages.equal_range(k_annotations);
  for (auto one = begin; one != end; ++one) {
    const RawMessage& note = one->second;
    const std::string name = names.of(k_annotation_names, note.number(k_annotation_iid));
    event.notes[name] = note.values.contains(k_int)
                            ? std::to_string(static_cast<std::int64_t>(note.number(k_int)))
                            : note.text(k_string);
  }
  return event;
}

}  // namespace

std::uint64_t RawMessage::number(int field) const {
  const auto found = values.find(field);
  return found == values.end() ? 0 : parse(found->second);
}

std::string RawMessage::text(int field) const {
  const auto found = values.find(field);
  return found == values.end() ? "" : found->second;
}

std::vector<std::uint64_t> RawMessage::numbers(int field) const {
  std::vector<std::uint64_t> result;
  const auto [begin, end] = values.equal_range(field);
  for (auto one = begin; one != end; ++one) result.push_back(parse(one->second));
  return result;
}

const RawMessage& RawMessage::message(int field) const {
  static const RawMessage k_nothing;
  const auto found = messages.find(field);
  return found == messages.end() ? k_nothing : found->second;
}

bool has_protoc() { return run_program({"sh", "-c", "command -v protoc"}).exit_code == 0; }

RawMessage decode(const std::filesystem::path& file) {
  ChildLimits limits;
  limits.timeout_s = 100;
  const ChildOutcome outcome =
      run_program({"sh", "-c", "exec protoc --decode_raw < \"$0\"", file.string()}, limits);
  if (outcome.exit_code != 0) throw std::runtime_error("protoc refuses it: " + outcome.err);
  std::istringstream in(outcome.out);
  return parse_message(in);
}

Picture picture_in(const std::filesystem::path& file) {
  const RawMessage trace = decode(file);
  Picture picture;
  Names names;
  const auto [begin, end] = trace.messages.equal_range(k_packet);
  for (auto one = begin; one != end; ++one) {
    const RawMessage& packet = one->second;
    names.add(packet.message(k_interned));
    if (packet.messages.contains(k_descriptor)) {
      const RawMessage& track = packet.message(k_descriptor);
      picture.tracks[track.number(k_uuid)] = {track.text(k_track_name), track.number(k_parent)};
    }
    if (packet.messages.contains(k_event)) picture.events.push_back(event_of(packet, names));
  }
  return picture;
}

}  // namespace entrain::test
