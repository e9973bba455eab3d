// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <vector>

namespace entrain {

/// There is no room for an array in the folder of BigMemory::set_limit().
class NoRoomForArrays : public std::bad_alloc {
 public:
  /// Needs no memory itself; a long folder is cut.
  NoRoomForArrays(const std::filesystem::path& folder, std::size_t bytes) noexcept;
  /// A sentence for the user.
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 400> text_{};
};

/// The memory of the large arrays of this process. Arrays are anonymous memory as long as all of
/// them together stay below a limit. Beyond it new arrays lie in mapped files without a name, which
/// the system can write out when it needs the memory.
///
/// Without a limit freed blocks are kept for later arrays of any size, but never more than the
/// process had in use at one time. Reason: the system clears every page that it gives out, which
/// took half of the time of a correction.
///
/// Limit and kept blocks belong to the process: if several corrections run at the same time in one
/// process, the limit set last holds for all. All functions may be called from any thread.
class BigMemory {
 public:
  /// Blocks below this size are ordinary memory and not counted, bytes.
  static constexpr std::size_t k_smallest = std::size_t{64} << 10;

  /// Sets the limit of anonymous memory in bytes (0: none) and the folder for the files. Existing
  /// blocks stay where they are.
  static void set_limit(std::uint64_t bytes, std::filesystem::path folder);

  /// Throws std::bad_alloc if there is no memory, and NoRoomForArrays if there is none in the
  /// folder.
  static void* allocate(std::size_t bytes);
  static void free(void* block, std::size_t bytes) noexcept;

  /// Gives kept memory back to the system, but for `keep` bytes.
  static void release(std::uint64_t keep = 0);

  /// Sum of the blocks in use that are in no file, bytes.
  static std::uint64_t anonymous();

  /// Largest sum of the blocks in files at any time, bytes.
  static std::uint64_t most_spilled();
};

/// Allocator of BigMemory.
template <class T>
class BigAllocator {
 public:
  using value_type = T;
  BigAllocator() = default;
  template <class U>
  explicit(false) BigAllocator(const BigAllocator<U>&) {}  // as the standard asks
  T* allocate(std::size_t n) { return static_cast<T*>(BigMemory::allocate(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) noexcept { BigMemory::free(block, n * sizeof(T)); }
  template <class U>
  friend bool operator==(const BigAllocator&, const BigAllocator<U>&) {
    return true;
  }
};

/// An array whose size grows with the trace.
template <class T>
using BigVector = std::vector<T, BigAllocator<T>>;

template <class T>
bool operator==(const BigVector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace entrain
