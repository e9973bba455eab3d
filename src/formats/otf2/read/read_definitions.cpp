// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_definitions.hpp"

#include <bit>
#include <unordered_set>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/resolve.hpp"

namespace entrain::otf2 {

namespace {

/// Decodes global definition records into RawDefinitions; references are resolved afterwards,
/// because records may come in any order.
class GlobalReader {
 public:
  explicit GlobalReader(RawDefinitions& raw) : raw_(raw) {}

  /// False if the payload is too short for its type.
  bool read(const DefinitionRecord& record, bool big_endian) {
    FieldReader in(record.payload.data(), record.payload.size(), big_endian);
    switch (record.type) {
      case def::clock_properties:
        clock(in);
        break;
      case def::string:
        return string(in);
      case def::system_tree_node:
        tree_node(in);
        break;
      case def::location_group:
        location_group(in);
        break;
      case def::location:
        location(in);
        break;
      case def::region:
        region(in);
        break;
      case def::group:
        group(in);
        break;
      case def::comm:
        comm(in, false);
        break;
      case def::attribute:
        attribute(in);
        break;
      case def::inter_comm:
        comm(in, true);
        break;
      case def::rma_window:
        window(in);
        break;
      case def::tree_node_domain:
        domain(in);
        break;
      default:
        return true;
    }
    return in.ok();
  }

 private:
  void clock(FieldReader& in) {
    raw_.clock.resolution_hz = in.c64();
    raw_.clock.global_offset = in.c64();
    raw_.clock.length = in.c64();
    if (in.left() > 0) raw_.clock.realtime_ns = in.c64();
    raw_.has_clock = true;
  }
  /// False also for a text without an end: readers that trust the end mark read on after it.
  bool string(FieldReader& in) {
    const std::uint32_t self = in.c32();
    const auto* begin = in.position();
    const auto* end = std::find(begin, begin + in.left(), std::uint8_t{0});
    if (end == begin + in.left()) return false;
    raw_.strings[self] = {begin, end};
    return in.ok();
  }
  void tree_node(FieldReader& in) {
    RawDefinitions::TreeNode node;
    node.id = in.c32();
    node.name = in.c32();
    node.class_name = in.c32();
    node.parent = in.c32();
    raw_.tree_nodes.push_back(node);
  }
  void location_group(FieldReader& in) {
    RawDefinitions::LocationGroup group;
    group.id = in.c32();
    group.name = in.c32();
    in.u8();
    group.parent = in.c32();
    if (in.left() > 0) group.creator = in.c32();
    raw_.location_groups.push_back(group);
  }
  void location(FieldReader& in) {
    RawDefinitions::Location location;
    location.id = in.c64();
    location.name = in.c32();
    location.type = in.u8();
    location.events = in.c64();
    location.group = in.c32();
    raw_.locations.push_back(location);
  }
  void region(FieldReader& in) {
    RawDefinitions::Region region;
    region.id = in.c32();
    region.name = in.c32();
    in.c32();  // description
    in.u8();   // region type of OTF2 1.0
    in.c32();  // source file
    in.c32();  // begin line
    in.c32();  // end line
    if (in.left() > 0) {
      in.c32();  // canonical name
      region.role = in.u8();
      region.paradigm = in.u8();
    }
    raw_.regions.push_back(region);
  }
  void group(FieldReader& in) {
    RawDefinitions::Group group;
    group.id = in.c32();
    in.c32();  // name
    in.u8();   // group type of OTF2 1.0
    const std::uint32_t count = in.c32();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) group.members.push_back(in.c64());
    if (in.left() > 0) {
      group.type = in.u8();
      group.paradigm = in.u8();
      group.flags = in.c32();
    }
    raw_.groups.push_back(std::move(group));
  }
  void comm(FieldReader& in, bool inter) {
    RawDefinitions::Comm comm;
    comm.inter = inter;
    comm.id = in.c32();
    comm.name = in.c32();
    comm.group_a = in.c32();
    if (inter) comm.group_b = in.c32();
    raw_.comms.push_back(comm);
  }
  void window(FieldReader& in) {
    RawDefinitions::Window window;
    window.id = in.c32();
    window.name = in.c32();
    window.comm = in.c32();
    raw_.windows.push_back(window);
  }
  void attribute(FieldReader& in) {
    RawDefinitions::Attribute attribute;
    attribute.id = in.c32();
    attribute.name = in.c32();
    attribute.type = in.u8();
    raw_.attributes.push_back(attribute);
  }
  void domain(FieldReader& in) {
    constexpr std::uint8_t k_shared_memory = 1;
    const std::uint32_t node = in.c32();
    if (in.u8() == k_shared_memory) raw_.shared_memory_nodes.insert(node);
  }

