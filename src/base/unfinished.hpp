// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <utility>

namespace entrain {

/// Removes a file, or a folder with everything in it, as far as that is possible; links are not
/// followed. Makes system calls and nothing else: neither does it need memory, nor does it wait for
/// a lock, so it may be called from a signal handler.
void remove_tree(const char* path) noexcept;

/// A file or folder that must not stay if the run ends on the spot, by a signal or for want of
/// memory. The process has a list of them.
///
/// Example: a step makes the folder "work", marks it, writes into it, removes it, and takes the
/// mark away. If the user interrupts it meanwhile and it does not end by itself, remove_all()
/// removes "work". All functions may be called from any thread.
class Unfinished {
 public:
  Unfinished() = default;
  /// Marks `path`, which is absolute or holds as long as the working folder does. Beyond 16 marks
  /// of a process, and for paths that the system would not take, nothing is marked.
  explicit Unfinished(const std::filesystem::path& path) noexcept;
  Unfinished(Unfinished&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  Unfinished& operator=(Unfinished&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  /// See take_away().
  ~Unfinished() { take_away(); }

  /// Takes the mark away: from here on the path stays. Does not return if remove_all() has begun:
  /// the process is about to end, and must not give the path a final name first.
  void take_away() noexcept;

  /// Removes all marked paths. For the end of the process only; safe in a signal handler.
  static void remove_all() noexcept;

 private:
  int slot_ = -1;
};

/// Notes that the result of the run stands complete in its place. If a later step fails (standard
/// output is closed, there is no memory), the user must hear that nothing has to be done again.
void note_result(const std::filesystem::path& path) noexcept;
/// The path noted last, printable, or "". Safe in a signal handler.
const char* noted_result() noexcept;

}  // namespace entrain
