// SPDX-License-Identifier: BSD-3-Clause
#include "base/big_vector.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

namespace entrain {

namespace {

constexpr std::size_t k_huge_page = std::size_t{2} << 20;
/// Limit of the size of a kept block that is used again, relative to the size wanted.
constexpr std::size_t k_largest_waste = 2;

struct Block {
  std::size_t bytes = 0;
  bool in_file = false;
};

struct State {
  std::mutex mutex;
  std::uint64_t limit = 0;
  std::filesystem::path folder;
  std::uint64_t anonymous = 0;  ///< bytes in use
  std::uint64_t most_anonymous = 0;
  std::uint64_t spilled = 0;
  std::uint64_t most_spilled = 0;
  std::unordered_map<void*, Block> blocks;
  std::multimap<std::size_t, void*> kept;  ///< by size
  std::uint64_t kept_bytes = 0;            ///< never more than what has been in use at a time

  /// A kept block of at least `bytes`, or null.
  void* reuse(std::size_t bytes) {
    const auto found = kept.lower_bound(bytes);
    if (found == kept.end() || found->first > k_largest_waste * bytes) return nullptr;
    void* const block = found->second;
    blocks[block] = {found->first, false};
    anonymous += found->first;
    kept_bytes -= found->first;
    kept.erase(found);
    return block;
  }
  /// Gives kept blocks back to the system until they and the blocks in use do not exceed `most`
  /// bytes.
  void shrink_to(std::uint64_t most) {
    while (!kept.empty() && anonymous + kept_bytes > most) {
      const auto smallest = kept.begin();
      ::munmap(smallest->second, smallest->first);
      kept_bytes -= smallest->first;
      kept.erase(smallest);
    }
  }
};

State& state() {
  static State* const k_state = new State;  // blocks may outlive other statics
  return *k_state;
}

/// A file without a name in `folder`, or -1.
int unnamed_file(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = (folder / ".entrain-XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

void* map_file(const std::filesystem::path& folder, std::size_t bytes) {
  const int file = unnamed_file(folder);
  if (file < 0) return MAP_FAILED;
  // Room is reserved now: a page that finds none later would end the process.
  void* block = MAP_FAILED;
  if (::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) {
    block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  ::close(file);
  return block;
}

void* map_memory(std::size_t bytes) {
  void* const block =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED && bytes >= 2 * k_huge_page) ::madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

}  // namespace

NoRoomForArrays::NoRoomForArrays(const std::filesystem::path& folder, std::size_t bytes) noexcept {
  static_cast<void>(std::snprintf(text_.data(), text_.size(),
                                  "there is no room for %zu bytes in the folder %.200s, where what "
                                  "exceeds --memory lies; set TMPDIR to another folder",
                                  bytes, folder.c_str()));
}

void BigMemory::set_limit(std::uint64_t bytes, std::filesystem::path folder) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.limit = bytes;
  s.folder = std::move(folder);
  if (bytes != 0) s.shrink_to(0);
}

void BigMemory::release() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.shrink_to(0);
  s.most_anonymous = s.anonymous;
}

void* BigMemory::allocate(std::size_t bytes) {
  if (bytes < k_smallest) return ::operator new(bytes);
  State& s = state();
  bool to_file = false;
  std::filesystem::path folder;
  {
    const std::lock_guard lock(s.mutex);
    if (void* const block = s.reuse(bytes)) return block;
    to_file = s.limit != 0 && s.anonymous + bytes > s.limit;
    (to_file ? s.spilled : s.anonymous) += bytes;
    s.most_spilled = std::max(s.most_spilled, s.spilled);
    s.most_anonymous = std::max(s.most_anonymous, s.anonymous);
    s.shrink_to(s.most_anonymous);
    if (to_file) folder = s.folder;
  }
  void* const block = to_file ? map_file(folder, bytes) : map_memory(bytes);
  const std::lock_guard lock(s.mutex);
  if (block == MAP_FAILED) {
    (to_file ? s.spilled : s.anonymous) -= bytes;
    if (to_file) throw NoRoomForArrays(folder, bytes);
    throw std::bad_alloc();
  }
  s.blocks[block] = {bytes, to_file};
  return block;
}

void BigMemory::free(void* block, std::size_t bytes) noexcept {
  if (bytes < k_smallest) {
    ::operator delete(block);
    return;
  }
  State& s = state();
  std::size_t mapped = 0;
  {
    const std::lock_guard lock(s.mutex);
    const auto found = s.blocks.find(block);
    const Block known = found->second;
    s.blocks.erase(found);
    (known.in_file ? s.spilled : s.anonymous) -= known.bytes;
    mapped = known.bytes;
    if (!known.in_file && s.limit == 0) {
      s.kept.emplace(mapped, block);
      s.kept_bytes += mapped;
      return;
    }
  }
  ::munmap(block, mapped);
}

std::uint64_t BigMemory::most_spilled() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.most_spilled;
}

}  // namespace entrain
