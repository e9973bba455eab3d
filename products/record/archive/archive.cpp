// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/archive.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "formats/otf2/format/format.hpp"
#include "record/archive/definitions.hpp"
#include "record/archive/folders.hpp"
#include "record/archive/otf2_locks.h"
#include "record/base/timer.hpp"
#include "record/clocks/clock_tables.hpp"

namespace entrain::record {

namespace {

constexpr std::uint64_t k_definition_chunk = 4 << 20;

std::atomic<const char*> last_complaint{nullptr};  ///< the library's own text
std::atomic<std::uint64_t> complaints{0};          ///< also those that were taken

/// Needs no memory: there may be none left.
OTF2_ErrorCode note_complaint(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                              const char*, va_list) {
  if (code == OTF2_WARNING || code == OTF2_DEPRECATED) return code;
  const char* none = nullptr;
  last_complaint.compare_exchange_strong(none, OTF2_Error_GetDescription(code));
  ++complaints;
  return code;
}

}  // namespace

std::string take_otf2_complaint() {
  const char* const taken = last_complaint.exchange(nullptr);
  return taken == nullptr ? "" : taken;
}

bool TraceArchive::fine(OTF2_ErrorCode code) {
  if (code != OTF2_SUCCESS) good_ = false;
  return code == OTF2_SUCCESS;
}

bool TraceArchive::open(const Options& options, const Setter& set_collectives) {
  options_ = options;
  OTF2_Error_RegisterCallback(note_complaint, nullptr);
  archive_ = OTF2_Archive_Open(options.directory.c_str(), k_archive_name, OTF2_FILEMODE_WRITE,
                               k_event_chunk, k_definition_chunk, OTF2_SUBSTRATE_POSIX,
                               OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) return false;
  static const OTF2_FlushCallbacks k_flush{pre_flush, post_flush};
  static const OTF2_MemoryCallbacks k_memory{allocate, free_all};
  return fine(OTF2_Archive_SetFlushCallbacks(archive_, &k_flush, this)) &&
         fine(OTF2_Archive_SetMemoryCallbacks(archive_, &k_memory, this)) &&
         fine(entrain_internal_set_locks(archive_)) && fine(set_collectives(archive_)) &&
         fine(OTF2_Archive_SetCreator(archive_, "entrain record"));
}

bool TraceArchive::open_events() { return fine(OTF2_Archive_OpenEvtFiles(archive_)); }

OTF2_EvtWriter* TraceArchive::event_writer(std::uint64_t location) {
  const std::lock_guard lock(mutex_);
  OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive_, location);
  if (writer != nullptr) writers_[location] = writer;
  return writer;
}

bool TraceArchive::is_whole(std::uint64_t location) {
  // The library does not notice when the system fails to write its buffers.
  const std::lock_guard lock(pools_mutex_);
  const auto pool = pools_.find(location);
  if (pool == pools_.end()) return true;
  const std::string path =
      options_.directory + '/' + k_archive_name + '/' + std::to_string(location) + ".evt";
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    if (problem_ == 0) problem_ = errno;
    return false;
  }
  char end[2] = {};
  const bool read = std::fseek(file, -2, SEEK_END) == 0 && std::fread(end, 1, 2, file) == 2;
  const auto size = static_cast<std::uint64_t>(std::ftell(file));
  std::fclose(file);
  return read && end[0] == otf2::mark::end_of_file && end[1] == otf2::mark::end_of_buffer &&
         size > (pool->second->written() - 1) * k_event_chunk;
}

bool TraceArchive::close_writers() {
  bool good = true;
  while (!writers_.empty()) good = close_writer(writers_.begin()->first) && good;
  return good;
}

bool TraceArchive::close_writer(std::uint64_t location) {
  OTF2_EvtWriter* writer = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = writers_.find(location);
    if (found == writers_.end()) return true;
    writer = found->second;
    writers_.erase(found);
  }
  return fine(OTF2_Archive_CloseEvtWriter(archive_, writer)) && is_whole(location);
}

bool TraceArchive::write_local_definitions(const std::vector<LocalDefinitions>& processes) {
  const std::uint64_t before = complaints;
  bool good = fine(OTF2_Archive_CloseEvtFiles(archive_));
  good = fine(OTF2_Archive_OpenDefFiles(archive_)) && good;
  for (const LocalDefinitions& process : processes) {
    for (const auto& [id, location] : process.locations) {
      OTF2_DefWriter* const writer = OTF2_Archive_GetDefWriter(archive_, id);
      good = good && writer != nullptr;
      if (writer == nullptr) continue;
      write_local(writer, process.plan, !options_.truth);
      good = fine(OTF2_Archive_CloseDefWriter(archive_, writer)) && good;
    }
  }
  good = fine(OTF2_Archive_CloseDefFiles(archive_)) && good;
  // A lack of memory that loses records shows in nothing else.
  return good && complaints == before;
}

