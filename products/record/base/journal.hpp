// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace entrain::record {

/// The notes of one process on everything but its events: who it is, its locations, communicators
/// and clock samples. A note is a line of words with tabs between them; ProcessRecord is what
/// readers make of all lines. Every line goes to a file at once, so that a repair can finish the
/// archive of a program that crashed. Any thread may add lines at any time.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() { close(); }

  /// Creates the file and writes the lines added so far. False, with errno, if that fails. The
  /// process keeps the file locked (flock) while it lives, which tells a repair that it runs.
  bool open(const std::string& path);
  /// Adds a line. Words must hold neither tabs nor line ends (see clean_word).
  void add(const std::vector<std::string>& words);
  /// Adds several lines with one write.
  void add_all(const std::vector<std::vector<std::string>>& lines);
  void close();
  /// Closes and removes the file: the finished archive holds all of it.
  void remove();
  /// All lines. Call it only when no other thread adds lines any more.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void write(const char* from, std::size_t size) const;

  std::mutex mutex_;  ///< guards all below: threads name regions at every thread level of MPI
  int file_ = -1;
  std::string path_, text_;
};

/// `word` with tabs and line ends replaced by blanks.
std::string clean_word(std::string word);

/// `key` itself up to 120 characters, otherwise a digest (128 bits) of it. The key of a
/// communicator contains that of its parent, so keys would grow without limit.
std::string short_key(const std::string& key);

}  // namespace entrain::record
