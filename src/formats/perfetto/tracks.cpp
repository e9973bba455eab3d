// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/tracks.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {

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
  Track& track = tracks_[add({uuid, machine})];
  track.parent = parent;
  const bool is_thread = thread.data() != nullptr;
  if (!is_thread && process.data() == nullptr) return;
  track.kind = is_thread ? Track::Kind::thread : Track::Kind::process;
  for_each_field<ProcessField>(is_thread ? thread : process,
                               [&](ProcessField field, const Value& value) {
                                 if (field == ProcessField::pid) track.process = value.integer();
                                 if (is_thread && field == ProcessField::tid) {
                                   track.thread = value.integer();
                                 }
                               });
}

Row Tracks::row_of(const Track& track) const {
  constexpr int k_most_parents = 64;  // descriptors of a damaged file may go round in circles
  const auto& [number, machine, is_queue] = track.key;
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
  const Track* around = &track;
  for (int i = 0; i < k_most_parents && around->kind == Track::Kind::plain; ++i) {
    const std::uint32_t parent = find({around->parent, machine});
    if (around->parent == 0 || parent == k_none) break;
    around = &tracks_[parent];
  }
  const std::string own = fmt::format("\"track {}\"", number);
  switch (around->kind) {
    case Track::Kind::thread:
      return row(fmt::format("{}", around->process), fmt::format("{}", around->thread));
    case Track::Kind::process:
      return row(fmt::format("{}", around->process), around == &track ? "\"process\"" : own);
    default:
      return row("\"none\"", own);
  }
}

void Tracks::resolve() {
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;
  for (Track& track : tracks_) {
    Row row = row_of(track);
    const auto next = static_cast<std::uint32_t>(rows_.size());
    const auto [at, is_new] = numbers.emplace(std::pair(row.process, row.thread), next);
    if (is_new) rows_.push_back(std::move(row));
    track.row = at->second;
  }
}

}  // namespace entrain::perfetto
