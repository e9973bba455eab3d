// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <entrain/entrain.hpp>

namespace entrain::sim {

/// A text that is written piece by piece; its file is open only meanwhile. After a write that
/// failed, further pieces are thrown away and close() returns the error. Not to be shared between
/// threads.
class PieceWriter {
 public:
  explicit PieceWriter(std::filesystem::path path) : path_(std::move(path)) {}

  /// To be appended to; then written() is to be called.
  std::string& text() { return text_; }
  /// Writes the text so far where it has become long.
  void written();
  [[nodiscard]] bool ok() const { return result_.has_value(); }
  /// Writes the rest. Errors: ErrorKind::output.
  Result<void> close();
  /// Size of the file so far.
  [[nodiscard]] std::uint64_t size() const { return flushed_ + text_.size(); }

 private:
  void flush();

  std::filesystem::path path_;
  std::string text_;
  std::uint64_t flushed_ = 0;
  Result<void> result_;
};

/// entrain::synth() of the formats that are files of JSON. Errors: those of synth().
Result<SynthReport> synth_json(const std::filesystem::path& output, const SynthOptions& options,
                               Progress* progress);

/// Write the files into `folder`, which is empty, and complete the report: numbers and times.
/// Errors: those of synth().
Result<void> synth_training(const std::filesystem::path& folder, const SynthOptions& options,
                            Progress* progress, SynthReport& report);
Result<void> synth_services(const std::filesystem::path& folder, const SynthOptions& options,
                            Progress* progress, SynthReport& report);

}  // namespace entrain::sim
