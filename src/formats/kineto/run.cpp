// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/run.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/counters.hpp"
#include "base/file.hpp"
#include "base/flat_map.hpp"
#include "base/name_table.hpp"
#include "formats/json/document.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/claims.hpp"
#include "formats/kineto/manifest.hpp"
#include "formats/kineto/ranks.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_label = 60;  ///< shown bytes of a group's name

std::uint64_t hash_of(const EventText& event) {
  std::uint64_t hash = event.has_length() ? 1 : 0;
  for (const std::string_view part : {event.phase, event.category, event.name, event.thread}) {
    hash = mix(hash + std::hash<std::string_view>{}(part));
  }
  return hash;
}

/// Offsets of two clocks for people, as in "3 offsets of their clocks (-0.1, 0, +0.1 s)".
std::string offsets_text(const std::vector<std::int64_t>& offsets) {
  constexpr std::size_t k_most_named = 4;
  if (offsets.empty()) return "no offset of their clocks";
  std::string text;
  for (std::size_t k = 0; k < std::min(offsets.size(), k_most_named); ++k) {
    text += fmt::format("{}{:+.6g}", k > 0 ? ", " : "", static_cast<double>(offsets[k]) / 1e9);
  }
  if (offsets.size() == 1) {
    return fmt::format("one offset of their clocks ({} s), by too few calls or too roughly", text);
  }
  return fmt::format("{} offsets of their clocks ({}{} s)", offsets.size(), text,
                     offsets.size() > k_most_named ? ", ..." : "");
}

}  // namespace

void Run::take(Matches matches) {
  matches_ = std::move(matches);
  std::uint64_t total = 0;
  for (const Instance& instance : matches_.instances) total += instance.members.size();
  set_refuted_aside(drop_refuted(matches_.instances, ranks_), total, "calls");
  name_files();
  add_clocks();
  const std::size_t inner = list.cause_time.size();
  add_calls();
  name_worst_edges(inner);
  name_contents();
}

void Run::add_clocks() {
  std::uint64_t cut = 0;
  clocks.name = files_.front().path.parent_path().string();
  for (const RankFile& file : files_) cut += file.cut_times;
  for (const RankFile& rank : ranks_) {
    add_clock(rank, rank.clocks.front(), fmt::format("{}", rank.rank));
  }
  for (const RankFile& rank : ranks_) add_devices(rank);
  if (cut > 0) {
    notes.push_back(fmt::format("{} times have more than 3 decimals: they count to the ns", cut));
  }
}

void Run::add_clock(const RankFile& file, const FileClock& own, std::string name) {
  Clock clock{.name = std::move(name), .process = fmt::format("rank {}", file.rank)};
  clock.kind = ClockKind::wall;
  if (own.events > 0) clock.events = StampRange{own.first, own.last};
  clock.granule = std::max(file.whole_us ? std::uint64_t{k_ns_per_us} : 1, file.facts.unit);
  clocks.clocks.push_back(std::move(clock));
}

/// Devices of a rank, and what relates them to its host.
void Run::add_devices(const RankFile& rank) {
  const std::uint32_t host = rank.numbers.front();
  for (std::uint32_t c = 1; c < rank.clocks.size(); ++c) {
    const FileClock& device = rank.clocks[c];
    const std::uint32_t number = rank.numbers[c];
    add_clock(rank, device,
              fmt::format("rank {} device {}", rank.rank, shown_text(device.process)));
    for (const InnerEdge& edge : device.edges) {
      const EdgeList::End of_host{host, edge.host}, of_device{number, edge.device};
      edge.from_host ? list.add(of_host, of_device) : list.add(of_device, of_host);
    }
  }
}

void Run::add_calls() {
  for (const Instance& instance : matches_.instances) add(instance);
  add_arrows();
  const std::uint64_t of_arrows = calls;
  std::uint64_t zeros = 0, timeless = 0, endless = 0, mixed = 0, truncated = 0, lost = 0;
  warn_of_cuts();
  std::ranges::move(impossible_ranks(files_), std::back_inserter(warnings));
  for (const RankFile& file : files_) {
    zeros += file.zeros;
    truncated += file.facts.truncated ? 1 : 0;
    lost += file.facts.lost_events;
    note_packets(file);
    timeless += file.timeless_calls;
    mixed += file.mixed_calls;
    if (file.mixed_calls > 0) warn_of_mixed(file);
    endless += file.endless_calls;
  }
  calls += endless + mixed + timeless;
  for (const RankFile& rank : ranks_) calls += rank.calls.size();
  warn_of_apart();
  std::set<std::uint32_t> apart;
  for (const ApartFile& one : matches_.apart) apart.insert(one.file);
  warn_of_origins();
  coverage.collective_calls = calls - of_arrows;
  unmatched = nonzero({
      {"calls_alone", matches_.alone},
      {"calls_ambiguous", matches_.ambiguous},
      {"calls_without_an_end", endless},
      {"ranks_apart", apart.size()},
      {"calls_of_several_processes", mixed},
      {"calls_without_a_time", timeless},
  });
  skipped = nonzero({
      {"truncated_files", truncated},
      {"calls_without_edges", matches_.without_edges},
      {"alltoall_zero_splits", matches_.zero_splits},
      {"events_at_zero", zeros},
      {"events_without_state", lost},
  });
}

