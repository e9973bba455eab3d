// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "output/inputs.hpp"
#include "output/mark.hpp"
#include "output/staging.hpp"

namespace entrain {

// The one way to an output, of every verb and format. An output appears under its final name when
// it is complete and on the disk, and never takes the place of something else: what stands there is
// refused, but for an unchanged earlier result with `force` (mark.hpp). So are links, pipes and
// devices, and everything that is, contains or lies in an input. All of this holds also for what
// appears while the output is written. A failure or signal removes what was written. A killed
// process leaves a hidden folder, which the next run for that output removes.

/// Rule on existing files in the place of an output.
struct OutputRule {
  bool force = false;                    ///< an unchanged earlier result may be replaced
  bool offers_force = true;              ///< the user can ask for that
  std::shared_ptr<const Inputs> inputs;  ///< null: there are none
};

/// An output of a run, and the option that names it.
struct NamedOutput {
  std::string_view option;
  std::filesystem::path path;  ///< empty: there is no such output
};
/// Refuses outputs of one run that have the same name, or of which one would lie in another. Links
/// and other spellings of a path lead nowhere else. Errors: ErrorKind::usage.
Result<void> check_distinct(std::initializer_list<NamedOutput> outputs);

/// A folder that appears under its final name only when it is complete.
class OutputFolder {
 public:
  /// Whether create() would accept `target`, for use before long work. Errors: ErrorKind::output,
  /// ErrorKind::usage for an input.
  static Result<void> check(const std::filesystem::path& target, const OutputRule& rule);
  /// Creates the hidden folder beside the final one, whose own folder must exist. Errors: as
  /// check().
  static Result<OutputFolder> create(const std::filesystem::path& target, OutputRule rule);
  /// The folder that another process has created and will commit or remove: a helper's view of it.
  static OutputFolder attach(std::filesystem::path path, std::filesystem::path target) {
    OutputFolder output;
    output.path_ = std::move(path);
    output.target_ = std::move(target);
    return output;
  }

  /// The hidden folder to write into, beside the final one.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Final name, absolute.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  /// Number of hidden folders of killed processes that create() has removed.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return staging_.leftovers_removed(); }

  /// Marks the folder as complete, waits until all files are on the disk and gives it its final
  /// name; an old result there is removed after the exchange. `unproven`: see any_unproven().
  /// Errors: ErrorKind::output.
  Result<void> commit(bool unproven = false);

 private:
  OutputFolder() = default;

  std::filesystem::path path_, target_;
  OutputRule rule_;
  Staging staging_;  ///< none of a helper
};

/// A file that appears under its final name only when it is complete. Its folder must exist.
class OutputFile {
 public:
  /// See OutputFolder::check() and create().
  static Result<void> check(const std::filesystem::path& target, const OutputRule& rule);
  static Result<OutputFile> create(const std::filesystem::path& target, OutputRule rule);

  /// Appends to the file. A file_mark() in its first bytes is completed by commit(). Errors:
  /// ErrorKind::output.
  Result<void> write(std::string_view text);
  /// A hidden folder, to be made, in which the file may be written under any name, for take().
  [[nodiscard]] std::filesystem::path workshop() const { return staging_.path() / "workshop"; }
  /// Takes a complete file of that folder for the content, in place of what was written. Errors:
  /// ErrorKind::output.
  Result<void> take(const std::filesystem::path& file);
  /// Number of hidden folders of killed processes that create() has removed.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return staging_.leftovers_removed(); }
  /// Final name, absolute.
  [[nodiscard]] const std::filesystem::path& place() const { return place_; }
  /// Waits until the file is on the disk and gives it its final name. `unproven`: see
  /// any_unproven(). Errors: ErrorKind::output.
  Result<void> commit(bool unproven = false);
  /// The same as commit() of two files that belong together: none appears alone. After an error
  /// both places are as they were, unless only the last step failed, waiting for the names to be on
  /// the disk.
  static Result<void> commit_both(OutputFile& first, OutputFile& second);

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path place, OutputRule rule,
             Staging staging);
  Result<void> finish(bool unproven = false);  ///< the hidden file is on the disk
  Result<void> take_name();
  void give_name_back() noexcept;
  [[nodiscard]] bool is_ours(const std::filesystem::path& path) const noexcept;
  Result<void> named(Result<void> result) const {
    return under_final_name(std::move(result), made_, target_);
  }

  std::filesystem::path target_;        ///< name that the user gave
  std::filesystem::path place_;         ///< the same, absolute
  std::filesystem::path made_, aside_;  ///< hidden names: of the file, and as in Move
  OutputRule rule_;
  Staging staging_;
  File file_;
  std::pair<dev_t, ino_t> identity_;  ///< device and inode of the complete file
  File kept_;                         ///< it, open, so that its inode becomes no other file's
};

/// An OutputFile with this content. Errors: as OutputFile::check(), no space, and so on.
Result<void> write_output(const std::filesystem::path& target, std::string_view text,
                          const OutputRule& rule = {});

}  // namespace entrain
