// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/records.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"

namespace entrain::paraver {

namespace {

/// Ticks per second of a unit; 0: unknown.
std::uint64_t resolution_of(Cursor& cursor) {
  if (!cursor.sign('_')) return 1'000'000;
  std::uint64_t hz = 1;
  for (const auto& [sign, own] : {std::pair('n', 1'000'000'000), {'u', 1'000'000}, {'m', 1000}}) {
    if (hz == 1 && cursor.sign(sign)) hz = static_cast<std::uint64_t>(own);
  }
  return cursor.sign('s') ? hz : 0;
}

/// A list as 2(4,4), or 2(4,4,) by Dimemas: its number, and as many numbers.
bool read_nodes(Cursor& cursor, std::uint32_t& nodes) {
  std::uint64_t count = 0, cpus = 0;
  if (!cursor.number(count)) return false;
  if (cursor.sign('(')) {
    bool more = true;
    for (; more && cursor.number(cpus); ++nodes) more = cursor.sign(',');
    if (!cursor.sign(')')) return false;
  }
  return nodes == count;
}

/// Reads the number of applications, and the tasks of each; returns what is wrong, or null.
const char* read_tasks(Cursor& cursor, Header& header) {
  std::uint64_t applications = 0, tasks = 0, node = 0, last_node = 0;
  bool have_nodes = true;
  if (!cursor.next(applications) || applications == 0) return "no number of applications";
  header.firsts.push_back(0);
  for (std::uint64_t a = 0; a < applications; ++a) {
    if (!cursor.sign(':') && !cursor.sign(',')) return "too few applications";
    const bool is_counted = cursor.number(tasks);
    static_cast<void>(cursor.sign(':'));  // of nsys2prv
    if (!is_counted || !cursor.sign('(')) return "no list of tasks";
    for (std::uint64_t t = 0; t < tasks; ++t) {
      Task task{.application = static_cast<std::uint32_t>(a),
                .number = static_cast<std::uint32_t>(t)};
      if ((t > 0 && !cursor.sign(',')) || !cursor.number(task.threads) || !cursor.next(node)) {
        return "too few tasks";
      }
      if (header.nodes > 0 && node - 1 >= header.nodes)
        return "a task on a node that is not listed";
      have_nodes &= node - 1 < k_none;
      last_node = std::max(last_node, node);
      task.clock = static_cast<std::uint32_t>(node - 1);
      header.tasks.push_back(task);
    }
    if (!cursor.sign(')')) return "too many tasks";
    header.firsts.push_back(static_cast<std::uint32_t>(header.tasks.size()));
  }
  if (header.tasks.empty()) return "no task";
  if (header.nodes > 0) return nullptr;
  if (have_nodes && last_node <= header.tasks.size()) {
    header.nodes = static_cast<std::uint32_t>(last_node);
    return nullptr;
  }
  for (std::uint32_t t = 0; t < header.tasks.size(); ++t) header.tasks[t].clock = t;
  return nullptr;
}

/// Reads a header; returns what is wrong, or null.
const char* read_header(std::string_view line, Header& header) {
  const std::size_t date = line.find("):");
  if (!line.starts_with("#Paraver") || date == std::string_view::npos) return "no date";
  header.end_at = date + 2;
  Cursor cursor(line.substr(header.end_at));
  if (!cursor.number(header.end)) return "no time of the end";
  if (header.end > k_last_time) return "an end after 2^62 ticks";
  header.end_size = line.size() - header.end_at - cursor.rest().size();
  header.resolution_hz = resolution_of(cursor);
  if (header.resolution_hz == 0) return "an unknown unit of time";
  if (!cursor.sign(':') || !read_nodes(cursor, header.nodes)) return "no list of nodes";
  return read_tasks(cursor, header);
}

/// Reads `:cpu:application:task:thread`.
bool read_place(Cursor& cursor, const Header& header, std::uint32_t& task, std::uint64_t& thread) {
  std::uint64_t cpu = 0, application = 0, number = 0;
  if (!cursor.next(cpu) || !cursor.next(application) || !cursor.next(number)) return false;
  task = header.task(application, number);
  return task != k_none && cursor.next(thread) && --thread < header.tasks[task].threads &&
         thread < k_none;
}

/// Reads `:time`.
bool read_time(Cursor& cursor, std::uint32_t clock, Record& record) {
  RecordTime& one = record.all_times[record.count++];
  if (!cursor.sign(':')) return false;
  const std::string_view before = cursor.rest();
  if (!cursor.number(one.time) || one.time > k_last_time) return false;
  one.digits = before.substr(0, before.size() - cursor.rest().size());
  one.clock = clock;
  return true;
}

}  // namespace

Result<Header> parse_header(std::string_view line, const std::filesystem::path& path) {
  Header header;
  const char* const wrong = read_header(line, header);
  if (wrong == nullptr) return header;
  return input_error(
      "{}: {} in its first line, which is no header of Paraver, as #Paraver "
      "(date):end_ns:nodes(cpus,...):applications:tasks(threads:node,...); write it again",
      path.string(), wrong);
}

bool parse_communicator(std::string_view line, const Header& header, Communicator& result) {
  Cursor cursor(line);
  std::uint64_t application = 0, count = 0, number = 0;
  if (!cursor.sign('c') && !cursor.sign('C')) return false;
  if (!cursor.next(application) || !cursor.next(result.id) || !cursor.next(count)) return false;
  result.application = static_cast<std::uint32_t>(application - 1);
  result.tasks.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!cursor.next(number)) return false;
    const std::uint32_t task = header.task(application, number);
    if (task == k_none) return false;
    result.tasks.push_back(task);
  }
  std::vector<std::uint32_t> sorted = result.tasks;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

bool Record::parse(std::string_view line, const Header& header) {
  if (line.empty() || line.front() < '1' || line.front() > '3') return false;
  kind = static_cast<Kind>(line.front());
  Cursor cursor(line.substr(1));
  count = 0;
  std::uint32_t partner = 0;
  std::uint64_t partner_thread = 0;
  if (!read_place(cursor, header, task, thread)) return false;
  for (int side = 0; side < (kind == Kind::message ? 2 : 1); ++side) {
    if (side > 0 && !read_place(cursor, header, partner, partner_thread)) return false;
    const std::uint32_t clock = header.tasks[side > 0 ? partner : task].clock;
    if (!read_time(cursor, clock, *this)) return false;
    if (kind != Kind::event && !read_time(cursor, clock, *this)) return false;
  }
  rest = cursor.rest();
  return rest.starts_with(':');
}

}  // namespace entrain::paraver