/// Reports show the first warning first.
void Run::warn_of_cuts() {
  for (const RankFile& file : files_) {
    note_falls(file);
    if (!file.facts.truncated) continue;
    if (file.events > 0) {
      warn_of_cut(file.path);
      continue;
    }
    warnings.insert(warnings.begin(),
                    fmt::format("{} ends before its first event: nothing is known of rank {}",
                                file.path.filename().string(), file.rank));
  }
}

void Run::note_falls(const RankFile& file) {
  for (const FileClock& clock : file.clocks) {
    for (const RowOrder::Fall& fall : clock.falls.all) {
      notes.push_back(fmt::format(
          "in {} times{} fall back by {:.6g} ms: the clock was set back there, as the order of "
          "records tells",
          file.path.filename().string(),
          clock.process.empty() ? "" : fmt::format(" of device {}", shown_text(clock.process)),
          static_cast<double>(fall.from - fall.to) / 1e6));
    }
  }
}

std::vector<ClockMap> Run::stored_times() const {
  std::vector<ClockMap> all(clocks.clocks.size());
  for (const RankFile& rank : files_) {
    for (std::uint32_t c = 0; c < rank.clocks.size(); ++c) {
      std::vector<ClockKnot> knots;
      std::int64_t ahead = 0;  // of the times before a fall
      for (const RowOrder::Fall& fall : rank.clocks[c].falls.all) {
        std::int64_t until = 0, next = 0;
        if (__builtin_add_overflow(fall.until + ahead, rank.facts.base, &until) || until < 1) break;
        if (__builtin_add_overflow(fall.to + ahead + fall.ahead, rank.facts.base, &next)) break;
        const auto first = static_cast<std::uint64_t>(until);
        if (knots.empty()) knots.push_back({first - 1, 0});
        knots.push_back({first, -ahead});
        ahead += fall.ahead;
        knots.push_back({static_cast<std::uint64_t>(next), -ahead});
      }
      if (knots.empty()) continue;
      knots.push_back({knots.back().local + 1, -ahead});
      if (Result<ClockMap> map = ClockMap::from_knots(std::move(knots))) {
        all[rank.numbers[c]] = *std::move(map);
      }
    }
  }
  return all;
}

/// Tells of packets of a Perfetto trace that say more than is read.
void Run::note_packets(const RankFile& file) {
  const std::string name = file.path.filename().string();
  if (file.facts.holds_other_times) {
    notes.push_back(
        fmt::format("{} holds records of the kernel: their times stay as they are", name));
  }
  if (file.facts.ties_machines) {
    notes.push_back(
        fmt::format("{} tells offsets between the clocks of its machines: they are not read, and "
                    "become 0 in a copy with other times, as viewers add them to times",
                    name));
  }
}

/// Reading the file as one clock is right only if its ranks are on one host.
void Run::warn_of_mixed(const RankFile& file) {
  warnings.push_back(fmt::format(
      "{} has collective kernels {} ranks that were merged: they count as one clock, and these "
      "calls are left out; give a file per rank",
      file.path.string(),
      file.one_stream ? "that run at one time on one stream, as those of"
                      : "of several processes (pid), perhaps of"));
}

/// Names the ranks whose clocks may be anything, as their calls fit in several ways or in none.
void Run::warn_of_apart() {
  constexpr std::size_t k_most_named = 8;
  for (const ApartFile& one : matches_.apart) {
    if (&one - matches_.apart.data() == k_most_named) {
      warnings.push_back(
          fmt::format("so it is with {} more ranks", matches_.apart.size() - k_most_named));
      return;
    }
    const std::uint32_t rank = ranks_[one.file].rank, other = ranks_[one.other].rank;
    warnings.push_back(
        one.calls > 0
            ? fmt::format("the {} {} calls of rank {} fit none of rank {}: a clock was set there, "
                          "or calls were not recorded; they are not paired; record Comms Id and "
                          "Seq",
                          one.is_head ? "first" : "last", one.calls, rank, other)
            : fmt::format("calls of rank {} fit those of rank {} at {}: they are not paired; "
                          "record ProfilerStep#, or Comms Id and Seq",
                          rank, other, offsets_text(one.offsets)));
  }
}

