// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/callbacks.hpp"

#include <bit>

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// Adds a record with these fields.
OTF2_CallbackCode add(void* data, U8 type, Fields& fields) {
  static_cast<DefinitionSink*>(data)->file.records.push_back({type, 0, fields.take()});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode clock(void* data, U64 resolution, U64 offset, U64 length, U64 realtime) {
  return add(data, def::clock_properties,
             Fields().c64(resolution).c64(offset).c64(length).c64(realtime));
}

OTF2_CallbackCode string(void* data, U32 self, const char* text) {
  return add(data, def::string, Fields().c32(self).text(text));
}

OTF2_CallbackCode attribute(void* data, U32 self, U32 name, U32 description, OTF2_Type type) {
  return add(data, def::attribute, Fields().c32(self).c32(name).u8(type).c32(description));
}

OTF2_CallbackCode tree_node(void* data, U32 self, U32 name, U32 class_name, U32 parent) {
  return add(data, def::system_tree_node, Fields().c32(self).c32(name).c32(class_name).c32(parent));
}

OTF2_CallbackCode domain(void* data, U32 node, OTF2_SystemTreeDomain value) {
  return add(data, def::tree_node_domain, Fields().c32(node).u8(value));
}

OTF2_CallbackCode location_group(void* data, U32 self, U32 name, OTF2_LocationGroupType type,
                                 U32 parent, U32 creator) {
  return add(data, def::location_group,
             Fields().c32(self).c32(name).u8(type).c32(parent).c32(creator));
}

OTF2_CallbackCode location(void* data, U64 self, U32 name, OTF2_LocationType type, U64 events,
                           U32 group) {
  static_cast<DefinitionSink*>(data)->locations.push_back(self);
  return add(data, def::location, Fields().c64(self).c32(name).u8(type).c64(events).c32(group));
}

OTF2_CallbackCode region(void* data, U32 self, U32 name, U32 canonical, U32 description,
                         OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                         U32 file, U32 first_line, U32 last_line) {
  constexpr U8 k_no_old_type = 0;
  Fields fields;
  fields.c32(self).c32(name).c32(description).u8(k_no_old_type).c32(file).c32(first_line);
  fields.c32(last_line).c32(canonical).u8(role).u8(paradigm).c32(flags);
  return add(data, def::region, fields);
}

OTF2_CallbackCode group(void* data, U32 self, U32 name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                        OTF2_GroupFlag flags, U32 count, const U64* members) {
  constexpr U8 k_no_old_type = 0;
  Fields fields;
  fields.c32(self).c32(name).u8(k_no_old_type).c32(count);
  for (U32 i = 0; i < count; ++i) fields.c64(members[i]);
  return add(data, def::group, fields.u8(type).u8(paradigm).c32(flags));
}

OTF2_CallbackCode comm(void* data, U32 self, U32 name, U32 group, U32 parent, OTF2_CommFlag flags) {
  return add(data, def::comm, Fields().c32(self).c32(name).c32(group).c32(parent).c32(flags));
}

OTF2_CallbackCode inter_comm(void* data, U32 self, U32 name, U32 group_a, U32 group_b, U32 common,
                             OTF2_CommFlag flags) {
  return add(data, def::inter_comm,
             Fields().c32(self).c32(name).c32(group_a).c32(group_b).c32(common).c32(flags));
}

OTF2_CallbackCode window(void* data, U32 self, U32 name, U32 comm, OTF2_RmaWinFlag flags) {
  return add(data, def::rma_window, Fields().c32(self).c32(name).c32(comm).c32(flags));
}

OTF2_CallbackCode clock_offset(void* data, U64 time, std::int64_t offset, double deviation) {
  return add(data, def::local_clock_offset,
             Fields().fixed64(time).s64(offset).fixed64(std::bit_cast<U64>(deviation)));
}

}  // namespace

void set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, string);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, attribute);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, tree_node);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(callbacks, domain);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, location_group);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, window);
}

void set_local_definition_callbacks(OTF2_DefReaderCallbacks* callbacks) {
  OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, clock_offset);
}

}  // namespace entrain::otf2
