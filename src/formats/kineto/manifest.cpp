// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/manifest.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace entrain::kineto {

std::string manifest_text(std::span<const ManifestFile> files) {
  using Json = nlohmann::ordered_json;
  auto reference =
      std::find_if(files.begin(), files.end(), [](const auto& file) { return file.ahead == 0; });
  if (reference == files.end()) reference = files.begin();
  Json list = Json::array();
  for (auto file = files.begin(); file != files.end(); ++file) {
    Json entry = {{"path", file->name},
                  {"machine", {{"name", fmt::format("rank {}", file->rank)}}}};
    if (file != reference) {
      entry["clocks"] = {{"sync_to", {{"file", reference->name}}},
                         {"offset_ns", file->ahead - reference->ahead}};
    }
    list.push_back(std::move(entry));
  }
  const Json manifest = {{"perfetto_manifest", {{"version", 1}, {"files", std::move(list)}}}};
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace entrain::kineto