void Run::add(const Instance& instance) {
  if (instance.operation == Operation::send_receive) {
    add_message(instance);
    return;
  }
  const bool from_root = comes_from_root(instance.operation);
  const bool to_root = goes_to_root(instance.operation);
  CollectiveInstance one{.kind = from_root ? EdgeKind::one_to_n
                                 : to_root ? EdgeKind::n_to_one
                                           : EdgeKind::n_to_n,
                         .ends_coincide = synchronises(instance.operation),
                         .first = list.members.size()};
  for (const bool ends : {false, true}) {
    for (const auto& [f, position] : instance.members) {
      coverage.in_instances += ends ? 1 : 0;
      // From one to all the root begins and the others end; from all to one vice versa.
      const bool is_root = f == instance.root;
      if ((from_root && is_root == ends) || (to_root && is_root != ends)) continue;
      const Call& call = ranks_[f].calls[position];
      list.members.push_back({.clock = ranks_[f].numbers[call.clock],
                              .rank = f,
                              .time = ends ? call.end : call.begin});
      ++(ends ? one.ends : one.begins);
    }
  }
  list.instances.push_back(one);
}

/// A receive ends after its send began. The send may end at any time: its data may wait.
void Run::add_message(const Instance& instance) {
  coverage.in_instances += 2;
  for (const auto& [f, position] : instance.members) {
    const Call& call = ranks_[f].calls[position];
    const bool sends = f == instance.root;
    (sends ? list.cause_clock : list.effect_clock).push_back(ranks_[f].numbers[call.clock]);
    (sends ? list.cause_time : list.effect_time).push_back(sends ? call.begin : call.end);
  }
}

void Run::add_arrows() {
  ArrowEdges arrows = pair_arrows(ranks_);
  const std::uint64_t total = arrows.edges.size();
  set_refuted_aside(drop_refuted(arrows.edges, ranks_), total, "arrows");
  for (const ArrowEdge& edge : arrows.edges) {
    list.add({edge.cause_clock, edge.cause_time}, {edge.effect_clock, edge.effect_time});
  }
  coverage.receives += arrows.heads;
  coverage.paired += arrows.paired;
  coverage.ambiguous += arrows.ambiguous;
  if (arrows.heads > 0) operations.emplace_back("flow_arrow", arrows.heads);
  calls += arrows.heads + arrows.paired;
}

/// Times of a device that are far from all of its host count from something else.
void Run::warn_of_origins() {
  constexpr std::uint64_t k_far_apart = 1'000'000'000;  // ns
  for (const RankFile& rank : ranks_) {
    const FileClock& host = rank.clocks.front();
    for (std::size_t c = 1; c < rank.clocks.size(); ++c) {
      const FileClock& device = rank.clocks[c];
      if (host.events == 0 || device.events == 0) continue;
      if (device.first <= host.last + k_far_apart && host.first <= device.last + k_far_apart) {
        continue;
      }
      warnings.push_back(fmt::format(
          "records of rank {} and of its device {} are of two clocks that count from different "
          "moments, {:.6g} s apart",
          rank.rank, shown_text(device.process),
          (static_cast<double>(host.first) - static_cast<double>(device.first)) / 1e9));
    }
  }
}

void Run::name_contents() {
  const auto is_json = [](const RankFile& file) { return file.facts.survey == nullptr; };
  format = std::ranges::all_of(files_, is_json)    ? "Chrome JSON"
           : std::ranges::none_of(files_, is_json) ? "Perfetto"
                                                   : "Chrome JSON and Perfetto";
  words = {.single = "launch, message",
           .receive = "message",
           .receives = "messages",
           .violation =
               "a kernel begins before its launch, or a collective ends before all have "
               "begun it",
           .written = "copy"};
  std::map<std::string, std::uint64_t> kinds, per_group;
  std::uint64_t without_group = 0;
  for (const RankFile& rank : ranks_) {
    for (const Call& call : rank.calls) {
      ++kinds[name_of(call.operation)];
      ++per_group[call.group.substr(0, k_most_label)];
      without_group += call.number == 0 && is_grouped_by_stream(call) ? 1 : 0;
    }
  }
  if (without_group > 0 && ranks_.size() > 2) {
    notes.push_back(
        fmt::format("{} calls name no process group: those on one stream are taken for one "
                    "communicator",
                    without_group));
  }
  operations.insert(operations.end(), kinds.begin(), kinds.end());
  groups.assign(per_group.begin(), per_group.end());
  const std::uint64_t missing = missing_ranks(files_).count;
  if (missing > 0) anomalies.emplace_back("missing_ranks", missing);
}

