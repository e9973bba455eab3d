// SPDX-License-Identifier: BSD-3-Clause
#include "base/big_vector.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace entrain {

namespace {

constexpr std::size_t k_page = std::size_t{4} << 10;

constexpr std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + k_page - 1) / k_page * k_page;
}

/// Memory that was freed and not given back to the system. Neighbours are one piece, and a block
/// may be cut from a larger piece.
class KeptMemory {
 public:
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// A piece of which no note can be made, as there is no memory for notes, goes back to the system
  /// with its neighbours.
  void add(char* begin, std::size_t size) noexcept {
    bytes_ += size;
    const auto next = by_place_.lower_bound(begin);
    if (next != by_place_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == begin) {
        begin = before->first;
        size += before->second;
        forget(before);
      }
    }
    if (next != by_place_.end() && begin + size == next->first) {
      size += next->second;
      forget(next);
    }
    note(begin, size);
  }
  /// A block of `size` bytes, of the smallest piece that has so many; or null.
  void* take(std::size_t size) {
    const auto found = by_size_.lower_bound({size, nullptr});
    if (found == by_size_.end()) return nullptr;
    const auto [whole, begin] = *found;
    forget(by_place_.find(begin));
    if (whole > size) note(begin + size, whole - size);
    bytes_ -= size;
    return begin;
  }
  /// Gives at least so much back to the system, or all there is. Small pieces first.
  void give_back(std::uint64_t least) {
    while (least > 0 && !by_size_.empty()) {
      const auto [whole, begin] = *by_size_.begin();
      const std::size_t size = std::min<std::uint64_t>(whole, round_up(least));
      forget(by_place_.find(begin));
      ::munmap(begin + (whole - size), size);
      if (whole > size) note(begin, whole - size);
      bytes_ -= size;
      least -= std::min<std::uint64_t>(least, size);
    }
  }

 private:
  using Places = std::map<char*, std::size_t>;

  void note(char* begin, std::size_t size) noexcept {
    Places::iterator place = by_place_.end();
    try {
      place = by_place_.emplace(begin, size).first;
      by_size_.emplace(size, begin);
    } catch (const std::bad_alloc&) {
      if (place != by_place_.end()) by_place_.erase(place);
      bytes_ -= size;
      ::munmap(begin, size);
    }
  }
  void forget(Places::iterator piece) {
    by_size_.erase({piece->second, piece->first});
    by_place_.erase(piece);
  }

  Places by_place_;
  std::set<std::pair<std::size_t, char*>> by_size_;
  std::uint64_t bytes_ = 0;
};

struct State {
  std::mutex mutex;
  std::uint64_t limit = 0;
  std::filesystem::path folder;
  std::uint64_t anonymous = 0;  ///< bytes in use
  std::uint64_t most_anonymous = 0;
  std::uint64_t spilled = 0;
  std::uint64_t most_spilled = 0;
  std::unordered_set<void*> in_files;  ///< blocks in use
  KeptMemory kept;  ///< kept blocks and those in use never take more than was in use at a time

  /// Notes that a block is in a file; false if there is no memory to note it.
  bool enlist(void* block) noexcept {
    try {
      return in_files.insert(block).second;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  /// Gives kept memory back to the system until it and the blocks in use do not exceed `most`
  /// bytes.
  void shrink_to(std::uint64_t most) {
    const std::uint64_t all = anonymous + kept.bytes();
    if (all > most) kept.give_back(all - most);
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
  // No MADV_HUGEPAGE: the system knows better whether huge pages are cheap (docs/decisions/42).
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

void BigMemory::release(std::uint64_t keep) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.shrink_to(s.anonymous + keep);
  s.most_anonymous = s.anonymous + s.kept.bytes();
}

void* BigMemory::allocate(std::size_t bytes) {
  if (bytes < k_smallest) return ::operator new(bytes);
  const std::size_t asked = bytes;
  bytes = round_up(bytes);
  State& s = state();
  bool to_file = false;
  std::filesystem::path folder;
  {
    const std::lock_guard lock(s.mutex);
    void* const kept = s.kept.take(bytes);
    to_file = kept == nullptr && s.limit != 0 && s.anonymous + bytes > s.limit;
    (to_file ? s.spilled : s.anonymous) += bytes;
    s.most_spilled = std::max(s.most_spilled, s.spilled);
    s.most_anonymous = std::max(s.most_anonymous, s.anonymous);
    if (kept != nullptr) return kept;
    s.shrink_to(s.most_anonymous);
    if (to_file) folder = s.folder;
  }
  void* const block = to_file ? map_file(folder, bytes) : map_memory(bytes);
  if (block != MAP_FAILED && !to_file) return block;
  const std::lock_guard lock(s.mutex);
  if (block != MAP_FAILED && s.enlist(block)) return block;
  (to_file ? s.spilled : s.anonymous) -= bytes;
  if (block == MAP_FAILED && to_file) throw NoRoomForArrays(folder, asked);
  if (block != MAP_FAILED) ::munmap(block, bytes);
  throw std::bad_alloc();
}

void BigMemory::free(void* block, std::size_t bytes) noexcept {
  if (bytes < k_smallest) {
    ::operator delete(block);
    return;
  }
  bytes = round_up(bytes);
  State& s = state();
  {
    const std::lock_guard lock(s.mutex);
    const bool in_file = s.in_files.erase(block) > 0;
    (in_file ? s.spilled : s.anonymous) -= bytes;
    if (!in_file && s.limit == 0) {
      s.kept.add(static_cast<char*>(block), bytes);
      return;
    }
  }
  ::munmap(block, bytes);
}

std::uint64_t BigMemory::anonymous() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.anonymous;
}

std::uint64_t BigMemory::most_spilled() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.most_spilled;
}

}  // namespace entrain
