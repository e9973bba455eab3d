// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/library_copy.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <otf2/otf2.h>

#include "base/temp_folder_testing.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// An archive with one call, whose attribute 3 is the string 7. Its anchor.
fs::path archive_with_partners(const fs::path& folder) {
  static const OTF2_FlushCallbacks k_flush{
      [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType {
        return OTF2_FLUSH;
      },
      [](void*, OTF2_FileType, OTF2_LocationRef) -> OTF2_TimeStamp { return 30; }};
  OTF2_Archive* const archive =
      OTF2_Archive_Open(folder.c_str(), "x", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  OTF2_Archive_SetFlushCallbacks(archive, &k_flush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_OpenEvtFiles(archive);
  OTF2_EvtWriter* const events = OTF2_Archive_GetEvtWriter(archive, 0);
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddUint8(list, 2, 1);
  OTF2_AttributeList_AddStringRef(list, 3, 7);
  OTF2_EvtWriter_MpiCollectiveEnd(events, list, 20, OTF2_COLLECTIVE_OP_ALLTOALLV, 0,
                                  OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
  OTF2_AttributeList_Delete(list);
  OTF2_Archive_CloseEvtWriter(archive, events);
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_GlobalDefWriter* const definitions = OTF2_Archive_GetGlobalDefWriter(archive);
  OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000, 0, 100, OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteString(definitions, 0, "");
  OTF2_GlobalDefWriter_WriteString(definitions, 5, "ENTRAIN::PARTNERS");
  OTF2_GlobalDefWriter_WriteString(definitions, 7, "to 1 from 1");
  OTF2_GlobalDefWriter_WriteAttribute(definitions, 3, 5, 0, OTF2_TYPE_STRING);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteLocationGroup(definitions, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                          OTF2_UNDEFINED_LOCATION_GROUP);
  OTF2_GlobalDefWriter_WriteLocation(definitions, 0, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 1, 0);
  OTF2_Archive_CloseGlobalDefWriter(archive, definitions);
  OTF2_Archive_Close(archive);
  return folder / "x.otf2";
}

TEST(LibraryCopy, has_the_files_of_an_archive_until_it_ends) {
  const fs::path anchor = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4/traces.otf2";
  auto copy = LibraryCopy::make(anchor, "is unusual");
  if (!copy) GTEST_SKIP() << copy.error().message;  // a build without the library
  const fs::path folder = (*copy)->folder();
  EXPECT_TRUE(fs::exists(folder / "traces.def"));
  for (const char* name : {"0.evt", "1.evt", "2.evt", "3.evt"}) {
    EXPECT_TRUE(fs::exists(folder / "traces" / name)) << name;
  }
  copy->reset();
  EXPECT_FALSE(fs::exists(folder));
}

TEST(LibraryCopy, is_not_made_of_what_the_library_would_wait_for) {
  const TempFolder folder;
  const fs::path anchor = archive_with_partners(folder / "archive");
  const fs::path events = folder / "archive" / "x" / "0.evt";
  fs::remove(events);
  ASSERT_EQ(::mkfifo(events.c_str(), 0600), 0);
  const auto refused = LibraryCopy::make(anchor, "is unusual");
  if (!ENTRAIN_HAS_OTF2_LIBRARY) GTEST_SKIP() << "a build without the library";
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, events.string() + " is not a regular file");
}

TEST(LibraryCopy, keeps_the_partners_that_collective_calls_name) {
  const TempFolder folder;
  const fs::path anchor = archive_with_partners(folder / "archive");
  const auto copy = LibraryCopy::make(anchor, "is unusual");
  ASSERT_TRUE(copy) << copy.error().message;
  const std::string events = content((*copy)->folder() / "x" / "0.evt");
  // A list of one attribute, 3, a string, 7; then the record.
  const std::string named{mark::attribute_list,     7, 1, 1, 1, 3, attribute_type::string, 1, 7,
                          event::mpi_collective_end};
  EXPECT_THAT(events, HasSubstr(named));
  const std::string definitions = content((*copy)->folder() / "x.def");
  const std::string attribute{def::attribute, 6, 1, 3, 1, 5, attribute_type::string, 0};
  EXPECT_THAT(definitions, HasSubstr(attribute));
}

TEST(LibraryCopy, of_nothing_is_refused_with_the_anchor_and_the_reason) {
  const auto copy = LibraryCopy::make("/nowhere/traces.otf2", "is unusual");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().kind, ErrorKind::input);
  EXPECT_THAT(copy.error().message, StartsWith("/nowhere/traces.otf2 is unusual"));
}

TEST(LibraryCopy, of_nonsense_is_refused) {
  const TempFolder folder;
  const fs::path anchor = folder.put("traces.otf2", std::vector<std::uint8_t>(200, 0x42));
  const auto copy = LibraryCopy::make(anchor, "is unusual");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().kind, ErrorKind::input);
  EXPECT_THAT(copy.error().message, HasSubstr("convert"));
}

}  // namespace
}  // namespace entrain::otf2
