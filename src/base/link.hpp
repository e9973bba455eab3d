// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain {

/// Makes links to many files. It remembers of each folder where it really is and whether reflinks
/// work there: of 4,096 files that saves some 25 system calls each. Threads may share it.
class Linker {
 public:
  /// Arguments: see link_file().
  Linker(std::filesystem::path final_folder, LinkKind kind)
      : final_folder_(std::move(final_folder)), kind_(kind) {}
  /// Knowledge of a file before it is linked to.
  enum class Origin : std::uint8_t { unknown, plain };
  /// `origin`: plain if `from` is known to be there and no symbolic link itself.
  Result<LinkKind> link(const std::filesystem::path& from, const std::filesystem::path& to,
                        Origin origin = Origin::unknown);

 private:
  /// Facts about the files of a folder that are no symbolic links themselves.
  struct Folder {
    bool no_reflinks = false;
    /// Path from the final folder to it, or its absolute path; empty: not known.
    std::string way;
  };
  /// A link to be made. Of an origin that is no symbolic link its folder is remembered.
  struct Wanted {
    const std::filesystem::path& from;
    const std::filesystem::path& to;
    bool plain;
  };
  Result<void> make(LinkKind kind, const Wanted& wanted);
  Folder known(const Wanted& wanted);
  /// Changes what is known.
  void note(const Wanted& wanted, const std::function<void(Folder&)>& change);
  Result<void> reflink(const Wanted& wanted);
  Result<void> symbolic_link(const Wanted& wanted);

  std::filesystem::path final_folder_;
  LinkKind kind_;
  std::mutex mutex_;
  std::map<std::string, Folder, std::less<>> folders_;
};

/// Makes `to` a link to `from`. LinkKind::automatic tries reflink, relative symbolic link and hard
/// link, in this order. `final_folder` is the folder in which `to` will be in the end: relative
/// links are made for that place. Returns the kind that was made. Errors: ErrorKind::output.
Result<LinkKind> link_file(const std::filesystem::path& from, const std::filesystem::path& to,
                           const std::filesystem::path& final_folder, LinkKind kind);

}  // namespace entrain
