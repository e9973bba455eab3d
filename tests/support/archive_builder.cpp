// SPDX-License-Identifier: BSD-3-Clause
#include "support/archive_builder.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/files.hpp"
#include "support/library_reader.hpp"

namespace entrain::test {

namespace {

constexpr std::uint32_t k_undefined = OTF2_UNDEFINED_UINT32;
constexpr Paradigm k_paradigms[] = {Paradigm::user, Paradigm::openmp, Paradigm::mpi,
                                    Paradigm::pthread};
static_assert(std::size(k_paradigms) == ArchiveBuilder::k_first_group);

std::uint8_t code(auto value) { return static_cast<std::uint8_t>(value); }

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

OTF2_TimeStamp after_flush(void* data, OTF2_FileType, OTF2_LocationRef location) {
  auto& builder = *static_cast<ArchiveBuilder*>(data);
  const auto stop = builder.last_time(location) + builder.options().flush_ticks;
  builder.note_time(location, stop);
  return stop;
}

/// Chunks of one buffer, for the memory callbacks.
struct Chunks {
  std::vector<void*> blocks;
};

void* allocate_chunk(void* data, OTF2_FileType type, OTF2_LocationRef, void** per_buffer,
                     std::uint64_t size) {
  if (*per_buffer == nullptr) *per_buffer = new Chunks;
  auto& chunks = *static_cast<Chunks*>(*per_buffer);
  const unsigned limit = *static_cast<unsigned*>(data);
  if (type == OTF2_FILETYPE_EVENTS && chunks.blocks.size() >= limit) return nullptr;
  chunks.blocks.push_back(std::calloc(1, size));
  return chunks.blocks.back();
}

void free_chunks(void*, OTF2_FileType, OTF2_LocationRef, void** per_buffer, bool final) {
  auto* chunks = static_cast<Chunks*>(*per_buffer);
  if (chunks == nullptr) return;
  for (void* block : chunks->blocks) std::free(block);
  chunks->blocks.clear();
  if (final) {
    delete chunks;
    *per_buffer = nullptr;
  }
}

}  // namespace

struct ArchiveBuilder::Place {
  struct Offset {
    std::uint64_t time;
    std::int64_t offset;
    double deviation;
  };
  std::uint64_t id = 0;
  std::uint32_t process = 0, name = 0;
  std::uint8_t type = 0;
  OTF2_EvtWriter* events = nullptr;
  OTF2_SnapWriter* snapshot = nullptr;
  std::uint64_t event_count = 0, last = 0;
  std::vector<Offset> offsets;
  std::vector<std::pair<std::uint8_t, std::map<std::uint64_t, std::uint64_t>>> mappings;
};

ArchiveBuilder::ArchiveBuilder(const std::filesystem::path& directory, BuilderOptions options)
    : directory_(directory), options_(std::move(options)) {
  last_library_message().clear();
  archive_ = OTF2_Archive_Open(directory_.c_str(), options_.name.c_str(), OTF2_FILEMODE_WRITE,
                               options_.event_chunk_size, options_.definition_chunk_size,
                               OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) throw std::runtime_error("OTF2: " + last_library_message());
  const bool flushes = options_.chunks_before_flush > 0;
  static const OTF2_FlushCallbacks with_record{before_flush, after_flush};  // the library keeps it
  static const OTF2_FlushCallbacks without{before_flush, nullptr};
  const OTF2_FlushCallbacks& flush = flushes ? with_record : without;
  require(OTF2_Archive_SetFlushCallbacks(archive_, &flush, this), "flush callbacks");
  if (flushes) {
    static const OTF2_MemoryCallbacks memory{allocate_chunk, free_chunks};  // the library keeps it
    require(OTF2_Archive_SetMemoryCallbacks(archive_, &memory, &options_.chunks_before_flush),
            "memory callbacks");
  }
  require(OTF2_Archive_SetSerialCollectiveCallbacks(archive_), "collective callbacks");
  require(OTF2_Archive_SetCreator(archive_, "entrain tests"), "creator");
  require(OTF2_Archive_OpenEvtFiles(archive_), "event files");
  string("");
}

ArchiveBuilder::~ArchiveBuilder() {
  if (!finished_) OTF2_Archive_Close(archive_);
}

std::uint32_t ArchiveBuilder::string(const std::string& text) {
  return strings_.emplace(text, static_cast<std::uint32_t>(strings_.size())).first->second;
}

std::uint32_t ArchiveBuilder::node(const std::string& name, bool shared_memory) {
  const std::uint32_t id = nodes_++;
  const auto text = string(name), class_name = string("node");
  before_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteSystemTreeNode(global_, id, text, class_name, 0);
    if (shared_memory) {
      OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(global_, id,
                                                     OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
  });
  return id;
}

std::uint32_t ArchiveBuilder::process(const std::string& name, std::uint32_t node) {
  const std::uint32_t id = processes_++;
  const auto text = string(name);
  before_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteLocationGroup(global_, id, text, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                            node, k_undefined);
  });
  return id;
}

