// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/kineto.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/kineto/events.hpp"
#include "formats/kineto/run.hpp"
#include "formats/perfetto/packets.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

namespace {

std::vector<formats::Parts::File> facts_of(std::span<const RankFile> files) {
  std::vector<formats::Parts::File> all;
  for (const RankFile& file : files) {
    all.push_back({file.path, file.facts.bytes, file.facts.hash, file.events});
  }
  return all;
}

class RankFiles : public formats::Parts {
 public:
  RankFiles(std::vector<RankFile> files, Place place) : files_(std::move(files)), place_(place) {}

  [[nodiscard]] bool unpack(parts::FieldReader& fields) override {
    return kineto::unpack(fields, files_);
  }
  [[nodiscard]] std::vector<File> files() const override { return facts_of(files_); }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> join(unsigned threads) override {
    auto run = std::make_unique<Run>(std::move(files_), threads, place_);
    TRY(run->prepare());
    return run;
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> join_moved(
      const formats::Recording& original, std::span<const ClockMap> maps, unsigned) override {
    return static_cast<const Run&>(original).moved(maps);
  }

 private:
  std::vector<RankFile> files_;
  Place place_;
};

}  // namespace

Result<bool> may_be_trace(const fs::path& file) {
  TRY_ASSIGN(const std::string text, json::beginning(file));
  return may_hold_events(text);
}

bool holds_packets(const fs::path& file) {
  const auto text = json::beginning(file);
  return text && perfetto::may_hold_packets(*text);
}

bool holds_none(const fs::path& file, std::uint64_t max_unpacked) {
  const Result<RankFile> read = read_file(file, max_unpacked);
  return read && read->events == 0;
}

Result<std::unique_ptr<formats::Parts>> read_parts(std::span<const fs::path> files,
                                                   unsigned threads, std::uint64_t max_unpacked) {
  TRY_ASSIGN(std::vector<RankFile> ranks, read_files(files, threads, max_unpacked));
  return std::make_unique<RankFiles>(std::move(ranks), Place::here);
}

Result<std::vector<formats::Parts::File>> summarise(std::span<const fs::path> files,
                                                    unsigned threads, std::uint64_t max_unpacked,
                                                    parts::PartWriter& to) {
  TRY_ASSIGN(std::vector<RankFile> ranks, read_files(files, threads, max_unpacked));
  parts::FieldWriter fields;
  pack(fields, ranks);
  TRY(to.write(fields.take()));
  return facts_of(ranks);
}

std::unique_ptr<formats::Parts> no_parts() {
  return std::make_unique<RankFiles>(std::vector<RankFile>(), Place::elsewhere);
}

Result<std::unique_ptr<formats::Recording>> read(std::span<const fs::path> files, unsigned threads,
                                                 std::uint64_t max_unpacked) {
  TRY_ASSIGN(const auto parts, read_parts(files, threads, max_unpacked));
  return parts->join(threads);
}

Result<std::unique_ptr<formats::Recording>> reopen(parts::FieldReader& fields, std::size_t clocks,
                                                   std::span<const fs::path> files,
                                                   std::span<const fs::path> left_out,
                                                   unsigned threads) {
  std::vector<RankFile> known;
  const auto is_numbered = [&](const RankFile& file) {
    return file.numbers.size() == file.clocks.size() &&
           std::ranges::all_of(file.numbers, [&](auto number) { return number < clocks; });
  };
  if (!unpack(fields, known) || !std::ranges::all_of(known, is_numbered)) {
    return input_error("the fitted clocks are damaged: fit them again");
  }
  TRY_ASSIGN(std::vector<RankFile> chosen, formats::chosen_parts<RankFile>(known, files, left_out));
  auto run = std::make_unique<Run>(std::move(chosen), threads, Place::parted);
  run->name_files();
  return run;
}

}  // namespace entrain::kineto
