// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace entrain::ctf {

/// Kinds of records that a process which reads a trace sends.
enum class Record : std::uint64_t {
  nothing,  ///< the process has ended
  failed,   ///< ErrorKind and sentence
  stream,   ///< name of the stream of the events that follow
  name,     ///< name of a class of events; these are numbered in order from 0
  event,    ///< class, clock, time, contents, number of ends, and these
  facts,    ///< the last one: TraceFacts
};

/// Numbers and texts on their way through a pipe, of which it owns an end.
class Wire {
 public:
  Wire(int descriptor, const char* mode) : file_(::fdopen(descriptor, mode)) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { close(); }
  void close() {
    if (file_ != nullptr) std::fclose(file_);
    file_ = nullptr;
  }

  void put(std::uint64_t number) { put({number}); }
  void put(std::initializer_list<std::uint64_t> numbers) {
    std::fwrite(numbers.begin(), sizeof(std::uint64_t), numbers.size(), file_);
  }
  void put(Record record) { put(static_cast<std::uint64_t>(record)); }
  void put(std::string_view text) {
    put(text.size());
    std::fwrite(text.data(), 1, text.size(), file_);
  }

  /// The next numbers; zeros at the end.
  template <std::size_t count>
  std::array<std::uint64_t, count> numbers() {
    std::array<std::uint64_t, count> numbers{};
    if (std::fread(numbers.data(), sizeof(std::uint64_t), count, file_) != count) return {};
    return numbers;
  }
  std::uint64_t number() { return numbers<1>()[0]; }
  Record record() { return static_cast<Record>(number()); }
  std::string text() {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 20;
    std::string text(std::min(number(), k_most), '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  std::FILE* file_;
};

}  // namespace entrain::ctf
