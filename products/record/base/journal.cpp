// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace entrain::record {

bool Journal::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) return false;
  // Where the file system knows no locks a repair will not notice that this process is running.
  static_cast<void>(::flock(file_, LOCK_EX | LOCK_NB));
  path_ = path;
  write(text_.data(), text_.size());
  return true;
}

void Journal::add(const std::vector<std::string>& words) { add_all({words}); }

void Journal::add_all(const std::vector<std::vector<std::string>>& lines) {
  const std::lock_guard lock(mutex_);
  const std::size_t begin = text_.size();
  for (const std::vector<std::string>& words : lines) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i > 0) text_ += '\t';
      text_ += words[i];
    }
    text_ += '\n';
  }
  if (file_ >= 0) write(text_.data() + begin, text_.size() - begin);
}

void Journal::write(const char* from, std::size_t size) const {
  // A full disk loses lines here; the events beside them are lost as well, and the recorder reports
  // that.
  while (size > 0) {
    const ssize_t done = ::write(file_, from, size);
    if (done <= 0) return;
    from += done;
    size -= static_cast<std::size_t>(done);
  }
}

void Journal::close() {
  const std::lock_guard lock(mutex_);
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void Journal::remove() {
  close();
  if (!path_.empty()) ::unlink(path_.c_str());
}

std::string clean_word(std::string word) {
  for (char& c : word) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return word;
}

std::string short_key(const std::string& key) {
  constexpr std::size_t k_longest = 120;
  if (key.size() <= k_longest) return key;
  std::string text = "#";
  for (std::uint64_t hash : {0xcbf29ce484222325U, 0x9e3779b97f4a7c15U}) {  // FNV-1a, twice
    for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    text += std::to_string(hash ^ (hash >> 29)) + '.';
  }
  return text;
}

}  // namespace entrain::record