bool TraceArchive::write_global_definitions(const Merged& merged) {
  const std::uint64_t before = complaints;
  const ProcessRecord& master = merged.processes().front();
  OTF2_Archive_SetProperty(archive_, "ENTRAIN::TIMER", master.timer.c_str(), true);
  const std::string shared = shared_clocks_as_text(merged.processes());
  if (!shared.empty()) OTF2_Archive_SetProperty(archive_, "ENTRAIN::CLOCKS", shared.c_str(), true);
  OTF2_GlobalDefWriter* const writer = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (writer == nullptr) return good_ = false;
  write_global(writer, merged, options_.truth);
  return fine(OTF2_Archive_CloseGlobalDefWriter(archive_, writer)) && complaints == before;
}

bool TraceArchive::close() {
  if (archive_ == nullptr) return false;
  const std::uint64_t before = complaints;
  const bool closed = fine(OTF2_Archive_Close(archive_));
  archive_ = nullptr;
  return closed && good_ && complaints == before;
}

int TraceArchive::problem() {
  const std::lock_guard lock(pools_mutex_);
  for (const auto& [location, pool] : pools_) {
    if (pool->problem() != 0) return pool->problem();
  }
  return problem_;
}

void TraceArchive::drop_buffers(bool keep) {
  for (const auto& pool : kept_) {
    if (keep) pool->keep_file();
  }
  kept_.clear();
}

std::unique_ptr<ChunkPool> TraceArchive::new_pool(OTF2_FileType type,
                                                  std::uint64_t location) const {
  std::string path;
  if (type == OTF2_FILETYPE_EVENTS && options_.mapped) {
    path = buffer_path(options_.directory, location);
  }
  // Definitions must not run into the limit.
  const std::uint64_t limit =
      type == OTF2_FILETYPE_EVENTS ? options_.buffer_bytes : ~std::uint64_t{0};
  return std::make_unique<ChunkPool>(path, limit);
}

void TraceArchive::count_chunk(std::uint64_t bytes) {
  if (options_.most_bytes == 0) return;
  // Calls that have begun write their last records to the chunks that are there.
  if ((taken_ += bytes) + bytes > options_.most_bytes) options_.when_full();
}

void* TraceArchive::allocate(void* self, OTF2_FileType type, OTF2_LocationRef location,
                             void** buffer, std::uint64_t bytes) {
  auto* const archive = static_cast<TraceArchive*>(self);
  if (*buffer == nullptr) {
    auto pool = archive->new_pool(type, location);
    if (type == OTF2_FILETYPE_EVENTS) {
      const std::lock_guard lock(archive->pools_mutex_);
      archive->pools_[location] = pool.get();
    }
    *buffer = pool.release();
  }
  void* const chunk = static_cast<ChunkPool*>(*buffer)->allocate(bytes);
  if (chunk != nullptr && type == OTF2_FILETYPE_EVENTS) archive->count_chunk(bytes);
  return chunk;
}

void TraceArchive::free_all(void* self, OTF2_FileType type, OTF2_LocationRef, void** buffer,
                            bool final) {
  auto* const archive = static_cast<TraceArchive*>(self);
  auto* const pool = static_cast<ChunkPool*>(*buffer);
  if (pool == nullptr) return;
  pool->release();
  if (!final) return;
  *buffer = nullptr;
  std::unique_ptr<ChunkPool> owned(pool);
  if (type != OTF2_FILETYPE_EVENTS) return;
  const std::lock_guard lock(archive->pools_mutex_);
  archive->kept_.push_back(std::move(owned));
}

OTF2_FlushType TraceArchive::pre_flush(void* self, OTF2_FileType type, OTF2_LocationRef location,
                                       void*, bool) {
  // When the disk is full, the mapped file holds the only copy of the events: no flush then.
  auto* const archive = static_cast<TraceArchive*>(self);
  if (type != OTF2_FILETYPE_EVENTS) return OTF2_FLUSH;
  const std::lock_guard lock(archive->pools_mutex_);
  const auto pool = archive->pools_.find(location);
  const bool full = pool != archive->pools_.end() && pool->second->out_of_room();
  return full ? OTF2_NO_FLUSH : OTF2_FLUSH;
}

OTF2_TimeStamp TraceArchive::post_flush(void* self, OTF2_FileType, OTF2_LocationRef) {
  const Stamp now = timer.now();
  return static_cast<TraceArchive*>(self)->options_.truth ? now.truth : now.local;
}

}  // namespace entrain::record
