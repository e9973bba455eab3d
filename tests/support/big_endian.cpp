// SPDX-License-Identifier: BSD-3-Clause
#include "support/big_endian.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "support/files.hpp"

namespace entrain::test {

namespace {

namespace fs = std::filesystem;

// Layouts of record payloads, field by field:
//   c  compressed integer          b  one byte          t  8 fixed bytes
//   s  string up to its NUL        A  type byte and a value of that type
//   *c(..) and *b(..)  a count, then the fields in parentheses that often
//   +c  compressed integers up to the end
// Fields that later versions appended may be missing at the end.
using Layouts = std::map<unsigned, const char*>;

const Layouts k_events{
    {10, "t"},    {11, "b"},      {12, "c"},      {13, "c"},       {14, "cccc"},   {15, "ccccc"},
    {16, "c"},    {17, "c"},      {18, "cccc"},   {19, "ccccc"},   {20, "c"},      {21, "c"},
    {22, ""},     {23, "bcccc"},  {24, "c"},      {25, ""},        {26, "cc"},     {27, "cc"},
    {28, "c"},    {29, "c"},      {30, "c"},      {31, "c*b(bc)"}, {32, "cc"},     {33, "cc"},
    {34, "cc"},   {35, "c"},      {36, "c"},      {37, ""},        {38, "bccccc"}, {39, "ccc"},
    {40, "cccb"}, {41, "cccb"},   {42, "cccb"},   {43, "ccc"},     {44, "ccb"},    {45, "c"},
    {46, "cccc"}, {47, "cccc"},   {48, "ccbccc"}, {49, "cc"},      {50, "cc"},     {51, "cc"},
    {52, "cc"},   {53, "bc"},     {54, "b"},      {55, "c"},       {56, "c"},      {57, "bcc"},
    {58, "bcc"},  {59, "ccc"},    {60, "ccc"},    {61, "ccc"},     {62, "cc"},     {63, "cc"},
    {64, "cc"},   {65, "cc"},     {66, "cc"},     {67, "c"},       {68, "ccc"},    {69, "cbcc"},
    {70, "c"},    {71, "ccc"},    {72, "ccbc"},   {73, "cc"},      {74, "bc"},     {75, "cbccc"},
    {76, "cc"},   {77, "cc"},     {78, "ccc"},    {79, "cc"},      {80, "cb"},     {81, "cb"},
    {82, "cb"},   {83, "c*c(c)"}, {84, "c"},      {85, "c"},       {86, "bccccc"}, {87, "c"},
    {88, "c"},
};

const Layouts k_global_definitions{
    {5, "cccc"},         {6, "bcb"},        {7, "bbA"},       {10, "cs"},       {11, "ccbc"},
    {8, "cccbc*b(b)"},   {12, "cccc"},      {13, "ccbcc"},    {14, "ccbcc"},    {15, "cccbccccbbc"},
    {18, "ccb*c(c)bbc"}, {19, "cccbbbbcc"}, {20, "c*b(c)bb"}, {21, "cccbc"},    {22, "ccccc"},
    {23, "ccb"},         {24, "cccc"},      {25, "cc"},       {26, "cccA"},     {27, "cb"},
    {28, "cccA"},        {29, "cccA"},      {30, "cccb"},     {31, "ccc*b(c)"}, {32, "cc*b(c)"},
    {33, "ccc"},         {34, "cccc"},      {35, "ccA"},      {36, "ccbbcc"},   {37, "ccA"},
    {38, "ccc"},         {39, "ccc"},       {40, "ccccccc"},  {41, "cbc"},      {43, "cccccc"},
};

/// Local definitions have two records of their own; the others are those of the global ones.
const char* k_mapping_table = "bcb+c";
const char* k_clock_offset = "tct";

bool is_bare(unsigned type) {
  for (const unsigned bare : {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}) {
    if (type == bare) return true;
  }
  return false;
}

enum class Kind { events, global_definitions, local_definitions };

/// Turns the bytes of one file round, in place.
class Turner {
 public:
  Turner(Bytes& bytes, std::string name, FormatCensus& census)
      : bytes_(bytes), name_(std::move(name)), census_(census) {}

  void anchor() {
    expect(bytes_.size() > 46 && bytes_[1] == 0x42, "a little-endian anchor");
    bytes_[1] = 0x23;
    at_ = 12;
    fixed(8), fixed(8);
    at_ = 30;
    fixed(8), fixed(8);
    string(), string(), string();
    for (std::uint64_t strings = 2 * fixed(4); strings > 0; --strings) string();
    fixed(8), fixed(4), fixed(4);
    expect(at_ + 3 == bytes_.size(), "three end marks");
  }

  void chunks(std::size_t chunk_size, Kind kind) {
    for (std::size_t begin = 0;; begin += chunk_size) {
      ++census_.chunks;
      at_ = begin;
      expect(byte() == 3 && bytes_[at_] == 0x42, "a little-endian chunk");
      bytes_[at_++] = 0x23;
      fixed(8), fixed(8);
      if (!records(kind)) return;
    }
  }

