// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace entrain::test {

/// A protobuf message as `protoc --decode_raw` prints it: the values of fields by their numbers.
struct RawMessage {
  std::multimap<int, std::string> values;  ///< numbers as printed, texts without quotes
  std::multimap<int, RawMessage> messages;

  /// The first value of a field; 0 if there is none.
  [[nodiscard]] std::uint64_t number(int field) const;
  [[nodiscard]] std::string text(int field) const;
  [[nodiscard]] std::vector<std::uint64_t> numbers(int field) const;
  /// The first message of a field; an empty one if there is none.
  [[nodiscard]] const RawMessage& message(int field) const;
};

/// True if there is a protoc.
bool has_protoc();

/// What protoc makes of a file.
RawMessage decode(const std::filesystem::path& file);

/// A begin, an end or an instant of a TrackEvent trace, names looked up.
struct PictureEvent {
  int type = 0;  ///< 1 begin, 2 end, 3 instant
  std::uint64_t ns = 0, track = 0;
  std::string name, category;
  std::vector<std::uint64_t> flows, ending_flows;
  std::map<std::string, std::string> notes;
};

struct PictureTrack {
  std::string name;
  std::uint64_t parent = 0;
};

/// A TrackEvent trace.
struct Picture {
  std::map<std::uint64_t, PictureTrack> tracks;
  std::vector<PictureEvent> events;
};

/// Reads what protoc prints by the numbers of protos/perfetto/trace; throws std::runtime_error for
/// a number that is interned nowhere.
Picture picture_in(const std::filesystem::path& file);

}  // namespace entrain::test
