// SPDX-License-Identifier: BSD-3-Clause
#include "base/staged_file.hpp"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/durable.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

Result<void> StagedFile::check(const fs::path& target, bool replace) {
  std::error_code none;
  if (fs::is_other(target, none)) {
    return fail(ErrorKind::output,
                fmt::format("{} is no regular file; choose another name", target.string()));
  }
  if (file_exists(target) && (!replace || !fs::is_regular_file(target, none))) {
    return fail(ErrorKind::output,
                fmt::format("{} exists; remove it or choose another name", target.string()));
  }
  const fs::path folder = target.parent_path();
  if (folder.empty() || fs::is_directory(folder, none)) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot write {}: {} is no folder", target.string(), folder.string()));
}

Result<StagedFile> StagedFile::create(const fs::path& target, bool replace) {
  TRY(check(target, replace));
  fs::path partial =
      target.parent_path() / fmt::format(".{}.partial-{}", target.filename().string(), ::getpid());
  std::error_code ignored;
  fs::remove(partial, ignored);
  auto file = File::create(partial);
  if (!file) {
    return fail(ErrorKind::output,
                fmt::format("cannot write {}: its folder takes no new file", target.string()));
  }
  return StagedFile(std::move(partial), target, *std::move(file));
}

StagedFile::~StagedFile() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove(partial_, ignored);
}

Result<void> StagedFile::named(Result<void> result) const {
  if (result) return result;
  std::string& message = result.error().message;
  const std::size_t at = message.find(partial_.string());
  if (at != std::string::npos) message.replace(at, partial_.string().size(), target_.string());
  return result;
}

Result<void> StagedFile::write(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return named(file_.write({bytes, text.size()}));
}

Result<void> StagedFile::commit() {
  TRY(named(file_.close()));
  TRY(named(make_durable(partial_)));
  unfinished_.take_away();
  std::error_code error;
  fs::rename(partial_, target_, error);
  if (error) {
    return fail(ErrorKind::output,
                fmt::format("cannot create {}: {}", target_.string(), error.message()));
  }
  partial_.clear();
  const fs::path folder = target_.parent_path();
  return make_name_durable(target_, folder.empty() ? fs::path(".") : folder);
}

}  // namespace entrain
