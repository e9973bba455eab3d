// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/manifest.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "formats/json/document.hpp"

namespace entrain::kineto {

std::string clock_name(std::uint32_t number) {
  constexpr std::array<const char*, 7> k_names{"",          "REALTIME",         "REALTIME_COARSE",
                                               "MONOTONIC", "MONOTONIC_COARSE", "MONOTONIC_RAW",
                                               "BOOTTIME"};
  return number < k_names.size() ? k_names[number] : "";
}

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
      Json& clocks = entry["clocks"];
      clocks["sync_to"] = {{"file", reference->name}};
      clocks["offset_ns"] = file->ahead - reference->ahead;
      // A file that names its clocks may not be taken for one without: Perfetto refuses it.
      if (!file->clock.empty()) clocks["clock"] = file->clock;
      if (!reference->clock.empty()) clocks["sync_to"]["clock"] = reference->clock;
    }
    list.push_back(std::move(entry));
  }
  const Json manifest = {{"perfetto_manifest", {{"version", 1}, {"files", std::move(list)}}}};
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> annotate_manifest(const std::filesystem::path& path,
                               const formats::Attributes& facts) {
  using Json = nlohmann::ordered_json;
  TRY_ASSIGN(const json::Document written, json::load(path));
  Json manifest = Json::parse(written.text);
  Json& attributes = manifest["perfetto_manifest"]["attributes"];
  for (const auto& [key, value] : facts) {
    std::visit([&, &name = key](const auto& one) { attributes["entrain." + name] = one; }, value);
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  return json::save(path, manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
                    json::Packing::none);
}

}  // namespace entrain::kineto
