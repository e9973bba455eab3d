// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/ids.hpp"
#include "picture/flows.hpp"
#include "trace/definitions.hpp"

namespace entrain::picture {

/// A track: a location in one of the groups of times.
struct Track {
  std::uint32_t group = 0;  ///< position in Titles::groups
  LocationIndex location = 0;
};

/// Titles of a picture. The definitions must outlive it.
struct Titles {
  const trace::Definitions& definitions;
  std::vector<std::string> groups;  ///< names of groups of tracks; one, "", where there is one only
  std::vector<bool> shown;          ///< flag of each location: has tracks
};

/// An arrow at a mark.
struct FlowEnd {
  std::uint64_t id = 0;   ///< number of both ends, 1 or more
  bool backward = false;  ///< the arrow ends before it begins
};

/// A place of a track where arrows of one family begin, or end.
struct Mark {
  Family family = Family::message;
  bool arrival = false;            ///< arrows end here
  std::span<const FlowEnd> flows;  ///< may be empty: the other ends are not in the picture
};

/// An edge that ends too early.
struct Violation {
  const char* kind = "";  ///< name_of() its EdgeKind
  LocationIndex cause = 0;
  std::int64_t margin_ns = 0, bound_ns = 0;
};

/// Writes one format. Events of a track come in the order of their times, which are ns since the
/// first event; tracks come in any order. Text is collected in text(), which the user empties. One
/// thread uses it.
class Writer {
 public:
  virtual ~Writer() = default;
  /// The beginning of the file, with the names of everything.
  virtual void begin(const Titles& titles) = 0;
  virtual void enter(const Track& track, std::uint64_t ns, std::uint32_t region) = 0;
  virtual void leave(const Track& track, std::uint64_t ns) = 0;
  virtual void mark(const Track& track, std::uint64_t ns, const Mark& mark) = 0;
  virtual void violation(const Track& track, std::uint64_t ns, const Violation& violation) = 0;
  /// The end of the file.
  virtual void end() = 0;

  std::string& text() { return text_; }

 protected:
  /// Takes the definitions, for begin().
  void take(const Titles& titles);

  std::string text_;
  const trace::Definitions* definitions_ = nullptr;
  std::uint32_t processes_ = 0;             ///< their number
  std::vector<std::string> process_names_;  ///< each location's process
};

/// Names of marks, e.g. "send"; of departures and arrivals.
[[nodiscard]] const char* name_of(Family family, bool arrival);
/// Name of a family, e.g. "message".
[[nodiscard]] const char* name_of(Family family);

/// A name from the trace; `number` instead of one that is no well-formed UTF-8.
[[nodiscard]] std::string shown_name(const std::string& name, std::uint32_t number);
/// Name of a region, for people; well-formed UTF-8.
[[nodiscard]] std::string region_name(const trace::Definitions& definitions, std::uint32_t region);

/// A writer of TrackEvents, as https://perfetto.dev reads them.
std::unique_ptr<Writer> perfetto_writer();
/// A writer of the JSON that chrome://tracing and other viewers read: the Trace Event Format.
std::unique_ptr<Writer> chrome_writer();

}  // namespace entrain::picture
