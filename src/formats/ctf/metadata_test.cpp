// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/metadata.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "formats/ctf/traces_testing.hpp"

namespace entrain::ctf {
namespace {

ClockClass later(ClockClass clock) {
  clock.offset += 7;
  return clock;
}

TEST(metadata, only_numbers_of_clocks_change) {
  const std::string text = R"(/* CTF 1.8 */
/* clock { offset = 1; }; */
env { note = "clock { offset = 2; };"; }; // clock { offset = 3; };
clock {
  name = "monotonic"; uuid = "a;b}";
  freq = 1000; /* offset = 4; */ offset = 5ULL ;
};
struct { clock { offset = 6; } clock; } x;
clock { name = two; description = "it's } \" odd"; };)";
  std::string expected = text;
  const std::string five = "5ULL";
  expected.replace(expected.find(five), five.size(), "12");
  expected.replace(expected.rfind('}'), 0, "offset = 7; ");
  EXPECT_EQ(with_clocks(text, later), expected);
}

TEST(metadata, the_clock_is_read) {
  ClockClass seen;
  with_clocks("clock { name = \"c\"; freq = 2400; offset_s = -5; offset = 18446744073709551615; }",
              [&](const ClockClass& clock) { return seen = clock; });
  EXPECT_EQ(seen.name, "c");
  EXPECT_EQ(seen.frequency, 2400u);
  EXPECT_EQ(seen.offset_s, -5);
  EXPECT_EQ(seen.offset, ~std::uint64_t{0});
}

TEST(metadata, refuses_clocks_that_are_none) {
  for (const char* text :
       {"clock {", "clock { offset", "clock { offset = ", "clock { offset = ; }",
        "clock { offset = 1 2; }", "clock { offset = 0x10; }", "clock { offset = 010; }",
        "clock { freq = 0; }", "clock { offset = 18446744073709551616; }", "clock { offset = -1; }",
        "clock { = 4; }", "clock { offset = \"5"}) {
    EXPECT_FALSE(with_clocks(text, later)) << text;
  }
}

const char* const k_text =
    "/* CTF 1.8 */\nclock { name = c; offset = 5; };\n/* a long text, so that there are some "
    "packets */";

struct MetadataFile : testing::Test {
  std::filesystem::path put(const std::string& bytes) const {
    testing_traces::write_text(root / "metadata", bytes);
    return root / "metadata";
  }
  std::string copied(const std::string& bytes) const {
    std::filesystem::remove(root / "copy");
    const auto result = copy_metadata(put(bytes), root / "copy", later);
    if (!result) return result.error().message;
    std::ifstream file(root / "copy", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  TempFolder root;
};

TEST_F(MetadataFile, is_known_by_its_first_bytes) {
  for (const bool swapped : {false, true}) {
    EXPECT_TRUE(is_metadata(put(testing_traces::in_packets(k_text, 30, swapped))));
  }
  EXPECT_TRUE(is_metadata(put(k_text)));
  EXPECT_TRUE(is_metadata(put("/* CTF 1.8")));
  for (const char* other : {"", "/* CTF 1.", "/* CTF 2.0 */", "clock { name = c; };"}) {
    EXPECT_FALSE(is_metadata(put(other))) << other;
  }
  EXPECT_FALSE(is_metadata(root / "none"));
  EXPECT_FALSE(is_metadata(root.path()));
}

TEST_F(MetadataFile, of_whole_packets_is_accepted) {
  EXPECT_TRUE(check_metadata(put(k_text)));
  for (const bool swapped : {false, true}) {
    const std::string packets = testing_traces::in_packets(k_text, 30, swapped);
    EXPECT_TRUE(check_metadata(put(packets)));
    std::size_t at = 0, whole = 0;  // whole packets may be missing
    for (std::size_t size = 1; size < packets.size(); ++size) {
      const bool is_whole = check_metadata(put(packets.substr(0, size))).has_value();
      if (is_whole) at = size, ++whole;
    }
    EXPECT_EQ(whole, (std::string(k_text).size() - 1) / 30);
    EXPECT_LT(at, packets.size());
  }
  EXPECT_FALSE(check_metadata(root / "none"));
}

TEST_F(MetadataFile, of_damaged_packets_is_refused) {
  const std::string packets = testing_traces::in_packets(k_text, 30);
  constexpr std::size_t k_second = 37 + 30 + 3, k_content = 24, k_size = 28;
  for (const std::size_t first : {std::size_t{0}, k_second}) {
    for (const auto& [at, byte] : {std::pair(std::size_t{0}, '\0'),
                                   {k_content, '\0'},
                                   {k_content + 3, '\x7F'},
                                   {k_size, '\0'},
                                   {k_size + 3, '\x7F'}}) {
      std::string changed = packets;
      changed[first + at] = byte;
      if (at == k_content || at == k_size) changed[first + at + 1] = '\0';
      const auto refused = check_metadata(put(changed));
      ASSERT_FALSE(refused) << first << ' ' << at;
      EXPECT_THAT(refused.error().message, testing::HasSubstr("ends inside a packet"));
    }
  }
}

TEST_F(MetadataFile, is_copied_with_other_clocks) {
  std::string moved = k_text;
  moved.replace(moved.find("offset = 5"), 10, "offset = 12");
  EXPECT_EQ(copied(k_text), moved);
  for (const bool swapped : {false, true}) {
    const std::string joined = copied(testing_traces::in_packets(k_text, 30, swapped));
    EXPECT_EQ(joined.substr(37), moved);
    testing_traces::write_text(root / "joined", joined);
    EXPECT_TRUE(is_metadata(root / "joined"));
    EXPECT_TRUE(check_metadata(root / "joined"));
    // Where nothing changes, packets stay as they are.
    const std::string plain =
        testing_traces::in_packets("/* CTF 1.8 */ trace { major = 1; };", 10, swapped);
    EXPECT_EQ(copied(plain), plain);
  }
}

TEST_F(MetadataFile, is_not_copied_where_clocks_are_not_understood) {
  for (const std::string& text : {std::string("/* CTF 1.8 */ clock { offset = 0x10; };"),
                                  std::string("/* CTF 1.8 */ clock {")}) {
    EXPECT_THAT(copied(text), testing::HasSubstr("not written as CTF 1.8 has them"));
    EXPECT_THAT(copied(testing_traces::in_packets(text, 10)),
                testing::HasSubstr("not written as CTF 1.8 has them"));
    EXPECT_FALSE(std::filesystem::exists(root / "copy"));
  }
  testing_traces::write_text(root / "there", "mine");
  const auto refused = copy_metadata(put(k_text), root / "there", later);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  EXPECT_FALSE(copy_metadata(root / "none", root / "new", later));
}

}  // namespace
}  // namespace entrain::ctf
