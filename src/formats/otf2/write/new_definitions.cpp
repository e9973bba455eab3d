// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/new_definitions.hpp"

#include <array>
#include <string>
#include <unordered_map>
#include <utility>

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

/// Builds the payload of one record.
class Payload {
 public:
  Payload& c64(std::uint64_t value) {
    std::array<std::uint8_t, 9> encoded{};
    const std::size_t size = store_compressed(encoded.data(), value, false);
    bytes_.insert(bytes_.end(), encoded.begin(),
                  encoded.begin() + static_cast<std::ptrdiff_t>(size));
    return *this;
  }
  Payload& c32(std::uint32_t value) { return value == k_none ? u8(0xFF) : c64(value); }
  Payload& u8(std::uint8_t value) {
    bytes_.push_back(value);
    return *this;
  }
  Payload& text(const std::string& value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return u8(0);
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

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
  void add(std::uint8_t type, Payload& payload) {
    file_.records.push_back({type, 0, payload.take()});
  }

  /// Id of a text, which is defined when it is first needed.
  std::uint32_t string(const std::string& text) {
    const auto [at, is_new] = strings_.emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) add(def::string, Payload().c32(at->second).text(text));
    return at->second;
  }

  void clock() {
    Payload payload;
    payload.c64(in_.clock.resolution_hz).c64(in_.clock.global_offset).c64(in_.clock.length);
    const bool known = in_.clock.realtime_ns != ~std::uint64_t{0};
    add(def::clock_properties, known ? payload.c64(in_.clock.realtime_ns) : payload.u8(0xFF));
  }

  void system_tree() {
    for (std::uint32_t i = 0; i < in_.tree_nodes.size(); ++i) {
      const trace::SystemTreeNode& node = in_.tree_nodes[i];
      const std::uint32_t name = string(node.name), class_name = string(node.class_name);
      add(def::system_tree_node, Payload().c32(i).c32(name).c32(class_name).c32(node.parent));
      if (node.shared_memory)
        add(def::tree_node_domain, Payload().c32(i).u8(k_domain_shared_memory));
    }
  }

  void locations() {
    for (std::uint32_t i = 0; i < in_.location_groups.size(); ++i) {
      const trace::LocationGroup& group = in_.location_groups[i];
      const std::uint32_t name = string(group.name);
      add(def::location_group,
          Payload().c32(i).c32(name).u8(k_process).c32(group.tree_node).c32(group.creating_group));
    }
    for (const trace::Location& location : in_.locations) {
      const std::uint32_t name = string(location.name);
      add(def::location, Payload()
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
      Payload payload;
      payload.c32(i).c32(name).c32(empty).u8(k_old_unknown);
      payload.c32(empty).c32(0).c32(0);  // source file, first and last line
      add(def::region, payload.c32(name).u8(region.role).u8(region.paradigm).c32(0));
    }
  }

  void communicators() {
    Payload all;
    all.c32(0).c32(string("")).u8(k_old_unknown).c32(count_of(in_.locations));
    for (const trace::Location& location : in_.locations) all.c64(location.id);
    add(def::group, all.u8(k_group_comm_locations).u8(k_paradigm_mpi).c32(0));
    for (std::uint32_t i = 0; i < in_.comms.size(); ++i) {
      const trace::Comm& comm = in_.comms[i];
      Payload group;
      group.c32(i + 1).c32(string("")).u8(k_old_unknown).c32(count_of(comm.group_a));
      for (const LocationIndex member : comm.group_a) group.c64(member);
      add(def::group, group.u8(k_group_comm_group).u8(k_paradigm_mpi).c32(0));
      const std::uint32_t name = string(comm.name), parent = i == 0 ? k_none : 0;
      add(def::comm, Payload().c32(i).c32(name).c32(i + 1).c32(parent).c32(0));
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

}  // namespace entrain::otf2
