// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/process_record.hpp"

#include <cstdlib>

#include "record/base/rank_list.hpp"

namespace entrain::record {

namespace {

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

/// False if the line is not one of these.
bool read_known_line(const std::string& what, Line& line, ProcessRecord& record, bool& found) {
  if (what == "process") {
    read_process(line, record);
    found = found || line.complete();
  } else if (what == "location") {
    const std::uint64_t id = line.number();
    const std::string name = line.word();
    if (line.complete()) record.locations[id].name = name;
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
  } else if (what == "partners") {
    const std::uint32_t number = line.small();
    const std::string ranks = line.word();
    if (line.complete()) record.partners[number] = ranks;
  } else if (what == "partners_full") {
    record.partners_full = true;
  } else if (what == "clock") {
    const std::uint32_t parent = line.small();
    const char letter = line.letter();
    const bool shares = letter == 's' || letter == 't';
    if (!line.complete()) return true;
    record.parent = parent;
    record.shares_parents_clock = shares;
    record.proved = letter == 's';
    record.measured = true;
  } else if (what == "clocks_only") {
    record.clocks_only = true;
  } else if (what == "clock_end") {
    const std::uint64_t at = line.number(), rate = line.number();
    if (!line.complete()) return true;
    record.ended_at = at;
    record.ticks_per_second = rate;
  } else if (what == "limit") {
    record.limit = line.word();
  } else if (what == "sample") {
    read_sample(line, record);
  } else if (what == "span") {
    read_span(line, record);
  } else {
    return false;
  }
  return true;
}

void read_line(const std::string& text, ProcessRecord& record, bool& found) {
  Line line(text);
  const bool known = read_known_line(line.word(), line, record, found);
  if (!known || !line.complete()) ++record.broken_lines;
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

}  // namespace entrain::record
