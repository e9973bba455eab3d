// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/records.hpp"

namespace entrain::paraver {

bool Record::place(Cursor& cursor, const Header& header, std::uint32_t& task,
                   std::uint64_t& thread) {
  std::uint64_t cpu = 0, application = 0, number = 0;
  if (!cursor.next(cpu) || !cursor.next(application) || !cursor.next(number) ||
      !cursor.next(thread)) {
    return false;
  }
  task = header.task(application, number);
  return task != k_none && --thread < header.tasks[task].threads && thread < k_none;
}

bool Record::time(Cursor& cursor, std::uint32_t clock) {
  RecordTime& one = all_[count_++];
  if (!cursor.sign(':')) return false;
  const std::string_view before = cursor.rest();
  if (!cursor.number(one.time) || one.time > k_last_time) return false;
  one.digits = before.substr(0, before.size() - cursor.rest().size());
  one.clock = clock;
  return true;
}

bool Record::parse(std::string_view line, const Header& header) {
  Cursor cursor(line);
  count_ = 0;
  if (cursor.sign('1')) {
    kind = Kind::state;
  } else if (cursor.sign('2')) {
    kind = Kind::event;
  } else if (cursor.sign('3')) {
    kind = Kind::communication;
  } else {
    return false;
  }
  if (!place(cursor, header, task, thread)) return false;
  const std::uint32_t clock = header.tasks[task].clock;
  if (!time(cursor, clock) || (kind != Kind::event && !time(cursor, clock))) return false;
  if (kind == Kind::communication) {
    std::uint32_t partner = 0;
    std::uint64_t partner_thread = 0;
    if (!place(cursor, header, partner, partner_thread)) return false;
    const std::uint32_t other = header.tasks[partner].clock;
    if (!time(cursor, other) || !time(cursor, other)) return false;
  }
  rest = cursor.rest();
  return rest.starts_with(':');
}

}  // namespace entrain::paraver
