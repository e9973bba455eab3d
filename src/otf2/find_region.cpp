// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "otf2/quick.hpp"
#include "otf2/scan.hpp"

namespace entrain::otf2 {

namespace {

/// Follows Enter and Leave up to a given time.
class RegionFinder {
 public:
  RegionFinder(const LocalDefinitions& local, const References& references, std::uint64_t time)
      : regions_(local.regions, references.regions), wanted_(time) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    if (found_ && time > wanted_) return false;  // ends the walk
    found_ = time >= wanted_;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::enter && type != event::leave) return !found_;
    if (type == event::leave && found_) return false;
    FieldReader in(chunk_ + offset, size, big_endian_);
    follow(type, in.c32());
    return true;
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    if (found_) return at;
    const std::uint8_t* p = chunk_ + at;
    const std::uint8_t* const end = chunk_ + limit;
    while (p < end) {
      if (*p == mark::stamp) {
        if (load_u64(p + 1, false) >= wanted_) break;
        p += 9;
      }
      const std::uint8_t type = p[0], length = p[1];
      if (length >= k_plain_records[type]) break;
      if (type == event::enter || type == event::leave) {
        if (length > 4) break;
        follow(type, static_cast<std::uint32_t>(load_u64(p + 2, false) & k_low_bytes[length]));
      }
      p += 2 + length;
    }
    return static_cast<std::size_t>(p - chunk_);
  }
  [[nodiscard]] std::uint32_t innermost() {
    return stack_.empty() ? k_none : regions_(stack_.back());
  }

 private:
  void follow(std::uint8_t type, std::uint32_t local_region) {
    if (type == event::enter) {
      stack_.push_back(local_region);
    } else if (!stack_.empty()) {
      stack_.pop_back();
    }
  }

  Resolver regions_;
  std::uint64_t wanted_;
  bool found_ = false;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::vector<std::uint32_t> stack_;  ///< local ids
};

}  // namespace

std::uint32_t find_region(const EventFile& file, std::uint64_t time) {
  auto reader = BlockReader::open(file.path, file.chunk_size);
  if (!reader) return k_none;
  RegionFinder finder(file.local, file.references, time);
  // The finder ends the walk when it is done, which walk_file reports as damage: no matter here.
  (void)walk_file<Framing::events>(*reader, finder, [](auto) { return Result<void>(); });
  return finder.innermost();
}

}  // namespace entrain::otf2
