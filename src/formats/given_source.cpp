// SPDX-License-Identifier: BSD-3-Clause
#include "formats/given_source.hpp"

#include "base/fail.hpp"

namespace entrain::formats {

namespace {

/// Kind of all clocks: `wall` if any clock is one, since less is assumed of wall clocks.
ClockKind kind_of(const Clocks& clocks) {
  ClockKind kind = ClockKind::automatic;
  for (const Clock& clock : clocks.clocks) {
    if (clock.kind == ClockKind::wall) return clock.kind;
    if (clock.kind == ClockKind::timer) kind = clock.kind;
  }
  return kind;
}

tl::unexpected<Error> no_files() {
  return usage_error("a table of edges has no events; align maps tables of times");
}

}  // namespace

GivenSource::GivenSource(const Clocks& clocks, const Edges& edges, bool are_kept)
    : given_{clocks, edges, kind_of(clocks), are_kept} {}

const std::string& GivenSource::format_name() const {
  static const std::string name = "a table of edges";
  return name;
}

Result<void> GivenSource::check_writable(WriteMode, bool) const { return no_files(); }

Result<ArchiveInfo> GivenSource::describe(unsigned, Progress*) const { return no_files(); }

Result<std::unique_ptr<Staged>> GivenSource::stage(const WritePlan&,
                                                   const std::filesystem::path&) const {
  return no_files();
}

Result<std::unique_ptr<TimedEvents>> GivenSource::timed_events(bool, unsigned, Progress*) const {
  return no_files();
}

}  // namespace entrain::formats
