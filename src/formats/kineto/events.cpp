// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/events.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"
#include "formats/json/strings.hpp"
#include "formats/json/window.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/perfetto/packets.hpp"
#include "formats/perfetto/reader.hpp"

namespace entrain::kineto {
namespace {

constexpr std::ptrdiff_t k_decimals = 3, k_most_digits = 19;  // of a time in ns

std::string_view without_quotes(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

/// Stores a time, and notes a second one.
void take_time(std::string_view value, std::string_view& time, EventText& event) {
  event.has_two_times |= time.data() != nullptr;
  time = without_quotes(value);
}

void take_member(std::string_view key, std::string_view value, EventText& event) {
  switch (key.size()) {  // fewer comparisons per member
    case 1:
      if (is_word(key, "s")) return void(event.reach = without_quotes(value));
      break;
    case 2:
      if (is_word(key, "ph")) return void(event.phase = without_quotes(value));
      if (is_word(key, "ts")) return take_time(value, event.time, event);
      if (is_word(key, "id")) return void(event.id = value);
      if (is_word(key, "bp")) return void(event.bind = without_quotes(value));
      break;
    case 3:
      if (is_word(key, "id2")) return void(event.id2 = value);
      if (is_word(key, "cat")) return void(event.category = without_quotes(value));
      if (is_word(key, "pid")) return void(event.process = value);
      if (is_word(key, "tid")) return void(event.thread = value);
      if (is_word(key, "dur")) return take_time(value, event.duration, event);
      break;
    case 4:
      if (is_word(key, "name")) return void(event.name = without_quotes(value));
      if (is_word(key, "args")) return void(event.arguments = value);
      break;
    case 5:
      if (is_word(key, "scope")) return void(event.scope = value);
      break;
    default:
      if (key == "traceEvents") event.is_trace = true;
      // Escapes as in t\u0073, which is ts to every parser.
      if (key.find('\\') == std::string_view::npos) break;
      const std::string plain = json::unescaped(key);
      if (plain.find('\\') == std::string::npos) return take_member(plain, value, event);
      break;
  }
  ++event.others;
}

Result<void> take_fact(std::string_view key, std::string_view value, const std::string& name,
                       FileFacts& facts) {
  if (key == "baseTimeNanoseconds") {
    const auto base = parsed<std::int64_t>(value);
    if (!base || *base < 0) {
      return input_error(
          "{}: baseTimeNanoseconds is no whole number from 0 to 2^63 - 1; its times mean nothing",
          name);
    }
    facts.base = *base;
  }
  if (key == "distributedInfo" && value.starts_with('{')) {
    facts.rank = parsed<std::uint32_t>(member(value, "rank"));
    facts.world_size = parsed<std::uint32_t>(member(value, "world_size"));
  }
  return {};
}

/// Reads a file of which a window is in memory. An event or member that does not fit into it is
/// scanned again from its begin with more text.
class FileWalk {
 public:
  FileWalk(json::Window window, std::string name, const EventSinks& sinks)
      : window_(std::move(window)),
        name_(std::move(name)),
        sinks_(sinks),
        scanner_(window_.text()) {}

  Result<FileFacts> run() {
    TRY(check_begin());
    TRY(read_all());
    if (no_event_) {
      return input_error("{} is no Chrome trace: what stands at byte {} of its list is no event",
                         name_, position());
    }
    if (scanner_.too_deep()) {
      return input_error("{}: byte {} lies in more than {} brackets; take this value out", name_,
                         position(), json::k_most_depth);
    }
    if (scanner_.failed() && !is_at_end()) {
      return input_error("{}: byte {} cannot stand there in JSON; write the file again", name_,
                         position());
    }
    const bool ended = !scanner_.failed();
    facts_.truncated = !ended || window_.cut();
    TRY(pass_rest(ended));
    facts_.packing = window_.packing();
    facts_.bytes = window_.total();
    facts_.hash = window_.hash();
    return facts_;
  }

 private:
  [[nodiscard]] std::uint64_t position() const { return window_.offset() + scanner_.position(); }
  /// True if only blanks are left in the window. A 0 byte is no blank.
  bool is_at_end() { return scanner_.peek() == '\0' && scanner_.at_end(); }

  /// Passes the rest of the text on; only blanks may follow a trace, also where the packed file is
  /// cut. Callers refuse files without events. `ended`: the text has the trace's end.
  Result<void> pass_rest(bool ended) {
    for (;;) {
      if (ended && facts_.has_events && !is_at_end()) {
        return input_error(
            "{}: its trace ends before byte {}, and something else follows; give every trace as a "
            "file of its own",
            name_, position());
      }
      if (window_.ended()) break;
      TRY(advance(window_.text().size()));
    }
    return sinks_.pass ? sinks_.pass(window_.text()) : Result<void>{};
  }

  /// Drops a part of the text, and reads more.
  Result<void> advance(std::size_t done) {
    if (sinks_.pass && done > 0) TRY(sinks_.pass(window_.text().substr(0, done)));
    TRY(window_.advance(done));
    scanner_.continue_in(window_.text());
    return {};
  }

  /// Runs a step of the scanner, with more text if needed. Returns its result; false if it failed.
  template <class Step>
  Result<bool> take(const Step& step) {
    for (;;) {
      scanner_.peek();  // skips blanks, of which there may be more than fit into memory
      json::Scanner at = scanner_;
      const bool taken = step(at);
      if (!at.failed() || !at.at_end() || window_.ended()) {
        scanner_ = at;
        return taken && !at.failed();
      }
      TRY(advance(scanner_.position()));
    }
  }

  /// Fails if the text is no object and no list.
  Result<void> check_begin() {
    while (is_at_end() && !window_.ended()) {
      TRY(advance(scanner_.position()));
    }
    const char first = scanner_.peek();
    if (first == '{' || first == '[') return {};
    if (is_at_end()) return input_error("{} holds no trace: it is empty", name_);
    return input_error("{} is no Chrome trace: it is no object and no list of JSON", name_);
  }

  Result<void> read_all() {
    TRY_ASSIGN(const bool is_list, take([](json::Scanner& at) {
                 return at.peek() == '\0' ? at.open('[') : open_list(at);
               }));
    if (is_list) return read_events();
    TRY_ASSIGN(bool more, take([](json::Scanner& at) { return at.open('{'); }));
    while (more) {
      std::string_view key, value;
      bool has_events = false;
      TRY_ASSIGN(more, take([&](json::Scanner& at) {
                   if (!at.next_key(key)) return false;
                   has_events = key == "traceEvents" && open_list(at);
                   return has_events || at.value(value);
                 }));
      if (!more) break;
      TRY(has_events ? read_events() : take_fact(key, value, name_, facts_));
      if (!has_events && sinks_.fact) TRY(sinks_.fact(key, value));
    }
    return {};
  }

  /// Enters a list; false for any other value.
  static bool open_list(json::Scanner& at) { return at.peek() == '[' && at.open('['); }

  Result<void> read_events() {
    facts_.has_events = true;
    EventText event;
    const auto next = [&event, this](json::Scanner& at) {
      if (!at.next_element()) return false;
      // At the end the scanner peeks 0, which is none of these.
      no_event_ = at.peek() != '\0' && std::strchr("[\"-0123456789tfn", at.peek()) != nullptr;
      const std::size_t begin = at.position();
      if (!at.open('{')) return false;
      event = {};
      std::string_view key, value;
      while (at.next_key(key)) {
        if (!at.value(value)) return false;
        take_member(key, value, event);
      }
      event.text = window_.text().substr(begin, at.position() - begin);
      event.at = window_.offset() + begin;
      return !at.failed();
    };
    for (;;) {
      TRY_ASSIGN(const bool more, take(next));
      if (!more) return {};
      TRY(sinks_.see(event));
    }
  }

  json::Window window_;
  std::string name_;
  const EventSinks& sinks_;
  json::Scanner scanner_;
  bool no_event_ = false;  ///< the list contains something else than events
  FileFacts facts_;
};

/// for_each_event() of a Perfetto trace.
Result<FileFacts> for_each_packet_event(const std::filesystem::path& path, const EventSinks& sinks,
                                        std::uint64_t max_unpacked,
                                        std::shared_ptr<perfetto::Survey> survey) {
  if (survey == nullptr) survey = std::make_shared<perfetto::Survey>();
  EventText text;
  std::string local_id;
  const auto see = [&](const perfetto::Event& event) {
    const perfetto::Row& row = survey->tracks.rows()[event.row];
    text.phase = {&event.phase, 1};
    text.category = event.category;
    text.name = event.name;
    text.process = row.process;
    text.thread = row.thread;
    text.machine = row.machine;
    text.arguments = event.arguments;
    text.moment.reset();
    if (event.phase != 'M') text.moment = {event.time, event.length};
    if (event.is_local_id) local_id = fmt::format(R"({{"local": "{}"}})", event.id);
    text.id = event.is_local_id ? std::string_view() : event.id;
    text.id2 = event.is_local_id ? std::string_view(local_id) : std::string_view();
    return sinks.see(text);
  };
  const auto wants_arguments = [&](const perfetto::Event& event) {
    return sinks.wants_all || has_arguments_to_read(event.category, event.name);
  };
  TRY_ASSIGN(const perfetto::TraceFacts facts,
             perfetto::read_events(path, max_unpacked, *survey,
                                   {see, wants_arguments, sinks.fact, sinks.wants_all}));
  FileFacts result;
  result.is_misread = facts.is_misread;
  if (facts.is_misread) {
    TRY_ASSIGN(result.survey, perfetto::survey(path, max_unpacked));
    return result;
  }
  result.survey = std::move(survey);
  result.has_events = true;
  result.truncated = facts.is_cut;
  result.packing = facts.packing;
  result.bytes = facts.bytes;
  result.hash = facts.hash;
  result.unit = static_cast<std::uint64_t>(facts.unit);
  result.lost_events = facts.events_without_state + facts.events_without_time;
  result.holds_other_times = facts.holds_other_times;
  result.clock = facts.clock;
  result.ties_machines = facts.ties_machines;
  if (facts.lone_ends > 0) result.lost["lost_ends_without_a_begin"] = facts.lone_ends;
  if (facts.unread_fields > 0) result.lost["lost_fields_of_events"] = facts.unread_fields;
  return result;
}

}  // namespace

Result<FileFacts> for_each_event(const std::filesystem::path& path, const EventSinks& sinks,
                                 std::uint64_t max_unpacked,
                                 const std::shared_ptr<perfetto::Survey>& survey) {
  bool holds_packets = survey != nullptr;
  if (!holds_packets) {
    TRY_ASSIGN(const std::string begin, json::beginning(path));
    holds_packets = perfetto::may_hold_packets(begin);
  }
  if (holds_packets) return for_each_packet_event(path, sinks, max_unpacked, survey);
  TRY_ASSIGN(json::Window window, json::Window::open(path, max_unpacked));
  return FileWalk(std::move(window), path.string(), sinks).run();
}

bool may_hold_events(std::string_view beginning) {
  if (perfetto::may_hold_packets(beginning)) return true;
  json::Scanner scanner(beginning);
  std::string_view key, value;
  if (scanner.peek() == '[') {
    scanner.open('[');
    if (!scanner.next_element()) return !scanner.failed();  // no events at all
  }
  if (!scanner.open('{')) return false;
  while (scanner.next_key(key)) {
    if (key == "traceEvents" || key == "ph") return true;
    if (!scanner.value(value)) break;
  }
  // Cut off before the events: a run that was killed.
  return scanner.failed() && scanner.at_end();
}

namespace {

/// A number with an exponent as a decimal one; empty if it is none.
std::string without_exponent(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string_view::npos) return "";
  std::string_view number = text.substr(0, e), exponent = text.substr(e + 1);
  const bool is_negative = number.starts_with('-'), is_small = exponent.starts_with('-');
  if (is_negative) number.remove_prefix(1);
  if (is_small || exponent.starts_with('+')) exponent.remove_prefix(1);
  if (exponent.empty() || exponent.find_first_not_of("0123456789") != std::string_view::npos) {
    return "";
  }
  const std::size_t point = std::min(number.find('.'), number.size());
  if (point == 0 || point + 1 == number.size()) return "";
  // With so many zeros it is beyond all times, or below a ns.
  const std::size_t most = number.size() + 40;
  std::size_t power = 0;
  for (const char c : exponent)
    power = std::min(10 * power + static_cast<std::size_t>(c - '0'), most);
  std::string digits(number);
  digits.erase(point, 1);
  digits = std::string(most, '0') + digits + std::string(most, '0');
  digits.insert(is_small ? most + point - power : most + point + power, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  return (is_negative ? "-" : "") + digits + "0";
}

/// parse_time() of a number without an exponent.
std::optional<std::int64_t> parse_decimal(std::string_view text, bool& cut) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t value = 0;
  const auto digit = [&] { return static_cast<unsigned char>(*at) - static_cast<unsigned>('0'); };
  while (at < end && *at == '0') ++at;
  const char* const first = at;  // with up to 19 digits from here on, the value fits
  for (; at < end && digit() <= 9; ++at) value = value * 10 + digit();
  if (at == text.data()) return std::nullopt;
  const bool is_too_long = at - first > k_most_digits - k_decimals;
  std::ptrdiff_t decimals = 0;
  if (at < end) {
    if (*at != '.' || ++at == end) return std::nullopt;
    for (; at < end; ++at, ++decimals) {
      if (digit() > 9) return std::nullopt;
      if (decimals < k_decimals) value = value * 10 + digit();
    }
  }
  if (decimals > k_decimals) cut = true;
  for (; decimals < k_decimals; ++decimals) value *= 10;
  constexpr auto k_last = static_cast<std::uint64_t>(k_last_time);
  if (is_too_long || value > k_last) value = k_last + 1;
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text, bool& cut) {
  const auto time = parse_decimal(text, cut);
  return time ? time : parse_decimal(without_exponent(text), cut);
}

std::optional<std::int64_t> time_of(const EventText& event, bool& cut) {
  return event.moment ? event.moment->time : parse_time(event.time, cut);
}

std::optional<std::int64_t> length_of(const EventText& event, bool& cut) {
  return event.moment ? event.moment->length : parse_time(event.duration, cut);
}

std::string time_text(std::int64_t ns) { return json::decimal_text(ns, k_ns_per_us); }

std::uint64_t whole_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view member(std::string_view object, std::string_view key) {
  std::string_view found;
  for_each_member(object, [&](std::string_view name, std::string_view value) {
    if (name == key) found = without_quotes(value);
    return name != key;
  });
  return found;
}

void Members::clear() {
  members_.clear();
  unread_.clear();
  next_unread_ = 0;
}

std::string_view Members::operator[](std::string_view key) {
  for (std::size_t i = 0;; ++i) {
    while (i == members_.size()) {
      if (next_unread_ == unread_.size()) return {};
      for_each_member(unread_[next_unread_++], [&](std::string_view name, std::string_view value) {
        members_.emplace_back(name, without_quotes(value));
        return true;
      });
    }
    const auto& [name, value] = members_[i];
    if (name == key && !value.empty()) return value;
  }
}

}  // namespace entrain::kineto