/// Packed files are unpacked, as a manifest cannot name their contents.
Result<LinkCounts> Run::write_overlay(const fs::path& folder, const fs::path& final_folder,
                                      std::span<const ClockMap> maps, LinkKind kind) const {
  Linker linker(final_folder, kind);
  LinkCounts links{};
  std::vector<ManifestFile> listed;
  std::set<std::string> names;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const RankFile& file = files_[f];
    if (file.parts > 1) {
      return input_error(
          "{} holds several ranks, which a viewer cannot shift apart; use --mode rewrite",
          file.path.string());
    }
    std::string clock = clock_name(file.facts.clock);
    if (file.facts.clock != 0 && clock.empty()) {
      return input_error(
          "{} has times of its clock {}, which a manifest cannot name; use --mode rewrite",
          file.path.string(), file.facts.clock);
    }
    const bool is_packed = file.facts.packing != json::Packing::none;
    const std::string whole = file.path.filename().string();
    const fs::path name = is_packed ? json::without_packing(whole) : whole;
    if (!names.insert(name.string()).second) {
      return input_error("{} would have the name of another file once it is unpacked; rename one",
                         file.path.string());
    }
    if (is_packed) {
      TRY(unpack(file, folder / name));
    } else {
      TRY_ASSIGN(const LinkKind made, linker.link(file.path, folder / name));
      ++links.at(static_cast<std::size_t>(made));
    }
    const std::uint64_t first = file.clocks.front().first;
    const std::int64_t shift = maps[file.numbers.front()](first) - static_cast<std::int64_t>(first);
    listed.push_back({.name = name.string(),
                      .rank = file.rank,
                      .ahead = file.facts.base + shift,
                      .clock = std::move(clock)});
  }
  TRY(json::save(folder / k_manifest_name, manifest_text(listed), json::Packing::none));
  return links;
}

/// Messages are left out. A group whose size no call tells has as many members as the largest of
/// its collectives, and one more if ranks are missing: these are incomplete.
Result<std::optional<trace::Collectives>> Run::collectives(const trace::Share&, const CheckOptions&,
                                                           Progress*) const {
  trace::Collectives found;
  NameTable names;
  std::vector<std::uint32_t> most;  // members of a collective, per group
  for (std::size_t o = 0; o <= static_cast<std::size_t>(Operation::other); ++o) {
    found.operations.emplace_back(name_of(static_cast<Operation>(o)));
  }
  for (const Instance& instance : matches_.instances) {
    if (instance.operation == Operation::send_receive) continue;
    const bool from_root = comes_from_root(instance.operation);
    const bool to_root = goes_to_root(instance.operation);
    trace::CollectiveOperation collective{
        .first = found.calls.size(),
        .members = static_cast<std::uint32_t>(instance.members.size()),
        .operation = static_cast<std::uint32_t>(instance.operation),
        .group = names.number(call_of(ranks_, instance.members.front()).group)};
    most.resize(names.all().size(), 0);
    most[collective.group] = std::max(most[collective.group], collective.members);
    for (const Member& member : instance.members) {
      const Call& call = call_of(ranks_, member);
      const bool is_root = member.file == instance.root;
      collective.expected = std::max(collective.expected, call.group_size);
      if (call.step > 0 && !collective.step) collective.step = call.step - 1;
      found.calls.push_back({.begin = call.begin,
                             .end = call.end,
                             .location = ranks_[member.file].numbers[call.clock],
                             .gives = !from_root || is_root,
                             .takes = !(from_root && is_root) && (!to_root || is_root)});
    }
    found.all.push_back(collective);
  }
  // Ranks that are missing may be members of a group whose size nobody tells.
  const std::uint32_t unseen = missing_ranks(files_).count > 0 ? 1 : 0;
  for (trace::CollectiveOperation& one : found.all) {
    if (one.expected == 0) one.expected = most[one.group] + unseen;
  }
  found.groups = names.all();
  return found;
}

