// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/callbacks.hpp"

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

OTF2_CallbackCode add(void* data, U8 type, Fields& fields) {
  static_cast<DefinitionSink*>(data)->file.records.push_back({type, fields.take()});
  return OTF2_CALLBACK_SUCCESS;
}

/// Adds a record with these fields, which are all that it holds, in this order.
template <U8 type, class... Values>
OTF2_CallbackCode record(void* data, Values... values) {
  Fields fields;
  (put(fields, values), ...);
  return add(data, type, fields);
}

OTF2_CallbackCode attribute(void* data, U32 self, U32 name, U32 description, OTF2_Type type) {
  return record<def::attribute>(data, self, name, type, description);
}

OTF2_CallbackCode location(void* data, U64 self, U32 name, OTF2_LocationType type, U64 events,
                           U32 group) {
  static_cast<DefinitionSink*>(data)->locations.push_back(self);
  return record<def::location>(data, self, name, type, events, group);
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

OTF2_CallbackCode clock_offset(void* data, U64 time, std::int64_t offset, double deviation) {
  Fields fields;
  put(fields.fixed64(time).s64(offset), deviation);
  return add(data, def::local_clock_offset, fields);
}

}  // namespace

#define SET(name, function) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(callbacks, function)

void set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  SET(ClockProperties, record<def::clock_properties>);
  SET(String, record<def::string>);
  SET(Attribute, attribute);
  SET(SystemTreeNode, record<def::system_tree_node>);
  SET(SystemTreeNodeDomain, record<def::tree_node_domain>);
  SET(LocationGroup, record<def::location_group>);
  SET(Location, location);
  SET(Region, region);
  SET(Group, group);
  SET(Comm, record<def::comm>);
  SET(InterComm, record<def::inter_comm>);
  SET(RmaWin, record<def::rma_window>);
}

#undef SET

void set_local_definition_callbacks(OTF2_DefReaderCallbacks* callbacks) {
  OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, clock_offset);
}

}  // namespace entrain::otf2
