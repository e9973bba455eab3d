// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/child.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "base/file.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/library/callbacks.hpp"
#include "formats/otf2/library/library_copy.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

namespace {

OTF2_ErrorCode keep_message(void* data, const char*, std::uint64_t, const char*,
                            OTF2_ErrorCode code, const char* format, va_list arguments) {
  // The first message is nearest to the cause.
  auto& message = *static_cast<std::string*>(data);
  if (!message.empty()) return code;
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  message = text;
  const char* const reason = OTF2_Error_GetDescription(code);
  if (reason != nullptr) message += std::string(": ") + reason;
  return code;
}

/// The work of the child. Nothing is freed at the end: the process ends too.
class Child {
 public:
  Child(const fs::path& anchor, const fs::path& folder)
      : anchor_(anchor), folder_(folder), files_(folder / anchor.stem()) {
    OTF2_Error_RegisterCallback(keep_message, &message_);
  }

  int run() {
    fs::create_directory(files_);
    reader_ = OTF2_Reader_Open(anchor_.c_str());
    if (reader_ == nullptr) return refused();
    if (OTF2_Reader_SetSerialCollectiveCallbacks(reader_) != OTF2_SUCCESS) return refused();
    for (const auto step : {&Child::copy_properties, &Child::copy_definitions,
                            &Child::copy_local_definitions, &Child::copy_events}) {
      if (const int code = (this->*step)(); code != k_child_done) return code;
    }
    return k_child_done;
  }

 private:
  int tell(int code, const std::string& text) const {
    (void)write_file(folder_ / k_message_file,
                     {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return code;
  }
  int refused() const { return tell(k_child_refused, message_); }
  int finish(const Result<void>& written) const {
    if (written) return k_child_done;
    const std::string& why = written.error().message;
    if (why.ends_with(reason(EFBIG))) {
      return tell(k_child_refused, "it yields more than its files can hold");
    }
    return tell(k_child_no_room, why);
  }

  int write_definitions(const DefinitionFile& file, const fs::path& path) const {
    const auto bytes = pack_definition_file(file, k_copy_definition_chunk_size, path);
    if (!bytes) return tell(k_child_refused, "it yields more than its files can hold");
    return finish(write_file(path, *bytes));
  }

  int copy_properties() {
    std::uint32_t count = 0;
    char** names = nullptr;
    if (OTF2_Reader_GetPropertyNames(reader_, &count, &names) != OTF2_SUCCESS) return refused();
    DefinitionFile file;
    for (std::uint32_t i = 0; i < count; ++i) {
      char* value = nullptr;
      if (OTF2_Reader_GetProperty(reader_, names[i], &value) != OTF2_SUCCESS) return refused();
      file.records.push_back({def::string, Fields().text(names[i]).text(value).take()});
      std::free(value);
    }
    return write_definitions(file, folder_ / k_properties_file);
  }

  int copy_definitions() {
    DefinitionSink sink;
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader_);
    if (definitions == nullptr) return refused();
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    set_definition_callbacks(callbacks);
    std::uint64_t read = 0;
    if (OTF2_Reader_RegisterGlobalDefCallbacks(reader_, definitions, callbacks, &sink) !=
            OTF2_SUCCESS ||
        OTF2_Reader_ReadAllGlobalDefinitions(reader_, definitions, &read) != OTF2_SUCCESS) {
      return refused();
    }
    OTF2_Reader_CloseGlobalDefReader(reader_, definitions);
    locations_ = std::move(sink.locations);
    std::sort(locations_.begin(), locations_.end());
    locations_.erase(std::unique(locations_.begin(), locations_.end()), locations_.end());
    for (const std::uint64_t id : locations_) OTF2_Reader_SelectLocation(reader_, id);
    return write_definitions(sink.file, folder_ / anchor_.filename().replace_extension(".def"));
  }

  [[nodiscard]] fs::path file_of(std::uint64_t id, const char* extension) const {
    return files_ / (std::to_string(id) + extension);
  }

  int copy_local_definitions() {
    if (OTF2_Reader_OpenDefFiles(reader_) != OTF2_SUCCESS) {  // there are none
      message_.clear();
      return k_child_done;
    }
    OTF2_DefReaderCallbacks* callbacks = OTF2_DefReaderCallbacks_New();
    set_local_definition_callbacks(callbacks);
    for (const std::uint64_t id : locations_) {
      OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader_, id);
      if (definitions == nullptr) {  // a location need not have any
        message_.clear();
        continue;
      }
      DefinitionSink sink;
      std::uint64_t read = 0;
      if (OTF2_Reader_RegisterDefCallbacks(reader_, definitions, callbacks, &sink) !=
              OTF2_SUCCESS ||
          OTF2_Reader_ReadAllLocalDefinitions(reader_, definitions, &read) != OTF2_SUCCESS) {
        return refused();
      }
      OTF2_Reader_CloseDefReader(reader_, definitions);
      const int code = write_definitions(sink.file, file_of(id, ".def"));
      if (code != k_child_done) return code;
    }
    OTF2_Reader_CloseDefFiles(reader_);
    return k_child_done;
  }

  int copy_events() {
    if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return refused();
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    set_event_callbacks(callbacks);
    for (const std::uint64_t id : locations_) {
      OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader_, id);
      if (events == nullptr) {  // missing: counted by whoever reads the copy
        message_.clear();
        continue;
      }
      EventWriter file(file_of(id, ".evt"), k_copy_event_chunk_size, k_copy_event_chunk_size);
      std::uint64_t read = 0;
      // Stamps as stored: the clock offsets are in the copy as well.
      if (OTF2_Reader_RegisterEvtCallbacks(reader_, events, callbacks, &file) != OTF2_SUCCESS ||
          OTF2_EvtReader_ApplyClockOffsets(events, false) != OTF2_SUCCESS ||
          OTF2_Reader_ReadAllLocalEvents(reader_, events, &read) != OTF2_SUCCESS) {
        return refused();
      }
      OTF2_Reader_CloseEvtReader(reader_, events);
      if (const int code = finish(file.close()); code != k_child_done) return code;
    }
    return k_child_done;
  }

  fs::path anchor_, folder_, files_;
  OTF2_Reader* reader_ = nullptr;
  std::string message_;
  std::vector<std::uint64_t> locations_;  ///< ascending, each once
};

}  // namespace

int copy_in_child(const fs::path& anchor, const fs::path& folder) {
  try {
    return Child(anchor, folder).run();
  } catch (const std::bad_alloc&) {
    return k_child_no_memory;
  } catch (const std::exception&) {
    return k_child_no_room;
  }
}

}  // namespace entrain::otf2
