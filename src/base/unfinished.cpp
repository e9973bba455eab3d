// SPDX-License-Identifier: BSD-3-Clause
#include "base/unfinished.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/printable.hpp"

namespace entrain {

namespace {

constexpr int k_slots = 16;
constexpr int k_deepest = 16;  ///< folders in folders: no output of ours has as many

using PathText = std::array<char, PATH_MAX>;

enum class SlotState : int {
  free,
  reserved,  ///< its path is being written
  marked,
  taken,  ///< remove_all() has it
};

struct Slot {
  std::atomic<SlotState> state{SlotState::free};
  PathText path{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free, "used in signal handlers");

std::array<Slot, k_slots> slots;

struct Finished {
  std::atomic<bool> known{false};
  PathText path{};
};
Finished result;

bool copy_path(const std::filesystem::path& from, PathText& to) {
  const std::string& text = from.native();
  if (text.size() >= to.size()) return false;
  std::memcpy(to.data(), text.c_str(), text.size() + 1);
  return true;
}

/// Entry of a folder in the format of the system.
struct Entry {
  std::uint64_t inode;
  std::int64_t position;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

void remove_at(int folder, const char* name, int depth) noexcept;

/// Removes what one reading of the entries gives; false at their end.
bool remove_some(int folder, int depth, bool& removed) noexcept {
  alignas(Entry) char buffer[2048];
  const long bytes = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer);
  if (bytes <= 0) return false;
  for (long at = 0; at < bytes;) {
    const auto* const entry = reinterpret_cast<const Entry*>(buffer + at);
    const char* const name = buffer + at + offsetof(Entry, name);
    at += entry->length;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    remove_at(folder, name, depth);
    removed = true;
  }
  return true;
}

void remove_at(int folder, const char* name, int depth) noexcept {
  if (::unlinkat(folder, name, 0) == 0 || depth == 0) return;
  const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  // Some file systems skip entries when others vanish: one more look, until there is nothing new.
  for (int look = 0; look < 3; ++look) {
    bool removed = false;
    ::lseek(inner, 0, SEEK_SET);
    while (remove_some(inner, depth - 1, removed)) {
    }
    if (!removed) break;
  }
  ::close(inner);
  ::unlinkat(folder, name, AT_REMOVEDIR);
}

}  // namespace

void remove_tree(const char* path) noexcept { remove_at(AT_FDCWD, path, k_deepest); }

Unfinished::Unfinished(const std::filesystem::path& path) noexcept {
  for (int i = 0; i < k_slots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    SlotState expected = SlotState::free;
    if (!slot.state.compare_exchange_strong(expected, SlotState::reserved)) continue;
    const bool fits = copy_path(path, slot.path);
    slot.state = fits ? SlotState::marked : SlotState::free;
    if (fits) slot_ = i;
    return;
  }
}

void Unfinished::take_away() noexcept {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<std::size_t>(std::exchange(slot_, -1))];
  SlotState expected = SlotState::marked;
  if (slot.state.compare_exchange_strong(expected, SlotState::free)) return;
  while (slot.state == SlotState::taken) ::pause();
}

void Unfinished::remove_all() noexcept {
  for (Slot& slot : slots) {
    SlotState expected = SlotState::marked;
    if (slot.state.compare_exchange_strong(expected, SlotState::taken))
      remove_tree(slot.path.data());
  }
}

void note_result(const std::filesystem::path& path) noexcept {
  result.known = false;
  constexpr std::size_t k_longest = 1000;  // code points: less than PATH_MAX bytes
  try {
    result.known = copy_path(shortened(printable(path.native()), k_longest), result.path);
  } catch (const std::bad_alloc&) {
    result.known = copy_path(path, result.path);
  }
}

const char* noted_result() noexcept { return result.known ? result.path.data() : ""; }

}  // namespace entrain
