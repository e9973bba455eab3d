// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace entrain::ctf::testing_traces {

/// Little-endian bytes of numbers and texts, one after the other.
class Bytes {
 public:
  template <class Number>
  Bytes& add(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
    return *this;
  }
  Bytes& text(const std::string& value) {
    text_ += value + '\0';
    return *this;
  }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  std::string text_;
};

/// An event of a stream: its count, the number of its class, its thread, and the bytes of its
/// fields.
struct TestEvent {
  std::uint64_t count = 0;
  std::uint32_t id = 0;
  std::uint32_t thread = 0;
  std::string fields{};
};

/// A trace: what its metadata says, in TSDL.
struct TestTrace {
  std::string env = "hostname = \"alpha\";";
  std::string clock = "name = \"c\"; freq = 1000000000;";  ///< "": no clock
  std::string classes = "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { }; };";
};

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

inline std::string metadata_of(const TestTrace& trace) {
  const std::string map = trace.clock.empty() ? "" : "map = clock.c.value; ";
  // The library gives a clock to fields of this name.
  const std::string stamp = trace.clock.empty() ? "number" : "timestamp";
  return "/* CTF 1.8 */\n"
         "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
         "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
         "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
         "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
         "trace { major = 1; minor = 8; byte_order = le;\n"
         "  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
         "env { " +
         trace.env + " };\n" + (trace.clock.empty() ? "" : "clock { " + trace.clock + " };\n") +
         "typealias integer { size = 64; align = 8; signed = false; " + map +
         "} := stamp_t;\n"
         "stream { id = 0;\n"
         "  packet.context := struct { stamp_t " +
         stamp + "_begin; stamp_t " + stamp +
         "_end;\n"
         "    uint64_t content_size; uint64_t packet_size; uint64_t events_discarded; };\n"
         "  event.header := struct { uint32_t id; stamp_t " +
         stamp +
         "; };\n"
         "  event.context := struct { uint32_t tid; }; };\n" +
         trace.classes;
}

/// A packet of a stream. `discarded`: events that the tracer has lost up to its end.
inline std::string packet_of(const std::vector<TestEvent>& events, std::uint64_t discarded = 0) {
  Bytes body;
  std::string all;
  for (const TestEvent& event : events) {
    Bytes head;
    head.add(event.id).add(event.count).add(event.thread);
    all += head.str() + event.fields;
  }
  const std::uint64_t bits = (8 + 5 * 8 + all.size()) * 8;
  body.add(std::uint32_t{0xC1FC1FC1}).add(std::uint32_t{0});
  body.add(events.front().count).add(events.back().count).add(bits).add(bits).add(discarded);
  return body.str() + all;
}

inline void write_trace(const std::filesystem::path& folder, const TestTrace& trace,
                        const std::vector<TestEvent>& events) {
  write_text(folder / "metadata", metadata_of(trace));
  write_text(folder / "stream", packet_of(events));
}

/// Metadata in packets, each with `piece` bytes of text. `swapped`: of a big-endian machine.
inline std::string in_packets(const std::string& text, std::size_t piece, bool swapped = false) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string part = text.substr(at, piece);
    const auto number = [&](std::uint32_t value) {
      return swapped ? __builtin_bswap32(value) : value;
    };
    const auto bits = static_cast<std::uint32_t>((37 + part.size()) * 8);
    Bytes header;
    header.add(number(0x75D11D57)).add(std::uint64_t{0}).add(std::uint64_t{0});
    header.add(std::uint32_t{0}).add(number(bits)).add(number(bits + 3 * 8));
    bytes += header.str() + std::string("\0\0\0\1\10", 5) + part + std::string(3, '\0');
  }
  return bytes;
}

}  // namespace entrain::ctf::testing_traces
