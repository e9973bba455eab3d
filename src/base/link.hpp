// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain {

/// Makes links to many files. It remembers of a folder where it really is, and whether reflinks
/// work: of 4,096 files that saves some 25 system calls each. Threads may share it.
class Linker {
 public:
  /// `final_folder`: the folder in which the links will be in the end; relative links are made for
  /// that place. LinkKind::automatic tries reflink, relative symbolic link and hard link, in this
  /// order.
  Linker(std::filesystem::path final_folder, LinkKind kind)
      : final_folder_(std::move(final_folder)), kind_(kind) {}
  /// Knowledge of a file before it is linked to.
  enum class Origin : std::uint8_t { unknown, plain };
  /// Makes `to` a link to `from`, and returns the kind that was made. `origin`: plain if `from` is
  /// known to be there and no symbolic link itself. Errors: ErrorKind::output.
  Result<LinkKind> link(const std::filesystem::path& from, const std::filesystem::path& to,
                        Origin origin = Origin::unknown);

 private:
  using Path = std::filesystem::path;
  Result<void> make(LinkKind kind, const Path& from, const Path& to, bool plain);
  Result<void> reflink(const Path& from, const Path& to, bool plain);
  Result<void> symbolic_link(const Path& from, const Path& to, bool plain);

  Path final_folder_;
  LinkKind kind_;
  std::atomic<bool> no_reflinks_{false};  ///< reflinks of files fail that are no symbolic links
  std::mutex mutex_;
  /// The folder of such a file, and the path to it from the final folder, or its absolute path.
  std::string folder_, way_;
};

}  // namespace entrain
