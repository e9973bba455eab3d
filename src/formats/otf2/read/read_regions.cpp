// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_regions.hpp"

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/resolver.hpp"

namespace entrain::otf2 {

namespace {

/// Hands every Enter and Leave on.
class RegionWalker {
 public:
  RegionWalker(const EventFile& file, const trace::RegionVisitor& visit)
      : resolve_(file.local.regions, file.references.regions), visit_(visit) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    now_ = time;
    has_time_ = true;
    return time <= k_last_time;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (!has_time_) return false;
    if (type != event::enter && type != event::leave) return true;
    FieldReader in(chunk_ + offset, size, big_endian_);
    const std::uint32_t local = in.c32();
    if (!in.ok()) return false;
    visit_({.time = now_, .region = resolve_(local), .enter = type == event::enter});
    return true;
  }

 private:
  Resolver resolve_;
  const trace::RegionVisitor& visit_;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  bool has_time_ = false;
  std::uint64_t now_ = 0;
};

}  // namespace

Result<void> read_regions(const EventFile& file, Progress* progress,
                          const trace::RegionVisitor& visit) {
  if (!file_exists(file.path)) return {};
  TRY_ASSIGN(BlockReader reader, BlockReader::open(file.path, file.chunk_size));
  RegionWalker walker(file, visit);
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(Cancel(progress).check());
    if (progress != nullptr) progress->advance(block.size());
    return {};
  };
  TRY(walk_file<Framing::events>(reader, walker, on_block));
  return {};
}

}  // namespace entrain::otf2
