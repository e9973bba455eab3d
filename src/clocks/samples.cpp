// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/samples.hpp"

#include <optional>
#include <string_view>

#include "base/try.hpp"
#include "clocks/recorder_table.hpp"

namespace entrain::clocks {
namespace {

constexpr RecorderTable k_sample_table{
    "session,rank,parent,local_ticks,parent_ticks,master_ticks,round_trip_ticks,kept",
    "this is no exchange of a clock session", "without the file the ClockOffset records count"};
constexpr std::uint64_t k_largest_ticks = std::uint64_t{1} << 61;

/// A line of the file.
struct SampleRow {
  std::uint64_t session = 0, rank = 0;
  Sample sample;
};

/// A ClockOffset record: an exchange has the same times.
using Key = std::pair<std::uint64_t, std::int64_t>;
Key key_of(const Sample& sample) { return {sample.local, sample.offset}; }
Key key_of(const trace::ClockOffset& record) { return {record.time, record.offset}; }

std::optional<SampleRow> sample_row_of(RecorderRow words) {
  std::uint64_t session = 0, rank = 0, parent = 0, local = 0, parent_time = 0, master = 0,
                round_trip = 0, kept = 0;
  if (!read_numbers(words, session, rank, parent, local, parent_time, master, round_trip, kept)) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::int64_t>(master - local);
  const std::uint64_t size = offset < 0 ? local - master : master - local;
  if (size > k_largest_ticks || round_trip > k_largest_ticks || kept > 1) return std::nullopt;
  return SampleRow{session, rank, {local, offset, round_trip, kept == 1}};
}

/// The exchanges of the sessions that `records` are of, or nothing if not every record is an
/// exchange of `process`, each of a later session than the one before.
std::optional<LocationSamples> samples_of(const std::vector<trace::ClockOffset>& records,
                                          const std::vector<SampleRow>& process) {
  std::map<Key, std::uint64_t> session_of;
  for (const SampleRow& row : process) session_of.try_emplace(key_of(row.sample), row.session);
  std::map<std::uint64_t, std::size_t> place_of;
  for (const trace::ClockOffset& record : records) {
    const auto session = session_of.find(key_of(record));
    if (session == session_of.end()) return std::nullopt;
    if (!place_of.empty() && session->second <= place_of.rbegin()->first) return std::nullopt;
    place_of.emplace(session->second, place_of.size());
  }
  LocationSamples samples(records.size());
  for (const SampleRow& row : process) {
    const auto place = place_of.find(row.session);
    if (place != place_of.end()) samples[place->second].push_back(row.sample);
  }
  return samples;
}

}  // namespace

Result<std::map<LocationIndex, LocationSamples>> read_clock_samples(
    const std::filesystem::path& folder, const trace::Trace& trace,
    const std::vector<LocationIndex>& locations) {
  const std::filesystem::path path = folder / k_clock_samples;
  std::map<LocationIndex, LocationSamples> found;
  std::error_code none;
  // Where the system does not say whether the file exists, reading it gives the reason.
  if (std::filesystem::status(path, none).type() == std::filesystem::file_type::not_found) {
    return found;
  }
  std::multimap<Key, LocationIndex> of_first_record;
  for (const LocationIndex l : locations) {
    const auto& records = trace.locations[l].clock_offsets;
    if (!records.empty()) of_first_record.emplace(key_of(records.front()), l);
  }
  std::vector<SampleRow> process;  // its lines stand together
  const auto find_locations = [&] {
    for (const SampleRow& row : process) {
      const auto [begin, end] = of_first_record.equal_range(key_of(row.sample));
      for (auto place = begin; place != end; ++place) {
        const LocationIndex l = place->second;
        if (found.contains(l)) continue;
        auto samples = samples_of(trace.locations[l].clock_offsets, process);
        if (samples) found.emplace(l, *std::move(samples));
      }
    }
    process.clear();
  };
  TRY(read_recorder_table(path, k_sample_table, [&](RecorderRow words) -> std::string_view {
    const auto row = sample_row_of(words);
    if (!row) return k_sample_table.no_row;
    if (!process.empty() && process.front().rank != row->rank) find_locations();
    process.push_back(*row);
    return {};
  }));
  find_locations();
  return found;
}

}  // namespace entrain::clocks
