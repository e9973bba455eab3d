// SPDX-License-Identifier: BSD-3-Clause
#include "base/record_sorter.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <queue>
#include <utility>

#include "base/try.hpp"

namespace entrain {

namespace {

constexpr std::size_t k_sort_block = std::size_t{1} << 20;

}  // namespace

/// A sorted run in the file, of which a piece is in memory.
class RecordSorter::Run {
 public:
  Run(const File& file, std::uint64_t begin, std::uint64_t end, std::size_t piece)
      : file_(file), at_(begin), end_(end), piece_(piece) {}

  /// Moves to the next record; false at the end.
  Result<bool> next() {
    done_ += head_.size;
    TRY_ASSIGN(const bool has_head, need(sizeof head_));
    if (!has_head) return false;
    std::memcpy(&head_, bytes_.data() + done_, sizeof head_);
    done_ += sizeof head_;
    TRY_ASSIGN(const bool has_all, need(head_.size));
    if (has_all) return true;
    return fail(ErrorKind::output,
                file_.path().string() + " does not hold what was written; write to another disk");
  }
  [[nodiscard]] const SortKey& key() const { return head_.key; }
  [[nodiscard]] std::string_view record() const { return {bytes_.data() + done_, head_.size}; }

 private:
  /// Brings `size` bytes from `done_` on into memory; false if the run ends before.
  Result<bool> need(std::size_t size) {
    if (bytes_.size() - done_ >= size) return true;
    bytes_.erase(0, done_);
    done_ = 0;
    const std::size_t kept = bytes_.size();
    if (end_ - at_ < size - kept) return false;
    bytes_.resize(std::max(
        size, static_cast<std::size_t>(std::min<std::uint64_t>(kept + piece_, kept + end_ - at_))));
    auto* const to = reinterpret_cast<std::uint8_t*>(bytes_.data());
    TRY_ASSIGN(const std::size_t read, file_.read_at(at_, {to + kept, bytes_.size() - kept}));
    at_ += read;
    return read == bytes_.size() - kept;
  }

  const File& file_;
  std::uint64_t at_, end_;  ///< range not read yet
  std::size_t piece_;
  std::string bytes_;
  std::size_t done_ = 0;  ///< position of the record in `bytes_`
  Head head_;
};

Result<void> RecordSorter::add(const SortKey& key, std::initializer_list<std::string_view> parts) {
  const std::size_t at = bytes_.size();
  if (at == 0) bytes_.reserve(most_);  // growth would copy all of it
  for (const std::string_view part : parts) bytes_ += part;
  entries_.push_back({key, at, bytes_.size() - at});
  if (bytes_.size() + entries_.size() * sizeof(Entry) <= most_) return {};
  return write_run();
}

Result<void> RecordSorter::write_run() {
  if (!file_.is_open()) {
    TRY_ASSIGN(file_, File::create(spill_));
  }
  sort();
  std::string block;
  const auto write = [&]() -> Result<void> {
    TRY(file_.write({reinterpret_cast<const std::uint8_t*>(block.data()), block.size()}));
    written_ += block.size();
    block.clear();
    return {};
  };
  for (const Entry& entry : entries_) {
    const Head head{entry.key, entry.size};
    block.append(reinterpret_cast<const char*>(&head), sizeof head);
    block.append(bytes_, entry.at, entry.size);
    if (block.size() >= k_sort_block) TRY(write());
  }
  TRY(write());
  runs_.push_back(written_);
  bytes_.clear();
  entries_.clear();
  return {};
}

Result<void> RecordSorter::for_each(const std::function<Result<void>(std::string_view)>& see) {
  if (!runs_.empty()) return merge(see);
  sort();
  for (const Entry& entry : entries_)
    TRY(see(std::string_view(bytes_).substr(entry.at, entry.size)));
  return {};
}

Result<void> RecordSorter::merge(const std::function<Result<void>(std::string_view)>& see) {
  TRY(write_run());
  bytes_ = {};
  entries_ = {};
  TRY(file_.close());
  TRY_ASSIGN(const File file, File::open_for_reading(spill_));
  const std::size_t piece = std::clamp(most_ / runs_.size(), std::size_t{4096}, k_sort_block);
  std::deque<Run> runs;
  const auto later = [&](std::size_t a, std::size_t b) {
    return std::pair(runs[a].key(), a) > std::pair(runs[b].key(), b);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    runs.emplace_back(file, r == 0 ? 0 : runs_[r - 1], runs_[r], piece);
    TRY_ASSIGN(const bool more, runs[r].next());
    if (more) next.push(r);
  }
  while (!next.empty()) {
    const std::size_t r = next.top();
    next.pop();
    TRY(see(runs[r].record()));
    TRY_ASSIGN(const bool more, runs[r].next());
    if (more) next.push(r);
  }
  return {};
}

}  // namespace entrain
