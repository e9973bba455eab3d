// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "base/unfinished.hpp"

namespace entrain {

/// The hidden folder beside the final place of an output (".NAME.partial-HOST-PROCESS-NUMBER"),
/// with the mark of an unfinished result. Destruction removes it. A killed process leaves it.
class Staging {
 public:
  Staging() = default;
  /// Creates the folder beside `target`, an absolute path whose folder exists. First removes those
  /// of killed processes for this target: of this user and this machine, whose process does not
  /// exist, that nobody has locked, and that carry the mark of an unfinished result, or that of an
  /// unchanged one while something stands under the final name. Errors: ErrorKind::output.
  static Result<Staging> create(const std::filesystem::path& target);

  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&& other) noexcept;
  ~Staging();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Removes the folders of killed processes for this target again, now that it stands.
  void sweep(const std::filesystem::path& target);
  /// Number of folders of killed processes that create() has removed.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return leftovers_removed_; }
  /// From here on a signal does not remove the folder. Does not return if one is about to.
  void keep_from_signals() noexcept { unfinished_.take_away(); }
  /// The folder is no longer this object's: it has another name, or holds what must stay.
  void release() noexcept { path_.clear(); }
  /// Removes another folder in the end.
  void hold(std::filesystem::path folder) noexcept { path_ = std::move(folder); }

 private:
  std::filesystem::path path_;  ///< empty: nothing to remove
  File lock_;                   ///< lock of the folder, while this process lives
  std::uint64_t leftovers_removed_ = 0;
  Unfinished unfinished_;
};

/// The result with `path` for `hidden` in its sentence: users know no hidden names.
Result<void> under_final_name(Result<void> result, const std::filesystem::path& hidden,
                              const std::filesystem::path& path);

}  // namespace entrain