  RawDefinitions& raw_;
};

bool read_mapping_table(FieldReader& in, LocalStrings strings, LocalDefinitions& local) {
  const std::uint8_t kind = in.u8();
  IdMapping* target = kind == mapping::region       ? &local.regions
                      : kind == mapping::comm       ? &local.comms
                      : kind == mapping::group      ? &local.groups
                      : kind == mapping::rma_window ? &local.windows
                                                    : nullptr;
  if (strings == LocalStrings::read && kind == mapping::string) target = &local.strings;
  if (strings == LocalStrings::read && kind == mapping::attribute) target = &local.attributes;
  if (target == nullptr) return true;
  const std::uint64_t count = in.c64();
  const bool sparse = in.u8() != 0;
  std::vector<std::uint64_t> dense;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t value = in.c64();
    if (sparse) {
      target->add(value, in.c64());
    } else {
      dense.push_back(value);
    }
  }
  if (!sparse) target->set_dense(std::move(dense));
  return in.ok();
}

}  // namespace

Result<GlobalDefinitions> read_global_definitions(const std::filesystem::path& path,
                                                  std::uint64_t chunk_size) {
  TRY_ASSIGN(const DefinitionFile file, read_definition_file(path, chunk_size));
  RawDefinitions raw;
  GlobalReader reader(raw);
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    if (!reader.read(file.records[i], file.big_endian)) {
      return fail(ErrorKind::input,
                  fmt::format("{} is damaged: definition record {} (type {}) is too short; restore "
                              "the file or record the trace again",
                              path.string(), i + 1, file.records[i].type));
    }
  }
  return resolve(raw, path.string());
}

Result<LocalDefinitions> local_definitions_of(const DefinitionFile& file,
                                              const std::filesystem::path& path,
                                              LocalStrings strings) {
  LocalDefinitions local;
  for (const DefinitionRecord& record : file.records) {
    FieldReader in(record.payload.data(), record.payload.size(), file.big_endian);
    bool good = true;
    if (record.type == def::local_mapping_table) {
      good = read_mapping_table(in, strings, local);
    } else if (record.type == def::local_clock_offset) {
      trace::ClockOffset offset;
      offset.time = in.fixed64();
      offset.offset = in.s64();
      offset.stddev = std::bit_cast<double>(in.fixed64());
      local.clock_offsets.push_back(offset);
      good = in.ok();
    }
    if (!good) {
      return fail(ErrorKind::input,
                  fmt::format("{} is damaged: a definition record of type {} is too short; restore "
                              "the file or record the trace again",
                              path.string(), record.type));
    }
  }
  return local;
}

Result<LocalDefinitions> read_local_definitions(const std::filesystem::path& path,
                                                std::uint64_t chunk_size, LocalStrings strings) {
  TRY_ASSIGN(const auto file, read_definition_file_if_any(path, chunk_size));
  if (file) return local_definitions_of(*file, path, strings);
  LocalDefinitions none;
  none.missing = true;
  return none;
}

}  // namespace entrain::otf2
