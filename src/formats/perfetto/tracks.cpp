// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/tracks.hpp"

#include <tuple>

#include <fmt/core.h>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {

namespace {

/// The name of the row of a track that no thread is around.
std::string own_name(std::uint64_t track) { return fmt::format("\"track {}\"", track); }

}  // namespace

std::uint32_t Tracks::add(const TrackKey& key) {
  const auto next = static_cast<std::uint32_t>(tracks_.size());
  const auto [number, is_new] = numbers_.insert(key, next);
  if (is_new) tracks_.emplace_back().key = key;
  return *number;
}

void Tracks::describe(std::string_view descriptor, std::uint32_t machine) {
  std::uint64_t uuid = 0, parent = 0;
  std::string_view process, thread;
  for_each_field<TrackField>(descriptor, [&](TrackField field, const Value& value) {
    if (field == TrackField::uuid) uuid = value.number;
    if (field == TrackField::parent_uuid) parent = value.number;
    if (field == TrackField::process) process = value.bytes;
    if (field == TrackField::thread) thread = value.bytes;
  });
  const bool is_thread = thread.data() != nullptr;
  Track& track = tracks_[add({uuid, machine})];
  Track after = track;
  after.parent = parent;
  if (is_thread || process.data() != nullptr) {
    after.kind = is_thread ? Track::Kind::thread : Track::Kind::process;
    for_each_field<ThreadField>(is_thread ? thread : process,
                                [&](ThreadField field, const Value& value) {
                                  if (field == ThreadField::pid)
                                    after.process = value.integer();  // of processes, too
                                  if (is_thread && field == ThreadField::tid)
                                    after.thread = value.integer();
                                });
  }
  const auto place = [](const Track& one) {
    return std::tuple(one.parent, one.kind, one.process, one.thread);
  };
  is_late_ |= track.is_used && place(track) != place(after);
  track = after;
}

Row Tracks::make_row(std::uint32_t track) {
  constexpr int k_most_parents = 64;  // descriptors of a damaged file may go round in circles
  const auto [number, machine, is_queue] = tracks_[track].key;
  const auto row = [own = machine](const std::string& process, std::string thread) -> Row {
    if (own == 0) return {process, std::move(thread), own};
    const bool is_number = !process.starts_with('"');
    const std::string_view name = is_number ? std::string_view(process) : "none";
    return {fmt::format("\"{} of machine {}\"", name, own), std::move(thread), own};
  };
  if (is_queue) {
    return row(fmt::format("{}", static_cast<std::int32_t>(number >> 32)),
               fmt::format("{}", number & 0xFFFFFFFF));
  }
  std::uint32_t around = track;
  tracks_[around].is_used = true;
  for (int i = 0; i < k_most_parents; ++i) {
    const Track& one = tracks_[around];
    if (one.kind != Track::Kind::plain || one.parent == 0) break;
    around = add({one.parent, machine});
    tracks_[around].is_used = true;
  }
  const Track& found = tracks_[around];
  const std::string own = own_name(number);
  switch (found.kind) {
    case Track::Kind::thread:
      return row(fmt::format("{}", found.process), fmt::format("{}", found.thread));
    case Track::Kind::process:
      return row(fmt::format("{}", found.process), around == track ? "\"process\"" : own);
    default:
      return row("\"none\"", own);
  }
}

bool Tracks::has_own_row(std::uint32_t number) const {
  const Track& track = tracks_[number];
  return track.kind == Track::Kind::thread || rows_[track.row].thread == own_name(track.key.number);
}

std::uint32_t Tracks::row_of(std::uint32_t number) {
  if (tracks_[number].row != k_none) return tracks_[number].row;
  Row row = make_row(number);
  const auto next = static_cast<std::uint32_t>(rows_.size());
  const auto [at, is_new] = row_numbers_.emplace(std::pair(row.process, row.thread), next);
  if (is_new) rows_.push_back(std::move(row));
  return tracks_[number].row = at->second;
}

}  // namespace entrain::perfetto
