// SPDX-License-Identifier: BSD-3-Clause
#include "record/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

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

void Journal::tell(const std::vector<std::string>& words) { tell_all({words}); }

void Journal::tell_all(const std::vector<std::vector<std::string>>& lines) {
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
  // A full disk loses lines here; the events beside them are lost as well, and that is told.
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

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return words;
    begin = end + 1;
  }
}

/// The words of one line, read as numbers or texts; complete() is false if one was missing.
class Line {
 public:
  explicit Line(const std::string& text) : words_(split(text, '\t')) {}

  std::string word() {
    if (next_ < words_.size()) return words_[next_++];
    complete_ = false;
    return "";
  }
  std::uint64_t number() {
    const std::string text = word();
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
    complete_ = complete_ && !text.empty() && *end == '\0';
    return value;
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
  /// Nothing for an empty word.
  std::optional<std::uint32_t> small_if_any() {
    if (next_ < words_.size() && words_[next_].empty()) {
      ++next_;
      return std::nullopt;
    }
    return small();
  }
  char letter() {
    const std::string text = word();
    return text.empty() ? ' ' : text[0];
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  bool complete_ = true;
};

void read_process(Line& line, ProcessRecord& record) {
  record.rank = line.small();
  record.size = line.small();
  record.host = line.word();
  record.timer = line.word();
  record.granularity = line.number();
  record.realtime_ns = line.number();
  record.realtime_at = line.number();
  record.clock_description = line.word();
}

void read_comm(Line& line, ProcessRecord& record) {
  const std::uint32_t number = line.small();
  JournalComm comm;
  comm.kind = line.letter();
  comm.key = line.word();
  comm.name = line.word();
  comm.group_a = line.word();
  comm.group_b = line.word();
  comm.parent = line.small_if_any();
  if (line.complete()) record.comms[number] = comm;
}

void read_window(Line& line, ProcessRecord& record) {
  const std::uint32_t number = line.small();
  JournalWindow window;
  window.comm = line.small();
  window.key = line.word();
  if (line.complete()) record.windows[number] = window;
}

void read_sample(Line& line, ProcessRecord& record) {
  ClockSample sample;
  sample.session = line.small();
  sample.local = line.number();
  sample.parent = line.number();
  sample.round_trip = line.number();
  sample.kept = line.number() != 0;
  if (line.complete()) record.samples.push_back(sample);
}

void read_span(Line& line, ProcessRecord& record) {
  const std::uint64_t id = line.number();
  JournalLocation location;
  location.events = line.number();
  location.first = line.number();
  location.last = line.number();
  location.truth_first = line.number();
  location.truth_last = line.number();
  if (!line.complete()) return;
  location.name = record.locations[id].name;
  record.locations[id] = location;
}

void read_line(const std::string& text, ProcessRecord& record, bool& found) {
  Line line(text);
  const std::string what = line.word();
  if (what == "process") {
    read_process(line, record);
    found = found || line.complete();
  } else if (what == "location") {
    const std::uint64_t id = line.number();
    record.locations[id].name = line.word();
  } else if (what == "region") {
    const std::uint32_t number = line.small();
    const char role = line.letter();
    const std::string name = line.word();
    if (line.complete()) record.regions[number] = {name, role};
  } else if (what == "comm") {
    read_comm(line, record);
  } else if (what == "name") {
    const std::uint32_t number = line.small();
    const std::string name = line.word();
    if (line.complete()) record.comms[number].name = name;
  } else if (what == "window") {
    read_window(line, record);
  } else if (what == "window_name") {
    const std::uint32_t number = line.small();
    const std::string name = line.word();
    if (line.complete()) record.windows[number].name = name;
  } else if (what == "group") {
    const std::uint32_t number = line.small();
    const std::string ranks = line.word();
    if (line.complete()) record.groups[number] = ranks;
  } else if (what == "clock") {
    record.parent = line.small();
    record.shares_parents_clock = line.letter() == 's';
    record.measured = true;
  } else if (what == "limit") {
    record.limit = line.word();
  } else if (what == "sample") {
    read_sample(line, record);
  } else if (what == "span") {
    read_span(line, record);
  }
}

}  // namespace

bool parse_journal(const std::string& text, ProcessRecord& record) {
  bool found = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    read_line(text.substr(begin, end - begin), record, found);
    begin = end + 1;
  }
  return found;
}

std::string join_ranks(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += '-' + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::vector<std::uint32_t> split_ranks(const std::string& text) {
  std::vector<std::uint32_t> ranks;
  if (text.empty()) return ranks;
  for (const std::string& part : split(text, ',')) {
    char* end = nullptr;
    const std::uint64_t first = std::strtoull(part.c_str(), &end, 10);
    std::uint64_t last = first;
    if (*end == '-') last = std::strtoull(end + 1, &end, 10);
    if (*end != '\0' || last < first || last - first > (1U << 28)) return {};
    for (std::uint64_t rank = first; rank <= last; ++rank) {
      ranks.push_back(static_cast<std::uint32_t>(rank));
    }
  }
  return ranks;
}

}  // namespace entrain::record