std::uint32_t ArchiveBuilder::accelerator(const std::string& name, std::uint32_t node,
                                          std::uint32_t process) {
  const std::uint32_t id = processes_++;
  const auto text = string(name);
  before_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteLocationGroup(global_, id, text, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                                            node, process);
  });
  return id;
}

std::uint64_t ArchiveBuilder::location(std::uint64_t id, std::uint32_t process,
                                       const std::string& name, std::uint8_t type) {
  auto place = std::make_unique<Place>();
  place->id = id;
  place->process = process;
  place->name = string(name.empty() ? "location " + std::to_string(id) : name);
  place->type = type;
  place->events = OTF2_Archive_GetEvtWriter(archive_, id);
  if (place->events == nullptr) throw std::runtime_error("OTF2: " + last_library_message());
  place_of_[id] = place.get();
  places_.push_back(std::move(place));
  return id;
}

std::uint32_t ArchiveBuilder::region(const std::string& name, Role role, Paradigm paradigm) {
  const std::uint32_t id = regions_++;
  const auto text = string(name), empty = string("");
  before_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteRegion(global_, id, text, text, empty, code(role), code(paradigm),
                                     OTF2_REGION_FLAG_NONE, empty, 0, 0);
  });
  return id;
}

std::uint32_t ArchiveBuilder::rank(std::uint64_t location, Paradigm paradigm) {
  auto& all = ranks_[paradigm];
  const auto found = std::find(all.begin(), all.end(), location);
  if (found != all.end()) return static_cast<std::uint32_t>(found - all.begin());
  all.push_back(location);
  return static_cast<std::uint32_t>(all.size() - 1);
}

std::uint32_t ArchiveBuilder::group(const std::vector<std::uint64_t>& locations,
                                    Paradigm paradigm) {
  const std::uint32_t id = group_count_++;
  const auto empty = string("");
  std::vector<std::uint64_t> members;
  for (const auto location : locations) members.push_back(rank(location, paradigm));
  groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteGroup(global_, id, empty, OTF2_GROUP_TYPE_COMM_GROUP, code(paradigm),
                                    OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(members.size()), members.data());
  });
  return id;
}

std::uint32_t ArchiveBuilder::comm(const std::string& name,
                                   const std::vector<std::uint64_t>& locations, Paradigm paradigm) {
  const std::uint32_t members = group(locations, paradigm), id = comms_++;
  const auto text = string(name);
  after_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteComm(global_, id, text, members, k_undefined, OTF2_COMM_FLAG_NONE);
  });
  return id;
}

std::uint32_t ArchiveBuilder::self_comm(const std::string& name) {
  const std::uint32_t self = group_count_++, id = comms_++;
  const auto text = string(name);
  groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteGroup(global_, self, text, OTF2_GROUP_TYPE_COMM_SELF,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, nullptr);
  });
  after_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteComm(global_, id, text, self, k_undefined, OTF2_COMM_FLAG_NONE);
  });
  return id;
}

std::uint32_t ArchiveBuilder::inter_comm(const std::string& name,
                                         const std::vector<std::uint64_t>& group_a,
                                         const std::vector<std::uint64_t>& group_b,
                                         std::uint32_t common) {
  const std::uint32_t a = group(group_a), b = group(group_b), id = comms_++;
  const auto text = string(name);
  after_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteInterComm(global_, id, text, a, b, common, OTF2_COMM_FLAG_NONE);
  });
  return id;
}

std::uint32_t ArchiveBuilder::window(const std::string& name, std::uint32_t comm) {
  const std::uint32_t id = windows_++;
  const auto text = string(name);
  after_groups_.push_back([=, this] {
    OTF2_GlobalDefWriter_WriteRmaWin(global_, id, text, comm, OTF2_RMA_WIN_FLAG_NONE);
  });
  return id;
}

void ArchiveBuilder::clock_offset(std::uint64_t location, std::uint64_t time, std::int64_t offset,
                                  double deviation) {
  place_of_.at(location)->offsets.push_back({time, offset, deviation});
}

void ArchiveBuilder::mapping(std::uint64_t location, std::uint8_t kind,
                             const std::map<std::uint64_t, std::uint64_t>& local_to_global) {
  place_of_.at(location)->mappings.emplace_back(kind, local_to_global);
}

void ArchiveBuilder::property(const std::string& name, const std::string& value) {
  require(OTF2_Archive_SetProperty(archive_, name.c_str(), value.c_str(), true), name);
}

void ArchiveBuilder::definitions(std::function<void(OTF2_GlobalDefWriter_struct*)> write) {
  extra_.push_back(std::move(write));
}

void ArchiveBuilder::note_time(std::uint64_t location, std::uint64_t time) {
  first_ = std::min(first_, time);
  last_ = std::max(last_, time);
  auto& place = *place_of_.at(location);
  place.last = std::max(place.last, time);
}

std::uint64_t ArchiveBuilder::last_time(std::uint64_t location) const {
  return place_of_.at(location)->last;
}

