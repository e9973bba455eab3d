// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace entrain::record {

namespace {

/// A file doubles its size at each step, but grows by no more than this. Steps must not be too many
/// either: a process may have some ten thousand mappings.
constexpr std::uint64_t k_largest_step = 4 << 20;

}  // namespace

ChunkPool::~ChunkPool() {
  for (const Step& step : steps_) {
    if (step.mapped) {
      ::munmap(step.begin, step.bytes);
    } else {
      std::free(step.begin);
    }
  }
  if (mapped_ && !keep_) ::unlink(path_.c_str());
}

void* ChunkPool::allocate(std::size_t bytes) {
  if (used_ == chunks_.size() && !grow(bytes)) return nullptr;
  return chunks_[used_++];
}

bool ChunkPool::grow(std::size_t chunk) {
  if (!path_.empty() && !mapped_) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    mapped_ = file >= 0;
    if (mapped_) {
      ::close(file);
    } else {
      path_.clear();
    }
  }
  Step step;
  step.bytes = chunk;
  if (mapped_) {
    step.bytes = std::clamp<std::size_t>(size_, chunk, std::max(k_largest_step, chunk));
    step.bytes -= step.bytes % chunk;
    out_of_room_ = !map(step);
    if (out_of_room_) return false;
    evict();
  } else {
    if (size_ + chunk > std::max<std::uint64_t>(limit_, 2 * chunk)) return false;
    step.begin = std::malloc(chunk);
    if (step.begin == nullptr) return false;
  }
  for (std::size_t at = 0; at < step.bytes; at += chunk) {
    chunks_.push_back(static_cast<char*>(step.begin) + at);
  }
  size_ += step.bytes;
  steps_.push_back(step);
  return true;
}

bool ChunkPool::map(Step& step) {
  const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    problem_ = errno;
    return false;
  }
  const auto begin = static_cast<off_t>(size_);
  // Blocks are reserved first: a page that the disk has no room for would kill the program.
  problem_ = ::posix_fallocate(file, begin, static_cast<off_t>(step.bytes));
  if (problem_ == 0) {
    step.begin = ::mmap(nullptr, step.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, begin);
  }
  step.mapped = problem_ == 0 && step.begin != MAP_FAILED;
  if (problem_ == 0 && !step.mapped) problem_ = errno;
  ::close(file);
  return step.mapped;
}

void ChunkPool::evict() {
  std::uint64_t end = 0;
  for (Step& step : steps_) {
    end += step.bytes;
    if (end + limit_ > size_) return;
    if (step.resident) ::madvise(step.begin, step.bytes, MADV_DONTNEED);
    step.resident = false;
  }
}

}  // namespace entrain::record
