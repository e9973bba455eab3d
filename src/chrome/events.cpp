// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/events.hpp"

#include <charconv>

#include <fmt/core.h>

#include "base/try.hpp"
#include "json/scanner.hpp"

namespace entrain::chrome {
namespace {

constexpr std::int64_t k_ns_per_us = 1000;
constexpr int k_most_digits = 19;

std::string_view without_quotes(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  Integer value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

void take(std::string_view key, std::string_view value, EventText& event) {
  switch (key.size()) {  // a few comparisons per member, not seven
    case 2:
      if (key == "ph") event.phase = without_quotes(value);
      if (key == "ts") event.time = value;
      break;
    case 3:
      if (key == "cat") event.category = without_quotes(value);
      if (key == "tid") event.thread = value;
      if (key == "dur") event.duration = value;
      break;
    case 4:
      if (key == "name") event.name = without_quotes(value);
      if (key == "args") event.arguments = value;
      break;
    default:
      break;
  }
}

Result<void> read_events(json::Scanner& scanner,
                         const std::function<Result<void>(const EventText&)>& see) {
  if (!scanner.open('[')) return {};
  while (scanner.next_element()) {
    if (!scanner.open('{')) return {};
    EventText event;
    std::string_view key, value;
    while (scanner.next_key(key)) {
      if (!scanner.value(value)) return {};
      take(key, value, event);
    }
    if (scanner.failed()) return {};
    TRY(see(event));
  }
  return {};
}

Result<void> take_fact(std::string_view key, std::string_view value, const std::string& name,
                       FileFacts& facts) {
  if (key == "baseTimeNanoseconds") {
    const auto base = parse_integer<std::int64_t>(value);
    if (!base || *base < 0) {
      return fail(ErrorKind::input,
                  fmt::format("{}: baseTimeNanoseconds is no whole number from 0 to 2^63 - 1; its "
                              "times mean nothing",
                              name));
    }
    facts.base = *base;
  }
  if (key == "distributedInfo" && value.starts_with('{')) {
    facts.rank = parse_integer<std::uint32_t>(member(value, "rank"));
    facts.world_size = parse_integer<std::uint32_t>(member(value, "world_size"));
  }
  return {};
}

}  // namespace

Result<FileFacts> for_each_event(std::string_view text, const std::string& name,
                                 const std::function<Result<void>(const EventText&)>& see) {
  FileFacts facts;
  json::Scanner scanner(text);
  std::string_view key, value;
  if (scanner.peek() == '[') {
    facts.has_events = true;
    TRY(read_events(scanner, see));
  } else if (scanner.open('{')) {
    while (scanner.next_key(key)) {
      if (key == "traceEvents" && scanner.peek() == '[') {
        facts.has_events = true;
        TRY(read_events(scanner, see));
      } else if (scanner.value(value)) {
        TRY(take_fact(key, value, name, facts));
      }
      if (scanner.failed()) break;
    }
  }
  // Damage before the end, or an end that comes too early.
  if (scanner.failed() && scanner.peek() != '\0') {
    return fail(ErrorKind::input, fmt::format("{}: byte {} cannot stand there in JSON; write the "
                                              "file again",
                                              name, scanner.position()));
  }
  facts.truncated = scanner.failed();
  return facts;
}

std::optional<std::int64_t> parse_time(std::string_view text, bool& cut) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view rest = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && rest.empty())) return std::nullopt;
  for (const char c : rest) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  if (rest.size() > 3) cut = true;
  rest = rest.substr(0, 3);
  std::int64_t value = 0;
  int digits = 0;
  const auto add = [&](char c) {
    if (c < '0' || c > '9') return false;
    digits += value > 0 || c != '0' ? 1 : 0;
    return digits < k_most_digits + 1 && !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, c - '0', &value);
  };
  for (const char c : whole) {
    if (!add(c)) return std::nullopt;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (!add(i < rest.size() ? rest[i] : '0')) return std::nullopt;
  }
  return negative ? -value : value;
}

std::string time_text(std::int64_t ns) {
  const std::uint64_t size =
      ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  std::string text = fmt::format("{}{}", ns < 0 ? "-" : "", size / k_ns_per_us);
  if (const std::uint64_t rest = size % k_ns_per_us; rest > 0) {
    text += fmt::format(".{:03}", rest);
    while (text.back() == '0') text.pop_back();
  }
  return text;
}

std::string_view member(std::string_view object, std::string_view key) {
  json::Scanner scanner(object);
  std::string_view name, value;
  if (!scanner.open('{')) return {};
  while (scanner.next_key(name)) {
    // The last value ends at the bracket of the object, so that a number is never cut.
    if (!scanner.value(value)) return {};
    if (name == key) return without_quotes(value);
  }
  return {};
}

}  // namespace entrain::chrome