/// Ends of calls count as communication, as in archives.
Result<formats::EventTimes> Run::event_times() const {
  formats::EventTimes times;
  times.of_clock.resize(clocks.clocks.size());
  times.files.resize(files_.size());
  const auto read = [&](std::size_t f) {
    return for_each_time(files_[f], [&](const TimedEvent& event) -> Result<void> {
      std::vector<formats::EventTime>& own = times.of_clock[files_[f].numbers[event.clock]];
      times.files[f].add(hash_of(event.text));
      const bool is_call = is_collective_kernel(event.text), has_end = event.text.has_length();
      own.emplace_back(event.begin, is_call && !has_end);
      if (has_end) own.emplace_back(event.end(), is_call);
      return {};
    });
  };
  TRY(parallel_for(threads_, ranks_.size(), [&](std::size_t r) -> Result<void> {
    for (std::size_t f = 0; f < files_.size(); ++f) {
      if (files_[f].rank == ranks_[r].rank) TRY(read(f));
    }
    return {};
  }));
  return times;
}

Result<std::vector<std::uint64_t>> Run::event_hashes(std::size_t file) const {
  std::vector<std::uint64_t> hashes;
  TRY(for_each_time(files_[file], [&](const TimedEvent& event) -> Result<void> {
    hashes.push_back(hash_of(event.text));
    return {};
  }));
  return hashes;
}

Result<void> Run::for_each_work(
    const std::function<Result<void>(const formats::Work&)>& see) const {
  for (const RankFile& file : files_) {
    TRY(for_each_time(file, [&](const TimedEvent& event) -> Result<void> {
      if (!event.text.has_length()) return {};
      const std::string name = json::unescaped(event.text.name);
      const std::string row = shown_text(event.text.thread);
      return see({.clock = file.numbers[event.clock],
                  .begin = event.begin,
                  .end = event.end(),
                  .name = name,
                  .row = row});
    }));
  }
  return {};
}

Result<std::vector<RankFile>> read_files(std::span<const fs::path> files, unsigned threads,
                                         std::uint64_t max_unpacked) {
  std::vector<RankFile> ranks(files.size());
  TRY(parallel_for(threads, files.size(), [&](std::size_t f) -> Result<void> {
    TRY_ASSIGN(ranks[f], read_file(files[f], max_unpacked));
    return {};
  }));
  return ranks;
}

std::unique_ptr<formats::Source> Run::paired_after(std::span<const ClockMap> maps) const {
  auto run = std::make_unique<Run>(files_, threads_, place_);
  run->ranks_ = ranks_;
  run->set_aside = set_aside;
  run->take(match_calls_after(ranks_, maps));
  return run;
}

/// The run as a reader finds it in files that hold the times of these maps, else as the originals.
Result<std::unique_ptr<formats::Recording>> Run::read_back(const fs::path& folder,
                                                           std::span<const ClockMap> maps) const {
  std::vector<RankFile> copies = files_;
  for (RankFile& copy : copies) copy.path = folder / copy.path.filename();
  const auto is_text = [](const RankFile& file) { return file.times != nullptr; };
  if (!std::ranges::all_of(files_, is_text)) return read_anew(copies);
  TRY(parallel_for(threads_, copies.size(), [&](std::size_t f) {
    return check_copy(files_[f], copies[f], maps_of(files_[f], maps));
  }));
  return moved(std::move(copies), maps);
}

std::unique_ptr<Run> Run::moved(std::vector<RankFile> written,
                                std::span<const ClockMap> maps) const {
  auto run = std::make_unique<Run>(std::move(written), threads_, place_);
  run->ranks_ = ranks_;
  for (RankFile& file : run->files_) move_times(file, maps_of(file, maps));
  for (RankFile& rank : run->ranks_) {
    move_times(rank, maps_of(rank, maps));
    const auto is_whole = [&](const RankFile& file) {
      return rank.rank < file.rank || rank.rank >= file.rank + file.parts || file.whole_us;
    };
    rank.whole_us = (rank.whole_us || place_ == Place::here) &&  // then its files were read
                    std::ranges::all_of(run->files_, is_whole);
  }
  run->set_aside = set_aside;
  run->take(match_calls(run->ranks_));
  return run;
}

Result<std::unique_ptr<formats::Recording>> Run::read_anew(
    const std::vector<RankFile>& copies) const {
  std::vector<fs::path> paths;
  for (const RankFile& copy : copies) paths.push_back(copy.path);
  TRY_ASSIGN(std::vector<RankFile> written,
             read_files(paths, threads_, files_.front().max_unpacked));
  auto run = std::make_unique<Run>(std::move(written), threads_);
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const RankFile &before = files_[f], &after = run->files_[f];
    if (after.events == before.events && after.calls.size() == before.calls_read) continue;
    return output_error(
        "{} holds {} events and {} calls, the original {} and {}: it cannot be its copy; write to "
        "another disk",
        after.path.string(), after.events, after.calls.size(), before.events, before.calls_read);
  }
  TRY(run->prepare());
  return run;
}

}  // namespace entrain::kineto
