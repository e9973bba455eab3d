// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otf2/new_archive.hpp"

#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

// Values of OTF2's enumerations.
constexpr std::uint8_t k_domain_shared_memory = 1;
constexpr std::uint8_t k_process = 1;
constexpr std::uint8_t k_paradigm_mpi = 4;
constexpr std::uint8_t k_group_comm_locations = 4;
constexpr std::uint8_t k_group_comm_group = 5;
/// The types that OTF2 1.0 had, which newer readers pass over.
constexpr std::uint8_t k_old_unknown = 0;

class Builder {
 public:
  explicit Builder(const trace::Definitions& definitions) : in_(definitions) {}

  DefinitionFile build() {
    clock();
    string("");
    system_tree();
    locations();
    regions();
    communicators();
    return std::move(file_);
  }

 private:
  void add(std::uint8_t type, Fields& payload) { file_.records.push_back({type, payload.take()}); }

  /// Id of a text, which is defined when it is first needed.
  std::uint32_t string(const std::string& text) {
    const auto [at, is_new] = strings_.emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) add(def::string, Fields().c32(at->second).text(text));
    return at->second;
  }

  void clock() {
    Fields payload;
    payload.c64(in_.clock.resolution_hz).c64(in_.clock.global_offset).c64(in_.clock.length);
    const bool known = in_.clock.realtime_ns != ~std::uint64_t{0};
    add(def::clock_properties, known ? payload.c64(in_.clock.realtime_ns) : payload.u8(0xFF));
  }

  void system_tree() {
    for (std::uint32_t i = 0; i < in_.tree_nodes.size(); ++i) {
      const trace::SystemTreeNode& node = in_.tree_nodes[i];
      const std::uint32_t name = string(node.name), class_name = string(node.class_name);
      add(def::system_tree_node, Fields().c32(i).c32(name).c32(class_name).c32(node.parent));
      if (node.shared_memory)
        add(def::tree_node_domain, Fields().c32(i).u8(k_domain_shared_memory));
    }
  }

  void locations() {
    for (std::uint32_t i = 0; i < in_.location_groups.size(); ++i) {
      const trace::LocationGroup& group = in_.location_groups[i];
      const std::uint32_t name = string(group.name);
      add(def::location_group,
          Fields().c32(i).c32(name).u8(k_process).c32(group.tree_node).c32(group.creating_group));
    }
    for (const trace::Location& location : in_.locations) {
      const std::uint32_t name = string(location.name);
      add(def::location, Fields()
                             .c64(location.id)
                             .c32(name)
                             .u8(static_cast<std::uint8_t>(location.type))
                             .c64(location.event_count)
                             .c32(location.group));
    }
  }

  void regions() {
    for (std::uint32_t i = 0; i < in_.regions.size(); ++i) {
      const trace::Region& region = in_.regions[i];
      const std::uint32_t name = string(region.name), empty = string("");
      Fields payload;
      payload.c32(i).c32(name).c32(empty).u8(k_old_unknown);
      payload.c32(empty).c32(0).c32(0);  // source file, first and last line
      add(def::region, payload.c32(name).u8(region.role).u8(region.paradigm).c32(0));
    }
  }

  void communicators() {
    Fields all;
    all.c32(0).c32(string("")).u8(k_old_unknown).c32(count_of(in_.locations));
    for (const trace::Location& location : in_.locations) all.c64(location.id);
    add(def::group, all.u8(k_group_comm_locations).u8(k_paradigm_mpi).c32(0));
    for (std::uint32_t i = 0; i < in_.comms.size(); ++i) {
      const trace::Comm& comm = in_.comms[i];
      Fields group;
      group.c32(i + 1).c32(string("")).u8(k_old_unknown).c32(count_of(comm.group_a));
      for (const LocationIndex member : comm.group_a) group.c64(member);
      add(def::group, group.u8(k_group_comm_group).u8(k_paradigm_mpi).c32(0));
      const std::uint32_t name = string(comm.name), parent = i == 0 ? k_none : 0;
      add(def::comm, Fields().c32(i).c32(name).c32(i + 1).c32(parent).c32(0));
    }
  }

  template <class Container>
  static std::uint32_t count_of(const Container& container) {
    return static_cast<std::uint32_t>(container.size());
  }

  const trace::Definitions& in_;
  DefinitionFile file_;
  std::unordered_map<std::string, std::uint32_t> strings_;
};

}  // namespace

DefinitionFile new_global_definitions(const trace::Definitions& definitions) {
  return Builder(definitions).build();
}

namespace {

namespace fs = std::filesystem;

constexpr const char* k_name = "traces";
constexpr std::uint8_t k_trace_format = 2;

/// The smallest chunk size that holds the largest record: a group of many members.
std::uint64_t definition_chunk_size(const DefinitionFile& file) {
  constexpr std::uint64_t k_frame = k_chunk_header_size + 16;
  std::uint64_t size = k_min_chunk_size;
  for (const DefinitionRecord& record : file.records) {
    while (size < record.payload.size() + k_frame && size < k_max_chunk_size) size *= 2;
  }
  return size;
}

}  // namespace

Result<NewArchive> NewArchive::create(const fs::path& directory, const OutputRule& rule) {
  TRY_ASSIGN(OutputFolder staged, OutputFolder::create(directory, rule));
  const fs::path folder = staged.path() / k_name;
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    return fail(ErrorKind::output,
                fmt::format("cannot create folder {}: {}", folder.string(), error.message()));
  }
  return NewArchive(std::move(staged));
}

fs::path NewArchive::local_file(std::uint64_t id, const char* extension) const {
  return directory_.path() / k_name / fmt::format("{}{}", id, extension);
}

fs::path NewArchive::event_file(std::uint64_t location_id) const {
  return local_file(location_id, ending::events);
}

Result<void> NewArchive::write_local_definitions(std::uint64_t location_id) const {
  const fs::path path = local_file(location_id, ending::definitions);
  TRY_ASSIGN(const auto bytes, pack_definition_file({}, k_min_chunk_size, path));
  return write_file(path, bytes);
}

Result<fs::path> NewArchive::commit(const trace::Definitions& definitions,
                                    const std::string& creator, const std::string& description) {
  const DefinitionFile file = new_global_definitions(definitions);
  const fs::path path = directory_.path() / fmt::format("{}{}", k_name, ending::definitions);
  Anchor anchor;
  anchor.trace_format = k_trace_format;
  anchor.event_chunk_size = k_event_chunk;
  anchor.definition_chunk_size = definition_chunk_size(file);
  anchor.location_count = definitions.locations.size();
  anchor.definition_count = file.records.size();
  anchor.creator = creator;
  anchor.description = description;
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, anchor.definition_chunk_size, path));
  anchor.trace_id = fnv1a(description, fnv1a(bytes));
  TRY(write_file(path, bytes));
  // The anchor comes last: without it nothing here looks like an archive.
  const std::string name = fmt::format("{}{}", k_name, ending::anchor);
  TRY_ASSIGN(const auto anchor_bytes, pack_anchor(anchor));
  TRY(write_file(directory_.path() / name, anchor_bytes));
  TRY(directory_.commit());
  return directory_.target() / name;
}

}  // namespace entrain::otf2