 private:
  /// False at the end of the file, true at the end of the chunk.
  bool records(Kind kind) {
    while (true) {
      const unsigned type = byte();
      if (type == 0) return true;
      if (type == 2) return false;
      if (kind == Kind::events && type == 5) {
        fixed(8);
      } else if (kind == Kind::events && is_bare(type)) {
        ++census_.event_types[type];
        compressed();
      } else {
        record(kind, type);
      }
    }
  }

  void record(Kind kind, unsigned type) {
    std::size_t length = byte();
    if (length == 0xFF) {
      ++census_.long_lengths;
      length = fixed(8);
    }
    expect(length <= bytes_.size() - at_, "a length inside the file");
    end_ = at_ + length;
    if (kind == Kind::events && type == 6) {
      attributes();
    } else {
      if (kind == Kind::events) ++census_.event_types[type];
      fields(layout_of(kind, type));
    }
    expect(at_ == end_, "the layout of record type " + std::to_string(type));
  }

  const char* layout_of(Kind kind, unsigned type) {
    if (kind == Kind::local_definitions && type == 5) return k_mapping_table;
    if (kind == Kind::local_definitions && type == 6) return k_clock_offset;
    const Layouts& layouts = kind == Kind::events ? k_events : k_global_definitions;
    const auto found = layouts.find(type);
    expect(found != layouts.end(), "a layout for record type " + std::to_string(type));
    return found->second;
  }

  void fields(std::string_view layout) {
    for (std::size_t i = 0; i < layout.size() && at_ < end_; ++i) {
      switch (layout[i]) {
        case 'c':
          compressed();
          break;
        case 'b':
          byte();
          break;
        case 't':
          fixed(8);
          break;
        case 's':
          string();
          break;
        case 'A':
          attribute_value();
          break;
        case '+':
          while (at_ < end_) compressed();
          break;
        case '*': {
          const auto count = layout[i + 1] == 'b' ? byte() : compressed();
          const auto close = layout.find(')', i);
          for (std::uint64_t n = 0; n < count; ++n) fields(layout.substr(i + 3, close - i - 3));
          i = close;
          break;
        }
        default:
          expect(false, "a layout that can be read");
      }
    }
  }

  void attributes() {
    for (std::uint64_t count = compressed(); count > 0; --count) {
      compressed();
      ++census_.attribute_types[bytes_.at(at_)];
      attribute_value();
    }
  }

  void attribute_value() {
    switch (byte()) {
      case 1:
      case 5:
        byte();
        return;
      case 2:
      case 6:
        fixed(2);
        return;
      case 9:
        fixed(4);
        return;
      case 10:
        fixed(8);
        return;
      default:
        compressed();
    }
  }

  std::uint8_t byte() {
    expect(at_ < bytes_.size(), "one more byte");
    return bytes_[at_++];
  }

  std::uint64_t fixed(std::size_t size) {
    expect(size <= bytes_.size() - at_, "a value inside the file");
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes_[at_ + i];
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
    std::reverse(begin, begin + static_cast<std::ptrdiff_t>(size));
    at_ += size;
    return value;
  }

  std::uint64_t compressed() {
    const std::size_t size = byte();
    if (size == 0xFF) {
      ++census_.undefined;
      return ~std::uint64_t{0};
    }
    expect(size <= 8, "an integer of at most 8 bytes");
    ++census_.integer_sizes.at(size);
    return fixed(size);
  }

  void string() {
    while (byte() != 0) continue;
  }

  void expect(bool condition, const std::string& what) const {
    if (condition) return;
    throw std::runtime_error(name_ + " has not " + what + " at byte " + std::to_string(at_));
  }

  Bytes& bytes_;
  std::string name_;
  FormatCensus& census_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  ///< of the record in work
};

std::uint64_t little_endian(const Bytes& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) value = value << 8 | bytes.at(at + i);
  return value;
}

}  // namespace

FormatCensus make_big_endian(const fs::path& anchor, const fs::path& to_folder) {
  FormatCensus census;
  const fs::path from = anchor.parent_path(), name = anchor.stem();
  fs::create_directories(to_folder / name);
  Bytes anchor_bytes = read_bytes(anchor);
  const std::size_t event_chunk = little_endian(anchor_bytes, 12);
  const std::size_t definition_chunk = little_endian(anchor_bytes, 20);
  const auto turn = [&](const fs::path& file, std::size_t chunk_size, Kind kind) {
    Bytes bytes = read_bytes(from / file);
    Turner(bytes, file.string(), census).chunks(chunk_size, kind);
    write_bytes(to_folder / file, bytes);
  };
  Turner(anchor_bytes, anchor.string(), census).anchor();
  write_bytes(to_folder / anchor.filename(), anchor_bytes);
  turn(name.string() + ".def", definition_chunk, Kind::global_definitions);
  for (const std::string& file : entries_of(from / name)) {
    if (file.ends_with(".evt")) turn(name / file, event_chunk, Kind::events);
    if (file.ends_with(".def")) turn(name / file, definition_chunk, Kind::local_definitions);
  }
  return census;
}

}  // namespace entrain::test