OTF2_SnapWriter_struct* ArchiveBuilder::snapshot(std::uint64_t location) {
  if (!snapshots_) {
    require(OTF2_Archive_SetNumberOfSnapshots(archive_, 1), "snapshots");
    require(OTF2_Archive_OpenSnapFiles(archive_), "snapshot files");
    snapshots_ = true;
  }
  auto& place = *place_of_.at(location);
  place.snapshot = OTF2_Archive_GetSnapWriter(archive_, location);
  if (place.snapshot == nullptr) throw std::runtime_error("OTF2: " + last_library_message());
  return place.snapshot;
}

std::filesystem::path ArchiveBuilder::finish() {
  for (auto& place : places_) {
    OTF2_EvtWriter_GetNumberOfEvents(place->events, &place->event_count);
    require(OTF2_Archive_CloseEvtWriter(archive_, place->events), "closing an event file");
    if (place->snapshot != nullptr) {
      require(OTF2_Archive_CloseSnapWriter(archive_, place->snapshot), "closing a snapshot");
    }
  }
  require(OTF2_Archive_CloseEvtFiles(archive_), "closing event files");
  if (snapshots_) require(OTF2_Archive_CloseSnapFiles(archive_), "closing snapshot files");
  write_local_definitions();
  write_global_definitions();
  finished_ = true;
  require(OTF2_Archive_Close(archive_), "closing the archive");
  const auto anchor = directory_ / (options_.name + ".otf2");
  set_trace_id(anchor);
  return anchor;
}

void ArchiveBuilder::write_local_definitions() {
  require(OTF2_Archive_OpenDefFiles(archive_), "local definition files");
  for (const auto& place : places_) {
    OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(archive_, place->id);
    for (const auto& [kind, table] : place->mappings) {
      const bool dense = table.empty() || table.rbegin()->first == table.size() - 1;
      OTF2_IdMap* map =
          OTF2_IdMap_Create(dense ? OTF2_ID_MAP_DENSE : OTF2_ID_MAP_SPARSE, table.size() + 2);
      for (const auto& [from, to] : table) OTF2_IdMap_AddIdPair(map, from, to);
      require(OTF2_DefWriter_WriteMappingTable(local, kind, map), "a mapping table");
      OTF2_IdMap_Free(map);
    }
    for (const auto& offset : place->offsets) {
      require(OTF2_DefWriter_WriteClockOffset(local, offset.time, offset.offset, offset.deviation),
              "a clock offset");
    }
    require(OTF2_Archive_CloseDefWriter(archive_, local), "closing local definitions");
  }
  require(OTF2_Archive_CloseDefFiles(archive_), "closing local definition files");
}

void ArchiveBuilder::write_global_definitions() {
  global_ = OTF2_Archive_GetGlobalDefWriter(archive_);
  const bool any = first_ <= last_;
  require(
      OTF2_GlobalDefWriter_WriteClockProperties(global_, options_.resolution_hz, any ? first_ : 0,
                                                any ? last_ - first_ : 0, OTF2_UNDEFINED_TIMESTAMP),
      "clock properties");
  const auto machine = string("machine");
  const auto empty = string("");
  std::vector<const char*> texts(strings_.size());  // by id: readers expect ascending ids
  for (const auto& [text, id] : strings_) texts[id] = text.c_str();
  for (std::uint32_t id = 0; id < texts.size(); ++id) {
    OTF2_GlobalDefWriter_WriteString(global_, id, texts[id]);
  }
  OTF2_GlobalDefWriter_WriteSystemTreeNode(global_, 0, machine, machine, k_undefined);
  for (const auto& write : before_groups_) write();
  for (const auto& place : places_) {
    OTF2_GlobalDefWriter_WriteLocation(global_, place->id, place->name, place->type,
                                       place->event_count, place->process);
  }
  std::uint32_t list = 0;
  for (const auto paradigm : k_paradigms) {
    const auto& locations = ranks_[paradigm];
    OTF2_GlobalDefWriter_WriteGroup(global_, list++, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    code(paradigm), OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(locations.size()), locations.data());
  }
  for (const auto& write : groups_) write();
  for (const auto& write : after_groups_) write();
  for (const auto& write : extra_) write(global_);
  require(OTF2_Archive_CloseGlobalDefWriter(archive_, global_), "closing global definitions");
}

/// The library takes the trace id from the clock; tests want the same bytes every time. It is the
/// 8 bytes before two 4-byte counts and 3 end marks.
void ArchiveBuilder::set_trace_id(const std::filesystem::path& anchor) const {
  Bytes bytes = read_bytes(anchor);
  const std::size_t begin = bytes.size() - 19;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[begin + i] = static_cast<std::uint8_t>(options_.trace_id >> (8 * i));
  }
  write_bytes(anchor, bytes);
}

ArchiveBuilder::Events ArchiveBuilder::at(std::uint64_t location) {
  Events events;
  events.writer = place_of_.at(location)->events;
  events.builder = this;
  events.location = location;
  return events;
}

}  // namespace entrain::test
