// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/library_reader.hpp"
#include "trace/definitions.hpp"

namespace entrain::test {

/// Collects the global definitions through library callbacks and resolves references to
/// positions. Keeps the tables that map the ids of event records.
class OracleDefinitions {
 public:
  /// Reads the global definitions and the archive properties.
  explicit OracleDefinitions(LibraryReader& reader);

  [[nodiscard]] trace::Definitions resolve() const;

  /// Positions by global id; k_none for ids that nobody defined.
  [[nodiscard]] std::uint32_t comm(std::uint32_t id) const { return find(comm_position_, id); }
  [[nodiscard]] std::uint32_t window(std::uint32_t id) const { return find(window_position_, id); }
  [[nodiscard]] std::uint32_t group(std::uint32_t id) const { return find(group_position_, id); }
  /// Name, role and paradigm of a region; null if nobody defined it.
  [[nodiscard]] const trace::Region* region(std::uint32_t id) const;

 private:
  struct RawGroup {
    std::uint32_t id;
    std::uint8_t type, paradigm;
    bool global_members;  ///< members keep the ranks of the paradigm's list
    std::vector<std::uint64_t> members;
  };
  struct RawComm {
    std::uint32_t id, name, group_a, group_b;
    bool inter;
  };
  struct RawLocationGroup {
    std::uint32_t id, name, node, creator;
    std::uint8_t type;
  };
  struct RawNode {
    std::uint32_t id, name, class_name, parent;
    bool shared_memory;
  };
  struct RawLocation {
    std::uint64_t id, events;
    std::uint32_t name, group;
    std::uint8_t type;
  };
  struct RawWindow {
    std::uint32_t id, name, comm;
  };
  using Positions = std::map<std::uint32_t, std::uint32_t>;

  static std::uint32_t find(const Positions& positions, std::uint32_t id);
  void register_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks);
  void index_ids();
  void read_properties(LibraryReader& reader);
  [[nodiscard]] std::string text(std::uint32_t id) const;
  [[nodiscard]] const RawGroup* raw_group(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t location(std::uint64_t id) const;
  [[nodiscard]] std::vector<std::uint32_t> members(const RawGroup& group) const;
  [[nodiscard]] trace::Comm resolve(const RawComm& comm) const;
  void resolve_places(trace::Definitions& definitions) const;

  trace::ClockProperties clock_;
  std::map<std::uint32_t, std::string> strings_;
  std::vector<RawLocation> locations_;
  std::vector<RawLocationGroup> location_groups_;
  std::vector<RawNode> nodes_;
  std::vector<trace::Region> regions_;
  std::vector<std::uint32_t> region_names_;
  std::vector<RawGroup> groups_;
  std::vector<RawComm> comms_;
  std::vector<RawWindow> windows_;
  std::vector<trace::Property> properties_;
  Positions comm_position_, window_position_, group_position_, location_group_position_,
      node_position_, region_position_;
};

}  // namespace entrain::test
