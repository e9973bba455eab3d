// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <entrain/error.hpp>

#include "formats/otf2/format/definition_file.hpp"
#include "trace/definitions.hpp"
#include "trace/skeleton.hpp"

namespace entrain::otf2 {

/// The role of a region in the communication, as far as the scanner uses it.
enum class RegionRole : std::uint8_t {
  other,
  mpi_init,
  mpi_finalize,
  thread_barrier,
  win_post,
  win_start,
  win_complete,
  win_wait,
  neighbours,     ///< a collective call among neighbours
  kernel,         ///< work of an accelerator
  kernel_launch,  ///< a call that launches a kernel
  stream_wait,    ///< a call that waits for the stream that an attribute names
  device_wait,    ///< a call that waits for a device
};

/// The role of a region with this name, OTF2_RegionRole and OTF2_Paradigm.
RegionRole role_of(std::string_view name, std::uint8_t region_role, std::uint8_t paradigm);

/// The two sets of ranks of a text like "to 0-3,7 from 2" (k_partners_attribute).
struct NamedPartners {
  trace::RankSet to, from;
};
/// Nothing if the text has another form.
std::optional<NamedPartners> parse_partners(std::string_view text);

/// Positions of global definitions by their OTF2 id.
struct References {
  using Map = std::unordered_map<std::uint32_t, std::uint32_t>;
  Map comms;
  Map regions;
  Map windows;
  Map groups;
  Map partners;  ///< positions in Definitions::partners, by the id of the string
  /// Id of the attribute that names the partners of a call; k_none: the trace has none.
  std::uint32_t partners_attribute = k_none;
  /// Id of the attribute that names the stream of a call to an accelerator; k_none: there is none.
  std::uint32_t stream_attribute = k_none;
  std::unordered_map<std::uint64_t, LocationIndex> accelerators;  ///< locations, by their OTF2 id
  std::vector<RegionRole> region_roles;  ///< one role for each of Definitions::regions
  bool any_region_role = false;          ///< some region matters: Enter and Leave must be decoded

  /// The location that an attribute of location `own` names: by its id or, as Score-P has it, by
  /// its number in the process (which is the upper half of its id; the lower one is that of the
  /// process).
  [[nodiscard]] LocationIndex accelerator(std::uint64_t named, std::uint64_t own) const;
};

struct GlobalDefinitions {
  trace::Definitions definitions;
  References references;
};

/// The global definitions in a file's records: names, members of communicators, processes and
/// machines of locations are looked up; undefined references are tolerated (k_none). `path` is for
/// messages. `before`: definitions of other archives of the run, which stay in front. Errors:
/// ErrorKind::input for a record that is too short, a location that is defined twice, a clock
/// resolution of 0, and one that the archives before have not.
Result<GlobalDefinitions> global_definitions_of(const DefinitionFile& file,
                                                const std::filesystem::path& path,
                                                trace::Definitions before = {});

/// A mapping table of local definitions: local id -> global id.
class IdMapping {
 public:
  void set_dense(std::vector<std::uint64_t> values) { dense_ = std::move(values); }
  void add(std::uint64_t local, std::uint64_t global) { sparse_[local] = global; }
  /// Ids without an entry map to themselves.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t local) const {
    if (local < dense_.size()) return dense_[local];
    const auto found = sparse_.find(local);
    return found == sparse_.end() ? local : found->second;
  }

 private:
  std::vector<std::uint64_t> dense_;
  std::unordered_map<std::uint64_t, std::uint64_t> sparse_;
};

/// The local definitions of one location, as far as they are used.
struct LocalDefinitions {
  IdMapping regions, comms, windows, groups, strings, attributes;
  std::vector<trace::ClockOffset> clock_offsets;
  bool missing = false;  ///< there is no such file: everything maps to itself
};

/// Choice of local definitions to read. The mapping of strings may be large, and matters only where
/// records name partners.
enum class LocalStrings : std::uint8_t { ignore, read };

/// The local definitions of one location, of what its file holds. `path` is for messages. Errors:
/// ErrorKind::input for a record that is too short.
Result<LocalDefinitions> local_definitions_of(const DefinitionFile& file,
                                              const std::filesystem::path& path,
                                              LocalStrings strings = LocalStrings::ignore);

}  // namespace entrain::otf2
