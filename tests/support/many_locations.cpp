// SPDX-License-Identifier: BSD-3-Clause
#include "support/many_locations.hpp"

#include <bit>
#include <string>
#include <vector>

#include "support/library_reader.hpp"

namespace entrain::test {

namespace {

/// Appends the pieces of chunked files.
class Encoder {
 public:
  Encoder(std::uint64_t first_event, std::uint64_t last_event) {
    bytes_ = {0x03, 0x42};
    fixed64(first_event);
    fixed64(last_event);
  }
  void byte(unsigned value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void fixed64(std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) byte((value >> (8 * i)) & 0xFF);
  }
  /// Four value bytes, not the shortest form: every record has the same length.
  void compressed(std::uint32_t value) {
    byte(4);
    for (unsigned i = 0; i < 4; ++i) byte((value >> (8 * i)) & 0xFF);
  }
  void stamp(std::uint64_t time) {
    byte(0x05);
    fixed64(time);
  }
  void region(unsigned type, std::uint32_t region) {
    byte(type);
    compressed(region);
  }
  void message(unsigned type, std::uint32_t peer, std::uint32_t bytes) {
    byte(type);
    byte(20);
    for (const std::uint32_t field : {peer, 0u, 7u, bytes}) compressed(field);
  }
  void clock_offset(std::uint64_t time, std::uint32_t offset) {
    byte(6);
    byte(8 + 5 + 8);
    fixed64(time);
    compressed(offset);
    fixed64(std::bit_cast<std::uint64_t>(0.5));
  }
  Bytes finish() && {
    byte(0x02);
    byte(0x01);
    return std::move(bytes_);
  }

 private:
  Bytes bytes_;
};

Bytes definition_file(std::uint32_t rank) {
  Encoder file(1, 0);
  file.clock_offset(999'000, rank % 5);
  file.clock_offset(1'002'000, rank % 5 + 3);
  return std::move(file).finish();
}

void write_definitions(OTF2_GlobalDefWriter* writer, std::uint32_t count) {
  OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000, 1'000'000, 1000,
                                            OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteString(writer, 0, "name");
  OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, 0, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
  std::vector<std::uint64_t> ids, ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(writer, many_location_id(rank), 0,
                                       OTF2_LOCATION_TYPE_CPU_THREAD, 4, rank);
    ids.push_back(many_location_id(rank));
    ranks.push_back(rank);
  }
  OTF2_GlobalDefWriter_WriteRegion(writer, 0, 0, 0, 0, OTF2_REGION_ROLE_FUNCTION,
                                   OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0);
  OTF2_GlobalDefWriter_WriteGroup(writer, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, count, ids.data());
  OTF2_GlobalDefWriter_WriteGroup(writer, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, count, ranks.data());
  OTF2_GlobalDefWriter_WriteComm(writer, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

}  // namespace

Bytes many_event_file(std::uint32_t rank, std::uint32_t count, std::uint64_t shift) {
  constexpr unsigned k_enter = 12, k_leave = 13, k_send = 14, k_recv = 18;
  const std::uint64_t start = 1'000'000 + rank % 7 + shift;
  Encoder file(1, 4);
  file.stamp(start);
  file.region(k_enter, 0);
  file.stamp(start + 100);
  file.message(k_send, (rank + 1) % count, 8);
  file.stamp(start + 200);
  file.message(k_recv, (rank + count - 1) % count, 8);
  file.stamp(start + 300);
  file.region(k_leave, 0);
  return std::move(file).finish();
}

std::filesystem::path write_many_locations(const std::filesystem::path& directory,
                                           std::uint32_t count, bool local_definitions) {
  constexpr std::uint64_t k_chunk = 4 * 1024 * 1024;  // one group record must fit
  OTF2_Archive* archive =
      OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, 256 * 1024, k_chunk,
                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) throw std::runtime_error("OTF2: " + last_library_message());
  static const OTF2_FlushCallbacks callbacks{flush, nullptr};  // the library keeps it
  require(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, nullptr), "flush callbacks");
  require(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "collective callbacks");
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
  write_definitions(writer, count);
  require(OTF2_Archive_CloseGlobalDefWriter(archive, writer), "global definitions");
  require(OTF2_Archive_Close(archive), "closing the archive");

  const auto folder = directory / "traces";
  std::filesystem::create_directories(folder);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const std::string name = std::to_string(many_location_id(rank));
    write_bytes(folder / (name + ".evt"), many_event_file(rank, count));
    if (local_definitions) write_bytes(folder / (name + ".def"), definition_file(rank));
  }
  return directory / "traces.otf2";
}

}  // namespace entrain::test
